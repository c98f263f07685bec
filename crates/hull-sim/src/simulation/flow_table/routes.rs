//! The routes of flows, at their opening and after a change of the network.

use super::FlowTable;
use crate::network::Network;
use crate::simulation::hash::mix;
use crate::topology::{Routes, Sending};

impl FlowTable {
    /// Computes the routes of a flow. Acknowledgments are hashed separately.
    pub fn route(&mut self, network: &mut Network, routes: &Routes, slot: u32, number: u64) {
        let flow = &self.flows[slot as usize];
        let receiver = flow.dst;
        let ways = [
            (flow.out, (flow.src, flow.dst), 0),
            (flow.back, (flow.dst, flow.src), 1),
        ];
        for (at, ends, way) in ways {
            let hash = mix(self.seed ^ mix(2 * number + way));
            let sending = Sending {
                ends,
                receiver,
                path: 0,
                flow_hash: hash,
                path_hash: hash,
            };
            self.find_route(network, routes, at, &sending);
        }
        if self.nic_choice.is_some() {
            self.note_nic(slot, network);
        }
    }

    /// Computes the route between two hosts for a hash, and writes it to the place `at`.
    pub fn find_route(
        &mut self,
        network: &mut Network,
        routes: &Routes,
        at: u32,
        sending: &Sending,
    ) {
        self.scratch.clear();
        let (from, to) = sending.ends;
        let (nics, first_port) = match &mut self.nic_choice {
            None => (Some((from as usize, to as usize)), network.nowhere()),
            Some(choice) => (choice.choose(routes, sending), choice.port_of_lost(sending)),
        };
        let hash = sending.path_hash;
        let found = nics.is_some_and(|(from, to)| routes.path(from, to, hash, &mut self.scratch));
        if !found {
            // A packet skips the first entry, the port of its NIC.
            self.scratch.clear();
            self.scratch.extend([first_port, network.nowhere()]);
        }
        network.replace_route(at, &self.scratch, to as usize);
    }

    /// Notes the port on which a flow sends.
    fn note_nic(&mut self, slot: u32, network: &Network) {
        let slots = self.flows.len();
        self.nic_ports.resize(slots, 0);
        self.nic_ports[slot as usize] = network.first_port(self.flows[slot as usize].out);
    }

    /// Computes new routes for all flows in use after a change of the network. Packets in flight
    /// keep the old ones.
    pub fn reroute(&mut self, network: &mut Network, routes: &Routes) {
        self.longest_route = self.longest_route.max(routes.longest_path());
        for slot in 0..self.flows.len() {
            self.flows[slot].out = network.reserve_route(self.longest_route);
            self.flows[slot].back = network.reserve_route(self.longest_route);
            if self.flows[slot].live {
                self.opened += 1;
                let number = self.opened;
                self.route(network, routes, slot as u32, number);
                if let Some(connection) = self.connection(slot as u32) {
                    connection.forget_routes(number);
                }
            }
        }
    }
}
