//! One run on several threads: the network is divided into parts (`plan`), and each thread simulates
//! some of them (`part`, `worker`). The results equal a single thread's byte for byte.
//!
//! Every part is a [`Simulation`] with all ports, of which it uses its own queues; a cut link has its
//! queue in one part and its packets in flight in others. Each part has some of the hosts and their flows
//! (`flow_table::halves`), and draws the whole workload; part 0 orders the rows of the tables
//! (`ledger`). Each part serves its events in the order of a single thread, and nothing reaches another
//! part without delay, so results do not depend on which part is ahead. `features` alone lists what may be
//! simulated in parts.

mod board;
mod channel;
mod ending;
mod exchange;
mod features;
#[cfg(test)]
mod interleaved;
mod ledger;
mod message;
mod neighbour;
mod part;
mod plan;
#[cfg(test)]
mod real_threads;
mod results;
#[cfg(test)]
mod tests;
mod units;
mod worker;

use std::panic;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;

use super::flow::halves::Halves;
use super::measured::Measured;
use super::{Control, Divided, DividedBy, Failure, Simulation};
use crate::scenario::Scenario;
use crate::workload::{Traffic, Workload};
use board::Board;
use neighbour::Neighbour;
use part::Part;

use plan::Plan;

/// Smallest number of packets that all hosts can send during the lookahead between two parts, so that
/// parts are worth their messages.
pub const LEAST_PACKETS: u64 = 200;

/// Parts of a run other than the first.
#[derive(Debug)]
pub struct Partition {
    plan: Plan,
    /// Parts from number 1 on.
    others: Vec<Simulation>,
    served_by: ServedBy,
}

/// Who serves the parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ServedBy {
    /// This number of threads, each of which has consecutive parts.
    Threads(usize),
    /// One thread, in an order drawn from this seed: parts advance unevenly, as on busy processors, but
    /// each time in the same way.
    #[cfg(test)]
    Interleaved(u64),
}

impl ServedBy {
    fn threads(self) -> usize {
        match self {
            ServedBy::Threads(threads) => threads,
            #[cfg(test)]
            ServedBy::Interleaved(_) => 1,
        }
    }

    /// Number of records in a channel, a power of two.
    fn capacity(self, parts: usize) -> usize {
        match self {
            ServedBy::Threads(_) => RECORDS / parts.next_power_of_two(),
            // Channels are often full, as they are if a thread waits long for its processor.
            #[cfg(test)]
            ServedBy::Interleaved(seed) => 2 << (seed % 4),
        }
    }
}

/// Plan of the parts of a run, at most one for each thread that the scenario asks for, or the reason why
/// there is none. It depends on scenario and graph alone.
pub fn plan(
    scenario: &Scenario,
    simulation: &Simulation,
    least_packets: u64,
) -> Result<Plan, &'static str> {
    if let Some(obstacle) = features::obstacle(scenario) {
        return Err(obstacle);
    }
    if simulation.fabric.graph.has_several_nics() {
        return Err("topology: hosts have several links");
    }
    if !simulation.workload.traffic.is_open() {
        return Err("workload: flows depend on others or share connections");
    }
    let (graph, ports) = (&simulation.fabric.graph, &simulation.fabric.network.ports);
    let smallest_bytes = simulation.endpoints.header_bytes;
    let transit_ps = |port: usize| ports[port].transit_ps(smallest_bytes);
    let end_ps = match scenario.run.warmup.0 {
        0 => simulation.workload.linger_ps,
        // A flow of the warm-up may be the last to complete, which only its receiver knows at once.
        _ => simulation.workload.linger_ps / 2,
    };
    let plan = Plan::new(graph, end_ps, scenario.run.threads as usize, transit_ps).ok_or(
        "topology: the switches of the top tier alone do not connect several pods or leaves",
    )?;
    if !plan.cut.iter().all(|&port| ports[port].can_be_cut()) {
        return Err("a port on the way to another part decides after a packet's arrival");
    }
    let hosts = simulation.endpoints.hosts.ports.iter();
    let bps: f64 = hosts.map(|&port| ports[port as usize].rate_bps()).sum();
    let bits = 8.0 * scenario.transport.mtu.0 as f64;
    let packets = bps * plan.longest_ps() as f64 * 1e-12 / bits;
    if packets < least_packets as f64 {
        return Err(
            "the network is small, or its links are short: parts would wait for each other",
        );
    }
    Ok(plan)
}

/// Largest number of parts of a run.
pub fn most_parts(scenario: &Scenario, traffic: &Traffic) -> u64 {
    match traffic.is_open() && features::obstacle(scenario).is_none() {
        true => u64::from(scenario.run.threads.max(1)),
        false => 1,
    }
}

/// Whether timers due at the same time must have an order that all parts know, because a run may be
/// divided. It does not depend on threads, or on what is measured.
pub fn needs_order_of_timers(scenario: &Scenario, traffic: &Traffic) -> bool {
    features::of_hosts(scenario).is_none() && traffic.is_open()
}

impl Partition {
    /// Makes `first` part 0, and `others`, runs of the same scenario, the other parts. There is a thread
    /// for each part, but no more than processors.
    pub fn new(plan: Plan, first: &mut Simulation, mut others: Vec<Simulation>) -> Partition {
        let slots = Arc::new(AtomicU32::new(0));
        for (number, part) in std::iter::once(first).chain(&mut others).enumerate() {
            let network = &mut part.fabric.network;
            network.become_part(number as u8, &plan.of_ports, &plan.cut);
            let (of_hosts, late_ps) = (plan.of_hosts.clone(), plan.longest_ps());
            let halves = Halves::new(number, of_hosts, late_ps, Arc::clone(&slots));
            part.endpoints.table.halves = Some(Box::new(halves));
        }
        for part in &mut others {
            part.begin();
        }
        let processors = thread::available_parallelism().map_or(1, usize::from);
        let served_by = ServedBy::Threads(plan.parts.min(processors));
        Partition {
            plan,
            others,
            served_by,
        }
    }

    /// How the run is divided.
    pub fn divided(&self) -> Divided {
        Divided {
            by: DividedBy::Hosts,
            parts: self.plan.parts as u32,
            threads: self.served_by.threads() as u32,
            because: None,
        }
    }

    /// Keeps no rows of tables.
    pub fn without_tables(mut self) -> Partition {
        self.others = self
            .others
            .into_iter()
            .map(Simulation::without_tables)
            .collect();
        self
    }

    /// Makes one thread serve all parts.
    pub fn in_turn(mut self) -> Partition {
        self.served_by = ServedBy::Threads(1);
        self
    }

    /// Runs the first parts on this thread and the others on theirs, and adds the others' results to the
    /// first one's. Returns the readings, and the processor times of the other threads, s.
    pub fn run(
        self,
        first: &mut Simulation,
        control: &Control,
    ) -> Result<(Measured, Vec<f64>), Failure> {
        let Partition {
            plan,
            mut others,
            served_by,
        } = self;
        let (of_parts, seconds) = run_all(&plan, first, &mut others, served_by, control)?;
        let mut of_parts = of_parts.into_iter();
        let mut measured = of_parts.next().unwrap_or_default();
        for ((number, other), of_part) in (1..).zip(&mut others).zip(of_parts) {
            measured.join(&of_part, &plan, number);
            results::join(first, other, &plan, number);
        }
        control.forget_others();
        Ok((measured, seconds))
    }
}

/// Runs all parts to their ends. Returns their readings, and the processor times of the threads other
/// than this one, s.
fn run_all(
    plan: &Plan,
    first: &mut Simulation,
    others: &mut [Simulation],
    served_by: ServedBy,
    control: &Control,
) -> Result<(Vec<Measured>, Vec<f64>), Failure> {
    let board = Board::new(plan.parts, served_by.threads());
    let (distances_ps, capacity) = (plan.distances_ps(), served_by.capacity(plan.parts));
    let controls: Vec<_> = others.iter().map(|_| control.of_another_part()).collect();
    let controls = std::iter::once(control).chain(controls.iter().map(|control| &**control));
    let simulations = std::iter::once(first).chain(others);
    let parts = simulations
        .zip(controls)
        .zip(neighbours(plan, capacity))
        .enumerate();
    let part = |(number, ((simulation, control), neighbours))| {
        let to_part = distances_ps.iter().map(|from| from[number]).collect();
        Part::new(number, simulation, control, neighbours, &board, to_part)
    };
    let mut parts = Vec::from_iter(parts.map(part));
    let seconds = match served_by {
        ServedBy::Threads(_) => on_threads(&mut parts, &board),
        #[cfg(test)]
        ServedBy::Interleaved(seed) => interleaved::serve(&mut parts, seed, &board),
    };
    if let Some(failure) = board.failure() {
        return Err(failure);
    }
    parts.iter_mut().for_each(Part::receive_rest);
    while (parts.iter_mut()).fold(false, |any, part| part.send_rest() | any) {
        parts.iter_mut().for_each(Part::receive_rest);
    }
    let of_parts = parts.iter_mut().map(Part::close).collect();
    Ok((of_parts, seconds))
}

/// Serves the parts on their threads, the first of which is this one. Returns the processor times of the
/// others, s.
fn on_threads(parts: &mut [Part<'_>], board: &Board) -> Vec<f64> {
    thread::scope(|scope| {
        let of_threads = parts.chunk_by_mut(|a, b| board.share_thread(a.number, b.number));
        let mut of_threads = of_threads.enumerate();
        let own = of_threads.next();
        let mut threads = Vec::new();
        for (number, parts) in of_threads {
            let work = move || worker::work(number, parts, board);
            match thread::Builder::new().spawn_scoped(scope, work) {
                Ok(thread) => threads.push(thread),
                Err(_) => board.fail(Failure::NoThread),
            }
        }
        if let Some((number, parts)) = own {
            worker::work(number, parts, board);
        }
        let seconds = threads.into_iter().map(|thread| {
            let seconds = thread.join();
            seconds.unwrap_or_else(|panic| panic::resume_unwind(panic))
        });
        seconds.collect()
    })
}

/// Number of records in all channels from a part: some hundred are in transit, and 128 KB stay in a
/// second-level cache.
const RECORDS: usize = 1 << 12;

/// Neighbours of each part, in the order of their numbers, with channels of `capacity` records.
fn neighbours(plan: &Plan, capacity: usize) -> Vec<Vec<Neighbour>> {
    let mut all: Vec<Vec<Neighbour>> = (0..plan.parts).map(|_| Vec::new()).collect();
    for second in 0..plan.parts {
        for first in 0..second {
            let there_ps = plan.lookahead_ps[first][second];
            let back_ps = plan.lookahead_ps[second][first];
            let ahead_ps = [there_ps, back_ps];
            let (of_first, of_second) = Neighbour::pair([first, second], ahead_ps, capacity);
            all[first].push(of_first);
            all[second].push(of_second);
        }
    }
    all
}
