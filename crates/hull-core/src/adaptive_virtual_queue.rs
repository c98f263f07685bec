//! Adaptive virtual queue (AVQ): a virtual queue whose capacity follows the arrivals, so that the link's
//! utilization settles at a target.
//!
//! Source: S. Kunniyur and R. Srikant, "An Adaptive Virtual Queue (AVQ) Algorithm for Active Queue
//! Management" (IEEE/ACM Trans. Netw. 12(2), 2004), which the paper's related work names beside phantom
//! queues. Published: target gamma 0.98, alpha 0.15 per second (the authors' `queue/vq.cc` in ns-2).
//!
//! For each packet of b bytes that arrives a time dt after the last one, at a link of capacity C with the
//! virtual capacity c and the virtual queue v of size B:
//!
//! - `v <- max(v - c dt, 0)`. If `v + b > B`, the packet is marked and not added; otherwise `v <- v + b`.
//! - `c <- max(min(c + alpha gamma C dt, C) - alpha b, 0)`.
//!
//! In the fluid limit `dc/dt = alpha (gamma C - arrival rate)`: c is constant only if the arrival rate is
//! gamma C. The share of marks is then `1 - c / (gamma C)`. A phantom queue has a constant c instead, so
//! its share of marks comes with a backlog near the threshold only.
//!
//! c / alpha is the level of a token bucket of depth C / alpha that fills at gamma C and from which each
//! packet takes its size. It is stored as that level; alpha is given as the time constant 1 / alpha. The
//! bucket begins at gamma C; the authors' ns-2 code begins at 0.8 C.
//!
//! Units: level and backlog in 2^-16 bit, times in ps. The fill of each packet is rounded down, so the
//! target is met to within 2^-16 bit per packet.

/// Fraction bits of the level and the backlog.
const FRACTION_BITS: u32 = 16;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// Settings of an [`AdaptiveVirtualQueue`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdaptiveVirtualQueueConfig {
    /// Rate of the link (C), bit/s: at most 6.4e12. With the longest time constant the depth is then
    /// 4.2e18 units, a quarter of what fits.
    pub link_bps: u64,
    /// Target of the arrival rate (gamma C), bit/s: at most `link_bps`.
    pub target_bps: u64,
    /// Time constant 1 / alpha of the virtual capacity, ps: above 0, at most 10 s.
    pub time_constant_ps: u64,
    /// Size of the virtual queue (B), bytes: at most 1 GB.
    pub buffer_bytes: u64,
}

/// AVQ of one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdaptiveVirtualQueue {
    config: AdaptiveVirtualQueueConfig,
    /// Largest level: the link's rate times the time constant.
    depth: u64,
    /// Virtual capacity times the time constant.
    level: u64,
    backlog: u64,
    /// Time of the last packet, ps.
    last_ps: u64,
}

/// What `rate_bps` carries in `time_ps`, rounded down.
#[inline]
fn carried(rate_bps: u64, time_ps: u64) -> u64 {
    let bits = (u128::from(rate_bps) << FRACTION_BITS) * u128::from(time_ps) / PS_PER_SECOND;
    u64::try_from(bits).unwrap_or(u64::MAX)
}

/// Bytes in units of the level.
#[inline]
fn units(bytes: u64) -> u64 {
    (8 * bytes) << FRACTION_BITS
}

impl AdaptiveVirtualQueue {
    /// Creates an empty virtual queue at time zero, with the target as its capacity.
    ///
    /// # Panics
    /// Panics if the time constant is zero or the target is above the link's rate.
    pub fn new(config: &AdaptiveVirtualQueueConfig) -> Self {
        assert!(
            config.time_constant_ps > 0,
            "the time constant must be above zero"
        );
        assert!(
            config.target_bps <= config.link_bps,
            "the target must be at most the link's rate"
        );
        Self {
            config: *config,
            depth: carried(config.link_bps, config.time_constant_ps),
            level: carried(config.target_bps, config.time_constant_ps),
            backlog: 0,
            last_ps: 0,
        }
    }

    /// Processes a packet of `bytes` that arrives at `now_ps` (not before the last call's time).
    /// Returns true if the packet must be marked CE.
    #[inline]
    pub fn on_packet(&mut self, now_ps: u64, bytes: u32) -> bool {
        let size = units(u64::from(bytes));
        let before = self.drained(now_ps);
        let marked = before + size > units(self.config.buffer_bytes);
        self.backlog = before + if marked { 0 } else { size };
        let filled = carried(self.config.target_bps, now_ps - self.last_ps);
        let level = self.level.saturating_add(filled).min(self.depth);
        self.level = level.saturating_sub(size);
        self.last_ps = now_ps;
        marked
    }

    /// Empties the virtual queue when the link fails at `now_ps`. The capacity stays as it is.
    pub fn clear(&mut self, now_ps: u64) {
        self.backlog = 0;
        self.last_ps = now_ps.max(self.last_ps);
    }

    /// Virtual capacity after the last packet, bit/s.
    pub fn capacity_bps(&self) -> u64 {
        let time_ps = u128::from(self.config.time_constant_ps);
        ((u128::from(self.level) * PS_PER_SECOND / time_ps) >> FRACTION_BITS) as u64
    }

    /// Virtual backlog at `now_ps` (not before the last packet), bytes, rounded down.
    pub fn backlog_bytes(&self, now_ps: u64) -> u64 {
        self.drained(now_ps) / units(1)
    }

    /// Backlog at `now_ps`.
    #[inline]
    fn drained(&self, now_ps: u64) -> u64 {
        debug_assert!(now_ps >= self.last_ps, "time went backwards");
        let time_ps = u128::from(now_ps - self.last_ps);
        let drain = u128::from(self.level) * time_ps / u128::from(self.config.time_constant_ps);
        self.backlog
            .saturating_sub(u64::try_from(drain).unwrap_or(u64::MAX))
    }
}
