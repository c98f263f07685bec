//! L4S in the whole simulator: marks of DualPI2 against the coupling law, shares against equal
//! windows and the published ones, the codepoints that packets carry, FQ-CoDel's equal shares,
//! PIE's target, and invalid settings.
//!
//! Sources: RFC 9332 (coupling p_L = k sqrt(p_C)), RFC 8290, RFC 8033; heistp/l4s-tests for goodput.

use hull_sim::scenario::{Scenario, expand};
use hull_sim::simulation::Outcome;

use super::star::{assert_near, run};

/// Flows of Prague and of CUBIC with ECN over one link of 50 Mbps.
const COUPLED: &str = r#"
name = "coupled"
run = { duration = "30s", warmup = "10s", drain = "0s" }
topology.dumbbell = { pairs = 2, bottleneck_rate = "50Mbps", rtts = ["20ms"] }
host = { queue = "fifo", rate = "1Gbps", delay = "1us" }
switch = { rate = "1Gbps", delay = "1us", buffer = "10000pkts" }
transport = { congestion_control = "prague", ecn = true, max_window = 10000, receive_window = 10000, min_rto = "200ms", byte_counting = true }
[transports.classic]
congestion_control = "cubic"
[[workload.long_lived.flows]]
src = 0
dst = 2
[[workload.long_lived.flows]]
src = 1
dst = 3
transport = "classic"
"#;

fn scenario(text: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
    match expand(text, "l4s.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

fn outcome(settings: &[&str]) -> Outcome {
    run(&scenario(COUPLED, settings), 1)
}

fn goodputs(outcome: &Outcome) -> (f64, f64) {
    let of = |name: &str| outcome.transports[name].goodput_bps / 1e6;
    (of("default"), of("classic"))
}

/// The shares of marked packets are k p and p^2. Ten flows of each transport keep p steady, and the
/// step is never reached. The mean wait is the target, 15 ms, by which the round trips differ.
#[test]
fn marks_follow_the_coupling_law() {
    let ten = [
        "topology.dumbbell.pairs=20",
        "workload.long_lived.flows=[{src=\"0-9\",dst=20},{src=\"10-19\",dst=30,transport=\"classic\"}]",
        "switch.dualpi2={step=\"10s\"}",
        "transport.prague.rtt_target=0s",
    ];
    let outcome = outcome(&ten);
    let share = |name: &str| {
        let of = &outcome.transports[name];
        of.marks as f64 / of.packets as f64
    };
    let (l4s, classic) = (share("default"), share("classic"));
    assert_near("p_L", l4s, 2.0 * classic.sqrt(), 0.1);
    assert_eq!(outcome.packets.dropped, 0);
}

/// Rows of the published table at 50 Mbps with equal round trips.
#[test]
fn prague_beside_cubic_at_equal_round_trips() {
    let outcome = outcome(&["switch.dualpi2={}"]);
    let (prague, cubic) = goodputs(&outcome);
    // 31.85 and 15.51 Mbps; 1460 of 1500 bytes of the link are payload.
    assert_near("both", prague + cubic, 50.0 * 1460.0 / 1500.0, 0.01);
    assert_near("Prague", prague, 31.85, 0.15);
    assert_near("CUBIC", cubic, 15.51, 0.15);
    assert!(outcome.transports["classic"].marks > 0);
}

/// FQ-CoDel gives every flow its share, however it reacts to marks; with a single CoDel queue,
/// Prague takes more than ten times as much as CUBIC.
#[test]
fn fq_codel_shares_equally() {
    let outcome = outcome(&["switch.fq_codel={}"]);
    let (prague, cubic) = goodputs(&outcome);
    assert_near("prague", prague, 24.0, 0.05);
    assert_near("cubic", cubic, 24.0, 0.05);
    let one = self::outcome(&["switch.fq_codel={flows=1}"]);
    let (prague, cubic) = goodputs(&one);
    assert!(prague > 10.0 * cubic, "{prague} {cubic}");
}

/// Two CUBIC flows with ECN behind PIE: the mean wait is the target, where drop-tail would fill 10,000 packets.
#[test]
fn pie_keeps_its_target() {
    let outcome = outcome(&[
        "switch.pie={}",
        "workload.long_lived.flows=[{src=[0,1],dst=2,transport=\"classic\"}]",
    ]);
    assert_near("wait", outcome.occupancy.mean_us, 15_000.0, 0.1);
    assert!(outcome.marks > 0);
}

/// Invalid settings are rejected with the key.
#[test]
fn invalid_settings() {
    for (settings, key) in [
        (
            &["switch.dualpi2={target=\"0s\"}"][..],
            "switch.dualpi2.target",
        ),
        (
            &["switch.dualpi2={interval=\"1ns\"}"],
            "switch.dualpi2.interval",
        ),
        (&["switch.dualpi2={coupling=0}"], "switch.dualpi2.coupling"),
        (
            &["switch.dualpi2={classic_share=\"101%\"}"],
            "switch.dualpi2.classic_share",
        ),
        (
            &["switch.dualpi2={virtual_queue=\"101%\"}"],
            "switch.dualpi2.virtual_queue",
        ),
        (
            &["switch.dualpi2={typical_rtt=\"11s\"}"],
            "switch.dualpi2.typical_rtt",
        ),
        (&["switch.dualpi2={}", "switch.pie={}"], "switch.pie"),
        (
            &["switch.dualpi2={}", "switch.priorities=2"],
            "switch.priorities",
        ),
        (&["switch.dualpi2={}", "measure.probe={}"], "measure.probe"),
        (&["switch.fq_codel={flows=0}"], "switch.fq_codel.flows"),
        (
            &["switch.fq_codel={interval=\"0s\"}"],
            "switch.fq_codel.interval",
        ),
        (&["switch.pie={interval=\"0s\"}"], "switch.pie.interval"),
        (&["transport.ecn=false"], "transport.ecn"),
        (
            &["transport.prague={rtt_target=\"2s\"}"],
            "transport.prague.rtt_target",
        ),
    ] {
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let error = expand(COUPLED, "l4s.toml", &settings).expect_err(key);
        assert_eq!(error.mistakes[0].key, key, "{error}");
    }
}

/// Round trips of 50 and 300 us give iproute2's constants (l4s.toml) in the resolved scenario.
#[test]
fn round_trips_give_the_published_constants() {
    let of = |settings: &str| {
        let scenario = scenario(COUPLED, &[settings]);
        let dualpi2 = scenario.switch.dualpi2.expect("set");
        let gain = |gain: Option<hull_sim::units::Share>| gain.expect("resolved").value();
        let time = |time: Option<hull_sim::units::Time>| time.expect("resolved").0 / 1_000_000;
        (
            time(dualpi2.target),
            time(dualpi2.interval),
            gain(dualpi2.alpha),
            gain(dualpi2.beta),
            time(dualpi2.step),
        )
    };
    let linux = of("switch.dualpi2={}");
    assert_eq!(linux, (15_000, 16_000, 0.16015625, 3.19921875, 1000));
    for settings in [
        "switch.dualpi2={typical_rtt=\"50us\"}",
        "switch.dualpi2={max_rtt=\"300us\"}",
        "switch.dualpi2={typical_rtt=\"50us\",max_rtt=\"300us\"}",
    ] {
        let (target, interval, alpha, beta, step) = of(settings);
        assert_eq!((target, interval, step), (50, 50, 50));
        assert!((alpha - 55.5556).abs() < 5e-5 && (beta - 1000.0).abs() < 1e-6);
    }
}
