//! Several classes at one port, in the whole simulator: deficit round robin divides the link among
//! backlogged classes by weight, the others get an idle class's share, and invalid weights are
//! rejected.

use hull_sim::scenario::expand;

use super::star::{assert_near, run};

/// Two transports, each with long flows in its own class to host 0 at 1 Gbps.
const TWO: &str = r#"
name = "two"
run = { duration = "400ms", warmup = "100ms", drain = "0s" }
topology.star.hosts = 5
host = { queue = "fifo", rate = "1Gbps", delay = "5us" }
switch = { rate = "1Gbps", delay = "5us", buffer = "100KB", priorities = 2 }
transport = { priority = 0 }
[transports.low]
priority = 1
[[workload.long_lived.flows]]
src = "1-2"
dst = 0
[[workload.long_lived.flows]]
src = "3-4"
dst = 0
transport = "low"
"#;

fn shares(overrides: &[&str]) -> (f64, f64) {
    let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
    let cells = expand(TWO, "two.toml", &overrides).expect("valid");
    let outcome = run(&cells[0].scenario, 1);
    let goodput = |name: &str| outcome.transports[name].goodput_bps / 1e9;
    (goodput("default"), goodput("low"))
}

/// 1460 of 1500 bytes are payload.
const PAYLOAD: f64 = 1460.0 / 1500.0;

#[test]
fn classes_share_the_link_by_their_weights() {
    for (weights, share) in [("[1,1]", 0.5), ("[3,1]", 0.75), ("[1,4]", 0.2)] {
        let (first, second) = shares(&[&format!("switch.dwrr.weights={weights}")]);
        assert_near(weights, first, share * PAYLOAD, 0.02);
        assert_near(weights, second, (1.0 - share) * PAYLOAD, 0.02);
    }
}

#[test]
fn an_idle_class_leaves_its_share_to_the_other() {
    let few =
        "workload.long_lived.flows=[{src=1,dst=0,size=\"10KB\"},{src=3,dst=0,transport=\"low\"}]";
    let (_, low) = shares(&["switch.dwrr.weights=[9,1]", few]);
    assert_near("the link", low, PAYLOAD, 0.02);
}

#[test]
fn meaningless_weights_are_rejected() {
    for (overrides, key) in [
        (&["switch.dwrr.weights=[0,1]"][..], "switch.dwrr.weights"),
        (&["switch.dwrr.weights=[1]"], "switch.dwrr.weights"),
        (&["switch.dwrr.weights=[1,2,3]"], "switch.dwrr.weights"),
        (&["switch.dwrr.weights=[1,2000]"], "switch.dwrr.weights"),
        (
            &[
                "switch.dwrr.weights=[1]",
                "switch.priorities=1",
                "transports.low.priority=0",
            ],
            "switch.dwrr",
        ),
        (
            &["switch.dwrr.weights=[1,1]", "measure.probe={}"],
            "measure.probe",
        ),
    ] {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let error = expand(TWO, "two.toml", &overrides).expect_err(key);
        assert_eq!(error.mistakes[0].key, key, "{error}");
    }
}
