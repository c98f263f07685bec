//! A packet: 24 plain bytes, copied, never allocated.
//!
//! Sequence and acknowledgment numbers have 32 bits and wrap, as in TCP (RFC 9293, 3.4); sizes are
//! bytes. Rare fields are in a side table ([`OptionTable`](super::OptionTable)). The route is an index
//! into the network's list of hops, so a switch needs no lookup.

/// Bits of [`Packet::flags`].
pub mod flags {
    /// The packet carries payload of `Packet::flow`.
    pub const DATA: u16 = 1 << 0;
    /// `ack` is valid. Without DATA: a pure ACK of `Packet::flow`; with DATA: of its reverse flow.
    pub const ACK: u16 = 1 << 1;
    /// Codepoint ECT(1) of the IP header's ECN field (RFC 3168, 5; RFC 9331).
    pub const ECT1: u16 = 0b01 << ECN_SHIFT;
    /// Codepoint ECT(0): the transport reacts to ECN.
    pub const ECT0: u16 = 0b10 << ECN_SHIFT;
    /// Codepoint CE: congestion experienced. Both bits, as on the wire.
    pub const CE: u16 = 0b11 << ECN_SHIFT;
    /// Position of the two bits of the ECN field.
    pub const ECN_SHIFT: u16 = 2;
    /// ECN-Echo of an acknowledgment.
    pub const ECE: u16 = 1 << 4;
    /// Congestion window reduced (CWR).
    pub const CWR: u16 = 1 << 5;
    /// Latency probe (paper 5.2: the ping of the Latency Measurement Module).
    pub const PROBE: u16 = 1 << 6;
    /// On data: the last packet of a message, whose waits are recorded. The bit of PROBE, which data
    /// does not have.
    pub const LAST: u16 = PROBE;
    /// Reply to a probe.
    pub const REPLY: u16 = 1 << 7;
    /// On data: the NIC has split the packet off the same piece as the one before (segmentation
    /// offload). The bit of REPLY, which only probes have.
    pub const BEHIND: u16 = REPLY;
    /// Opens a connection; with ACK, the answer.
    pub const SYN: u16 = 1 << 8;
    /// The flow has received an ECN-Echo since its previous packet; for the sending host's pacer.
    pub const ECHOED: u16 = 1 << 9;
    /// A switch has trimmed the payload and forwarded the header.
    pub const TRIMMED: u16 = 1 << 10;
    /// With TRIMMED: the port to the receiver has trimmed the packet. The bit of AE, which only TCP's
    /// acknowledgments have.
    pub const LAST_HOP: u16 = AE;
    /// Position of the priority class: three bits, class 0 is served first.
    pub const CLASS_SHIFT: u16 = 11;
    /// Number of bits of the priority class.
    pub const CLASS_BITS: u32 = 3;
    /// The receiver understands the packet without its payload, so a switch may trim it.
    pub const TRIMMABLE: u16 = 1 << 14;
    /// First bit of the ACE field of AccECN (RFC 9768); the other bits are CWR and ECE.
    pub const AE: u16 = 1 << 15;

    /// Compile-time check that no two fields share a bit.
    const _: () = {
        let class = ((1 << CLASS_BITS) - 1) << CLASS_SHIFT;
        let fields = [
            DATA, ACK, CE, ECE, CWR, PROBE, REPLY, SYN, ECHOED, TRIMMED, class, TRIMMABLE, AE,
        ];
        let (mut taken, mut i) = (0, 0);
        while i < fields.len() {
            assert!(taken & fields[i] == 0);
            taken |= fields[i];
            i += 1;
        }
        assert!(ECT0 | ECT1 == CE && ECT0 & ECT1 == 0);
    };
}

/// Number of priority classes.
pub const CLASSES: usize = 1 << flags::CLASS_BITS;

/// Content of `Packet::ack` in the message transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathWord {
    /// Entropy value.
    pub entropy: u16,
    /// Whether the sender requests an immediate acknowledgment.
    pub asks_ack: bool,
    /// Whether this is a retransmission.
    pub resent: bool,
}

impl PathWord {
    /// Encodes the fields as a number, with the entropy value in the low half.
    pub fn bits(self) -> u32 {
        u32::from(self.entropy) | u32::from(self.asks_ack) << 16 | u32::from(self.resent) << 17
    }

    /// Decodes the fields.
    pub fn of(bits: u32) -> Self {
        PathWord {
            entropy: bits as u16,
            asks_ack: bits >> 16 & 1 == 1,
            resent: bits >> 17 & 1 == 1,
        }
    }
}

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Sequence number of the first payload byte; in the message transport the packet number.
    pub seq: u32,
    /// Next expected byte if `flags` has ACK; in the message transport a [`PathWord`].
    pub ack: u32,
    /// Flow whose data or acknowledgment this is.
    pub flow: u32,
    /// Entry of the side table of options, or [`NO_OPTIONS`](super::NO_OPTIONS).
    pub options: u32,
    /// Place of the next hop in the network's list of hops.
    pub hop: u32,
    /// Bytes on the wire, including headers.
    pub wire_bytes: u16,
    /// Bits of [`flags`].
    pub flags: u16,
}

impl Packet {
    /// Whether all bits of `mask` are set.
    #[inline]
    pub fn has(&self, mask: u16) -> bool {
        self.flags & mask == mask
    }

    /// Whether this is a latency probe or the reply to one.
    #[inline]
    pub fn is_probe(&self) -> bool {
        self.flags & (flags::PROBE | flags::DATA) == flags::PROBE
    }

    /// Whether this is the last packet of a message.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.has(flags::LAST | flags::DATA)
    }

    /// Whether the NIC has split the packet off the same piece as the one before.
    #[inline]
    pub fn is_behind(&self) -> bool {
        self.has(flags::BEHIND | flags::DATA)
    }

    /// Whether a switch may mark the packet: ECT(0) or ECT(1), not CE. Without a branch.
    #[inline(always)]
    pub fn is_markable(&self) -> bool {
        let ecn = self.flags >> flags::ECN_SHIFT;
        (ecn ^ (ecn >> 1)) & 1 == 1
    }

    /// Whether a switch marks the packet instead of dropping it early: ECT(0), ECT(1) or CE (RFC
    /// 3168, 5).
    pub fn is_ecn_capable(&self) -> bool {
        (self.flags >> flags::ECN_SHIFT) & 3 != 0
    }

    /// ACE field of an acknowledgment, from its flags.
    #[inline]
    pub fn ace(&self) -> u8 {
        let bit = |flag: u16, of: u8| if self.flags & flag == 0 { 0 } else { of };
        bit(flags::AE, 4) | bit(flags::CWR, 2) | bit(flags::ECE, 1)
    }

    /// Flags of an acknowledgment with this ACE field.
    #[inline]
    pub fn ace_flags(ace: u8) -> u16 {
        let flag = |bit: u8, of: u16| if ace & bit == 0 { 0 } else { of };
        flag(4, flags::AE) | flag(2, flags::CWR) | flag(1, flags::ECE)
    }

    /// A packet of 1500 bytes with these flags and all other fields 0.
    #[cfg(test)]
    pub fn with_flags(flags: u16) -> Packet {
        Packet {
            seq: 0,
            ack: 0,
            flow: 0,
            options: super::NO_OPTIONS,
            hop: 0,
            wire_bytes: 1500,
            flags,
        }
    }

    /// Priority class; 0 is served first.
    #[inline]
    pub fn class(&self) -> usize {
        usize::from(self.flags >> flags::CLASS_SHIFT) & (CLASSES - 1)
    }
}

const _: () = assert!(size_of::<Packet>() == 24);
