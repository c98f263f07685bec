//! A host's FIFO port with a long queue: packets far from their turn are held back, without an entry in
//! the ring and without the event of their arrival. A FIFO port decides everything about a packet when
//! it comes, so holding it back changes memory, not results. Times are ps, sizes bytes.

use super::super::packet::Packet;
use super::super::ring::Start;
use super::Port;

impl Port {
    /// Packets in the ring before others are held back: enough that an event that lets as many in is
    /// rare.
    pub(in crate::network) const AHEAD: u32 = 16;

    /// Whether a packet of `bytes` that comes now, when the port was advanced, is to be held back. One
    /// that the buffer has no room for is not.
    #[inline(always)]
    pub(in crate::network) fn holds_back(&self, bytes: u16) -> bool {
        self.holds | (self.waiting.len() >= Self::AHEAD)
            && !self.is_off_fast_path()
            && self.limit_packets == u32::MAX
            && self.waiting_bytes + u64::from(bytes) <= self.limit_bytes
    }

    /// Takes a packet that is held back. Where it is the first: when it is to be let in at the latest,
    /// the start of the transmission before its own, and the start of its own, ps.
    pub(in crate::network) fn hold(
        &mut self,
        now_ps: u64,
        packet: &mut Packet,
    ) -> Option<(u64, u64)> {
        let (start_ps, bytes) = (self.busy_until_ps, packet.wire_bytes);
        let first = (!self.holds).then(|| (self.waiting.last_ps(), start_ps));
        let marks = (self.marker).marks(self.waiting_bytes, u32::from(bytes));
        self.mark_if(marks, packet);
        self.occupy(start_ps, packet);
        self.waited_ps += start_ps - now_ps;
        self.waiting_bytes += u64::from(bytes);
        self.held += 1;
        self.holds = true;
        first
    }

    /// Lets a packet in that was held back and whose transmission starts at `start_ps`. Returns when its
    /// event is due, ps.
    pub(in crate::network) fn let_in(&mut self, start_ps: u64, bytes: u16) -> u64 {
        self.waiting.push(Start {
            at_ps: start_ps,
            bytes,
        });
        self.held -= 1;
        self.holds = self.held > 0;
        start_ps + self.transit_ps(bytes)
    }

    /// Packets that wait, those that are held back too.
    pub(super) fn waiting_packets(&self) -> u32 {
        self.waiting.len() + self.held
    }
}
