//! What the other files run: a star whose switch port to the client is the bottleneck, as scenario
//! text with settings on top. No test of its own.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{self, Control, Outcome};

/// Picoseconds in a second and in a microsecond.
pub const SECOND_PS: u64 = 1_000_000_000_000;
pub const US_PS: u64 = 1_000_000;

/// A 1500-byte packet's payload, and its time on a link of 1 Gbps.
pub const PAYLOAD: u64 = 1460;
pub const PACKET_PS: u64 = 12 * US_PS;

/// Endless flows from two hosts or one, no delay that a test does not set, every packet
/// acknowledged, a new window's worth of bytes for a step of the window.
pub const BASE: &str = r#"
name = "acceptance"
[run]
duration = "1s"
[topology.star]
hosts = 2
[host]
rate = "10Gbps"
delay = "0s"
[switch]
rate = "1Gbps"
delay = "0s"
[transport]
ack_every = 1
byte_counting = true
max_window = 10000
receive_window = 10000
initial_rto = "10ms"
"#;

/// Bulk flows, by default one that lasts.
pub const BULK: &str = "[workload.bulk]\nflows = 1\n";

/// Requests of 1000 bytes.
pub const REQUESTS: &str = r#"
[workload.requests]
load = "50%"
classes = [{ size = "1KB", share = "100%" }]
"#;

/// The scenario of `workload` with `settings` (`key=value`).
pub fn scenario(workload: &str, settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(&format!("{BASE}{workload}"), "test.toml", &settings) {
        Ok(cells) => cells[0].scenario.clone(),
        Err(error) => panic!("{error}"),
    }
}

/// Runs `scenario` with `seed`; fails when packets are lost or invented.
pub fn run(scenario: &Scenario, seed: u64) -> Outcome {
    let simulation = match simulation::build(scenario, seed, None) {
        Ok(simulation) => simulation,
        Err(problem) => panic!("{problem:?}"),
    };
    match simulation.run(&Control::default()) {
        Ok(outcome) => outcome,
        Err(failure) => panic!("{failure:?}"),
    }
}

/// Fails unless `measured` is within `tolerance` (a share) of `expected`.
pub fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let off = measured / expected - 1.0;
    assert!(
        off.abs() <= tolerance,
        "{what}: measured {measured}, expected {expected}, off by {:.2}%, allowed {:.2}%",
        100.0 * off,
        100.0 * tolerance
    );
}
