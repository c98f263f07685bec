//! A FIFO port with a long queue: packets far from their turn are held back, without an entry in the
//! ring and without the event of their arrival. A FIFO port decides everything about a packet when it
//! comes, so holding it back changes memory, not results. Times are ps, sizes bytes.

use super::super::packet::Packet;
use super::super::ring::Start;
use super::{Port, feature};

/// What became of a packet behind a long queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) enum Behind {
    /// The buffer was full.
    Dropped,
    /// It is behind others that are held back.
    Others,
    /// It is the first that is held back.
    Ring {
        /// When it is to be let in at the latest, the start of the transmission before its own, ps.
        due_ps: u64,
        /// The start of its own, ps.
        start_ps: u64,
    },
}

impl Port {
    /// Packets in the ring before others are held back: enough that an event that lets as many in is
    /// rare.
    pub(in crate::network) const AHEAD: u32 = 8;

    /// Whether the far end of the link sends on what it has not yet whole.
    pub(in crate::network) fn cuts_through(&self) -> bool {
        self.has(feature::CUT_THROUGH)
    }

    /// Whether the queue, when the port was advanced, is so long that packets that come are held back.
    #[inline(always)]
    pub(in crate::network) fn is_long(&self) -> bool {
        self.holds | (self.waiting.len() >= Self::AHEAD)
    }

    /// Takes a packet that is held back, or drops it.
    pub(in crate::network) fn hold(&mut self, now_ps: u64, packet: &mut Packet) -> Behind {
        let (start_ps, bytes) = (self.busy_until_ps, packet.wire_bytes);
        let full = (self.waiting_bytes + u64::from(bytes) > self.limit_bytes)
            | (self.waiting_packets() >= self.limit_packets);
        if full {
            self.drops += 1;
            return Behind::Dropped;
        }
        let marks = (self.marker).marks(self.waiting_bytes, u32::from(bytes));
        self.mark_if(marks, packet);
        self.occupy(start_ps, packet);
        self.waited_ps += start_ps - now_ps;
        self.waiting_bytes += u64::from(bytes);
        self.held += 1;
        if std::mem::replace(&mut self.holds, true) {
            return Behind::Others;
        }
        let due_ps = self.waiting.last_ps();
        Behind::Ring { due_ps, start_ps }
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
