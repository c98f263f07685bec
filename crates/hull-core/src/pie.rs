//! PIE: a controller of the queueing delay that drops or marks arriving packets (RFC 8033).
//!
//! Source: RFC 8033 as implemented by Linux (torvalds/linux at 00ac0dc, net/sched/sch_pie.c); the RFC
//! was not read. Published: target and interval 15 ms, alpha 1/8, beta 5/4 per second, bursts of 150
//! ms.
//!
//! Every interval, with the delay of the last departed packet, `p += alpha (delay - target) + beta
//! (delay - previous delay)`. Both gains are divided by 2 below p = 1/10, and by a further 4 below each
//! tenth of that down to 10^-6. From p = 1/10 on p rises by at most 1/50; above 250 ms it rises by 1/50
//! more. Two intervals in a row without delay reduce p by 1/64.
//!
//! An arriving packet is admitted while the burst allowance lasts, while the delay is below half of the
//! target and p below 1/5, and while fewer than two packets wait. Otherwise p accumulates. Below a sum
//! of 0.85 since the last drop the packet is admitted, from 8.5 on it is dropped, and between the two
//! it is dropped with probability p. With ECT and p up to 1/10 it is marked instead. The burst
//! allowance shrinks while packets leave. It is renewed when p is zero and the delay was below half of
//! the target for two intervals.
//!
//! Difference: Linux has p in 56 bits; here it is `f64`, as in the RFC. Like Linux, this form omits the
//! decay if packets wait but no delay was measured.
//!
//! Units: picoseconds, bytes, seconds in the gains.

use crate::signal::Signal;

const SECOND_PS: f64 = 1e12;
/// Largest rise of p per interval from [`LARGE`] on.
const MAX_RISE: f64 = 0.02;
/// p from which its rise is limited, and above which ECT packets are dropped instead of marked.
const LARGE: f64 = 0.1;
/// Delay above which p rises by a further [`MAX_RISE`], ps: 250 ms.
const LONG_DELAY_PS: u64 = 250_000_000_000;
/// Factor of p for an interval that follows another one without delay.
const DECAY: f64 = 1.0 - 1.0 / 64.0;
/// p below which nothing is dropped while the delay is low.
const LOW_PROBABILITY: f64 = 0.2;
/// Bounds of the sum of p between two drops: below the first no drop, from the second on a certain
/// one.
const LEAST_SUM: f64 = 0.85;
const MOST_SUM: f64 = 8.5;

/// Settings of a [`Pie`] queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieConfig {
    /// Target queueing delay, ps.
    pub target_ps: u64,
    /// Integral gain, 1/s.
    pub alpha: f64,
    /// Proportional gain, 1/s.
    pub beta: f64,
    /// Burst allowance, ps.
    pub burst_ps: u64,
    /// Size of a full packet, bytes. With a backlog below two of them nothing is dropped.
    pub mtu_bytes: u32,
}

impl PieConfig {
    /// Returns the published settings, for updates every 15 ms.
    pub fn published(mtu_bytes: u32) -> Self {
        Self {
            target_ps: 15_000_000_000,
            alpha: 0.125,
            beta: 1.25,
            burst_ps: 150_000_000_000,
            mtu_bytes,
        }
    }
}

/// PIE controller of one queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Pie {
    config: PieConfig,
    probability: f64,
    /// Sum of p since the last drop.
    sum: f64,
    /// Delay of the last departed packet, ps.
    delay_ps: u64,
    /// Delay at the last update, ps.
    delay_before_ps: u64,
    burst_ps: u64,
    left_at_ps: Option<u64>,
}

impl Pie {
    /// Creates a controller of an empty queue with the full burst allowance.
    pub fn new(config: &PieConfig) -> Self {
        Self {
            config: *config,
            probability: 0.0,
            sum: 0.0,
            delay_ps: 0,
            delay_before_ps: 0,
            burst_ps: config.burst_ps,
            left_at_ps: None,
        }
    }

    /// Drop probability p.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Decides on an arriving packet that finds `backlog_bytes`. `ect` allows a mark instead of a
    /// drop, and `random` holds 32 uniform bits.
    #[inline]
    pub fn on_arrival(&mut self, backlog_bytes: u64, ect: bool, random: u32) -> Signal {
        if !self.selects(backlog_bytes, random) {
            return Signal::Pass;
        }
        if ect && self.probability <= LARGE {
            return Signal::Mark;
        }
        self.sum = 0.0;
        Signal::Drop
    }

    /// Records a packet that leaves at `now_ps` after waiting `delay_ps`, with `backlog_bytes` left
    /// in the queue.
    #[inline]
    pub fn on_departure(&mut self, now_ps: u64, delay_ps: u64, backlog_bytes: u64) {
        self.delay_ps = if backlog_bytes == 0 { 0 } else { delay_ps };
        if let Some(left_at_ps) = self.left_at_ps.replace(now_ps) {
            self.burst_ps = self.burst_ps.saturating_sub(now_ps - left_at_ps);
        }
    }

    /// Updates p; due every interval. `backlog_bytes` is the current queue.
    pub fn update(&mut self, backlog_bytes: u64) {
        let (delay_ps, before_ps) = (self.delay_ps, self.delay_before_ps);
        let seconds =
            |later_ps: u64, earlier_ps: u64| (later_ps as f64 - earlier_ps as f64) / SECOND_PS;
        let change = self.config.alpha * seconds(delay_ps, self.config.target_ps)
            + self.config.beta * seconds(delay_ps, before_ps);
        let mut change = change / self.divisor();
        if self.probability >= LARGE {
            change = change.min(MAX_RISE);
        }
        if delay_ps > LONG_DELAY_PS {
            change += MAX_RISE;
        }
        let free = delay_ps == 0 && before_ps == 0 && backlog_bytes == 0;
        let probability = (self.probability + change).clamp(0.0, 1.0);
        self.probability = if free {
            probability * DECAY
        } else {
            probability
        };
        self.delay_before_ps = delay_ps;
        let half_ps = self.config.target_ps / 2;
        if delay_ps < half_ps && before_ps < half_ps && self.probability == 0.0 {
            self.sum = 0.0;
            self.left_at_ps = None;
            self.burst_ps = self.config.burst_ps;
        }
    }

    fn selects(&mut self, backlog_bytes: u64, random: u32) -> bool {
        let probability = self.probability;
        let low = self.delay_ps < self.config.target_ps / 2 && probability < LOW_PROBABILITY;
        if self.burst_ps > 0 || low || backlog_bytes < 2 * u64::from(self.config.mtu_bytes) {
            return false;
        }
        self.sum = if probability == 0.0 {
            0.0
        } else {
            self.sum + probability
        };
        if self.sum < LEAST_SUM {
            return false;
        }
        if self.sum >= MOST_SUM {
            return true;
        }
        let selected = f64::from(random) < probability * 4_294_967_296.0;
        if selected {
            self.sum = 0.0;
        }
        selected
    }

    /// Divisor of the gains: 1 from p = 1/10 on, 2 below it, and 4 times more below each further
    /// tenth.
    fn divisor(&self) -> f64 {
        if self.probability >= LARGE {
            return 1.0;
        }
        let (mut divisor, mut inverse) = (2.0, 100.0);
        while self.probability * inverse < 1.0 && inverse <= 1e6 {
            divisor *= 4.0;
            inverse *= 10.0;
        }
        divisor
    }
}
