//! A packet: what the network carries from host to host. Plain 24 bytes, copied, never allocated.
//!
//! Sequence and acknowledgment numbers are 32 bits and wrap, as in TCP (RFC 9293, 3.4); sizes are
//! bytes. Selective acknowledgments are rare and wait in a side table (`transport::SackTable`).

/// Bits of [`Packet::flags`]. ECN bits as in RFC 3168: ECT/CE of the IP header, ECE/CWR of TCP's.
pub mod flags {
    /// Carries payload of `Packet::flow`.
    pub const DATA: u16 = 1;
    /// `ack` is valid. Without DATA: a pure ACK of `Packet::flow`; with DATA: of its reverse flow.
    pub const ACK: u16 = 2;
    /// The transport reacts to ECN: the network may mark it.
    pub const ECT: u16 = 4;
    /// Congestion experienced.
    pub const CE: u16 = 8;
    /// ECN-Echo of the acknowledgment.
    pub const ECE: u16 = 16;
    /// Congestion window reduced.
    pub const CWR: u16 = 32;
    /// A latency probe (paper 5.2: the ping of the Latency Measurement Module).
    pub const PROBE: u16 = 64;
    /// The reply to a probe.
    pub const REPLY: u16 = 128;
}

/// `Packet::sack` of a packet without selective acknowledgments.
pub const NO_SACK: u32 = u32::MAX;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// First payload byte's sequence number.
    pub seq: u32,
    /// Next byte expected, where flags has ACK.
    pub ack: u32,
    /// The flow whose data or acknowledgment this is.
    pub flow: u32,
    /// Entry of the SACK side table, or [`NO_SACK`].
    pub sack: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u16,
    /// Bytes of payload.
    pub payload_bytes: u16,
    /// Destination host.
    pub dst: u16,
    /// See [`flags`].
    pub flags: u16,
}

impl Packet {
    /// Whether all bits of `mask` are set.
    #[inline]
    pub fn has(&self, mask: u16) -> bool {
        self.flags & mask == mask
    }
}

const _: () = assert!(size_of::<Packet>() == 24);
