//! The results of a run in parts: at the end the first part takes over the results of all others.

use super::plan::Plan;
use crate::simulation::Simulation;
use crate::simulation::endpoints::{Endpoints, Tally};
use crate::simulation::fabric::Fabric;
use crate::simulation::measured::Measured;

/// Adds the results of part `number` to the first part's.
pub fn join(first: &mut Simulation, other: &mut Simulation, plan: &Plan, number: u8) {
    let options = &mut other.fabric.network.options;
    other.endpoints.forget_losses(options);
    first.clock.now_ps = first.clock.now_ps.max(other.clock.now_ps);
    first.clock.served += other.clock.served;
    let (records, theirs) = (&mut first.instruments.records, &other.instruments.records);
    records.waits.join(&theirs.waits);
    records.halves.join(&theirs.halves);
    let at_warmup = &mut first.instruments.at_warmup;
    at_warmup.join(&other.instruments.at_warmup, plan, number);
    first.fabric.join(&mut other.fabric, plan, number);
    other.workload.finish(&mut first.instruments.records.flows);
    (first.workload.traffic).join_endings(&other.workload.traffic);
    (first.endpoints).join(&mut other.endpoints, &plan.of_hosts, number);
}

impl Tally {
    /// Adds the counts of another part at the end of the run.
    fn join(&mut self, other: &Tally) {
        self.sent += other.sent;
        self.delivered += other.delivered;
        self.dropped += other.dropped;
        for (here, there) in self.of_transports.iter_mut().zip(&other.of_transports) {
            here.add(there);
        }
        self.counts += other.counts;
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
        self.packet_hops += other.packet_hops;
    }
}

impl Endpoints {
    /// Takes over the hosts of part `number`, and its past flows, at the end of the run.
    fn join(&mut self, other: &mut Endpoints, of_hosts: &[u8], number: u8) {
        self.table.join(&other.table);
        self.tally.join(&other.tally);
        let own = of_hosts.iter().enumerate().filter(|&(_, &of)| of == number);
        own.for_each(|(host, _)| self.hosts.exchange(&mut other.hosts, host));
    }
}

impl Measured {
    /// Adds the readings of part `number`, and takes over those at its ports.
    pub(super) fn join(&mut self, of_part: &Measured, plan: &Plan, number: u8) {
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
