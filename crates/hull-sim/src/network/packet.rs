//! A packet: what the network carries from host to host. Plain 24 bytes, copied, never allocated.
//!
//! Sequence and acknowledgment numbers are 32 bits and wrap, as in TCP (RFC 9293, 3.4); sizes are
//! bytes. What few packets carry besides waits in a side table ([`OptionTable`](super::OptionTable)).
//! The route is a place in the network's list of hops, so that a switch looks nothing up.

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
    /// Where the priority class begins: two bits, 0 is served first.
    pub const CLASS_SHIFT: u16 = 12;
    /// Bits of the priority class.
    pub const CLASS_BITS: u32 = 2;

    /// No two fields share a bit.
    const _: () = {
        let class = ((1 << CLASS_BITS) - 1) << CLASS_SHIFT;
        let fields = [DATA, ACK, CE, ECE, CWR, PROBE, REPLY, SYN, ECHOED, class];
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

/// One packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// First payload byte's sequence number.
    pub seq: u32,
    /// Next byte expected, where flags has ACK.
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

    /// Priority class, 0 is served first.
    #[inline]
    pub fn class(&self) -> usize {
        usize::from(self.flags >> flags::CLASS_SHIFT) & (CLASSES - 1)
    }
}

const _: () = assert!(size_of::<Packet>() == 24);
