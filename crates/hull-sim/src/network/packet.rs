//! A packet: 24 plain bytes, copied, never allocated.
//!
//! Sequence and acknowledgment numbers have 32 bits and wrap, as in TCP (RFC 9293, 3.4); sizes are
//! bytes. Rare fields are in a side table ([`OptionTable`](super::OptionTable)). The route is an index
//! into the network's list of hops, so a switch needs no lookup.

/// Bits of [`Packet::flags`].
pub mod flags {
    /// Carries payload of `Packet::flow`.
    pub const DATA: u16 = 1 << 0;
    /// `ack` is valid. Without DATA: a pure ACK of `Packet::flow`; with DATA: of its reverse flow.
    pub const ACK: u16 = 1 << 1;
    /// Codepoint ECT(1) of the IP header's ECN field (RFC 3168, 5; RFC 9331).
    pub const ECT1: u16 = 0b01 << ECN_SHIFT;
    /// Codepoint ECT(0): the transport reacts to ECN.
    pub const ECT0: u16 = 0b10 << ECN_SHIFT;
    /// Codepoint CE: congestion experienced. Both bits, as on the wire.
    pub const CE: u16 = 0b11 << ECN_SHIFT;
    /// Where the two bits of the ECN field begin.
    pub const ECN_SHIFT: u16 = 2;
    /// ECN-Echo of the acknowledgment.
    pub const ECE: u16 = 1 << 4;
    /// Congestion window reduced.
    pub const CWR: u16 = 1 << 5;
    /// A latency probe (paper 5.2: the ping of the Latency Measurement Module).
    pub const PROBE: u16 = 1 << 6;
    /// The reply to a probe.
    pub const REPLY: u16 = 1 << 7;
    /// Opens a connection; with ACK it is the answer.
    pub const SYN: u16 = 1 << 8;
    /// Its flow has had an ECN-Echo since the packet before it: for the sending host's pacer.
    pub const ECHOED: u16 = 1 << 9;
    /// A switch has cut the payload off; its header goes on.
    pub const TRIMMED: u16 = 1 << 10;
    /// With TRIMMED: the port to the receiver has cut it.
    pub const LAST_HOP: u16 = 1 << 11;
    /// Where the priority class begins: two bits, 0 is served first.
    pub const CLASS_SHIFT: u16 = 12;
    /// Bits of the priority class.
    pub const CLASS_BITS: u32 = 2;
    /// Its receiver understands it without its payload: a switch may cut that off.
    pub const TRIMMABLE: u16 = 1 << 14;
    /// First bit of the ACE field of AccECN, whose others are CWR and ECE (RFC 9768).
    pub const AE: u16 = 1 << 15;

    /// No two fields share a bit.
    const _: () = {
        let class = ((1 << CLASS_BITS) - 1) << CLASS_SHIFT;
        let fields = [
            DATA, ACK, CE, ECE, CWR, PROBE, REPLY, SYN, ECHOED, TRIMMED, LAST_HOP, class,
            TRIMMABLE, AE,
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

/// Priority classes that a packet can name.
pub const CLASSES: usize = 1 << flags::CLASS_BITS;

/// What `Packet::ack` holds in the message transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathWord {
    /// Entropy value.
    pub entropy: u16,
    /// Whether the packet asks for an acknowledgment at once.
    pub asks_ack: bool,
    /// Whether it was sent before.
    pub resent: bool,
}

impl PathWord {
    /// As a number: the entropy value in the low half.
    pub fn bits(self) -> u32 {
        u32::from(self.entropy) | u32::from(self.asks_ack) << 16 | u32::from(self.resent) << 17
    }

    /// Of a number.
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
    /// First payload byte's sequence number; in the message transport the packet's number.
    pub seq: u32,
    /// Next byte expected, where flags has ACK; in the message transport see `PathWord`.
    pub ack: u32,
    /// The flow whose data or acknowledgment this is.
    pub flow: u32,
    /// Entry of the side table of options, or [`NO_OPTIONS`](super::NO_OPTIONS).
    pub options: u32,
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

    /// Whether a switch may mark it: ECT(0) or ECT(1), not CE. Without a branch.
    #[inline(always)]
    pub fn is_markable(&self) -> bool {
        let ecn = self.flags >> flags::ECN_SHIFT;
        (ecn ^ (ecn >> 1)) & 1 == 1
    }

    /// Whether a switch marks it instead of dropping it early: ECT(0), ECT(1) or CE (RFC 3168, 5).
    pub fn is_ecn_capable(&self) -> bool {
        (self.flags >> flags::ECN_SHIFT) & 3 != 0
    }

    /// The ACE field of an acknowledgment, from its flags.
    #[inline]
    pub fn ace(&self) -> u8 {
        let bit = |flag: u16, of: u8| if self.flags & flag == 0 { 0 } else { of };
        bit(flags::AE, 4) | bit(flags::CWR, 2) | bit(flags::ECE, 1)
    }

    /// The flags of an acknowledgment with this ACE field.
    #[inline]
    pub fn ace_flags(ace: u8) -> u16 {
        let flag = |bit: u8, of: u16| if ace & bit == 0 { 0 } else { of };
        flag(4, flags::AE) | flag(2, flags::CWR) | flag(1, flags::ECE)
    }

    /// Priority class, 0 is served first.
    #[inline]
    pub fn class(&self) -> usize {
        usize::from(self.flags >> flags::CLASS_SHIFT) & (CLASSES - 1)
    }
}

const _: () = assert!(size_of::<Packet>() == 24);
