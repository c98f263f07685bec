//! An error in one part ends the whole run, and results do not depend on which thread runs a part.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::scenario;
use crate::scenario::{Resolved, Scenario};
use crate::simulation::{Control, Divided, DividedBy, Failure, Simulation, build};

use super::board::Board;
use super::part::{Part, Phase, Step};
use super::worker::Manner;
use super::{ByHostsIf, Partition, neighbours};

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

/// Builds a run that is divided by hosts if it may be, or never.
pub(super) fn built(scenario: &Scenario, by_hosts: bool) -> Simulation {
    written(scenario, by_hosts, None)
}

pub(super) fn written(scenario: &Scenario, by_hosts: bool, folder: Option<&Path>) -> Simulation {
    let by_hosts_if = ByHostsIf {
        processors: usize::MAX,
        least_packets: if by_hosts { 0 } else { u64::MAX },
        least_ports: 0,
        least_ports_if_free: 0,
    };
    let scenario = Resolved::new(scenario.clone()).expect("valid");
    build::divided(&scenario, None, 1, folder, by_hosts_if).expect("valid")
}

fn in_parts(threads: usize, by_hosts: bool) -> Simulation {
    let threads = [format!("run.threads={threads}")];
    let cells = scenario::expand(SCENARIO, "parts.toml", &threads).expect("valid");
    built(&cells[0].scenario, by_hosts)
}

const MANNERS: [Manner; 6] = [
    Manner::Adaptive,
    Manner::Joined,
    Manner::InTurn,
    Manner::Apart,
    Manner::Alternating,
    Manner::EdgeLast,
];

/// A part whose ports are missing panics at once.
#[test]
fn a_panic_in_any_part_ends_the_run() {
    for (threads, manner) in [2, 3, 5].into_iter().flat_map(with_manners) {
        for (part, by_hosts) in (0..threads.min(4)).flat_map(|part| [(part, false), (part, true)]) {
            let mut simulation = in_parts(threads, by_hosts);
            let partition = simulation.partition.as_mut().expect("partitioned");
            partition.manner = manner;
            match part {
                0 => simulation.fabric.network.ports.truncate(1),
                _ => partition.others[part - 1].fabric.network.ports.truncate(1),
            }
            let run = AssertUnwindSafe(|| simulation.run(&Control::default()));
            let panics = catch_unwind(run).is_err();
            assert!(panics, "part {part} of {threads}, {manner:?}");
        }
    }
}

/// A part's thread may end once all parts have served their events, before it receives the last
/// packets. Here part 1 does nothing after its own end, while part 2 still serves the last us.
#[test]
fn packets_after_a_threads_end_count_as_in_flight() {
    let settings = [
        "run.threads=3",
        "run.duration=100us",
        "run.drain=4us",
        "workload.flows.load=60%",
    ];
    let settings = settings.map(str::to_owned);
    let cells = scenario::expand(SCENARIO, "parts.toml", &settings).expect("valid");
    let mut edge = built(&cells[0].scenario, false);
    let Partition {
        plan, mut others, ..
    } = *edge.partition.take().expect("partitioned");
    for other in &mut others {
        other.fabric.network.copy_routes(&edge.fabric.network);
    }
    edge.fabric.network.forget_new_routes();

    let (board, control) = (Board::new(3), Control::default());
    let distances_ps = plan.distances_ps();
    let simulations = std::iter::once(&mut edge).chain(&mut others);
    let parts = simulations.zip(neighbours(&plan)).enumerate();
    let mut parts = Vec::from_iter(parts.map(|(n, (simulation, neighbours))| {
        let to_part = distances_ps.iter().map(|from| from[n]).collect();
        Part::new(n, simulation, &control, neighbours, &board, to_part)
    }));
    parts[2].stop_at(103_100_000);
    let mut drains = false;
    while !drains || parts[1].progress().is_some() {
        for part in &mut parts {
            while part.step(false).expect("is not cancelled") == Step::Ahead {
                drains |= matches!(part.progress(), Some((Phase::Draining, _)));
            }
        }
    }
    parts[2].stop_at(u64::MAX);
    while !board.are_all_done() {
        for n in [0, 2] {
            parts[n].step(false).expect("is not cancelled");
        }
    }
    let before = parts[1].simulation().fabric.network.packets();
    parts[1].receive_rest();
    assert!(parts[1].simulation().fabric.network.packets() > before);
    assert!(!parts[1].has_new());
}

fn with_manners(threads: usize) -> impl Iterator<Item = (usize, Manner)> {
    MANNERS.into_iter().map(move |manner| (threads, manner))
}

/// Number of parts of a short run, and all of its results as text.
fn everything(settings: &[String], manner: Option<Manner>, by_hosts: bool) -> (usize, String) {
    let (parts, packet_hops, text) = everything_of(settings, manner, by_hosts);
    assert!(packet_hops > 1000);
    (parts, text)
}

/// The same for a run that may be empty.
pub(super) fn everything_of(
    settings: &[String],
    manner: Option<Manner>,
    by_hosts: bool,
) -> (usize, u64, String) {
    let cells = scenario::expand(SCENARIO, "parts.toml", settings).expect("valid");
    let mut simulation = built(&cells[0].scenario, by_hosts);
    let mut parts = 1;
    if let (Some(partition), Some(manner)) = (&mut simulation.partition, manner) {
        partition.manner = manner;
        parts = partition.plan.parts;
    }
    let outcome = simulation.run(&Control::default());
    let mut outcome = outcome.expect("runs to its end");
    outcome.other_threads_seconds.clear();
    outcome.part_loads.clear();
    outcome.divided = Divided::default();
    (parts, outcome.packet_hops, format!("{outcome:?}"))
}

/// Results equal a single thread's if each part has its own thread, if one thread serves all parts
/// (joined or in turn), and if these modes alternate. Cases: small buffers, a warm-up, multiple
/// queues per port, and switches that are in one part because their ports share memory.
#[test]
fn assignment_of_parts_to_threads_does_not_matter() {
    for more in [
        &["switch.buffer=8pkts", "run.drain=1ms"][..],
        &["switch.memory={size=\"30KB\",alpha=\"100%\"}"],
        &[
            "run.warmup=300us",
            "switch.memory={size=\"30KB\",alpha=\"100%\"}",
            "switch.priorities=2",
            "workload.high_priority_below=10KB",
        ],
        &["run.warmup=300us", "switch.red={min=\"3KB\",max=\"30KB\"}"],
    ] {
        // On fewer processors, eight threads with own parts wait for each other: a shorter run.
        for (duration, counts) in [("500us", &[2, 3][..]), ("100us", &[8])] {
            let settings = |threads: usize| {
                let few = ["workload.flows.load=60%"];
                let settings = few.iter().chain(more).map(|&setting| setting.to_owned());
                let run = [
                    ("duration", duration.to_owned()),
                    ("threads", threads.to_string()),
                ];
                let run = run.map(|(key, value)| format!("run.{key}={value}"));
                Vec::from_iter(settings.chain(run))
            };
            let (_, one) = everything(&settings(1), None, false);
            for (threads, manner) in counts.iter().copied().flat_map(with_manners) {
                let (parts, several) = everything(&settings(threads), Some(manner), false);
                assert_eq!(parts, threads);
                assert!(one == several, "{threads} threads, {manner:?}, {more:?}");
            }
        }
    }
}

/// The same for a run that is divided by hosts. Cases: losses, timeouts and selective acknowledgments;
/// flows of the warm-up; a run that ends when all flows are complete; pacers; jitter, interrupts and
/// delayed acknowledgments; several queues per port; several transports and groups; a flow per few ns.
#[test]
fn division_by_hosts_does_not_matter() {
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
            let (_, one) = everything(&settings(1), None, true);
            for manner in [Manner::Apart, Manner::InTurn, Manner::Alternating] {
                let (parts, several) = everything(&settings(counts), Some(manner), true);
                assert_eq!(parts, counts.min(units), "{more:?}");
                let differ = one
                    .char_indices()
                    .zip(several.chars())
                    .find(|((_, a), b)| a != b);
                if let Some(((at, _), _)) = differ {
                    let from = at.saturating_sub(200);
                    let part = |text: &str| text.chars().skip(from).take(400).collect::<String>();
                    let (one, several) = (part(&one), part(&several));
                    panic!("{counts} threads, {manner:?}, {more:?}:\n{one}\n\n{several}");
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
        vec![
            "workload.flows.count=3".to_owned(),
            "workload.flows.load=90%".to_owned(),
            "workload.flows.sizes={fixed=\"9KB\"}".to_owned(),
            format!("run.duration={duration_ns}ns"),
            format!("run.drain={drain}"),
            format!("run.threads={threads}"),
        ]
    };
    let cells = scenario::expand(SCENARIO, "parts.toml", &settings(1, 1_000_000, "0s"));
    let outcome = built(&cells.expect("valid")[0].scenario, false).run(&Control::default());
    let last_ns = outcome.expect("runs to its end").simulated_ps / 1000;
    for drain in ["1ms", "1500ns"] {
        for early_ns in (0..9000).step_by(271) {
            let settings = |threads| settings(threads, last_ns - early_ns, drain);
            let (.., one) = everything_of(&settings(1), None, true);
            for (by_hosts, manner) in [
                (true, Manner::Apart),
                (true, Manner::InTurn),
                (true, Manner::Alternating),
                (false, Manner::Apart),
                (false, Manner::InTurn),
            ] {
                let (.., several) = everything_of(&settings(3), Some(manner), by_hosts);
                assert!(
                    one == several,
                    "{early_ns} ns, {drain}, {manner:?}, {by_hosts}"
                );
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
        let cells = scenario::expand(SCENARIO, "parts.toml", &settings).expect("valid");
        let name = format!("hull-parts-{}-{threads}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let simulation = written(&cells[0].scenario, true, Some(&folder));
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
    // One flow begins with the run, and there is no other event before the first reply.
    let settings = |threads: usize| {
        let traffic = "workload={bulk={flows=1}}";
        let times = "run={warmup=\"1ms\",duration=\"1ms\"}";
        let threads = format!("run.threads={threads}");
        ["topology={fat_tree={k=2}}", traffic, times, &threads].map(str::to_owned)
    };
    let (_, one) = everything(&settings(1), None, false);
    for (threads, manner) in [2, 3, 5].into_iter().flat_map(with_manners) {
        let (_, several) = everything(&settings(threads), Some(manner), false);
        assert!(one == several, "{threads} threads, {manner:?}");
    }
}

/// A cancellation stops every part, whichever part sees it first.
#[test]
fn run_cancelled_before_it_starts_ends() {
    let cases = [1, 2, 3, 5].into_iter().flat_map(with_manners);
    for (case, by_hosts) in cases.flat_map(|case| [(case, false), (case, true)]) {
        let (threads, manner) = case;
        let mut simulation = in_parts(threads, by_hosts);
        if let Some(partition) = &mut simulation.partition {
            partition.manner = manner;
        }
        let control = Control::default();
        control.cancel();
        let failure = simulation.run(&control).err();
        assert_eq!(failure, Some(Failure::Cancelled), "{threads}, {manner:?}");
    }
}

/// Two parts have hosts in a large network, even if other processes run, and never in a small one
/// without pacers. In between they do if two processors are free, which is not decided here.
#[test]
fn size_decides_whether_two_parts_have_hosts() {
    let rule = ByHostsIf {
        processors: 2,
        least_packets: 0,
        least_ports: 300,
        least_ports_if_free: 200,
    };
    assert!(rule.are_two_worthwhile(300, false));
    assert!(rule.are_two_worthwhile(300, true));
    assert!(!rule.are_two_worthwhile(199, false));
}

/// A result says how its run was divided.
#[test]
fn a_result_names_the_division() {
    for (threads, by_hosts, manner, by, expected) in [
        (1, true, Manner::InTurn, DividedBy::None, (1, 1)),
        (3, true, Manner::InTurn, DividedBy::Hosts, (3, 1)),
        (3, true, Manner::Apart, DividedBy::Hosts, (3, 3)),
        (8, true, Manner::Adaptive, DividedBy::Hosts, (4, 4)),
        (3, false, Manner::Joined, DividedBy::Switches, (3, 1)),
    ] {
        let settings = [
            format!("run.threads={threads}"),
            "run.duration=20us".to_owned(),
        ];
        let cells = scenario::expand(SCENARIO, "parts.toml", &settings).expect("valid");
        let mut simulation = built(&cells[0].scenario, by_hosts);
        if let Some(partition) = &mut simulation.partition {
            partition.manner = manner;
        }
        let outcome = simulation.run(&Control::default());
        let divided = outcome.expect("runs to its end").divided;
        assert_eq!(divided.by, by);
        assert_eq!((divided.parts, divided.threads), expected, "{manner:?}");
    }
    let text = serde_json::to_string(&Divided::default()).expect("is a table");
    assert_eq!(text, r#"{"by":"none","parts":1,"threads":1}"#);
}
