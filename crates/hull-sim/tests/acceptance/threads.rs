//! A run gives byte-identical results on any number of threads (`run.threads`): flows in order, samples,
//! links, every count. Both sides of the comparison come from hull; other files check that the results
//! are correct. The networks are smaller than those that hull divides for users.

use std::fmt::Write;

use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{Control, Failure, Outcome, Simulation, build_in_parts};

use super::star;

const BASE: &str = r#"
name = "threads"
[run]
duration = "3ms"
[host]
queue = "fifo"
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
const FAT_TREE: &str = "[topology.fat_tree]\nk = 4\n";
const LEAVES: &str = "[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n";

const FLOWS: &str = r#"
[workload.flows]
load = "30%"
connections = "per_flow"
sizes.pareto = { shape = 1.05, mean = "100KB" }
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

/// Thread counts compared with one: some divide the units evenly, and some may exceed the machine's
/// processors.
const THREADS: [u32; 4] = [2, 3, 4, 8];

fn scenario(parts: &[&str], settings: &[&str], threads: u32) -> Scenario {
    let text = format!("{BASE}{}", parts.concat());
    let mut settings: Vec<String> = settings.iter().map(|&s| s.to_owned()).collect();
    settings.push(format!("run.threads={threads}"));
    match scenario::expand(&text, "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

/// All results of a run, as text.
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
    writeln!(text, "{counts:?} {:?}", outcome.packets).expect("writes to a String");
    writeln!(text, "{:?} {:?}", outcome.throughput, outcome.occupancy).expect("writes to a String");
    writeln!(text, "{:?} {:?}", outcome.links, outcome.latency).expect("writes to a String");
    for record in outcome.flows.rows() {
        writeln!(text, "{record:?}").expect("writes to a String");
    }
    writeln!(text, "{:?} {:?}", outcome.queues, outcome.fairness).expect("writes to a String");
    writeln!(text, "{:?} {:?}", outcome.queries, outcome.transports).expect("writes to a String");
    let ends = (outcome.flows.groups(), &outcome.last_flows);
    writeln!(text, "{ends:?}").expect("writes to a String");
    text
}

/// Compares one thread with several; returns the outcome.
fn on_all(parts: &[&str], settings: &[&str]) -> Outcome {
    on_each(parts, settings, &THREADS)
}

fn built(scenario: &Scenario) -> Simulation {
    match build_in_parts(scenario, 1, None) {
        Ok(simulation) => simulation,
        Err(problem) => panic!("{problem:?}"),
    }
}

/// Runs on the threads that this machine has, and on one for all parts.
fn on_threads(scenario: &Scenario) -> [Outcome; 2] {
    [built(scenario), built(scenario).in_turn()].map(|simulation| {
        let outcome = simulation.run(&Control::default());
        outcome.expect("runs to its end")
    })
}

fn on_each(parts: &[&str], settings: &[&str], threads: &[u32]) -> Outcome {
    let one = star::run(&scenario(parts, settings, 1), 1);
    assert!(one.other_threads_seconds.is_empty());
    let text = everything(&one);
    for &threads in threads {
        for outcome in on_threads(&scenario(parts, settings, threads)) {
            let parts = outcome.divided.parts;
            assert!((2..=threads).contains(&parts), "{parts} of {threads}");
            let all = everything(&outcome);
            if let Some((here, there)) = text.lines().zip(all.lines()).find(|(a, b)| a != b) {
                panic!("one thread: {here}\n{threads} threads: {there}");
            }
            assert_eq!(text.len(), all.len());
        }
    }
    one
}

#[test]
fn each_network_with_each_scheme() {
    for (network, duration, hops) in [
        (TREE, "run.duration=300us", 10_000),
        (FAT_TREE, "run.duration=1ms", 3_000),
        (LEAVES, "run.duration=1ms", 1_000),
    ] {
        for scheme in [&[][..], &DCTCP, &HULL] {
            // Cut short: other tests run until completion, with long idle periods.
            let settings = [&[duration, "run.drain=200us"], scheme].concat();
            let outcome = on_all(&[network, FLOWS], &settings);
            assert!(outcome.packet_hops > hops, "{}", outcome.packet_hops);
        }
    }
}

#[test]
fn losses_timeouts_and_selective_acknowledgments() {
    let settings = [
        "switch.buffer=8pkts",
        "workload.flows.load=60%",
        "run.drain=1ms",
    ];
    let outcome = on_all(&[TREE, FLOWS], &settings);
    assert!(outcome.packets.dropped > 1000 && outcome.counts.timeouts > 10);
    assert!(outcome.packets.in_flight > 0, "the run ends in the middle");
}

#[test]
fn corrupted_packets_and_cut_through() {
    let settings = ["switch.loss=1%", "switch.cut_through=64B"];
    let outcome = on_all(&[TREE, FLOWS], &settings);
    assert!(outcome.packets.dropped > 100, "{:?}", outcome.packets);
}

#[test]
fn packets_lost_on_the_links_of_hosts() {
    let single = "topology.links=[{link=\"h0--tor0_0\",loss=\"20%\"}]";
    let settings = ["host.loss=1%", single];
    let outcome = on_all(&[TREE, FLOWS], &settings);
    assert!(outcome.packets.dropped > 100, "{:?}", outcome.packets);
}

#[test]
fn random_early_detection() {
    let red = "switch.red={min=\"3KB\",max=\"30KB\",weight=\"5%\"}";
    let load = "workload.flows.load=60%";
    let outcome = on_all(&[FAT_TREE, FLOWS], &["transport.ecn=true", red, load]);
    assert!(outcome.marks > 100, "{}", outcome.marks);
}

#[test]
fn a_run_that_ends_when_all_is_done() {
    let settings = [
        "workload.flows.count=500",
        "run.duration=100s",
        "run.warmup=200us",
    ];
    let outcome = on_all(&[TREE, FLOWS], &settings);
    assert!(outcome.simulated_ps < 10 * star::SECOND_PS);
    // The flows of the warm-up are no rows, and belong to the traffic.
    let last = outcome.last_flows["flows"];
    let end_ps = outcome
        .flows
        .rows()
        .iter()
        .map(|row| row.start_ps + row.fct_ps)
        .max();
    let took_us = end_ps.unwrap_or(0) as f64 * 1e-6 - last.completion_us.expect("all completed");
    assert!(
        (0.0..20.0).contains(&took_us),
        "the first flow started after {took_us} us"
    );
    assert_eq!((last.flows, last.unfinished), (500, 0));
}

/// Ports with several queues select the next packet when the link is free, or slightly earlier.
#[test]
fn priority_classes() {
    let classes = [
        "switch.priorities=2",
        "workload.high_priority_below=10KB",
        "switch.buffer=20pkts",
        "workload.flows.load=60%",
        "run.drain=1ms",
    ];
    for more in [
        &["switch.commit=3KB"][..],
        &["switch.cut_through=64B", "switch.count_in_service=true"],
        &["switch.dwrr.weights=[1, 3]"],
    ] {
        for network in [FAT_TREE, LEAVES] {
            let outcome = on_all(&[network, FLOWS], &[&classes, more].concat());
            assert!(outcome.packets.dropped > 0, "{:?}", outcome.packets);
        }
    }
}

/// Coupled queues mark and drop when the link is free.
#[test]
fn active_queue_management() {
    let settings = [
        "transports={prague={congestion_control=\"prague\",ecn=true}}",
        "workload.flows.transport=prague",
        "workload.flows.load=60%",
        "run.drain=1ms",
        "switch.dualpi2={typical_rtt=\"50us\",step=\"20us\"}",
    ];
    for network in [FAT_TREE, LEAVES] {
        let outcome = on_all(&[network, FLOWS], &settings);
        assert!(outcome.marks > 0);
    }
}

/// Each flow has its own queue in its host; its slot in a part does not matter.
#[test]
fn queues_of_a_host() {
    for queue in ["fair", "fq", "fq_codel"] {
        let queue = format!("host.queue={queue}");
        let settings = [
            &queue,
            "workload.flows.load=60%",
            "workload.flows.sizes={pareto={shape=1.05,mean=\"20KB\"}}",
            "transport.small_queues.time=10us",
        ];
        for network in [FAT_TREE, LEAVES] {
            let outcome = on_all(&[network, FLOWS], &settings);
            assert!(outcome.packet_hops > 3000);
        }
    }
}

/// More traffic in a lookahead, and more units.
#[test]
fn fast_links() {
    let fast = [
        "topology.fat_tree.k=8",
        "host.rate=100Gbps",
        "switch.rate=100Gbps",
        "run.duration=100us",
        "run.drain=300us",
        "workload.flows.load=50%",
    ];
    for scheme in [&["switch.buffer=20pkts"][..], &DCTCP, &HULL] {
        let outcome = on_each(
            &[FAT_TREE, FLOWS],
            &[&fast, scheme].concat(),
            &[2, 3, 8, 64],
        );
        assert!(outcome.packet_hops > 10_000, "{}", outcome.packet_hops);
    }
}

/// Idle most of the time; a parallel run in small steps through idle time would take hours.
#[test]
fn long_silences() {
    let settings = [
        "workload.flows.flows_per_second=20.0",
        "workload.flows.sizes={fixed=\"30KB\"}",
        "run.duration=2s",
        "measure.sample_interval=1s",
    ];
    let flows = "[workload.flows]\nconnections = \"per_flow\"\n";
    let outcome = on_all(&[LEAVES, flows], &settings);
    assert!(outcome.flows.rows().len() > 20);
}

#[test]
fn handshakes_and_delayed_acknowledgments() {
    let settings = [
        "switch.cut_through=64B",
        "transport.ack_every=2",
        "transport.delayed_ack=500us",
        "transport.handshake=true",
        "switch.count_in_service=true",
    ];
    on_all(&[LEAVES, FLOWS], &settings);
}

/// Asks for four threads and gets one. Returns the reason.
fn undivided(parts: &[&str], settings: &[&str]) -> &'static str {
    let divided = |simulation: Simulation| {
        let outcome = simulation.run(&Control::default());
        outcome.expect("runs to its end").divided
    };
    let short = ["run.duration=10us", "run.drain=0s"];
    let scenario = scenario(parts, &[settings, &short].concat(), 4);
    let divided = divided(built(&scenario));
    assert_eq!((divided.parts, divided.threads), (1, 1), "{settings:?}");
    divided.because.expect("says why")
}

/// There are no more parts than the network has pods or leaves, and none in other networks.
#[test]
fn no_more_parts_than_the_network_has() {
    let parts = |shape: &str| {
        let scenario = scenario(&[shape, FLOWS], &["run.duration=10us", "run.drain=0s"], 64);
        let outcome = built(&scenario).run(&Control::default());
        outcome.expect("runs to its end").divided.parts
    };
    assert_eq!([LEAVES, FAT_TREE, TREE].map(parts), [3, 4, 8]);
    for shape in [
        "[topology.star]\nhosts = 4\n",
        "[topology.dumbbell]\npairs = 2\n",
    ] {
        let because = undivided(&[shape, &FLOWS.replace("30%", "10%")], &[]);
        assert!(because.starts_with("topology "), "{because}");
    }
}

/// Dequeue marking, PIE, RCP, QCN, link failures, state that flows or ports share, and measurements
/// across parts take one thread.
#[test]
fn features_that_need_one_thread() {
    let link = "leaf0--spine0";
    let failure = format!("topology.failures=[{{link=\"{link}\",at=\"400us\",until=\"900us\"}}]");
    let late = [&DCTCP[..], &["switch.marking.on=dequeue"]].concat();
    let marking = "{threshold=\"90KB\",on=\"dequeue\"}";
    let late_port = format!("switch.ports=[{{tier=\"leaf-spine\",marking={marking}}}]");
    let times = "interval=\"10us\",round_trip=\"12us\"";
    let rcp = format!("switch.rcp={{algorithm=\"rcp\",alpha=\"40%\",beta=\"20%\",{times}}}");
    for (settings, begin) in [
        (&late[..], "a switch decides"),
        (&["transport.ecn=true", &late_port], "a switch decides"),
        (&[&failure], "topology.failures"),
        (
            &["transport.congestion_control=rcp", &rcp],
            "a switch decides",
        ),
        (
            &[
                "transport.congestion_control=qcn",
                "transport.qcn.initial_rate=1Gbps",
                "switch.qcn.equilibrium=4KB",
            ],
            "a switch decides",
        ),
        (&["switch.pie={}"], "a switch decides"),
        (&["switch.fq_codel={}"], "switch.fq_codel"),
        (
            &["switch.memory={size=\"60KB\",alpha=\"100%\"}"],
            "switch.memory",
        ),
        (&["host.nic_queues=4"], "host.nic_queues"),
        (&["host.offload=9KB"], "host.offload"),
        (&["measure.probe={}"], "measure.probe"),
        (&["measure.ports=[\"leaf-spine\"]"], "measure.ports"),
        (&["measure.flows={count=9}"], "measure.flows"),
        (
            &["workload.flows.connections=persistent"],
            "workload: flows",
        ),
    ] {
        let because = undivided(&[LEAVES, FLOWS], settings);
        assert!(because.starts_with(begin), "{settings:?}: {because}");
    }
    let because = undivided(
        &[LEAVES, "[workload.incast]\ntotal = \"1MB\"\nqueries = 3\n"],
        &[],
    );
    assert!(because.starts_with("workload: flows"), "{because}");
}

/// A network that is too small to gain has one part in a user's run.
#[test]
fn small_networks_are_not_divided() {
    let outcome = star::run(&scenario(&[LEAVES, FLOWS], &["run.duration=10us"], 2), 1);
    let because = outcome.divided.because.expect("says why");
    assert!(because.starts_with("the network is small"), "{because}");
}

#[test]
fn a_cancelled_run_ends() {
    for threads in [2, 3, 8] {
        let scenario = scenario(&[TREE, FLOWS], &["run.duration=1000s"], threads);
        let simulation = built(&scenario);
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
}
