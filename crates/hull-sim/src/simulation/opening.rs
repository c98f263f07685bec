//! How a flow begins: it gets a slot, the initial state of its transport, and its routes.

use super::flows::{Flow, FlowTable};
use crate::engine::Entity;
use crate::network::Network;
use crate::topology::{Routes, Sending};

impl FlowTable {
    /// Opens a flow and computes its routes.
    pub fn open(
        &mut self,
        network: &mut Network,
        routes: &Routes,
        src: u32,
        dst: u32,
        transient: bool,
        transport: u16,
    ) -> u32 {
        let is_message = self.templates[usize::from(transport)].messages().is_some();
        let slot = match self.free[usize::from(is_message)].pop() {
            Some(slot) => {
                self.keep_last_reading(slot);
                slot
            }
            None => {
                let slot = match &mut self.halves {
                    Some(halves) => halves.fresh_slot(),
                    None => self.flows.len() as u32,
                };
                self.grow_to(slot, transport, network);
                slot
            }
        };
        let free: usize = self.free.iter().map(Vec::len).sum();
        self.most_flows = self.most_flows.max(self.flows.len() - free);
        let number = self.numbered;
        self.pass_over();
        self.renew(slot, (src, dst), transport, number).transient = transient;
        self.follow(slot);
        self.route(network, routes, slot, self.opened);
        slot
    }

    /// Counts a flow, which another part may open.
    pub(super) fn pass_over(&mut self) {
        self.numbered += 1;
        self.opened += 1;
    }

    /// Adds slots up to this one, for flows of the kind of this transport.
    pub(super) fn grow_to(&mut self, slot: u32, transport: u16, network: &mut Network) {
        // A run looks at their number only from time to time.
        assert!(
            (slot as usize) < Entity::MOST,
            "events cannot name slot {slot}"
        );
        while self.flows.len() <= slot as usize {
            let out = network.reserve_route(self.longest_route);
            let back = network.reserve_route(self.longest_route);
            self.flows.push(Flow::unused(out, back));
            self.grow_ends(usize::from(transport));
        }
    }

    /// Begins a flow in a slot.
    pub(super) fn renew(
        &mut self,
        slot: u32,
        ends: (u32, u32),
        transport: u16,
        number: u64,
    ) -> &mut Flow {
        self.flows[slot as usize].begin(ends, transport, number);
        self.reset_ends(slot);
        &mut self.flows[slot as usize]
    }

    /// Computes the routes of a flow. Acknowledgments are hashed separately.
    fn route(&mut self, network: &mut Network, routes: &Routes, slot: u32, number: u64) {
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
    pub(super) fn find_route(
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

/// Mixes the bits of a number (the finalizer of MurmurHash3).
pub(super) fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
