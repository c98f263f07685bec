//! A part is a pure function of scenario and seed (design): a second run writes the same bytes to
//! both Parquet files, another seed other bytes, and measurement leaves the traffic unchanged.

use std::fs;

use hull_sim::part::{self, Identity};
use hull_sim::scenario::Resolved;
use hull_sim::simulation::Control;

use super::queue_series::folder;
use super::star::{REQUESTS, scenario};

/// Runs the HULL scheme with a probe and `settings`; returns flows.parquet and latency.parquet.
fn files(name: &str, seed: u64, settings: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let folder = folder(name);
    let base = [
        "topology.star.hosts=5",
        "host.rate=1Gbps",
        "host.delay=5us",
        "switch.delay=5us",
        "run.duration=200ms",
        "transport.congestion_control=dctcp",
        "transport.ecn=true",
        "switch.buffer=100KB",
        "switch.phantom_queue={drain=\"95%\",threshold=\"1KB\"}",
        "pacer={}",
        "measure.probe={}",
        "workload.requests.classes=[{size=\"1KB\",share=\"90%\"},{size=\"200KB\",share=\"10%\"}]",
    ];
    let settings: Vec<&str> = base.iter().chain(settings).copied().collect();
    let identity = Identity {
        condition: String::new(),
        scheme: "hull".to_owned(),
        seed,
    };
    let scenario = scenario(REQUESTS, &settings);
    let summary = part::run(
        &Resolved::new(scenario).expect("a network"),
        None,
        identity,
        Some(&folder),
        &Control::default(),
    )
    .expect("runs");
    assert!(summary.marks > 0 && summary.counts.paced > 0 && summary.fct[1].count > 20);
    let read = |file| fs::read(folder.join(file)).expect("written by the run");
    (read("flows.parquet"), read("latency.parquet"))
}

#[test]
fn a_second_run_writes_the_same_bytes() {
    assert!(files("same-1", 1, &[]) == files("same-2", 1, &[]));
}

#[test]
fn another_seed_writes_other_bytes() {
    let (one, two) = (files("seed-1", 1, &[]), files("seed-2", 2, &[]));
    assert!(one.0 != two.0 && one.1 != two.1);
}

#[test]
fn sampling_interval_does_not_affect_flows() {
    let one = files("sample-1ms", 1, &[]);
    let two = files("sample-77us", 1, &["measure.sample_interval=77us"]);
    assert!(one.0 == two.0 && one.1 != two.1);
}
