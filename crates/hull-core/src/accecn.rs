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

/// Offset of the ACE field: ACE = (CE-marked packets + 5) modulo 8.
const ACE_OFFSET: u64 = 5;
/// Mask of a 24-bit byte count.
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

/// Mark counters of one connection's receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccEcnReceiver {
    ce_packets: u64,
    ce_bytes: u64,
    ect0_bytes: u64,
    ect1_bytes: u64,
    last: Option<Codepoint>,
}

/// Byte counts of the AccECN option, 24 bits each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccEcnOption {
    /// EE0B: payload bytes with ECT(0), plus 1.
    pub ect0: u32,
    /// ECEB: payload bytes with CE.
    pub ce: u32,
    /// EE1B: payload bytes with ECT(1), plus 1.
    pub ect1: u32,
}

impl Default for AccEcnReceiver {
    fn default() -> Self {
        Self::new()
    }
}

impl AccEcnReceiver {
    /// Creates a receiver that has seen no packet.
    pub fn new() -> Self {
        Self {
            ce_packets: 0,
            ce_bytes: 0,
            ect0_bytes: 0,
            ect1_bytes: 0,
            last: None,
        }
    }

    /// Counts an arriving packet. Returns true if its codepoint differs from the previous packet's:
    /// an ACK is then due at once.
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

    /// Value of the ACE field for the next ACK, 0 to 7.
    pub fn ace(&self) -> u8 {
        ((self.ce_packets + ACE_OFFSET) % 8) as u8
    }

    /// AccECN option for the next ACK.
    pub fn option(&self) -> AccEcnOption {
        let field = |count: u64| (count & BYTES_MASK) as u32;
        AccEcnOption {
            ect0: field(self.ect0_bytes + 1),
            ce: field(self.ce_bytes),
            ect1: field(self.ect1_bytes + 1),
        }
    }
}

/// Range of the number of new marks that one ACK may report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMarks {
    /// Smallest number consistent with the ACE field.
    pub least: u64,
    /// Largest consistent number that does not exceed the newly acknowledged packets; `least` if
    /// none is larger.
    pub most: u64,
}

/// The sender's count of marked packets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AceDecoder {
    marks: u64,
}

impl AceDecoder {
    /// Creates a decoder that has counted no mark.
    pub fn new() -> Self {
        Self::default()
    }

    /// Decodes the field `ace` of an ACK that newly acknowledges `acked_packets`. The ACK must not
    /// be older than the last one.
    pub fn on_ack(&self, ace: u8, acked_packets: u64) -> NewMarks {
        let known = (self.marks + ACE_OFFSET) % 8;
        let least = (u64::from(ace) + 8 - known) % 8;
        let wraps = acked_packets.saturating_sub(least) / 8;
        NewMarks {
            least,
            most: least + 8 * wraps,
        }
    }

    /// Counts `marks` new marks: `least`, `most`, or (decided by the option) a value between them
    /// in steps of 8.
    pub fn accept(&mut self, marks: u64) {
        self.marks += marks;
    }

    /// Total number of marks accepted.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// Growth of an option field since its value was `before`, bytes. Fields wrap at 24 bits;
    /// `None` if the growth is 2^23 or more, which identifies an old ACK.
    pub fn new_bytes(before: u32, field: u32) -> Option<u32> {
        let grown = field.wrapping_sub(before) & BYTES_MASK as u32;
        (grown < 1 << 23).then_some(grown)
    }
}
