//! A packet: what the network carries from host to host. Plain 24 bytes, copied, never allocated.
//!
//! Sequence and acknowledgment numbers are 32 bits and wrap, as in TCP (RFC 9293, 3.4); sizes are
//! bytes. Selective acknowledgments are rare and wait in a side table (`transport::SackTable`).
//! The route is a place in the network's list of hops, so that a switch looks nothing up.

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
    /// Opens a connection; with ACK it is the answer.
    pub const SYN: u16 = 256;
    /// Its flow has had an ECN-Echo since the packet before it: for the sending host's pacer.
    pub const ECHOED: u16 = 512;
    /// Carries a rate in kbit/s (RCP): of data `ack` is the least that is offered on the path so far,
    /// and there is no ACK, and `sack` is the source's smoothed round trip in ns, 0 before it has one; of a
    /// pure ACK `seq` is the least that data came with.
    pub const RATED: u16 = 1024;
    /// Where the priority class begins: two bits, 0 is served first.
    pub const CLASS_SHIFT: u16 = 12;
}

/// Priority classes that a packet can name.
pub const CLASSES: usize = 4;

/// `Packet::sack` of a packet without selective acknowledgments.
pub const NO_SACK: u32 = u32::MAX;

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// First payload byte's sequence number; of a pure ACK with RATED a rate.
    pub seq: u32,
    /// Next byte expected, where flags has ACK; of data with RATED a rate.
    pub ack: u32,
    /// The flow whose data or acknowledgment this is.
    pub flow: u32,
    /// Entry of the SACK side table, or [`NO_SACK`]; of data with RATED a round trip.
    pub sack: u32,
    /// Place of the next hop in the network's list of hops.
    pub hop: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u16,
    /// See [`flags`].
    pub flags: u16,
}

impl Packet {
    /// Whether all bits of `mask` are set.
    #[inline]
    pub fn has(&self, mask: u16) -> bool {
        self.flags & mask == mask
    }

    /// A port offers a rate: data that carries the rates of its path takes it when it is less.
    #[inline]
    pub fn offer(&mut self, rate_bps: u64) {
        if self.has(flags::RATED | flags::DATA) {
            self.ack = self.ack.min(kbps(rate_bps));
        }
    }

    /// Entry of the SACK side table, or [`NO_SACK`].
    #[inline]
    pub fn sack_entry(&self) -> u32 {
        if self.has(flags::RATED | flags::DATA) {
            NO_SACK
        } else {
            self.sack
        }
    }

    /// The source's round trip, ps, where data carries one (RCP).
    #[inline]
    pub fn round_trip_ps(&self) -> Option<u64> {
        let carried = self.has(flags::RATED | flags::DATA) && self.sack > 0;
        carried.then(|| u64::from(self.sack) * 1000)
    }

    /// Priority class, 0 is served first.
    #[inline]
    pub fn class(&self) -> usize {
        usize::from(self.flags >> flags::CLASS_SHIFT) & (CLASSES - 1)
    }
}

/// A rate as packets carry it: kbit/s, at least 1.
pub fn kbps(rate_bps: u64) -> u32 {
    u32::try_from(rate_bps / 1000).unwrap_or(u32::MAX).max(1)
}

const _: () = assert!(size_of::<Packet>() == 24);
