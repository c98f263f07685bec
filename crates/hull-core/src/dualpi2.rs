//! DualPI2: two coupled queues, one for low-latency traffic (L4S) and one for classic traffic (RFC
//! 9332).
//!
//! Source: Linux net/sched/sch_dualpi2.c (torvalds/linux at 92b9c2b) and, for
//! [`DualPi2Config::from_rtt`], iproute2's tc/q_dualpi2.c (at 452cbd6), which cite RFC 9332 appendix
//! A.1. The RFC was not read.
//!
//! It has three independent parts:
//!
//! - [`DualPi2`], the controller. Every `interval`, with the larger head delay of the two queues, `p +=
//!   alpha (delay - target) + beta (delay - previous delay)`, bounded to 0 and 1, or to 1/k if it does
//!   not drop on overload. Classic packets are marked, or dropped without ECT, with p^2 (two draws
//!   below p). L4S packets are marked with k p, and if they waited longer than the step. k p above 1 is
//!   overload: p^2 then drops packets of both queues, ECT or not, and all remaining L4S packets are
//!   marked. With a backlog below two packets in both queues p has no effect; the step has.
//! - [`DualPi2Credit`], the scheduler: weighted round robin by bytes, active only while both queues
//!   hold packets.
//! - The classifier: ECT(1) and CE go to the L queue. The caller reads the codepoint.
//!
//! The law of coupling, p_L = k sqrt(p_C), makes a scalable sender's window equal a classic one's.
//!
//! Virtual queue: give [`DualPi2::l4s`] the drain time of a [`PhantomQueue`](crate::phantom_queue) at
//! the L queue in place of the packet's waiting time. The step then marks before any packet waits.
//! Likewise the larger of that time and the head delays may control p.
//!
//! Units: picoseconds, bytes; p is scaled by 2^32, alpha and beta (1/s) by 2^24. Each step of p is
//! rounded towards zero.

use crate::signal::Signal;

/// Probability p = 1, fixed point.
pub const ONE: u64 = 1 << 32;
/// 1/s in the fixed point of alpha and beta.
pub const HERTZ: u64 = 1 << 24;

/// Settings of DualPI2's controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DualPi2Config {
    /// Target queueing delay, ps.
    pub target_ps: u64,
    /// Time between two updates of p, ps.
    pub interval_ps: u64,
    /// Integral gain, 1/s scaled by [`HERTZ`].
    pub alpha: u64,
    /// Proportional gain, 1/s scaled by [`HERTZ`].
    pub beta: u64,
    /// k: marking probability of the L queue divided by p.
    pub coupling: u32,
    /// Waiting time above which an L4S packet is marked, ps.
    pub step_ps: u64,
    /// Whether overload drops L4S packets. If not, the queues grow.
    pub drop_on_overload: bool,
    /// Backlog of both queues below which p has no effect: two packets, bytes.
    pub quiet_bytes: u64,
}

impl DualPi2Config {
    /// Returns the defaults of Linux: target 15 ms, updates every 16 ms, alpha 41/256, beta
    /// 819/256, k = 2, step 1 ms.
    pub fn linux(mtu_bytes: u32) -> Self {
        Self {
            target_ps: 15_000_000_000,
            interval_ps: 16_000_000_000,
            alpha: 41 * HERTZ / 256,
            beta: 819 * HERTZ / 256,
            coupling: 2,
            step_ps: 1_000_000_000,
            drop_on_overload: true,
            quiet_bytes: 2 * u64::from(mtu_bytes),
        }
    }

    /// Returns the defaults with target, interval and gains for the typical and the largest round
    /// trip: target = typical, interval = min(typical, max / 3), alpha = 0.1 interval / max^2, beta
    /// = 0.3 / max. The step is unchanged; a data centre needs one below its round trip.
    ///
    /// # Panics
    /// Panics if a round trip is zero.
    pub fn from_rtt(typical_ps: u64, max_ps: u64, mtu_bytes: u32) -> Self {
        assert!(typical_ps > 0, "typical_ps must be above zero");
        assert!(max_ps > 0, "max_ps must be above zero");
        let interval_ps = typical_ps.min(max_ps / 3).max(1);
        // Gains in 1/s, from times in ps.
        let hertz = 1_000_000_000_000 * u128::from(HERTZ);
        let max = u128::from(max_ps);
        Self {
            target_ps: typical_ps,
            interval_ps,
            alpha: (hertz / 10 * u128::from(interval_ps) / max / max) as u64,
            beta: (hertz / 10 * 3 / max) as u64,
            ..Self::linux(mtu_bytes)
        }
    }
}

/// DualPI2's controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DualPi2 {
    config: DualPi2Config,
    /// p, scaled by 2^32.
    probability: u64,
    /// Delay at the last update, ps.
    delay_ps: u64,
}

impl DualPi2 {
    /// Creates a controller of empty queues with p = 0.
    ///
    /// # Panics
    /// Panics if the coupling is zero.
    pub fn new(config: &DualPi2Config) -> Self {
        assert!(config.coupling > 0, "coupling must be above zero");
        Self {
            config: *config,
            probability: 0,
            delay_ps: 0,
        }
    }

    /// Updates p; due every `interval_ps`. The arguments are the waiting times of the two head
    /// packets, 0 for an empty queue.
    pub fn update(&mut self, l4s_delay_ps: u64, classic_delay_ps: u64) {
        let delay_ps = l4s_delay_ps.max(classic_delay_ps);
        let difference = |before_ps: u64| i128::from(delay_ps) - i128::from(before_ps);
        let change = i128::from(self.config.alpha) * difference(self.config.target_ps)
            + i128::from(self.config.beta) * difference(self.delay_ps);
        self.delay_ps = delay_ps;
        // Converts from 2^-24 ps/s to 2^-32.
        let change = change * i128::from(ONE / HERTZ) / 1_000_000_000_000;
        let most = if self.config.drop_on_overload {
            ONE
        } else {
            ONE / u64::from(self.config.coupling)
        };
        let probability = i128::from(self.probability) + change;
        self.probability = probability.clamp(0, i128::from(most)) as u64;
    }

    /// p, scaled by 2^32.
    pub fn probability(&self) -> u64 {
        self.probability
    }

    /// k p, scaled by 2^32. It exceeds 1 in overload.
    pub fn l4s_probability(&self) -> u64 {
        self.probability * u64::from(self.config.coupling)
    }

    fn overloaded(&self) -> bool {
        self.l4s_probability() > ONE
    }

    /// Whether two draws are both below p: an event of probability p^2.
    fn squared(&self, random: u64) -> bool {
        random >> 32 < self.probability && random & 0xffff_ffff < self.probability
    }

    /// Decides on a classic packet that leaves. `backlog_bytes` is the backlog of both queues,
    /// `ect` allows a mark instead of a drop, and `random` holds 64 uniform bits.
    #[inline]
    pub fn classic(&self, backlog_bytes: u64, ect: bool, random: u64) -> Signal {
        if backlog_bytes < self.config.quiet_bytes || !self.squared(random) {
            Signal::Pass
        } else if ect && !self.overloaded() {
            Signal::Mark
        } else {
            Signal::Drop
        }
    }

    /// Decides on an L4S packet that leaves after waiting `delay_ps`. `backlog_bytes` is the
    /// backlog of both queues, and `random` holds 64 uniform bits.
    #[inline]
    pub fn l4s(&self, backlog_bytes: u64, delay_ps: u64, random: u64) -> Signal {
        if backlog_bytes >= self.config.quiet_bytes {
            if self.overloaded() {
                let drops = self.config.drop_on_overload && self.squared(random);
                return if drops { Signal::Drop } else { Signal::Mark };
            }
            if random >> 32 < self.l4s_probability() {
                return Signal::Mark;
            }
        }
        if delay_ps > self.config.step_ps {
            Signal::Mark
        } else {
            Signal::Pass
        }
    }
}

/// The two queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// Queue of L4S packets.
    L4s,
    /// Queue of classic packets.
    Classic,
}

/// DualPI2's scheduler, which selects the queue that sends next.
///
/// The credit belongs to the classic queue. While both queues hold packets, an L4S packet raises it
/// by its bytes times the classic weight, and a classic packet lowers it by its bytes times the L4S
/// weight. The classic queue is next while the credit is above zero. The initial value, restored
/// when both queues are found empty, is one packet times the difference of the weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DualPi2Credit {
    classic_pct: i64,
    initial: i64,
    credit: i64,
}

impl DualPi2Credit {
    /// Creates a scheduler that gives the classic queue `classic_pct` percent of the capacity while
    /// both queues are backlogged. Published: 10.
    ///
    /// # Panics
    /// Panics if `classic_pct` is above 100.
    pub fn new(classic_pct: u32, mtu_bytes: u32) -> Self {
        assert!(classic_pct <= 100, "classic_pct must be at most 100");
        let classic_pct = i64::from(classic_pct);
        let initial = i64::from(mtu_bytes) * (2 * classic_pct - 100);
        Self {
            classic_pct,
            initial,
            credit: initial,
        }
    }

    /// Selects the queue to serve next; `None` if both are empty.
    #[inline]
    pub fn next(&mut self, l4s_waits: bool, classic_waits: bool) -> Option<Queue> {
        if l4s_waits && (!classic_waits || self.credit <= 0) {
            Some(Queue::L4s)
        } else if classic_waits {
            Some(Queue::Classic)
        } else {
            self.credit = self.initial;
            None
        }
    }

    /// Charges a packet of `bytes` sent (not dropped) from `queue`. `other_waits` is true if the
    /// other queue held packets when this one was dequeued.
    #[inline]
    pub fn on_sent(&mut self, queue: Queue, bytes: u32, other_waits: bool) {
        if other_waits {
            self.credit += i64::from(bytes)
                * match queue {
                    Queue::L4s => self.classic_pct,
                    Queue::Classic => self.classic_pct - 100,
                };
        }
    }
}
