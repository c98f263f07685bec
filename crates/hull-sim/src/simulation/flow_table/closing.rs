//! How a flow ends and returns its slot. Times are ps.

use super::FlowTable;
use crate::simulation::flow::halves::{InFlight, Known, Note};

impl FlowTable {
    /// Returns the slot when the flow is done. `now_ps` is the time of the change that may have
    /// been its last one.
    #[inline]
    pub fn release_if_done(&mut self, slot: u32, now_ps: u64) {
        let flow = &self.flows[slot as usize];
        if flow.transient
            && flow.in_flight == 0
            && flow.live
            && flow.first.end == u64::MAX
            && self.ends(slot).are_idle()
        {
            self.release(slot, now_ps);
        } else if self.flows[slot as usize].is_half {
            self.settle(slot, now_ps);
        }
    }

    /// Returns a slot, which is free from `now_ps` on.
    pub fn release(&mut self, slot: u32, now_ps: u64) {
        let at = slot as usize;
        let (timeouts, retransmissions) = self.ends(slot).losses();
        let flow = &mut self.flows[at];
        flow.live = false;
        let past = &mut self.past[usize::from(flow.transport)];
        past.0 += u64::from(timeouts);
        past.1 += u64::from(retransmissions);
        self.stop_ends(slot);
        self.free[usize::from(self.is_message(slot))].push(slot);
        if let Some(halves) = &mut self.halves {
            halves.report_freed(now_ps);
        }
    }

    /// Processes a change of a half's packets in flight: reports it, or frees the slot if the flow
    /// is done.
    #[inline(never)]
    pub fn settle(&mut self, slot: u32, changed_ps: u64) {
        let flow = &self.flows[slot as usize];
        if flow.first.end != u64::MAX {
            return;
        }
        let (count, src) = (flow.in_flight, flow.src);
        let Some(halves) = &mut self.halves else {
            return;
        };
        if halves.is_elsewhere(src) {
            let in_flight = InFlight { count, changed_ps };
            halves.tell(halves.part_of(src), Note::InFlight(slot, in_flight));
        } else if let Some(known) = halves.known.get_mut(&slot) {
            known.changed_ps = changed_ps;
            self.free_if_done(slot);
        }
    }

    /// Takes the count of the receiver's half.
    pub fn take_in_flight(&mut self, slot: u32, theirs: InFlight) {
        if let Some(halves) = &mut self.halves
            && let Some(known) = halves.known.get_mut(&slot)
        {
            known.theirs = theirs;
            self.free_if_done(slot);
        }
    }

    /// Frees the slot of a flow whose receiver is elsewhere if the flow is done.
    fn free_if_done(&mut self, slot: u32) {
        let known = self
            .halves
            .as_ref()
            .and_then(|halves| halves.known.get(&slot));
        let Some(&Known { theirs, changed_ps }) = known else {
            return;
        };
        let flow = &self.flows[slot as usize];
        if flow.in_flight.wrapping_add(theirs.count) == 0
            && flow.first.end == u64::MAX
            && self.ends(slot).are_idle()
        {
            let flow = &mut self.flows[slot as usize];
            flow.is_half = false;
            flow.in_flight = 0;
            if let Some(halves) = &mut self.halves {
                halves.known.remove(&slot);
            }
            self.release(slot, theirs.changed_ps.max(changed_ps));
        }
    }

    /// Adds the counts of past flows of another part at the end of the run.
    pub fn join(&mut self, other: &FlowTable) {
        for (here, there) in self.past.iter_mut().zip(other.losses()) {
            here.0 += there.0;
            here.1 += there.1;
        }
    }

    /// Timeouts and retransmitted segments of all flows so far, by transport.
    pub fn losses(&self) -> Vec<(u64, u64)> {
        let mut losses = self.past.clone();
        for (slot, flow) in self.flows.iter().enumerate().filter(|(_, f)| f.live) {
            let (timeouts, retransmissions) = self.ends(slot as u32).losses();
            let of_transport = &mut losses[usize::from(flow.transport)];
            of_transport.0 += u64::from(timeouts);
            of_transport.1 += u64::from(retransmissions);
        }
        losses
    }
}
