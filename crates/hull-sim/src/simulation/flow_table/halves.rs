//! Flows of a run that is divided by hosts. The part of a flow's sender opens it and owns its slot; if
//! the receiver is in another part, each part has one half of the flow, in the same slot, and tells the
//! other what it cannot see. Times are ps.
//!
//! All parts take new slots from one counter, so a run has about as many slots as on one thread, however
//! its flows are distributed; a part uses a slot again for its own flows only. Every part draws the whole
//! workload, and opens the flows of its own hosts, so numbers and random draws are the same as with
//! one part.
//!
//! A packet is in flight between two halves that each count what they have sent less what has arrived.
//! When its message has arrived, the receiver's half reports its count after each change. If the sender
//! has nothing to do and both counts add up to zero, no packet of the flow is left, and the slot is free.

use super::FlowTable;
use crate::measure::MessageWaits;
use crate::network::Network;
use crate::simulation::flow::halves::{At, Known, Note, Opening, Report};
use crate::simulation::flow::messages::Pending;
use crate::workload::Message;

impl FlowTable {
    /// Takes the notes to other parts since the last call, in order, and calls `carry` with the
    /// part and each note.
    pub fn for_each_note(&mut self, mut carry: impl FnMut(u8, Note)) {
        if let Some(halves) = &mut self.halves {
            (halves.outbox.drain(..)).for_each(|(part, note)| carry(part, note));
        }
    }

    /// Processes that a flow's message has arrived in the receiver's part. Returns the message.
    pub fn take_arrival(&mut self, slot: u32, at: At) -> Option<Pending> {
        if let Some(halves) = &mut self.halves {
            halves.arrival = at;
        }
        let flow = &mut self.flows[slot as usize];
        flow.completed(flow.first.end)
    }

    /// Whether another part opens the flow of a message.
    pub fn is_opened_elsewhere(&self, message: &Message) -> bool {
        let halves = self.halves.as_ref();
        halves.is_some_and(|halves| halves.is_elsewhere(message.src))
    }

    /// Whether this is the whole run's table, or the first part's.
    pub fn is_of_first_part(&self) -> bool {
        (self.halves.as_ref()).is_none_or(|halves| halves.number == 0)
    }

    /// Reports a new flow of any part, if this is the part that counts them.
    pub fn count_opening(&mut self, now_ps: u64) {
        if let Some(halves) = &mut self.halves
            && halves.number == 0
        {
            halves.report(Report::Opened(now_ps));
        }
    }

    /// Tells the receiver's part of a new flow, if it is another one.
    pub fn share(&mut self, slot: u32, network: &Network) {
        let Some(halves) = &mut self.halves else {
            return;
        };
        let flow = &mut self.flows[slot as usize];
        flow.is_half = halves.is_elsewhere(flow.dst);
        if !flow.is_half {
            return;
        }
        flow.transient = false;
        halves.known.insert(slot, Known::default());
        let opening = Opening {
            slot,
            ends: (flow.src, flow.dst),
            number: flow.number,
            transport: flow.transport,
            message: flow.first,
            routes: [flow.out, flow.back].map(|at| network.whole_route(at).to_vec()),
        };
        let part = halves.part_of(flow.dst);
        halves.tell(part, Note::Opened(Box::new(opening)));
    }

    /// Adds the receiver's half of a flow of another part.
    pub fn adopt(&mut self, opening: &Opening, network: &mut Network) {
        self.grow_to(opening.slot, opening.transport, network);
        let slot = opening.slot;
        let flow = self.renew(slot, opening.ends, opening.transport, opening.number);
        flow.is_half = true;
        flow.in_flight = 0;
        flow.first = opening.message;
        let places = [flow.out, flow.back];
        for (at, entries) in places.into_iter().zip(&opening.routes) {
            network.set_route(at as usize, entries);
        }
    }

    /// Timeouts of the flow in a slot before this time, which may be past in a divided run.
    pub fn timeouts_before(&self, slot: u32, at_ps: u64) -> u32 {
        let halves = self.halves.as_ref();
        let since = halves.map_or(0, |halves| halves.timeouts_since(slot, at_ps));
        self.ends(slot).losses().0 - since
    }

    /// Processes that a flow's message has arrived. Returns true if another part is told, which
    /// has the sender.
    #[inline]
    pub fn leave_arrival(&mut self, slot: u32, now_ps: u64, waits: Option<&MessageWaits>) -> bool {
        let Some(halves) = &mut self.halves else {
            return false;
        };
        let flow = &self.flows[slot as usize];
        halves.arrival = halves.arrive(now_ps, flow.dst);
        let leaves = flow.is_half && halves.is_elsewhere(flow.src);
        if leaves {
            let owner = halves.part_of(flow.src);
            let waits = waits.map(|waits| Box::new(*waits));
            halves.tell(owner, Note::Arrived(slot, halves.arrival, waits));
        }
        leaves
    }
}
