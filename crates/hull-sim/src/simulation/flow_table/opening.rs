//! How a flow begins: it gets a slot, the initial state of its transport, and its routes.

use super::FlowTable;
use crate::engine::Entity;
use crate::network::Network;
use crate::simulation::flow::Flow;
use crate::topology::Routes;

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
        self.most_flows = self.most_flows.max((self.flows.len() - free) as u64);
        let number = self.numbered;
        self.pass_over();
        self.renew(slot, (src, dst), transport, number).transient = transient;
        self.follow(slot);
        if let Some(pinned) = &mut self.pinned {
            pinned.open(slot);
        }
        self.route(network, routes, slot, self.opened);
        slot
    }

    /// Counts a flow, which another part may open.
    pub fn pass_over(&mut self) {
        self.numbered += 1;
        self.opened += 1;
    }

    /// Adds slots up to this one, for flows of the kind of this transport.
    pub fn grow_to(&mut self, slot: u32, transport: u16, network: &mut Network) {
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
    pub fn renew(&mut self, slot: u32, ends: (u32, u32), transport: u16, number: u64) -> &mut Flow {
        self.flows[slot as usize].begin(ends, transport, number);
        self.reset_ends(slot);
        &mut self.flows[slot as usize]
    }
}
