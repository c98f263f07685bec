//! Messages on flows: their start, and the waits of their last packets. Times are ps.

use super::FlowTable;
use crate::measure::MessageWaits;
use crate::simulation::flow::messages::Pending;

impl FlowTable {
    /// Starts a message on a flow.
    pub fn write(&mut self, now_ps: u64, slot: u32, bytes: u64, tag: u64, class: u16) {
        self.write_data(now_ps, slot, bytes);
        let (timeouts_before, _) = self.ends(slot).losses();
        let flow = &mut self.flows[slot as usize];
        flow.written += bytes;
        let pending = Pending {
            end: flow.written,
            tag,
            timeouts_before,
            class,
        };
        if flow.first.end == u64::MAX {
            flow.first = pending;
        } else {
            flow.later.push_back(pending);
        }
    }

    /// Takes the waits of the last packet of a message that is complete at `now_ps`; `None` if it has
    /// not arrived.
    #[inline]
    pub fn take_waits(
        &mut self,
        slot: u32,
        message: &Pending,
        now_ps: u64,
    ) -> Option<MessageWaits> {
        let key = (slot, message.end as u32);
        let arrival = self.last_packets.remove(key)?;
        let received_ps = arrival.received_ps.unwrap_or(now_ps);
        Some(MessageWaits {
            waits: arrival.waits,
            arrived_ps: arrival.at_ps,
            received_ps,
            complete_ps: now_ps,
        })
    }
}
