//! The routes of flows, at their opening and after a change of the network.

use super::FlowTable;
use crate::network::Network;
use crate::simulation::hash::mix;
use crate::topology::Routes;

impl FlowTable {
    /// Computes the routes of a flow. Acknowledgments are hashed separately.
    pub fn route(&mut self, network: &mut Network, routes: &Routes, slot: u32, number: u64) {
        let flow = &self.flows[slot as usize];
        let ways = [
            (flow.out, flow.src, flow.dst, 0),
            (flow.back, flow.dst, flow.src, 1),
        ];
        for (at, from, to, way) in ways {
            let hash = mix(self.seed ^ mix(2 * number + way));
            self.find_route(network, routes, at, (from, to), hash);
        }
    }

    /// Computes the route between two hosts for a hash, and writes it to the place `at`.
    pub fn find_route(
        &mut self,
        network: &mut Network,
        routes: &Routes,
        at: u32,
        (from, to): (u32, u32),
        hash: u64,
    ) {
        self.scratch.clear();
        let found = routes.path(from as usize, to as usize, hash, &mut self.scratch);
        if !found {
            // A packet skips the first entry, the port of its own host.
            self.scratch.clear();
            self.scratch.extend([network.nowhere(); 2]);
        }
        network.replace_route(at, &self.scratch, to as usize);
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
