//! AccECN: the receiver's mark counters, and the sender's decoding of the three-bit ACE field.
//!
//! Source: RFC 9768 as implemented by Linux (torvalds/linux at 100f946, include/net/tcp_ecn.h); the RFC
//! was not read.
//!
//! The receiver counts CE-marked packets, including pure ACKs, and the payload bytes of each codepoint.
//! The ACE field of its ACKs carries the packet count plus 5, modulo 8. An option carries the byte
//! counts, 24 bits each, ECT(0) and ECT(1) plus 1. A change of codepoint triggers an immediate ACK
//! ([`AccEcnReceiver::on_packet`]).
//!
//! Without the option the sender knows the marks only modulo 8. [`AceDecoder::on_ack`] returns the
//! smallest consistent number of new marks, and the largest that the newly acknowledged packets allow.
//! If ACKs were lost, the true number may lie between the two.
//!
//! Units: packets, bytes.

/// ACE is the count plus this.
const ACE_OFFSET: u64 = 5;
/// 24 bits of a byte count.
const BYTES_MASK: u64 = 0xff_ffff;

/// ECN codepoints of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Codepoint {
    /// Not ECN-capable.
    NotEct,
    /// ECT(0): classic.
    Ect0,
    /// ECT(1): L4S.
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// The counts of one connection's receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccEcnReceiver {
    ce_packets: u64,
    ce_bytes: u64,
    ect0_bytes: u64,
    ect1_bytes: u64,
    last: Option<Codepoint>,
}

/// What the option carries, 24 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// EE0B: payload with ECT(0).
    pub ect0: u32,
    /// ECEB: payload with CE.
    pub ce: u32,
    /// EE1B: payload with ECT(1).
    pub ect1: u32,
}

impl Default for AccEcnReceiver {
    fn default() -> Self {
        Self::new()
    }
}

impl AccEcnReceiver {
    /// Nothing has arrived.
    pub fn new() -> Self {
        Self {
            ce_packets: 0,
            ce_bytes: 0,
            ect0_bytes: 0,
            ect1_bytes: 0,
            last: None,
        }
    }

    /// A packet arrives; returns true when its codepoint differs from that of the last one, so that an ACK is due.
    pub fn on_packet(&mut self, codepoint: Codepoint, payload_bytes: u32) -> bool {
        let bytes = u64::from(payload_bytes);
        match codepoint {
            Codepoint::NotEct => {}
            Codepoint::Ect0 => self.ect0_bytes += bytes,
            Codepoint::Ect1 => self.ect1_bytes += bytes,
            Codepoint::Ce => {
                self.ce_packets += 1;
                self.ce_bytes += bytes;
            }
        }
        let before = self.last.replace(codepoint);
        before.is_some_and(|before| before != codepoint)
    }

    /// The ACE field of an ACK.
    pub fn ace(&self) -> u8 {
        ((self.ce_packets + ACE_OFFSET) % 8) as u8
    }

    /// The option of an ACK.
    pub fn option(&self) -> AccEcnOption {
        let field = |count: u64| (count & BYTES_MASK) as u32;
        AccEcnOption {
            ect0: field(self.ect0_bytes + 1),
            ce: field(self.ce_bytes),
            ect1: field(self.ect1_bytes + 1),
        }
    }
}

/// How many marks an ACK may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMarks {
    /// The least number that fits the field.
    pub least: u64,
    /// The largest that fits and is not more than the packets newly acknowledged; `least` when that is.
    pub most: u64,
}

/// The sender's count of marks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AceDecoder {
    marks: u64,
}

impl AceDecoder {
    /// No mark is known of.
    pub fn new() -> Self {
        Self::default()
    }

    /// An ACK with the field `ace` arrives, not older than the last one, and newly acknowledges `acked_packets`.
    pub fn on_ack(&self, ace: u8, acked_packets: u64) -> NewMarks {
        let known = (self.marks + ACE_OFFSET) % 8;
        let least = (u64::from(ace) + 8 - known) % 8;
        let wraps = acked_packets.saturating_sub(least) / 8;
        NewMarks {
            least,
            most: least + 8 * wraps,
        }
    }

    /// The sender takes so many as new: one of the two numbers, or, with the option, one between them in steps
    /// of 8.
    pub fn accept(&mut self, marks: u64) {
        self.marks += marks;
    }

    /// Marks accepted in all.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// Growth of a field of the option since it was `before`; fields wrap at 24 bits, and an increase by half of
    /// that or more is an old ACK.
    pub fn new_bytes(before: u32, field: u32) -> Option<u32> {
        let grown = field.wrapping_sub(before) & BYTES_MASK as u32;
        (grown < 1 << 23).then_some(grown)
    }
}
