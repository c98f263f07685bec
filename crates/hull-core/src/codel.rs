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

/// Number of intervals after which the previous count is forgotten.
const MEMORY: u64 = 16;

/// Settings of a [`Codel`] queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelConfig {
    /// Acceptable queueing delay, ps.
    pub target_ps: u64,
    /// Time for which the delay must exceed the target before CoDel drops: a long round trip, ps.
    pub interval_ps: u64,
    /// Size of a full packet, bytes. With this backlog or less no packet has waited too long.
    pub mtu_bytes: u32,
}

impl CodelConfig {
    /// Returns the published settings: target 5 ms, interval 100 ms.
    pub fn published(mtu_bytes: u32) -> Self {
        Self {
            target_ps: 5_000_000_000,
            interval_ps: 100_000_000_000,
            mtu_bytes,
        }
    }
}

/// CoDel state of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Codel {
    config: CodelConfig,
    /// Time at which dropping starts if all packets until then wait too long; `None` while they do
    /// not.
    above_until_ps: Option<u64>,
    dropping: bool,
    /// Whether the last drop has yet to schedule the next one.
    drop_open: bool,
    count: u64,
    /// Value of `count` when dropping last began.
    first_count: u64,
    next_drop_ps: u64,
}

impl Codel {
    /// Creates the state of an empty queue.
    ///
    /// # Panics
    /// Panics if the interval is zero.
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

    /// Decides on a packet that leaves at `now_ps` after waiting `delay_ps`, with `backlog_bytes`
    /// left in the queue. `ect` allows a mark instead of a drop. After a [`Signal::Drop`] the
    /// caller passes the next packet at the same time, or calls [`on_empty`](Self::on_empty) if
    /// there is none.
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

    /// Resets the delay tracking: a dequeue found the queue empty.
    pub fn on_empty(&mut self) {
        self.above_until_ps = None;
        self.dropping = false;
        self.drop_open = false;
    }

    /// Number of drops or marks since dropping began, including the count it resumed with.
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

    /// Time to the next drop: interval / sqrt(count).
    fn spacing_ps(&self) -> u64 {
        let root = (u128::from(self.count) << 64).isqrt();
        ((u128::from(self.config.interval_ps) << 32) / root) as u64
    }
}
