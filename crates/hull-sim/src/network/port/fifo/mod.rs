//! A FIFO port knows on arrival when a packet's transmission starts. Drop, mark and phantom queue are
//! therefore all decided on arrival, and the only event is the arrival at the far end. The port keeps no
//! packets: it counts the waiting ones, and the packet's event carries it to the far end. Nothing can
//! delay a packet once it is offered. Times are ps, sizes bytes.

mod fast_path;
mod long_queue;
mod recording;

use super::{Port, Verdict};
use crate::network::packet::Packet;

pub(in crate::network) use long_queue::Behind;

impl Port {
    /// Whether a packet of `bytes` finds neither room nor an idle link, on which it would be sent
    /// at once.
    #[inline(always)]
    fn is_full(&self, now_ps: u64, bytes: u16) -> bool {
        let full = (self.waiting_bytes + u64::from(bytes) > self.limit_bytes)
            | (self.waiting.len() >= self.limit_packets);
        full & (self.busy_until_ps > now_ps)
    }

    /// Offers a packet to a FIFO without rules. The port must have been advanced.
    #[inline(always)]
    pub(in crate::network) fn enqueue_plain(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
    ) -> Verdict {
        if self.is_full(now_ps, packet.wire_bytes) {
            self.drops += 1;
            return Verdict::Dropped;
        }
        let start_ps = self.busy_until_ps.max(earliest_ps);
        let marks = self
            .marker
            .marks(self.waiting_bytes, u32::from(packet.wire_bytes));
        self.mark_if(marks, packet);
        self.schedule(now_ps, start_ps, packet)
    }
}
