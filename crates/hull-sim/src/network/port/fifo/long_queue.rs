//! A FIFO port with a long queue: packets far from their turn are held back, without an entry in the
//! ring and without the event of their arrival. A FIFO port decides everything about a packet when it
//! comes, so holding it back changes memory, not results. Times are ps, sizes bytes.

use super::super::feature;
use super::Port;
use crate::network::packet::Packet;
use crate::network::ring::Start;

/// Result of offering a packet to a port with a long queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::network) enum Behind {
    /// The buffer was full.
    Dropped,
    /// The packet is behind others that are held back.
    Others,
    /// The packet is the first that is held back.
    Ring {
        /// Latest time to admit it: the start of the previous transmission, ps.
        due_ps: u64,
        /// Start of its own transmission, ps.
        start_ps: u64,
    },
}

impl Port {
    /// Whether the far end of the link cuts through.
    pub(in crate::network) fn cuts_through(&self) -> bool {
        self.has(feature::CUT_THROUGH)
    }

    /// Whether arriving packets are held back, because `ahead` packets are in the ring. The port
    /// must have been advanced.
    #[inline(always)]
    pub(in crate::network) fn is_long(&self, ahead: u32) -> bool {
        self.has(feature::HOLDS) | (self.waiting.len() >= ahead)
    }

    /// Holds a packet back, or drops it.
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
        if self.has(feature::HOLDS) {
            return Behind::Others;
        }
        self.set(feature::HOLDS, true);
        let due_ps = self.waiting.last_ps();
        Behind::Ring { due_ps, start_ps }
    }

    /// Admits a held packet whose transmission starts at `start_ps`. Returns the time of its event,
    /// ps.
    pub(in crate::network) fn let_in(&mut self, start_ps: u64, bytes: u16) -> u64 {
        self.waiting.push(Start {
            at_ps: start_ps,
            bytes,
        });
        self.held -= 1;
        self.set(feature::HOLDS, self.held > 0);
        start_ps + self.transit_ps(bytes)
    }

    /// Number of waiting packets, including held ones.
    pub(in crate::network::port) fn waiting_packets(&self) -> u32 {
        self.waiting.len() + self.held
    }
}
