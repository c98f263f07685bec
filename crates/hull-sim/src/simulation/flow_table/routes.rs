//! The routes of flows, at their opening and after a change of the network.

use super::FlowTable;
use crate::network::Network;
use crate::simulation::flow::spraying::Spraying;
use crate::simulation::hash::mix;
use crate::topology::{Routes, Sending};

impl FlowTable {
    /// Computes the routes of a flow. Acknowledgments are hashed separately.
    pub fn route(&mut self, network: &mut Network, routes: &Routes, slot: u32, number: u64) {
        let flow = &self.flows[slot as usize];
        let (receiver, data) = (flow.dst, flow.out);
        let ways = [
            (flow.out, (flow.src, flow.dst), 0),
            (flow.back, (flow.dst, flow.src), 1),
        ];
        for (at, ends, way) in ways {
            let hash = mix(self.seed ^ mix(2 * number + way));
            let mut sending = Sending {
                ends,
                receiver,
                path: 0,
                flow_hash: hash,
                path_hash: hash,
            };
            if at == data {
                sending = self.steered(routes, slot, sending);
                self.count_pin_miss(slot);
            }
            self.find_route(network, routes, at, &sending);
        }
        if self.sprays(slot) {
            let at = self.place(slot);
            self.spraying[at].number = number;
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
        if !self.find_path(routes, sending) {
            // A packet skips the first entry, the port of its NIC.
            let choice = self.nic_choice.as_ref();
            let first_port = choice.map_or(network.nowhere(), |of| of.port_of_lost(sending));
            self.scratch.clear();
            self.scratch.extend([first_port, network.nowhere()]);
        }
        network.replace_route(at, &self.scratch, sending.ends.1 as usize);
    }

    /// Writes the ports of the path between two hosts for a hash to the scratch list. Returns false if
    /// there is no path.
    pub fn find_path(&mut self, routes: &Routes, sending: &Sending) -> bool {
        self.scratch.clear();
        let (from, to) = sending.ends;
        let nics = match &mut self.nic_choice {
            None => Some((from as usize, to as usize)),
            Some(choice) => choice.choose(routes, sending),
        };
        let hash = sending.path_hash;
        nics.is_some_and(|(from, to)| routes.path(from, to, hash, &mut self.scratch))
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
        if let Some(pinned) = &mut self.pinned {
            pinned.forget_missed();
        }
        (self.spraying.iter_mut()).for_each(Spraying::forget_routes);
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
