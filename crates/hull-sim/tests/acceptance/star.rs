//! Scenario of the other files: a star whose switch port to the client is the bottleneck, as
//! scenario text plus settings. Contains no tests.

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{self, Control, Outcome};

/// Picoseconds in a second and in a microsecond.
pub const SECOND_PS: u64 = 1_000_000_000_000;
pub const US_PS: u64 = 1_000_000;

/// Payload of a 1500-byte packet, and its transmission time at 1 Gbps.
pub const PAYLOAD: u64 = 1460;
pub const PACKET_PS: u64 = 12 * US_PS;

/// Endless flows from one or two hosts, no delays unless a test sets them, every packet
/// acknowledged; the window grows one step per window's worth of new bytes.
pub const BASE: &str = r#"
name = "acceptance"
[run]
duration = "1s"
[topology.star]
hosts = 2
[host]
queue = "fifo"
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

/// Bulk flows, by default one endless flow.
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
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// Runs `scenario` with `seed`; fails if packets are lost or invented.
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

/// Fails unless `measured` is within the relative `tolerance` of `expected`.
pub fn assert_near(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let off = measured / expected - 1.0;
    assert!(
        off.abs() <= tolerance,
        "{what}: measured {measured}, expected {expected}, off by {:.2}%, allowed {:.2}%",
        100.0 * off,
        100.0 * tolerance
    );
}
