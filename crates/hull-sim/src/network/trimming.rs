//! Packet trimming: a data packet that finds no room loses its payload, and its header continues in the
//! first queue of the port, ahead of all data. The receiver thus learns at once which packet is
//! missing.
//!
//! Source: the composite queue of the Ultra Ethernet simulator (`uet-nscc.md`, "Switch port"), adopted
//! from NDP (Handley et al., SIGCOMM 2017, 3.2). A random draw selects the packet to trim: the arriving
//! one, or the last one of the queue, whose slot the arriving one takes. The reference serves headers
//! 100,000 times as often as data; here they have strict priority. Sizes are bytes.

use super::packet::{Packet, flags};
use crate::random::Stream;

/// Trimming at a port.
#[derive(Clone, Debug)]
pub struct Trimming {
    /// Remaining bytes of a trimmed packet.
    pub header_bytes: u16,
    /// Threshold of the draw: out of 2^32 packets that find no room, this many are trimmed
    /// themselves; otherwise the last packet of the queue is.
    pub newcomers: u64,
    /// Whether the link leads to a host.
    pub to_host: bool,
    /// Random numbers for the draws.
    pub random: Stream,
}

impl Trimming {
    /// Whether a packet has a payload to trim, and a receiver that understands the header without
    /// it.
    pub fn applies_to(packet: &Packet) -> bool {
        packet.flags & (flags::TRIMMABLE | flags::TRIMMED) == flags::TRIMMABLE
    }

    /// Draws whether the arriving packet is trimmed.
    pub fn cuts_newcomer(&mut self) -> bool {
        u64::from(self.random.bits()) < self.newcomers
    }

    /// Trims a packet. A mark that it carries is kept; later switches do not mark it.
    pub fn cut(&self, packet: &mut Packet) {
        packet.wire_bytes = self.header_bytes;
        packet.flags |= flags::TRIMMED;
        if self.to_host {
            packet.flags |= flags::LAST_HOP;
        }
        if !packet.has(flags::CE) {
            packet.flags &= !flags::CE;
        }
        packet.flags &= !(((1 << flags::CLASS_BITS) - 1) << flags::CLASS_SHIFT);
    }
}
