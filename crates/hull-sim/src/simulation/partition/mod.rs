//! One run on several threads: the network is divided into parts (`plan`), and each part is
//! simulated by its own thread (`part`, `worker`) or joined to the others for a while (`joined`).
//! The results equal a single thread's byte for byte.
//!
//! Every part is a [`Simulation`] with all ports, of which it uses its own queues; a cut link has its
//! queue in one part and its packets in flight in others. Part 0 is the edge, which has the hosts and
//! with them flows, slots, the workload and its random numbers; or each part has some of the hosts and
//! their flows ([`halves`](super::halves)). Each part serves its events in the order of a single thread,
//! and nothing reaches another part without delay, so results do not depend on which part is ahead.
//! `features` alone lists what may be simulated in parts.

mod board;
mod by_hosts;
mod channel;
mod ending;
mod exchange;
mod features;
#[cfg(test)]
mod interleaved;
mod joined;
mod ledger;
mod message;
mod meter;
mod neighbour;
mod part;
mod plan;
mod processors;
#[cfg(test)]
mod real_threads;
#[cfg(test)]
mod tests;
mod worker;

use std::panic;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::thread;

use super::divided_flows::Halves;
use super::outcome::Measured;
use super::{Control, Divided, DividedBy, Endpoints, Fabric, Failure, PartLoad, Simulation, Tally};
use crate::scenario::Scenario;
use crate::workload::{Traffic, Workload};
use board::Board;
use neighbour::Neighbour;
use part::Part;
use worker::{Manner, Workers};

use plan::Whole;

pub use plan::Plan;

/// When a run that may be divided by hosts is.
#[derive(Clone, Copy, Debug)]
pub struct ByHostsIf {
    /// Largest number of parts: one per processor, because parts with hosts are never joined.
    pub processors: usize,
    /// Smallest number of packets that all hosts can send during the lookahead between two parts.
    pub least_packets: u64,
    /// Smallest number of ports, if there are two parts. Beside a busy process, edge and fabric
    /// lose less in a smaller network, because they can be joined.
    pub least_ports: usize,
    /// The same if two processors are free when the run begins, and hosts have no pacers: edge and
    /// fabric gain as much in a smaller network. With pacers, the edge has more work than the fabric.
    pub least_ports_if_free: usize,
}

impl ByHostsIf {
    /// The rule on this machine.
    pub fn worthwhile() -> ByHostsIf {
        ByHostsIf {
            processors: thread::available_parallelism().map_or(1, usize::from),
            least_packets: 200,
            least_ports: 20_000,
            least_ports_if_free: 10_000,
        }
    }

    /// Whether a network with this number of ports is worth two parts with hosts.
    fn are_two_worthwhile(self, ports: usize, has_pacers: bool) -> bool {
        let is_large = has_pacers || ports >= self.least_ports_if_free;
        ports >= self.least_ports || is_large && processors::are_free(2)
    }
}

/// Parts of a run other than the edge.
#[derive(Debug)]
pub struct Partition {
    plan: Plan,
    /// Parts from number 1 on.
    others: Vec<Simulation>,
    /// Assignment of threads to parts.
    manner: Manner,
}

/// Plan of the parts of a run, if the scenario requests several threads and all of its features may
/// be simulated in parts.
pub fn plan(scenario: &Scenario, simulation: &Simulation, by_hosts_if: ByHostsIf) -> Option<Plan> {
    if scenario.run.threads < 2 || !features::are_divisible(scenario) {
        return None;
    }
    let ports = &simulation.fabric.network.ports;
    let smallest_bytes = simulation.endpoints.header_bytes;
    let transit_ps = |port: usize| ports[port].transit_ps(smallest_bytes);
    let threads = scenario.run.threads as usize;
    if let Some(plan) = plan_by_hosts(scenario, simulation, by_hosts_if) {
        return Some(plan);
    }
    // Ports that share memory stay together, and the client's port is read at the edge.
    let shares_memory = scenario.switch.memory.is_some();
    let whole = shares_memory.then(|| Whole {
        port: simulation.instruments.client_port,
        hops: simulation.fabric.routes.longest_path(),
    });
    let graph = &simulation.fabric.graph;
    let plan = Plan::new(graph, simulation.fabric.notice, threads, whole, transit_ps)?;
    let mut cut = plan.cut.iter();
    cut.all(|&port| ports[port].can_be_cut()).then_some(plan)
}

/// Largest number of parts of a run.
pub fn most_parts(scenario: &Scenario) -> u64 {
    match features::are_divisible(scenario) {
        true => u64::from(scenario.run.threads.max(1)),
        false => 1,
    }
}

/// Whether timers due at the same time must have an order that all parts know, because a run may be
/// divided by hosts. It does not depend on threads, or on what is measured.
pub fn needs_order_of_timers(scenario: &Scenario, traffic: &Traffic) -> bool {
    features::have_separate_hosts(scenario) && traffic.is_open()
}

/// Plan of a run that is divided by hosts, if it may be and should be.
fn plan_by_hosts(
    scenario: &Scenario,
    simulation: &Simulation,
    by_hosts_if: ByHostsIf,
) -> Option<Plan> {
    if !features::are_divisible_by_hosts(scenario) || !simulation.workload.traffic.is_open() {
        return None;
    }
    let Fabric {
        graph,
        network,
        notice,
        ..
    } = &simulation.fabric;
    let smallest_bytes = simulation.endpoints.header_bytes;
    let transit_ps = |port: usize| network.ports[port].transit_ps(smallest_bytes);
    let end_ps = match scenario.run.warmup.0 {
        0 => notice.to_fabric_ps,
        // A flow of the warm-up may be the last to complete, which only its receiver knows at once.
        _ => notice.to_fabric_ps / 2,
    };
    let threads = by_hosts_if.processors.min(scenario.run.threads as usize);
    let plan = Plan::by_hosts(graph, end_ps, threads, transit_ps)?;
    let ports = &network.ports;
    let hosts = simulation.endpoints.hosts.ports.iter();
    let bps: f64 = hosts.map(|&port| ports[port as usize].rate_bps()).sum();
    let bits = 8.0 * scenario.transport.mtu.0 as f64;
    let packets = bps * plan.longest_ps() as f64 * 1e-12 / bits;
    let can_be_cut = plan.cut.iter().all(|&port| ports[port].can_be_cut());
    let is_worthwhile = packets >= by_hosts_if.least_packets as f64
        && (plan.parts > 2
            || by_hosts_if.are_two_worthwhile(ports.len(), scenario.pacer.is_some()));
    (can_be_cut && is_worthwhile).then_some(plan)
}

impl Partition {
    /// Makes `edge` part 0, and `others`, runs of the same network without traffic, the other
    /// parts.
    pub fn new(plan: Plan, edge: &mut Simulation, mut others: Vec<Simulation>) -> Partition {
        let slots = Arc::new(AtomicU32::new(0));
        for (number, part) in std::iter::once(edge).chain(&mut others).enumerate() {
            let (network, has_hosts) = (&mut part.fabric.network, plan.of_hosts.is_some());
            network.become_part(number as u8, &plan.of_ports, &plan.cut, has_hosts);
            if let Some(of_hosts) = &plan.of_hosts {
                let late_ps = plan.longest_ps();
                let halves = Halves::new(number, of_hosts.clone(), late_ps, Arc::clone(&slots));
                part.endpoints.table.halves = Some(Box::new(halves));
            } else if number > 0 {
                part.endpoints.keeps_flows = false;
            }
        }
        for part in &mut others {
            part.begin();
        }
        let manner = Manner::of(plan.parts);
        Partition {
            plan,
            others,
            manner,
        }
    }

    /// How the run is divided.
    pub fn divided(&self) -> Divided {
        let parts = self.plan.parts as u32;
        Divided {
            by: match self.plan.of_hosts {
                Some(_) => DividedBy::Hosts,
                None => DividedBy::Switches,
            },
            parts,
            threads: if self.manner.has_threads() { parts } else { 1 },
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

    /// Makes one thread serve the parts in turn.
    pub fn in_turn(mut self) -> Partition {
        self.manner = Manner::InTurn;
        self
    }

    /// Runs the edge on this thread and each other part on its own thread, and adds the others'
    /// counts to the edge's. Returns the readings, each part's load, and its thread's processor
    /// time, s.
    pub fn run(
        self,
        edge: &mut Simulation,
        control: &Control,
    ) -> Result<(Measured, Vec<(PartLoad, f64)>), Failure> {
        let Partition {
            plan,
            mut others,
            manner,
        } = self;
        if plan.of_hosts.is_none() {
            for part in &mut others {
                part.fabric.network.copy_routes(&edge.fabric.network);
            }
            edge.fabric.network.forget_new_routes();
        }
        let leaves = run_all(&plan, edge, &mut others, manner, control)?;
        let (of_parts, loads): (Vec<Measured>, Vec<_>) = leaves.into_iter().unzip();
        let mut of_parts = of_parts.into_iter();
        let mut measured = of_parts.next().unwrap_or_default();
        for ((number, other), of_part) in (1..).zip(&mut others).zip(of_parts) {
            let options = &mut other.fabric.network.options;
            other.endpoints.forget_losses(options, &mut other.tally);
            measured.join(&of_part, &plan, number);
            edge.clock.now_ps = edge.clock.now_ps.max(other.clock.now_ps);
            edge.tally.join(&other.tally);
            edge.records.waits.join(&other.records.waits);
            edge.records.halves.join(&other.records.halves);
            let at_warmup = &mut edge.instruments.at_warmup;
            at_warmup.join(&other.instruments.at_warmup, &plan, number);
            edge.fabric.join(&mut other.fabric, &plan, number);
            other.workload.finish(&mut edge.records.flows);
            (edge.workload.traffic).join_endings(&other.workload.traffic);
            if let Some(of_hosts) = &plan.of_hosts {
                edge.endpoints.join(&mut other.endpoints, of_hosts, number);
            }
        }
        control.forget_others();
        Ok((measured, loads))
    }
}

/// Results of a part and its thread: readings, load, and processor time, s.
type Leaves = (Measured, (PartLoad, f64));

/// Runs all parts to their ends. The edge comes first in the results.
fn run_all(
    plan: &Plan,
    edge: &mut Simulation,
    others: &mut [Simulation],
    manner: Manner,
    control: &Control,
) -> Result<Vec<Leaves>, Failure> {
    let board = Board::new(plan.parts);
    let distances_ps = plan.distances_ps();
    let controls: Vec<_> = others.iter().map(|_| control.of_another_part()).collect();
    let controls = std::iter::once(control).chain(controls.iter().map(|control| &**control));
    let simulations = std::iter::once(edge).chain(others);
    let parts = simulations.zip(controls).zip(neighbours(plan)).enumerate();
    let part = |(number, ((simulation, control), neighbours))| {
        let to_part = distances_ps.iter().map(|from| from[number]).collect();
        Part::new(number, simulation, control, neighbours, &board, to_part)
    };
    let workers = Workers::new(plan, parts.map(part).collect(), &board, manner);
    let of_threads = thread::scope(|scope| {
        let mut threads = Vec::new();
        for number in 1..plan.parts {
            let workers = &workers;
            let Ok(thread) =
                thread::Builder::new().spawn_scoped(scope, move || workers.work(number))
            else {
                board.break_off();
                return Err(Failure::NoThread);
            };
            threads.push(thread);
        }
        let mut of_threads = vec![workers.work(0)];
        for thread in threads {
            match thread.join() {
                Ok(left) => of_threads.push(left),
                Err(panic) => panic::resume_unwind(panic),
            }
        }
        Ok(of_threads)
    })?;
    let mut parts = Vec::from_iter(workers.into_parts());
    let (results, seconds): (Vec<_>, Vec<f64>) = of_threads.into_iter().unzip();
    // A part that fails stops the others, which then report that they were cancelled.
    let mut failures = Vec::from_iter(results.into_iter().filter_map(Result::err));
    failures.sort_by_key(|failure| *failure == Failure::Cancelled);
    if let Some(failure) = failures.into_iter().next() {
        return Err(failure);
    }
    parts.iter_mut().for_each(Part::receive_rest);
    while (parts.iter_mut()).fold(false, |any, part| part.send_rest() | any) {
        parts.iter_mut().for_each(Part::receive_rest);
    }
    let leave = |(mut part, seconds): (Part, f64)| {
        let load = part.load();
        let most_flows = part.close();
        let of_part = part.measured.take().unwrap_or_default();
        part.simulation().tally.flow_slots = most_flows;
        (of_part, (load, seconds))
    };
    Ok(parts.into_iter().zip(seconds).map(leave).collect())
}

/// Neighbours of each part, in the order of their numbers.
fn neighbours(plan: &Plan) -> Vec<Vec<Neighbour>> {
    let mut all: Vec<Vec<Neighbour>> = (0..plan.parts).map(|_| Vec::new()).collect();
    for second in 0..plan.parts {
        for first in 0..second {
            if plan.are_neighbours(first, second) {
                let there_ps = plan.lookahead_ps[first][second];
                let back_ps = plan.lookahead_ps[second][first];
                let (of_first, of_second) = Neighbour::pair([first, second], [there_ps, back_ps]);
                all[first].push(of_first);
                all[second].push(of_second);
            }
        }
    }
    all
}

impl Tally {
    /// Adds the counts of another part at the end of the run.
    fn join(&mut self, other: &Tally) {
        self.packets_sent += other.packets_sent;
        self.packets_delivered += other.packets_delivered;
        self.packet_hops += other.packet_hops;
        for (here, there) in self.of_transports.iter_mut().zip(&other.of_transports) {
            here.add(there);
        }
        self.counts += other.counts;
        self.events_served += other.events_served;
        self.packets_dropped += other.packets_dropped;
    }
}

impl Fabric {
    /// Takes over the ports of part `number` at the end of the run.
    fn join(&mut self, other: &mut Fabric, plan: &Plan, number: u8) {
        for (port, &owner) in plan.of_ports.iter().enumerate() {
            let here = &mut self.network.ports[port];
            let there = &mut other.network.ports[port];
            if owner == number {
                std::mem::swap(here, there);
            }
        }
        self.network.count_packets_of(&mut other.network);
    }
}

impl Endpoints {
    /// Takes over the hosts of part `number`, and its past flows, at the end of the run.
    fn join(&mut self, other: &mut Endpoints, of_hosts: &[u8], number: u8) {
        self.table.join(&other.table);
        let own = of_hosts.iter().enumerate().filter(|&(_, &of)| of == number);
        own.for_each(|(host, _)| self.hosts.exchange(&mut other.hosts, host));
    }
}

impl Measured {
    /// Adds the readings of part `number`, and takes over those at its ports.
    fn join(&mut self, of_part: &Measured, plan: &Plan, number: u8) {
        for (here, there) in self.received_bytes.iter_mut().zip(&of_part.received_bytes) {
            *here += there;
        }
        for (here, there) in self.of_transports.iter_mut().zip(&of_part.of_transports) {
            here.add(there);
        }
        let ports = self.ports.iter_mut().zip(&of_part.ports);
        for (&owner, (here, there)) in plan.of_ports.iter().zip(ports) {
            if owner == number {
                *here = *there;
            }
        }
    }
}
