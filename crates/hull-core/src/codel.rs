//! CoDel: drops or marks packets when all of them have waited too long for an interval, then at
//! shrinking intervals.
//!
//! Source: RFC 8289 as implemented by Linux (torvalds/linux at 02d8f11, include/net/codel_impl.h).
//! Published: target 5 ms, interval 100 ms.
//!
//! A departing packet has waited too long if it waited at least the target and more than one packet of
//! backlog remains. Once all packets of an interval have, CoDel drops one of them and then further ones
//! at intervals of `interval / sqrt(count)`, where count is the number of drops, until a packet has not
//! waited too long. If dropping resumes within 16 intervals of the last due drop, it resumes with the
//! count that the last episode added.
//!
//! A packet with ECT is marked instead of dropped; no further packet is examined in its place.
//!
//! Difference: the square root is exact to 2^-32; Linux approximates it by one Newton step per drop.
//!
//! Units: picoseconds, bytes.

use crate::signal::Signal;

/// Intervals after which the old count is forgotten.
const MEMORY: u64 = 16;

/// Settings of a [`Codel`] queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// Delay that is put up with, ps.
    pub target_ps: u64,
    /// For how long a longer one is: a large round trip, ps.
    pub interval_ps: u64,
    /// With this backlog or less nothing waits too long: a full packet, bytes.
    pub mtu_bytes: u32,
}

impl CodelConfig {
    /// The published settings.
    pub fn published(mtu_bytes: u32) -> Self {
        Self {
            target_ps: 5_000_000_000,
            interval_ps: 100_000_000_000,
            mtu_bytes,
        }
    }
}

/// The state of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codel {
    config: CodelConfig,
    /// When packets will have waited too long for an interval; `None` while they have not.
    above_until_ps: Option<u64>,
    dropping: bool,
    /// A drop has been made whose successor is not yet due at a time.
    drop_open: bool,
    count: u64,
    /// The count when dropping last began.
    first_count: u64,
    next_drop_ps: u64,
}

impl Codel {
    /// An empty queue.
    ///
    /// # Panics
    /// When the interval is zero.
    pub fn new(config: &CodelConfig) -> Self {
        assert!(config.interval_ps > 0, "interval_ps must be above zero");
        Self {
            config: *config,
            above_until_ps: None,
            dropping: false,
            drop_open: false,
            count: 0,
            first_count: 0,
            next_drop_ps: 0,
        }
    }

    /// A packet leaves at `now_ps` that has waited `delay_ps`, and leaves `backlog_bytes` in the queue; `ect` when it may
    /// be marked. After a [`Signal::Drop`] the next packet follows at the same time; without one,
    /// [`on_empty`](Self::on_empty).
    #[inline]
    pub fn on_departure(
        &mut self,
        now_ps: u64,
        delay_ps: u64,
        backlog_bytes: u64,
        ect: bool,
    ) -> Signal {
        let too_long = self.too_long(now_ps, delay_ps, backlog_bytes);
        let signal = if ect { Signal::Mark } else { Signal::Drop };
        if !self.dropping {
            if !too_long {
                return Signal::Pass;
            }
            self.begin(now_ps);
            return signal;
        }
        if !too_long {
            self.dropping = false;
            self.drop_open = false;
            return Signal::Pass;
        }
        if self.drop_open {
            self.drop_open = false;
            self.next_drop_ps += self.spacing_ps();
        }
        if now_ps < self.next_drop_ps {
            return Signal::Pass;
        }
        self.count += 1;
        if ect {
            self.next_drop_ps += self.spacing_ps();
        } else {
            self.drop_open = true;
        }
        signal
    }

    /// A packet was asked for and there was none.
    pub fn on_empty(&mut self) {
        self.above_until_ps = None;
        self.dropping = false;
        self.drop_open = false;
    }

    /// Drops or marks since dropping began, those that it began with among them.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn too_long(&mut self, now_ps: u64, delay_ps: u64, backlog_bytes: u64) -> bool {
        let config = &self.config;
        if delay_ps < config.target_ps || backlog_bytes <= u64::from(config.mtu_bytes) {
            self.above_until_ps = None;
            return false;
        }
        match self.above_until_ps {
            None => {
                self.above_until_ps = Some(now_ps + config.interval_ps);
                false
            }
            Some(until_ps) => now_ps > until_ps,
        }
    }

    fn begin(&mut self, now_ps: u64) {
        self.dropping = true;
        let added = self.count - self.first_count;
        let recent = now_ps < self.next_drop_ps + MEMORY * self.config.interval_ps;
        self.count = if added > 1 && recent { added } else { 1 };
        self.first_count = self.count;
        self.next_drop_ps = now_ps + self.spacing_ps();
    }

    /// interval / sqrt(count).
    fn spacing_ps(&self) -> u64 {
        let root = (u128::from(self.count) << 64).isqrt();
        ((u128::from(self.config.interval_ps) << 32) / root) as u64
    }
}
