//! Ramp: marks with a probability that grows linearly with the queue between two thresholds.
//!
//! Source: `decide_ECN` of uet-htsim (commit 40ccb05, `compositequeue.cpp`) and of Uno's fork of it
//! (Uno_SC25, commit 68d164e). A departing packet is marked according to the queue that it leaves
//! behind. Published: 9 and 35 packets of 4150 bytes at 100 Gbps (20% and 80% of a round trip's queue),
//! and for Uno 10% and 80% of 1 MB.
//!
//! Switches mark for DCQCN up to a probability below 1, and every packet above the second threshold: 0.2
//! with 100 and 400 KB at 25 Gbps (alibaba-edu/High-Precision-Congestion-Control at 9f4be2a, run.py).
//!
//! Unlike [`red`](crate::red) it uses the current queue instead of an average, and an independent draw
//! for each packet.
//!
//! Units: bytes; probability fixed point, 2^32 as 1.0.

/// Probability 1, fixed point.
pub const ONE: u64 = 1 << 32;

/// Marker with a probability that is linear between two thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RampMarker {
    /// Queue up to which no packet is marked, bytes.
    pub low_bytes: u64,
    /// Queue above which every packet is marked, bytes; at least `low_bytes`.
    pub high_bytes: u64,
    /// Probability at `high_bytes`, scaled by 2^32: [`ONE`] or less.
    pub max_probability: u64,
}

impl RampMarker {
    /// Whether to mark a packet that leaves `queue_bytes` behind; `random` holds 32 uniform bits.
    #[inline]
    pub fn marks(&self, queue_bytes: u64, random: u32) -> bool {
        if queue_bytes > self.high_bytes {
            return true;
        }
        let Some(above) = queue_bytes.checked_sub(self.low_bytes) else {
            return false;
        };
        let range = self.high_bytes - self.low_bytes;
        let bound = u128::from(above) * u128::from(self.max_probability);
        u128::from(random) * u128::from(range) < bound
    }
}
