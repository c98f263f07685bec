//! Parts served by one thread in an order drawn from a seed, and the tests that need it: what depends
//! on which part is ahead fails here at the first try, on any machine. Times are ps.

use std::cell::Cell;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ServedBy;
use super::board::Board;
use super::part::{Part, Step};
use super::tests::{everything, of_threads, served};
use crate::simulation::hash::mix;
use crate::simulation::{Control, Failure, Simulation};

/// Largest number of steps of a part before the next one: a part that only waits looks at the board.
const MOST_STEPS: u64 = 40;

thread_local! {
    /// Number of steps of the last run.
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Serves all parts to their ends. Each turn gives one part some steps. No other thread takes time.
pub fn serve(parts: &mut [Part<'_>], seed: u64, board: &Board) -> Vec<f64> {
    let (mut draw, mut over) = (seed, vec![false; parts.len()]);
    while over.contains(&false) && !board.is_broken() {
        draw = mix(draw.wrapping_add(0x9e37_79b9_7f4a_7c15));
        let number = (draw % parts.len() as u64) as usize;
        for _ in 0..1 + (draw >> 32) % MOST_STEPS {
            match parts[number].step() {
                Ok(step) => over[number] = step == Step::Over,
                Err(failure) => board.fail(failure),
            }
        }
    }
    STEPS.set(parts.iter().map(|part| part.steps).sum());
    Vec::new()
}

/// A few small flows, the last of which ends in the drain: the run ends when the parts know it, and
/// no part may have served what comes after. Of a flow of the warm-up, the receiver knows it first.
#[test]
fn end_of_a_run_in_the_drain() {
    let few = [
        "workload.flows.load=0.3%",
        "transport.ack_every=1",
        "run.drain=10ms",
    ];
    let (mut differing, mut cases) = ([0; 3], 0);
    for at in 0..84 {
        let warmup_ns = if at % 2 == 0 { 0 } else { 190_000 };
        let duration_ns = 200_037 + 1_219 * at - warmup_ns;
        let warmup = format!("run.warmup={warmup_ns}ns");
        let duration = format!("run.duration={duration_ns}ns");
        let settings = |threads| of_threads(&[&few[..], &[&warmup, &duration]].concat(), threads);
        let (.., one) = everything(&settings(1), ServedBy::Threads(1));
        for (differing, threads) in differing.iter_mut().zip([2, 3, 4]) {
            for seed in 0..4 {
                let served_by = ServedBy::Interleaved(seed);
                let (parts, _, several) = everything(&settings(threads), served_by);
                assert_eq!(parts, threads);
                *differing += usize::from(one != several);
            }
        }
        cases += 4;
    }
    assert_eq!(differing, [0; 3], "of {cases} runs of each division");
}

/// The acknowledgment of a measured flow arrives at the picosecond at which the last byte of a flow of
/// the warm-up does, in another pod, or one before or after. The run is done when both have.
#[test]
fn last_changes_at_the_same_time() {
    let folder = std::env::temp_dir().join(format!("hull-tie-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let list = folder.join("flows.csv");
    let run = |rows: &[(u64, u32, u32, u64)], warmup: &str, threads: usize, seed| {
        let line = |(at, src, dst, bytes): &_| format!("{at},{src},{dst},{bytes}\n");
        let rows = rows.iter().map(line).collect::<String>();
        fs::write(&list, "start_ps,src,dst,bytes\n".to_owned() + &rows).expect("writes");
        let fixed = [
            &format!("workload.flows={}", list.display()),
            "transport.ack_every=1",
            "run.duration=500us",
            &format!("run.warmup={warmup}"),
        ];
        everything(&of_threads(&fixed, threads), ServedBy::Interleaved(seed)).2
    };
    let number = |text: &str, name: &str| {
        let (_, rest) = text.split_once(name).expect("is in a result");
        let end = rest.find(|c: char| !c.is_ascii_digit());
        rest[..end.expect("goes on")]
            .parse::<u64>()
            .expect("is one")
    };
    let early = (90_000_000, 8, 15, 20_000);
    let late = |start_ps| (start_ps, 0, 1, 100);
    let arrival_ps = early.0 + number(&run(&[early], "0s", 1, 0), "fct_ps: ");
    let alone = run(&[late(0)], "0s", 1, 0);
    let acked_ps = number(&alone, "acked: After(");
    let notice_ps = number(&alone, "simulated_ps: ") - acked_ps;
    for shift_ps in [-1, 0, 1] {
        let start_ps = (arrival_ps - acked_ps).saturating_add_signed(shift_ps);
        assert!(start_ps > 100_000_000, "{start_ps} ps is not measured");
        let rows = [early, late(start_ps)];
        let one = run(&rows, "100us", 1, 0);
        let last_ps = arrival_ps.saturating_add_signed(shift_ps.max(0));
        assert_eq!(number(&one, "simulated_ps: "), last_ps + notice_ps);
        for (threads, seed) in [(2, 0), (2, 1), (3, 0), (3, 1), (4, 0), (4, 1)] {
            let several = run(&rows, "100us", threads, seed);
            assert!(one == several, "{threads} parts, {seed}, {shift_ps} ps");
        }
    }
    fs::remove_dir_all(&folder).expect("exists");
}

const SILENT: [&str; 3] = [
    "workload.flows={flows_per_second=2.0,connections=\"per_flow\",sizes={fixed=\"1KB\"}}",
    "measure.sample_interval=10s",
    "run.duration=10s",
];

/// Parts that only wait advance to the next event together: 20 flows in 10 s, which are 10 million
/// times the lookahead, take some ten steps an event.
#[test]
fn parts_cross_a_silence_together() {
    for threads in [2, 3, 4] {
        let simulation = served(&of_threads(&SILENT, threads), ServedBy::Interleaved(1));
        let outcome = simulation.run(&Control::default());
        let events = outcome.expect("runs to its end").events;
        assert!((100..2000).contains(&events), "{events} events");
        let steps = STEPS.get();
        assert!(
            steps < 200 * events,
            "{steps} steps, {events} events, {threads}"
        );
    }
}

/// Few events are served, and a stop is seen all the same.
#[test]
fn a_stop_is_seen_in_a_silence() {
    let control = Control::default();
    control.cancel();
    for threads in [3, 4] {
        for served_by in [ServedBy::Interleaved(1), ServedBy::Threads(1)] {
            let simulation = served(&of_threads(&SILENT, threads), served_by);
            assert_eq!(simulation.run(&control).err(), Some(Failure::Cancelled));
        }
    }
}

/// The part that fails says why, whichever it is; the others stop.
#[test]
fn too_many_flows_in_one_part() {
    for served_by in [1, 2, 3].map(ServedBy::Threads) {
        for part in 0..3 {
            let mut simulation = served(&of_threads(&[], 3), served_by);
            let table = match part {
                0 => &mut simulation.endpoints.table,
                _ => {
                    let partition = simulation.partition.as_mut().expect("partitioned");
                    &mut partition.others[part - 1].endpoints.table
                }
            };
            table.most_slots = 20;
            let failure = simulation.run(&Control::default()).err();
            assert_eq!(
                failure,
                Some(Failure::TooManyFlows),
                "{part}, {served_by:?}"
            );
        }
    }
}

/// What would make results depend on timing ends the run, in builds for users too.
#[test]
fn a_part_that_is_too_far_ahead_ends_the_run() {
    let message = |simulation: Simulation| {
        let run = AssertUnwindSafe(|| simulation.run(&Control::default()));
        let panic = catch_unwind(run).expect_err("is not right");
        panic.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let served_by = ServedBy::Interleaved(1);
    let fixed = ["run.duration=10ms", "workload.flows.load=60%"];
    let mut simulation = served(&of_threads(&fixed, 3), served_by);
    let plan = &mut simulation.partition.as_mut().expect("partitioned").plan;
    for lookahead_ps in plan.lookahead_ps.iter_mut().flatten() {
        *lookahead_ps = lookahead_ps.saturating_mul(4);
    }
    let text = message(simulation);
    assert!(text.contains("which has served its events until"), "{text}");
    let fixed = ["workload.flows.count=50", "run.duration=1s"];
    let mut simulation = served(&of_threads(&fixed, 2), served_by);
    simulation.workload.linger_ps = 1;
    let partition = simulation.partition.as_mut().expect("partitioned");
    partition.others[0].workload.linger_ps = 1;
    let text = message(simulation);
    assert!(text.contains("of a run that ends at"), "{text}");
}
