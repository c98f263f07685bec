//! What several threads can gain on one run of a cell, and what they do gain: the cost of handing a word
//! from one core to the other and back, the events per simulated microsecond, the time of the run on
//! one thread and on N, and what each of N parts has to do, by one thread that serves them in turn. No
//! number of threads is faster than the part with the most work, messages included (docs/parallel.md).
//!
//! `cargo run --release -p hull-sim --example partition_limit -- N FILE CONDITION SCHEME [KEY=VALUE]...`

use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hull_sim::measure::thread_seconds;
use hull_sim::scenario::{self, Scenario};
use hull_sim::simulation::{self, Control, Outcome, Simulation};

/// Round trips that are timed.
const TRIPS: u64 = 200_000;

/// A word with its cache lines to itself.
#[repr(align(128))]
struct Word(AtomicU64);

impl Word {
    fn wait_for(&self, value: u64) {
        while self.0.load(Ordering::Acquire) != value {
            std::hint::spin_loop();
        }
    }
}

/// A word to another thread and its answer, ns.
fn round_trip_ns() -> f64 {
    let (there, back) = (Word(AtomicU64::new(0)), Word(AtomicU64::new(0)));
    thread::scope(|scope| {
        scope.spawn(|| {
            for trip in 1..=TRIPS {
                there.wait_for(trip);
                back.0.store(trip, Ordering::Release);
            }
        });
        let start = Instant::now();
        for trip in 1..=TRIPS {
            there.0.store(trip, Ordering::Release);
            back.wait_for(trip);
        }
        start.elapsed().as_nanos() as f64 / TRIPS as f64
    })
}

/// Runs a simulation: the outcome, the seconds on the clock, and the processor seconds of this thread.
fn timed(simulation: Simulation) -> Result<(Outcome, f64, f64), String> {
    let (start, before) = (Instant::now(), thread_seconds());
    let outcome = simulation
        .run(&Control::default())
        .map_err(|failure| format!("{failure:?}"))?;
    let worked = thread_seconds() - before;
    Ok((outcome, start.elapsed().as_secs_f64(), worked))
}

/// The simulation of a scenario on so many threads.
fn built(scenario: &Scenario, threads: u32) -> Result<Simulation, String> {
    let mut scenario = scenario.clone();
    scenario.run.threads = threads;
    simulation::build(&scenario, scenario.run.seed, None).map_err(|problem| problem.to_string())
}

fn run(args: &[String]) -> Result<(), String> {
    let [threads, file, condition, scheme, overrides @ ..] = args else {
        return Err("usage: partition_limit N FILE CONDITION SCHEME [KEY=VALUE]...".to_owned());
    };
    let threads: u32 = threads.parse().map_err(|e| format!("{threads}: {e}"))?;
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let cells = scenario::expand(&text, file, overrides).map_err(|e| e.to_string())?;
    let cell = cells
        .iter()
        .find(|cell| cell.condition == *condition && cell.scheme == *scheme)
        .ok_or_else(|| format!("{file}: no cell {condition}/{scheme}"))?;
    println!("round trip between the cores: {:.0} ns", round_trip_ns());
    let (one, one_seconds, whole) = timed(built(&cell.scenario, 1)?)?;
    let (_, several_seconds, _) = timed(built(&cell.scenario, threads)?)?;
    let (in_turn, _, all_parts) = timed(built(&cell.scenario, threads)?.in_turn())?;
    let per_us = one.events as f64 / (one.simulated_ps as f64 * 1e-6);
    let event_ns = whole * 1e9 / one.events as f64;
    println!("events per simulated microsecond: {per_us:.1}, {event_ns:.1} ns each on one thread");
    let hops = one.packet_hops as f64 * 1e-6;
    for (threads, seconds) in [(1, one_seconds), (threads, several_seconds)] {
        let rate = hops / seconds;
        println!("threads {threads}: {seconds:.3} s, {rate:.1} million packet-hops a second");
    }
    println!("gain: {:.2}", one_seconds / several_seconds);
    if in_turn.part_loads.is_empty() {
        println!("this run cannot be simulated in parts: all took one thread");
        return Ok(());
    }
    println!("processor time: one part {whole:.3} s, all parts in turn {all_parts:.3} s");
    let of_steps: Duration = in_turn.part_loads.iter().map(|load| load.in_turn).sum();
    let mut most = 0.0_f64;
    for (part, load) in in_turn.part_loads.iter().enumerate() {
        let share = 100.0 * load.events as f64 / in_turn.events as f64;
        let messages = load.messages as f64 / in_turn.packet_hops as f64;
        let work = load.in_turn.as_secs_f64() / of_steps.as_secs_f64() * all_parts / whole;
        most = most.max(work);
        let steps = load.steps as f64 / load.events as f64;
        println!(
            "part {part}: {share:.1}% of the events, {steps:.3} steps an event, {messages:.3} messages a \
             packet-hop, {work:.3} of the time of one part"
        );
    }
    println!("no gain above {:.2}", 1.0 / most);
    Ok(())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("partition_limit: {message}");
            ExitCode::FAILURE
        }
    }
}
