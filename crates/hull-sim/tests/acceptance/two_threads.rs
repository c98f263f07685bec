//! One run on two threads gives what it gives on one (`run.threads`), to the last byte: flows in
//! their order, samples, links, every count. Both sides of the comparison are hull's; that the
//! results are right is for the other files to say.

use std::fmt::Write;

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{self, Control, Failure, Outcome};

use super::star;

const BASE: &str = r#"
name = "two-threads"
[run]
duration = "3ms"
[host]
rate = "10Gbps"
delay = "200ns"
stack_delay = "500ns"
[switch]
rate = "10Gbps"
delay = "200ns"
buffer = "250pkts"
[transport]
initial_window = 3
ack_every = 1
initial_rto = "10ms"
min_rto = "1ms"
"#;

const TREE: &str = "[topology.tree]\n";
const LEAVES: &str = "[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n";

const FLOWS: &str = r#"
[workload.flows]
load = "30%"
connections = "per_flow"
sizes.pareto = { shape = 1.05, mean = "100KB" }
"#;

const INCAST: &str = r#"
[workload.incast]
total = "1MB"
queries = 3
all_to_all = true
"#;

const DCTCP: [&str; 3] = [
    "transport.congestion_control=dctcp",
    "transport.ecn=true",
    "switch.marking.threshold=97.5KB",
];

const HULL: [&str; 4] = [
    "transport.congestion_control=dctcp",
    "transport.ecn=true",
    "switch.phantom_queue={drain=\"95%\",threshold=\"3KB\"}",
    "pacer={update_interval=\"7.2us\",beta=375,association_timeout=\"1ms\"}",
];

fn scenario(parts: &[&str], settings: &[&str], threads: u32) -> Scenario {
    let text = format!("{BASE}{}", parts.concat());
    let mut settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    settings.push(format!("run.threads={threads}"));
    match scenario::expand(&text, "test.toml", &settings) {
        Ok(cells) => cells[0].scenario.clone(),
        Err(error) => panic!("{error}"),
    }
}

/// All that a run leaves, as text.
fn everything(outcome: &Outcome) -> String {
    let mut text = String::new();
    let counts = (
        outcome.packet_hops,
        outcome.events,
        outcome.simulated_ps,
        outcome.marks,
        outcome.counts.timeouts,
        outcome.counts.retransmissions,
        outcome.counts.paced,
        outcome.counts.associations,
        outcome.options_in_flight,
        outcome.flow_slots,
    );
    writeln!(text, "{counts:?} {:?}", outcome.packets).expect("a String takes all");
    writeln!(text, "{:?} {:?}", outcome.throughput, outcome.occupancy).expect("a String takes all");
    writeln!(text, "{:?} {:?}", outcome.links, outcome.latency).expect("a String takes all");
    for record in outcome.flows.rows() {
        writeln!(text, "{record:?}").expect("a String takes all");
    }
    writeln!(text, "{:?} {:?}", outcome.queues, outcome.fairness).expect("a String takes all");
    writeln!(text, "{:?}", outcome.queries).expect("a String takes all");
    text
}

/// Runs on one thread and on two; returns the latter.
fn both(parts: &[&str], settings: &[&str]) -> Outcome {
    let one = star::run(&scenario(parts, settings, 1), 1);
    let two = star::run(&scenario(parts, settings, 2), 1);
    assert!(one.second_thread_seconds.is_none());
    assert!(two.second_thread_seconds.is_some());
    let (one, all) = (everything(&one), everything(&two));
    if let Some((here, there)) = one.lines().zip(all.lines()).find(|(a, b)| a != b) {
        panic!("one thread: {here}\ntwo threads: {there}");
    }
    assert_eq!(one.len(), all.len());
    two
}

#[test]
fn the_tree_with_each_scheme() {
    for scheme in [&[][..], &DCTCP, &HULL] {
        let outcome = both(&[TREE, FLOWS], scheme);
        assert!(outcome.packet_hops > 300_000, "{}", outcome.packet_hops);
    }
}

#[test]
fn losses_timeouts_and_selective_acknowledgments() {
    let settings = [
        "switch.buffer=8pkts",
        "workload.flows.load=60%",
        "run.drain=1ms",
    ];
    let outcome = both(&[TREE, FLOWS], &settings);
    assert!(outcome.packets.dropped > 1000 && outcome.counts.timeouts > 10);
    assert!(outcome.packets.in_flight > 0, "the run ends in the middle");
}

#[test]
fn corrupted_packets_and_cut_through() {
    let settings = ["switch.loss=1%", "switch.cut_through=64B"];
    let outcome = both(&[TREE, FLOWS], &settings);
    assert!(outcome.packets.dropped > 100, "{:?}", outcome.packets);
}

#[test]
fn random_early_detection() {
    let red = "switch.red={min=\"20KB\",max=\"60KB\"}";
    let outcome = both(&[TREE, FLOWS], &["transport.ecn=true", red]);
    assert!(outcome.marks > 100, "{}", outcome.marks);
}

#[test]
fn a_run_that_ends_when_all_is_done() {
    let settings = [
        "workload.flows.count=500",
        "run.duration=100s",
        "run.warmup=200us",
    ];
    let outcome = both(&[TREE, FLOWS], &settings);
    assert!(outcome.simulated_ps < 10 * star::SECOND_PS);
}

/// Most of the time nothing happens; a parallel simulator that crept through it would take hours.
#[test]
fn long_silences() {
    let settings = [
        "workload.flows.flows_per_second=2.0",
        "workload.flows.sizes={fixed=\"30KB\"}",
        "run.duration=20s",
        "measure.sample_interval=1s",
    ];
    let flows = "[workload.flows]\nconnections = \"persistent\"\n";
    let outcome = both(&[LEAVES, flows], &settings);
    assert!(outcome.flows.rows().len() > 20);
}

#[test]
fn persistent_connections_and_cut_through() {
    let settings = [
        "workload.flows.connections=persistent",
        "switch.cut_through=64B",
        "transport.ack_every=2",
        "transport.delayed_ack=500us",
        "transport.handshake=true",
        "switch.count_in_service=true",
    ];
    both(&[LEAVES, FLOWS], &settings);
    // The routes of 18,336 connections are more than the two threads' channel holds at once.
    both(&[TREE, FLOWS], &["run.duration=100us", settings[0]]);
}

#[test]
fn fan_out() {
    both(
        &[LEAVES, INCAST],
        &["run.duration=100s", "switch.buffer=20pkts"],
    );
}

/// What cannot be cut runs on one thread.
#[test]
fn a_star_has_no_fabric() {
    let flows = FLOWS.replace("30%", "10%");
    let outcome = star::run(
        &scenario(&["[topology.star]\nhosts = 4\n", &flows], &[], 2),
        1,
    );
    assert!(outcome.second_thread_seconds.is_none());
}

#[test]
fn a_cancelled_run_ends() {
    let scenario = scenario(&[TREE, FLOWS], &["run.duration=1000s"], 2);
    let simulation = match simulation::build(&scenario, 1, None) {
        Ok(simulation) => simulation,
        Err(problem) => panic!("{problem:?}"),
    };
    let control = Control::default();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while control.progress().1 < 100_000 {
                std::thread::yield_now();
            }
            control.cancel();
        });
        assert_eq!(simulation.run(&control).err(), Some(Failure::Cancelled));
    });
}
