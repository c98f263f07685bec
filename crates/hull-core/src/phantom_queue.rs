//! Phantom queue: a counter of the bytes that would wait at a link of `drain_bps`, which is slower than
//! the real link. It marks CE and holds no packets.
//!
//! Source: paper 2.1 and 5.1 (thesis 4.1.1 and 4.4.1), report II-A. Published settings: drain 950 Mbps
//! on a link of 1 Gbps, threshold 1 KB. A phantom queue in parallel to the port's queue (remark 1)
//! counts packets when they arrive at the port instead.
//!
//! For each packet that leaves the port: drain for the time since the last packet, not below zero;
//! compare with the threshold (strictly greater marks); add the packet. With `count_arriving` the
//! packet is added before the comparison, as in the report's ns-2 port. A single 1500-byte packet in an
//! empty network then exceeds a threshold of 1 KB, which is why the report uses packets of 950 bytes.
//! The testbed ran 1500-byte packets with 1 KB without marking all of them, so it must have compared
//! before it counted the packet; the paper does not say so.
//!
//! Hardware: the NetFPGA decremented its counter every 800 ns ([`Drain::Ticks`]) by the bytes that the
//! drain rate gives in that time (95 bytes at 950 Mbps).
//!
//! Units and rounding: the backlog is stored as its drain time in 2^-16 ps, so draining is a
//! subtraction, and a packet costs one multiplication and no division. One byte is `round(8e12 * 2^16 /
//! drain_bps)` units, the only rounding. Its relative error of the drain rate is at most `drain_bps /
//! 1.05e18` (1e-9 at 950 Mbps, 1e-7 at 100 Gbps) and does not grow with the number of packets. The
//! backlog saturates at 281 s of drain time.

/// Fraction bits of the backlog: a unit is 2^-16 ps of drain time.
const FRACTION_BITS: u32 = 16;
/// Transmission time of a byte at 1 bit/s, ps.
const PS_PER_BYTE_AT_1_BPS: u128 = 8_000_000_000_000;

/// Drain mode of the virtual queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drain {
    /// Continuous drain.
    Continuous,
    /// Drain in steps at the multiples of `tick_ps`. Each step removes the bytes that `drain_bps`
    /// yields in one tick. A step precedes a packet at the same instant.
    Ticks {
        /// Time between two steps, ps, above zero. NetFPGA: 800 ns.
        tick_ps: u64,
    },
}

/// Settings of a [`PhantomQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhantomQueueConfig {
    /// Drain rate, bit/s, above zero: gamma times the link's rate.
    pub drain_bps: u64,
    /// Marking threshold, bytes. A packet is marked if the counter is strictly above it.
    pub threshold_bytes: u32,
    /// Whether the packet is added before the comparison (true) or after it (false).
    pub count_arriving: bool,
    /// Drain mode: continuous or ticks.
    pub drain: Drain,
}

/// Settings converted to the units of the arithmetic, as a loader writes them into an eBPF map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhantomQueueUnits {
    /// Drain time of one byte, in 2^-16 ps.
    pub byte_units: u64,
    /// Threshold as drain time, in 2^-16 ps.
    pub threshold_units: u64,
}

impl PhantomQueueConfig {
    /// Converts the settings to the units of the arithmetic.
    ///
    /// # Panics
    /// Panics if `drain_bps` is zero.
    pub fn units(&self) -> PhantomQueueUnits {
        assert!(self.drain_bps > 0, "drain_bps must be above zero");
        let drain_bps = u128::from(self.drain_bps);
        let byte_units = ((PS_PER_BYTE_AT_1_BPS << FRACTION_BITS) + drain_bps / 2) / drain_bps;
        // 8e12 * 2^16 is below 2^60, so the quotient always fits; zero would need 1e18 bit/s.
        let byte_units = (byte_units as u64).max(1);
        PhantomQueueUnits {
            byte_units,
            threshold_units: byte_units.saturating_mul(u64::from(self.threshold_bytes)),
        }
    }
}

/// Virtual queue of one egress link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhantomQueue {
    /// Drain time of one byte, in 2^-16 ps.
    byte_units: u64,
    /// Threshold as drain time, in 2^-16 ps.
    threshold_units: u64,
    /// Backlog as drain time at `drained_to_ps`, in 2^-16 ps.
    backlog_units: u64,
    /// Time up to which the drain has been applied, ps; with ticks, a multiple of the tick.
    drained_to_ps: u64,
    /// Time between two steps of the drain, ps; 0: continuous.
    tick_ps: u64,
    count_arriving: bool,
}

impl PhantomQueue {
    /// Creates an empty queue at time zero.
    ///
    /// # Panics
    /// Panics if `drain_bps` or `tick_ps` is zero.
    pub fn new(config: &PhantomQueueConfig) -> Self {
        let units = config.units();
        let tick_ps = match config.drain {
            Drain::Continuous => 0,
            Drain::Ticks { tick_ps } => {
                assert!(tick_ps > 0, "tick_ps must be above zero");
                tick_ps
            }
        };
        Self {
            byte_units: units.byte_units,
            threshold_units: units.threshold_units,
            backlog_units: 0,
            drained_to_ps: 0,
            tick_ps,
            count_arriving: config.count_arriving,
        }
    }

    /// Counts a packet of `bytes` that leaves the port at `now_ps` (not before the last call's
    /// time). Returns true if the packet must be marked CE.
    #[inline]
    pub fn on_packet(&mut self, now_ps: u64, bytes: u32) -> bool {
        let credit_ps = self.credit_ps(now_ps);
        self.drained_to_ps += credit_ps;
        let before = drained(self.backlog_units, credit_ps);
        let after = before.saturating_add(self.byte_units.saturating_mul(u64::from(bytes)));
        self.backlog_units = after;
        let compared = if self.count_arriving { after } else { before };
        compared > self.threshold_units
    }

    /// Empties the queue when the link fails at `now_ps`. Packets counted before may have had
    /// departures after `now_ps`; new packets may leave from `now_ps` on.
    pub fn clear(&mut self, now_ps: u64) {
        self.backlog_units = 0;
        self.drained_to_ps = self.drained_at(now_ps);
    }

    /// Virtual backlog at `now_ps` (not before the last packet), bytes, rounded to nearest.
    pub fn backlog_bytes(&self, now_ps: u64) -> u64 {
        let units = drained(self.backlog_units, self.credit_ps(now_ps));
        units.saturating_add(self.byte_units / 2) / self.byte_units
    }

    /// Virtual backlog at `now_ps`, bytes, if packets of `later_bytes` in total that leave after
    /// `now_ps` have already been counted. Exact if the queue drains continuously and no faster
    /// than packets leave, so that it never empties between back-to-back packets.
    pub fn backlog_bytes_before(&self, now_ps: u64, later_bytes: u64) -> u64 {
        if now_ps >= self.drained_to_ps {
            return self.backlog_bytes(now_ps);
        }
        let not_drained = (self.drained_to_ps - now_ps) << FRACTION_BITS;
        let units = self.backlog_units.saturating_add(not_drained);
        let units = units.saturating_sub(self.byte_units.saturating_mul(later_bytes));
        units.saturating_add(self.byte_units / 2) / self.byte_units
    }

    /// Drain time due since `drained_to_ps`, ps.
    #[inline]
    fn credit_ps(&self, now_ps: u64) -> u64 {
        debug_assert!(now_ps >= self.drained_to_ps, "time went backwards");
        self.drained_at(now_ps).saturating_sub(self.drained_to_ps)
    }

    /// Time up to which the drain is applied at `now_ps`, ps.
    #[inline]
    fn drained_at(&self, now_ps: u64) -> u64 {
        match self.tick_ps {
            0 => now_ps,
            tick_ps => now_ps - now_ps % tick_ps,
        }
    }
}

/// Backlog after `credit_ps` of drain, not below zero.
#[inline]
fn drained(backlog_units: u64, credit_ps: u64) -> u64 {
    if credit_ps >> (u64::BITS - FRACTION_BITS) != 0 {
        return 0;
    }
    backlog_units.saturating_sub(credit_ps << FRACTION_BITS)
}
