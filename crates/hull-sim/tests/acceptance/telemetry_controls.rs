//! Controls that read telemetry, in the whole simulator: runs of public simulators, recorded with packets of
//! 1090 bytes in 87 ns (`rdma-runs.toml`), their fixed points on a link that many flows share, and bad
//! settings.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::Outcome;
use hull_sim::workload::Acked;

use super::star::{assert_near, run};

/// The wire of the recorded runs: a packet of 1090 bytes takes 87 ns, and telemetry takes the rate for 100
/// Gbps. The header includes 42 bytes for telemetry.
const WIRE: &str = r#"
host = { rate = "100.229885057Gbps", delay = "1us" }
switch = { rate = "100.229885057Gbps", delay = "1us", telemetry.fields = "hpcc" }
transport.mtu = "1090B"
transport.header = "90B"
"#;
/// One flow of 10 MB through one switch.
const SINGLE: &str = r#"
name = "single"
run.duration = "5ms"
topology.star.hosts = 2
transport.message.round_trip = "4160ns"
workload.long_lived.flows = [{ src = 0, dst = 1, size = "10MB" }]
"#;
/// Two flows through two switches, the second 200 us later; measured from 2 to 4 ms.
const DUMBBELL: &str = r#"
name = "dumbbell"
run = { warmup = "2ms", duration = "2ms" }
topology.dumbbell = { pairs = 2, bottleneck_rate = "100.229885057Gbps", bottleneck_delay = "1us" }
transport.message.round_trip = "6240ns"
measure.ports = ["left->right"]
workload.long_lived.flows = [{ src = 0, dst = 2 }, { src = 1, dst = 3, start = "200us" }]
"#;
/// Sixteen flows to one host at 100 Gbps.
const STAR: &str = r#"
name = "star"
run = { warmup = "3ms", duration = "3ms" }
topology.star.hosts = 17
host = { rate = "100Gbps", delay = "1us" }
switch = { rate = "100Gbps", delay = "1us", telemetry = {} }
transport = { mtu = "1090B", header = "90B" }
workload.long_lived.flows = [{ src = "1-16", dst = 0, start_interval = "7us" }]
"#;

fn expanded(text: &str, settings: &[&str]) -> Result<Scenario, String> {
    let settings = Vec::from_iter(settings.iter().map(|&setting| setting.to_owned()));
    match scenario::expand(text, "test.toml", &settings) {
        Ok(cells) => Ok(Scenario::clone(&cells[0].scenario)),
        Err(error) => Err(error.to_string()),
    }
}

fn outcome(texts: &[&str], control: &str, settings: &[&str]) -> Outcome {
    let control = format!("transport.congestion_control={control}");
    let settings = [settings, &[&control]].concat();
    let scenario = expanded(&texts.concat(), &settings).unwrap_or_else(|told| panic!("{told}"));
    run(&scenario, 1)
}

/// Time from the start of the single flow to its last ACK, ns.
fn acked_ns(control: &str, settings: &[&str]) -> f64 {
    match outcome(&[WIRE, SINGLE], control, settings).flows.rows()[0].acked {
        Acked::After(ps) => ps as f64 * 1e-3,
        other => panic!("{other:?}"),
    }
}

/// Payload that arrives at each receiver, Gbps, and the mean and the largest queue between the switches,
/// bytes.
fn two_flows(control: &str, settings: &[&str]) -> ([f64; 2], f64, f64) {
    let outcome = outcome(&[WIRE, DUMBBELL], control, settings);
    assert_eq!(outcome.packets.dropped, 0);
    let gbps = ["receiver0", "receiver1"].map(|to| {
        let link = outcome.links.iter().find(|link| link.to == to);
        link.expect("a link").packets as f64 * 8000.0 / 2e6
    });
    let queue = &outcome.queues["left->right"];
    let bytes = |us: f64| us * 100.229885057e3 / 8.0;
    (gbps, bytes(queue.mean_us), bytes(queue.max_us))
}

/// P/single.hpcc.eta90, H/single.hpcc.exact (1100 bytes in 87 ns), P/slow25.hpcc and H/slow25.hpcc: a link of
/// 25 Gbps to the receiver, by which H computes its window.
#[test]
fn hpcc_takes_the_recorded_times() {
    let eta90 = acked_ns("hpcc", &["transport.hpcc.eta=90%"]);
    assert_near("eta90", eta90, 971_738.0, 1e-4);
    let exact = [
        "transport.mtu=1100B",
        "host.rate=101.149425287Gbps",
        "switch.rate=101.149425287Gbps",
    ];
    assert_near("exact", acked_ns("hpcc", &exact), 920_897.0, 5e-4);
    let slow = [
        "switch.rate=25.057471264Gbps",
        "transport.message.round_trip=4400ns",
        "switch.telemetry.unit_factor=4",
    ];
    assert_near("slow", acked_ns("hpcc", &slow), 3_661_009.0, 1e-4);
    let of_path = [&slow[..], &["transport.hpcc.window=13750B"]].concat();
    assert_near("H", acked_ns("hpcc", &of_path), 3_936_810.0, 0.03);
}

/// P/dumbbell2.hpcc, .stage5 and .fastreact0.
#[test]
fn hpcc_shares_a_link_as_recorded() {
    for (setting, recorded, queue_bytes) in [
        ("max_stage=0", [43.76, 43.45], 241.0),
        ("max_stage=5", [43.52, 43.58], 250.0),
        ("fast_react=false", [37.4, 49.84], 323.0),
    ] {
        let setting = format!("transport.hpcc.{setting}");
        let (gbps, mean, max) = two_flows("hpcc", &[&setting]);
        for (gbps, recorded) in gbps.into_iter().zip(recorded) {
            assert_near(&setting, gbps, recorded, 0.03);
        }
        let both: f64 = recorded.iter().sum();
        assert_near(&setting, gbps.iter().sum(), both, 0.002);
        assert!((mean - queue_bytes).abs() < 60.0, "{setting}: {mean}");
        assert!(max < 1091.0, "{setting}: {max}");
    }
}

/// In the fixed point U = eta + 16 a / B, and U is the utilization plus the queue's share. a is 40 Mbps, or
/// for the window (1 - eta) / 100 of what the link carries in a round trip.
#[test]
fn hpcc_holds_the_utilization() {
    for (form, eta, target, increase) in [
        ("rate", "95%", 0.95, 0.0064),
        ("rate", "80%", 0.8, 0.0064),
        ("window", "95%", 0.95, 0.008),
        ("window", "80%", 0.8, 0.032),
    ] {
        let form = format!("transport.hpcc.form={form}");
        let setting = format!("transport.hpcc.eta={eta}");
        let outcome = outcome(&[STAR], "hpcc", &[&form, &setting]);
        let used = outcome.throughput.utilization;
        let fits = used < target + increase && used > target - 0.03;
        assert!(fits, "{form} {eta}: {used}");
        // Packets of 87.2 ns.
        let queue = &outcome.occupancy;
        let is_short = queue.mean_us < 0.2 && queue.max_us < 1.5;
        assert!(is_short, "{form} {eta}: {queue:?}");
    }
}

/// With the counter of a phantom queue as the queue in the records. A counter that drains at 90% of the rate grows
/// until the flows send no more than that. HPCC's answer a round trip later makes the rate swing around it, so with
/// eta = 100% the port's queue is not as short as with eta alone. With eta = 80% the counter stays near zero.
#[test]
fn hpcc_holds_the_drain_of_a_phantom_queue() {
    for (eta, drain, target, longest_us) in [
        ("100%", "90%", 0.9, 3.0),
        ("100%", "95%", 0.95, 3.0),
        ("80%", "90%", 0.8, 1.5),
    ] {
        let eta = format!("transport.hpcc.eta={eta}");
        let drain = format!("switch.telemetry.drain={drain}");
        let outcome = outcome(&[STAR], "hpcc", &[&eta, &drain]);
        let used = outcome.throughput.utilization;
        let fits = used < target + 0.0064 && used > target - 0.03;
        assert!(fits, "{eta} {drain}: {used}");
        let queue = &outcome.occupancy;
        assert!(queue.max_us < longest_us, "{eta} {drain}: {queue:?}");
    }
    let faster = [
        "transport.congestion_control=hpcc",
        "switch.telemetry.drain=200Gbps",
    ];
    let found = expanded(STAR, &faster).expect_err("a fast drain");
    let expected = "switch.telemetry.drain: \"200Gbps\" is invalid; expected from 1Mbps to the link's rate, \"100Gbps\"";
    assert!(found.contains(expected), "{found}");
}

/// PS/single.powertcp and PS/single.theta: the first ACK only stores. theta-PowerTCP reads no telemetry.
#[test]
fn powertcp_takes_the_recorded_times() {
    let additive = "transport.powertcp.rate_ai=150Mbps";
    let time = acked_ns("powertcp", &[additive]);
    assert_near("powertcp", time, 919_784.0, 1e-4);
    let wire = WIRE.replace(", telemetry.fields = \"hpcc\"", "");
    let outcome = outcome(&[&wire, SINGLE], "theta-powertcp", &[additive]);
    let Acked::After(ps) = outcome.flows.rows()[0].acked else {
        panic!("{:?}", outcome.flows.rows());
    };
    assert_near("theta", ps as f64 * 1e-3, 874_101.0, 1e-5);
}

/// PS/dumbbell2.powertcp.
#[test]
fn powertcp_shares_a_link_as_recorded() {
    let (gbps, mean, max) = two_flows("powertcp", &["transport.powertcp.rate_ai=150Mbps"]);
    for (gbps, recorded) in gbps.into_iter().zip([43.61, 43.78]) {
        assert_near("rate", gbps, recorded, 0.03);
    }
    assert_near("both", gbps.iter().sum(), 87.2, 0.003);
    assert!((mean - 252.0).abs() < 60.0, "{mean}");
    assert!(max < 1091.0, "{max}");
}

/// With eta 1 the queue of 16 flows is 16 a T in equilibrium: 16.2 us of 1 Gbps are 162 ns at 100 Gbps. Windows of
/// whole packets hold up to a packet more, 16 of the 186 packets in flight.
#[test]
fn powertcp_has_its_equilibrium_queue() {
    let settings = [
        "transport.powertcp={eta=\"100%\",rate_ai=\"1Gbps\"}",
        "transport.message.round_trip=16.2us",
        "host.delay=4us",
        "switch.delay=4us",
    ];
    let outcome = outcome(&[STAR], "powertcp", &settings);
    assert!(outcome.throughput.utilization > 0.999);
    let (queue_us, expected) = (outcome.occupancy.mean_us, 16.0 * 0.162);
    let fits = queue_us > expected && queue_us < 1.2 * expected;
    assert!(fits, "{queue_us} {expected}");
}

#[test]
fn invalid_settings_are_rejected() {
    let text = [STAR].concat();
    let told = |settings: &[&str]| match expanded(&text, settings) {
        Ok(_) => "valid".to_owned(),
        Err(told) => told,
    };
    let hpcc = "transport.congestion_control=hpcc";
    let power = "transport.congestion_control=powertcp";
    for (settings, expected) in [
        (
            &[power, "transport.powertcp.gamma=0%"][..],
            "transport.powertcp.gamma: \"0%\" is invalid; expected more than 0% to 100%",
        ),
        (
            &[power, "transport.powertcp.rate_ai=1bps"],
            "transport.powertcp.rate_ai: \"1bps\" is invalid; expected 1kbps to 6.4Tbps",
        ),
        (
            &["transport.congestion_control=theta-powertcp"],
            "switch.telemetry: found a table, and no control that reads telemetry",
        ),
        (
            &[hpcc, "transport.hpcc.eta=0%"],
            "transport.hpcc.eta: \"0%\" is invalid; expected more than 0% to 100%",
        ),
        (
            &[hpcc, "transport.hpcc.max_stage=1001"],
            "transport.hpcc.max_stage: 1001 is invalid; expected 0 to 1000 round trips",
        ),
        (
            &[hpcc, "transport.hpcc.w_ai=80B"],
            "transport.hpcc.w_ai: found a value; expected no such key without transport.hpcc.form = \
             \"window\"",
        ),
        (
            &[hpcc, "transport.hpcc={form=\"window\",rate_ai=\"40Mbps\"}"],
            "transport.hpcc.rate_ai: found a value; expected no such key without transport.hpcc.form = \
             \"rate\"",
        ),
        (
            &[hpcc, "transport.hpcc.min_rate=0bps"],
            "transport.hpcc.min_rate: \"0bps\" is invalid; expected 1kbps to 6.4Tbps",
        ),
        (
            &[hpcc, "transport.hpcc.window=0B"],
            "transport.hpcc.window: \"0B\" is invalid; expected 1B to 1GB",
        ),
        (
            &[hpcc, "transport.message.load_balancing=reps"],
            "transport.message.load_balancing: found packets on several paths; expected \"ecmp\", \"plb\" or \
             \"flowlet\" with transport.congestion_control = \"hpcc\"",
        ),
        (
            &[hpcc, "transport.message.initial_window=10"],
            "transport.message.initial_window: found a number; expected no such key with hpcc, which begins",
        ),
        (
            &[
                "transport.congestion_control=nscc",
                "transport.ecn=true",
                "switch.marking.threshold=30KB",
            ],
            "switch.telemetry: found a table, and no control that reads telemetry; expected no such key, or a \
             transport.congestion_control that reads it, such as hpcc or a class",
        ),
    ] {
        let found = told(settings);
        assert!(found.contains(expected), "{settings:?}: {found}");
        assert_eq!(found.lines().count(), 1, "{found}");
    }
    let without = text.replace(", telemetry = {}", "");
    let found = expanded(&without, &[hpcc]).expect_err("no telemetry");
    let expected = "switch.telemetry: missing, transport.congestion_control = \"hpcc\" requires it";
    assert!(found.contains(expected), "{found}");
}
