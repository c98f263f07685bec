//! An error in one part ends the whole run, and results do not depend on which thread runs a part.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::scenario;
use crate::simulation::{Control, Divided, Failure, Simulation, build_in_parts};

use super::{ServedBy, plan};

pub(super) const SCENARIO: &str = r#"
name = "parts"
[run]
duration = "1000s"
[host]
queue = "fifo"
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
[topology.fat_tree]
k = 4
[workload.flows]
load = "10%"
connections = "per_flow"
sizes.fixed = "1KB"
"#;

/// Builds a run.
pub(super) fn built(settings: &[String], folder: Option<&Path>) -> Simulation {
    let cells = scenario::expand(SCENARIO, "parts.toml", settings).expect("valid");
    build_in_parts(&cells[0].scenario, 1, folder).expect("valid")
}

/// Builds a run on several threads, whose parts are served like this.
pub(super) fn served(settings: &[String], served_by: ServedBy) -> Simulation {
    let mut simulation = built(settings, None);
    let partition = simulation.partition.as_mut().expect("partitioned");
    partition.served_by = served_by;
    simulation
}

pub(super) fn of_threads(fixed: &[&str], threads: usize) -> Vec<String> {
    let threads = format!("run.threads={threads}");
    let fixed = fixed.iter().map(|&setting| setting.to_owned());
    fixed.chain([threads]).collect()
}

/// A thread for each of three parts, one for all, and two; parts that advance unevenly.
const SERVED: [ServedBy; 4] = [
    ServedBy::Threads(3),
    ServedBy::Threads(1),
    ServedBy::Threads(2),
    ServedBy::Interleaved(1),
];

/// A part whose ports are missing panics at once.
#[test]
fn a_panic_in_any_part_ends_the_run() {
    for (part, served_by) in (0..3).flat_map(|part| SERVED.map(|by| (part, by))) {
        let mut simulation = served(&of_threads(&[], 3), served_by);
        let partition = simulation.partition.as_mut().expect("partitioned");
        match part {
            0 => simulation.fabric.network.ports.truncate(1),
            _ => partition.others[part - 1].fabric.network.ports.truncate(1),
        }
        let run = AssertUnwindSafe(|| simulation.run(&Control::default()));
        assert!(catch_unwind(run).is_err(), "part {part}, {served_by:?}");
    }
}

/// Number of parts of a run, its packet-hops, and all of its results as text.
pub(super) fn everything(settings: &[String], served_by: ServedBy) -> (usize, u64, String) {
    let mut simulation = built(settings, None);
    let mut parts = 1;
    if let Some(partition) = &mut simulation.partition {
        partition.served_by = served_by;
        parts = partition.plan.parts;
    }
    let outcome = simulation.run(&Control::default());
    let mut outcome = outcome.expect("runs to its end");
    outcome.other_threads_seconds.clear();
    outcome.divided = Divided::into_one(None);
    (parts, outcome.packet_hops, format!("{outcome:?}"))
}

/// Results equal a single thread's, whoever serves the parts. Cases: losses, timeouts and selective
/// acknowledgments; flows of the warm-up; a run that ends when all flows are complete; pacers; jitter,
/// interrupts and delayed acknowledgments; several queues per port; several transports and groups; a flow
/// per few ns.
#[test]
fn division_does_not_matter() {
    let marking = "switch.marking={threshold=\"15KB\"}";
    let dctcp = "transport={congestion_control=\"dctcp\",ecn=true}";
    let pacer = "pacer={update_interval=\"7.2us\",beta=375,association_timeout=\"1ms\"}";
    for (units, more) in [
        (4, &["switch.buffer=8pkts", "run.drain=10ms"][..]),
        (
            4,
            &[
                "run.warmup=300us",
                "workload.flows.sizes={pareto={shape=1.05,mean=\"20KB\"}}",
                "run.drain=200us",
            ],
        ),
        (4, &["workload.flows.count=200", "run.warmup=50us"]),
        (
            4,
            &[
                "workload.flows.count=300",
                "workload.flows.load=1%",
                "measure.sample_interval=1us",
                "run.duration=1s",
            ],
        ),
        (4, &["workload.flows.count=200", "switch.buffer=5pkts"]),
        (
            4,
            &[
                dctcp,
                pacer,
                "switch.phantom_queue={drain=\"95%\",threshold=\"3KB\"}",
                "workload.flows.sizes={fixed=\"200KB\"}",
            ],
        ),
        (
            3,
            &[
                "topology={leaf_spine={leaves=3,spines=2,hosts_per_leaf=4}}",
                "host.stack_jitter={exponential=\"1us\"}",
                "host.transmit={packet_cost=\"300ns\",frame_cost=\"200ns\"}",
                "host.receive={frames=4,wait=\"20us\",ring=8,packet_cost=\"1us\"}",
                "transport.ack_every=2",
                "transport.delayed_ack=40us",
                "run.drain=1ms",
            ],
        ),
        (
            4,
            &[
                dctcp,
                "host.queue=fair",
                "switch.buffer=20pkts",
                "workload.flows.sizes={pareto={shape=1.05,mean=\"20KB\"}}",
                "transport.small_queues.time=5us",
            ],
        ),
        (
            4,
            &[
                "host.queue=fq",
                "switch.buffer=20pkts",
                "workload.flows.sizes={pareto={shape=1.05,mean=\"20KB\"}}",
            ],
        ),
        (
            4,
            &[
                "switch.priorities=2",
                "workload.high_priority_below=10KB",
                "switch.buffer=20pkts",
                "workload.flows.sizes={pareto={shape=1.05,mean=\"20KB\"}}",
            ],
        ),
        (
            4,
            &[
                "transports={dctcp={congestion_control=\"dctcp\",ecn=true}}",
                "workload.flows.transport=dctcp",
                "groups={low=\"src:0-7\"}",
                "switch.buffer=11pkts",
                "workload.flows.load=80%",
                marking,
            ],
        ),
        (
            8,
            &[
                "topology={tree={}}",
                "workload.flows.sizes={fixed=\"1B\"}",
                "workload.flows.load=1%",
                "run.duration=20us",
            ],
        ),
    ] {
        for counts in [2, 3, 8] {
            let settings = |threads: usize| {
                let few = [
                    "workload.flows.load=60%".to_owned(),
                    "run.duration=500us".to_owned(),
                    format!("run.threads={threads}"),
                ];
                Vec::from_iter(
                    few.into_iter()
                        .chain(more.iter().map(|&one| one.to_owned())),
                )
            };
            let (_, packet_hops, one) = everything(&settings(1), ServedBy::Threads(1));
            assert!(packet_hops > 1000);
            for threads in [counts.min(units), 1] {
                let served_by = ServedBy::Threads(threads);
                let (parts, _, several) = everything(&settings(counts), served_by);
                assert_eq!(parts, counts.min(units), "{more:?}");
                let differ = one
                    .char_indices()
                    .zip(several.chars())
                    .find(|((_, a), b)| a != b);
                if let Some(((at, _), _)) = differ {
                    let from = at.saturating_sub(200);
                    let part = |text: &str| text.chars().skip(from).take(400).collect::<String>();
                    let (one, several) = (part(&one), part(&several));
                    panic!("{counts} threads, {served_by:?}, {more:?}:\n{one}\n\n{several}");
                }
                assert_eq!(one.len(), several.len());
            }
        }
    }
}

/// The last flow completes around the end of the measured time or of the drain, in one part while the
/// others wait.
#[test]
fn last_flow_completes_around_an_end() {
    let settings = |threads: usize, duration_ns: u64, drain: &str| {
        let (duration, drain) = (
            format!("run.duration={duration_ns}ns"),
            format!("run.drain={drain}"),
        );
        let fixed = [
            "workload.flows.count=3",
            "workload.flows.load=90%",
            "workload.flows.sizes={fixed=\"9KB\"}",
            &duration,
            &drain,
        ];
        of_threads(&fixed, threads)
    };
    let outcome = built(&settings(1, 1_000_000, "0s"), None).run(&Control::default());
    let last_ns = outcome.expect("runs to its end").simulated_ps / 1000;
    for drain in ["1ms", "1500ns"] {
        for early_ns in (0..9000).step_by(271) {
            let settings = |threads| settings(threads, last_ns - early_ns, drain);
            let (.., one) = everything(&settings(1), ServedBy::Threads(1));
            for served_by in SERVED {
                let (.., several) = everything(&settings(3), served_by);
                assert!(one == several, "{early_ns} ns, {drain}, {served_by:?}");
            }
        }
    }
}

/// The file of a run's flows is the same, byte for byte: rows have an order.
#[test]
fn rows_of_a_file_do_not_depend_on_parts() {
    let file = |threads: usize| {
        let settings = [
            format!("run.threads={threads}"),
            "run.duration=3ms".to_owned(),
            "workload.flows.load=60%".to_owned(),
        ];
        let name = format!("hull-parts-{}-{threads}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let simulation = built(&settings, Some(&folder));
        let outcome = simulation.run(&Control::default());
        let mut flows = outcome.expect("runs to its end").flows;
        flows.close().expect("a file");
        let bytes = fs::read(folder.join("flows.parquet")).expect("written");
        fs::remove_dir_all(&folder).expect("exists");
        bytes
    };
    let one = file(1);
    assert!(one.len() > 20_000, "{}", one.len());
    for threads in [2, 3] {
        assert!(one == file(threads), "{threads} threads");
    }
}

/// All parts know what hosts send at time 0, before the first event, before any part advances.
#[test]
fn first_packets_wait_for_no_other_part() {
    let folder = std::env::temp_dir().join(format!("hull-first-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let list = folder.join("flows.csv");
    fs::write(&list, "start_ps,src,dst,bytes\n0,0,15,1000\n").expect("writes");
    let flows = format!("workload.flows={}", list.display());
    let settings = |threads| of_threads(&[&flows, "run.duration=1ms"], threads);
    let (.., one) = everything(&settings(1), ServedBy::Threads(1));
    for served_by in SERVED {
        let (parts, _, several) = everything(&settings(3), served_by);
        assert_eq!(parts, 3);
        assert!(one == several, "{served_by:?}");
    }
    fs::remove_dir_all(&folder).expect("exists");
}

/// A cancellation stops every part, whichever part sees it first.
#[test]
fn run_cancelled_before_it_starts_ends() {
    for served_by in SERVED {
        let simulation = served(&of_threads(&[], 3), served_by);
        let control = Control::default();
        control.cancel();
        let failure = simulation.run(&control).err();
        assert_eq!(failure, Some(Failure::Cancelled), "{served_by:?}");
    }
}

/// A result says how its run was divided, or why it was not.
#[test]
fn a_result_names_the_division() {
    let divided = |fixed: &[&str], threads| {
        let settings = of_threads(&[&["run.duration=20us"], fixed].concat(), threads);
        let outcome = built(&settings, None).in_turn().run(&Control::default());
        serde_json::to_string(&outcome.expect("runs to its end").divided).expect("is a table")
    };
    let one = r#"{"by":"none","parts":1,"threads":1"#;
    assert_eq!(divided(&[], 1), format!("{one}}}"));
    assert_eq!(divided(&[], 3), r#"{"by":"hosts","parts":3,"threads":1}"#);
    assert_eq!(divided(&[], 8), r#"{"by":"hosts","parts":4,"threads":1}"#);
    let because = r#","because":"host.offload: timers of a flow's slot send data"}"#;
    assert_eq!(divided(&["host.offload=9KB"], 3), format!("{one}{because}"));
}

/// A small network has one part unless a test asks for more.
#[test]
fn size_decides_whether_a_run_is_divided() {
    let cells = scenario::expand(SCENARIO, "parts.toml", &of_threads(&[], 4)).expect("valid");
    let scenario = &cells[0].scenario;
    let simulation = built(&of_threads(&[], 1), None);
    // 16 hosts of 10 Gbps send 13.7 packets of 1500 bytes in 1.032 us.
    assert!(plan(scenario, &simulation, 13).is_ok());
    let refused = plan(scenario, &simulation, 14).expect_err("is small");
    assert!(refused.starts_with("the network is small"), "{refused}");
}
