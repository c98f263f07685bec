//! The queue of a port between two arrivals, for controllers that run only at arrivals.
//!
//! Source: derived from a FIFO port of constant rate; no document describes it. After an arrival that
//! raises the queue to `q` units it holds `q - (t - t0) * rate`, and nothing from `empty_at_ps` on. RED
//! needs the link's idle time (Floyd and Jacobson 1993), PI the queue at its sampling instants. The
//! estimate is too short for a port that other queues delay, such as one of low priority.
//!
//! Units: picoseconds; the queue in bytes or in packets ([`QueueUnit`]). A unit's transmission time is
//! rounded up to 2^-16 ps.

/// Fraction bits of a unit's transmission time, ps.
const FRACTION_BITS: u32 = 16;
/// Transmission time of a byte at 1 bit/s, ps.
const PS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000_000;

/// Unit in which a queue is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueUnit {
    /// Bytes.
    Bytes,
    /// Packets; times are computed for the typical size.
    Packets,
}

/// Link behind a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Service rate of the queue, bit/s, above zero.
    pub rate_bps: u64,
    /// Size of a typical packet, bytes, above zero.
    pub typical_packet_bytes: u32,
    /// Unit in which the queue is counted.
    pub unit: QueueUnit,
}

impl Link {
    /// Transmission time of `bytes`, in 2^-16 ps.
    fn time(&self, bytes: u32) -> u64 {
        let ps = (PS_PER_BYTE_AT_1_BPS << FRACTION_BITS) * u128::from(bytes);
        u64::try_from(ps.div_ceil(u128::from(self.rate_bps))).unwrap_or(u64::MAX)
    }

    /// Transmission time of a typical packet, ps, at least 1.
    pub fn typical_packet_ps(&self) -> u64 {
        (self.time(self.typical_packet_bytes) >> FRACTION_BITS).max(1)
    }
}

/// Estimate of a queue since its last arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct QueueEstimate {
    /// Transmission time of one unit, in 2^-16 ps.
    unit_time: u64,
    packet_units: QueueUnit,
    /// Time at which the queue is empty without further arrivals, ps.
    empty_at_ps: u64,
}

impl QueueEstimate {
    /// Creates an empty queue at time zero.
    ///
    /// # Panics
    /// Panics if the rate or the packet size is zero.
    pub(crate) fn new(link: &Link) -> Self {
        assert!(link.rate_bps > 0, "rate_bps must be above zero");
        let typical = link.typical_packet_bytes;
        assert!(typical > 0, "typical_packet_bytes must be above zero");
        let unit_bytes = match link.unit {
            QueueUnit::Bytes => 1,
            QueueUnit::Packets => typical,
        };
        Self {
            unit_time: link.time(unit_bytes),
            packet_units: link.unit,
            empty_at_ps: 0,
        }
    }

    /// Records a packet of `packet_bytes` that joins a queue of `queue` units at `now_ps`.
    #[inline]
    pub(crate) fn arrival(&mut self, now_ps: u64, queue: u64, packet_bytes: u32) {
        let packet = match self.packet_units {
            QueueUnit::Bytes => u64::from(packet_bytes),
            QueueUnit::Packets => 1,
        };
        let units = u128::from(queue.saturating_add(packet));
        let ps = (units * u128::from(self.unit_time)) >> FRACTION_BITS;
        self.empty_at_ps = now_ps.saturating_add(u64::try_from(ps).unwrap_or(u64::MAX));
    }

    /// Time at which the queue becomes or became empty, ps.
    #[inline]
    pub(crate) fn empty_at_ps(&self) -> u64 {
        self.empty_at_ps
    }

    /// Queue at `t_ps` (not before the last arrival), units, rounded down.
    pub(crate) fn at(&self, t_ps: u64) -> u64 {
        let left_ps = u128::from(self.empty_at_ps.saturating_sub(t_ps));
        ((left_ps << FRACTION_BITS) / u128::from(self.unit_time.max(1))) as u64
    }
}
