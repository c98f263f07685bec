//! ACK coalescing of a message transport: which arrivals trigger an immediate ACK.
//!
//! Source: Ultra Ethernet's simulator uet-htsim (commit 40ccb05, `uec.cpp`). A packet triggers an
//! immediate ACK if it
//!
//! - is the first one, is marked, or is a duplicate;
//! - brings the bytes since the last ACK to at least the threshold (16,384 bytes), duplicates included;
//! - carries an ACK request. The sender requests an ACK with the last packet that its data, window or
//!   credit allows. If packets before that one are missing, the last packet in order is acknowledged as
//!   well.
//!
//! Units: bytes on the wire.

/// Published threshold, bytes since the last ACK.
pub const PUBLISHED_THRESHOLD_BYTES: u64 = 16_384;

/// Data packet, as seen after its insertion into the [`PacketSet`](crate::packet_set::PacketSet).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckedPacket {
    /// Size on the wire, bytes.
    pub bytes: u32,
    /// Whether the packet had been received before.
    pub duplicate: bool,
    /// Whether the packet is marked CE.
    pub marked: bool,
    /// Whether the sender requests an ACK.
    pub request: bool,
    /// Packets received out of order that wait for a missing one.
    pub held: u64,
}

/// ACK state of one connection's receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AckCoalescing {
    threshold_bytes: u64,
    /// Bytes received since the last ACK.
    since_bytes: u64,
    begun: bool,
    /// Whether an ACK request is open; it stays open until no packet is missing.
    requested: bool,
}

impl AckCoalescing {
    /// Creates a receiver that has seen no packet.
    pub fn new(threshold_bytes: u64) -> Self {
        Self {
            threshold_bytes,
            since_bytes: 0,
            begun: false,
            requested: false,
        }
    }

    /// Processes an arriving packet. Returns true if an ACK is due now.
    #[inline]
    pub fn on_packet(&mut self, packet: &AckedPacket) -> bool {
        self.since_bytes += u64::from(packet.bytes);
        let mut due = packet.duplicate
            || packet.marked
            || !self.begun
            || self.since_bytes >= self.threshold_bytes;
        if !packet.duplicate {
            self.begun = true;
            self.requested |= packet.request;
            due |= packet.request;
            if self.requested && packet.held == 0 {
                self.requested = false;
                due = true;
            }
        }
        if due {
            self.since_bytes = 0;
        }
        due
    }
}
