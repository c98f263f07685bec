//! Threshold marking on the instantaneous queue: the switch's part of DCTCP.
//!
//! Source: thesis 2.2.1, part 1 and figure 2.9. An arriving packet is marked CE if the queue that it
//! finds exceeds K. Published K: 30 KB (20 packets of 1500 bytes) at 1 Gbps and 65 packets at 10 Gbps
//! (thesis 2.2.4); 6 KB as the low threshold that HULL is compared with (paper 6).
//!
//! The thesis compares the queue without the arriving packet. A switch whose RED counts the packet
//! first sees a queue that is one packet longer: `count_arriving`.
//!
//! Units: bytes.

/// Marker that compares the queue with the threshold K.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdMarker {
    /// K, bytes. A queue strictly above it causes a mark.
    pub threshold_bytes: u32,
    /// Whether the compared queue includes the arriving packet.
    pub count_arriving: bool,
}

impl ThresholdMarker {
    /// Whether a packet of `packet_bytes` that finds `queue_bytes_before` in the queue is marked CE.
    #[inline]
    pub fn marks(&self, queue_bytes_before: u64, packet_bytes: u32) -> bool {
        let counted = if self.count_arriving { packet_bytes } else { 0 };
        queue_bytes_before.saturating_add(u64::from(counted)) > u64::from(self.threshold_bytes)
    }
}
