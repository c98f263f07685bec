//! QCN's reaction point: the sending rate of a source.
//!
//! Source: thesis 5.2.2, equations 5.1 and 5.2. On feedback F_b
//!
//! ```text
//! R_T <- R_C,  R_C <- R_C (1 - G_d F_b)
//! ```
//!
//! and the byte counter restarts. A cycle ends each time that it has counted 150 KB. In the first 5
//! cycles after feedback (Fast Recovery) R_T stays; in later ones (Active Increase) it grows by R_AI.
//! Then R_C moves halfway to it:
//!
//! ```text
//! R_T <- R_T + R_AI (Active Increase only),  R_C <- (R_C + R_T) / 2
//! ```
//!
//! QCN-AIMD (thesis 5.4.1) has neither R_T nor Fast Recovery: each cycle is `R_C <- R_C + R_AI`.
//!
//! A byte counter alone is slow at a low rate (remark 5.2). IEEE 802.1Qau adds a timer, here an option:
//! it restarts with the byte counter, each of its periods is a cycle too, and Active Increase begins
//! when either of the two has counted 5. Three more mechanisms of the standard are options; remark 5.5
//! names two of them:
//!
//! - Extra fast recovery: feedback before the end of a cycle lowers R_C and leaves R_T and the byte
//!   counter unchanged, so several messages within a round trip count as one.
//! - Target-rate reduction: at the end of the first cycle of either counter, R_T above 10 R_C becomes
//!   R_T / 8, so a source does not jump halfway back after a deep cut.
//! - Hyper-active increase: once both counters have counted more than 5 cycles, R_T grows by i R_HAI
//!   instead of R_AI, where i is the number of cycles that both are beyond 5.
//!
//! The standard's shorter cycles in Active Increase are not modelled.
//!
//! Rates stay between a floor and the line rate, at which a source starts (thesis 5.1). Units: bit/s,
//! bytes, ps; G_d fixed point, 2^32 as 1.0; rates are rounded down to whole bit/s.

/// Ratio R_T / R_C above which target-rate reduction applies.
const REDUCTION_RATIO: u64 = 10;
/// Divisor of R_T in target-rate reduction.
const REDUCTION: u64 = 8;

/// Mode of rate increase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Increase {
    /// QCN: move R_C halfway to R_T, which grows after Fast Recovery.
    Averaging,
    /// QCN-AIMD: add a constant in every cycle.
    Additive,
}

/// Settings of a [`ReactionPoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReactionPointConfig {
    /// Largest rate, bit/s.
    pub line_rate_bps: u64,
    /// Initial rate, bit/s.
    pub initial_rate_bps: u64,
    /// Smallest rate, bit/s, above zero.
    pub min_rate_bps: u64,
    /// G_d: relative rate decrease per step of feedback, scaled by 2^32.
    pub decrease: u32,
    /// R_AI, bit/s.
    pub increase_bps: u64,
    /// Length of a cycle of the byte counter, bytes, above zero.
    pub cycle_bytes: u32,
    /// Number of cycles of Fast Recovery.
    pub recovery_cycles: u32,
    /// Period of the timer, ps, above zero; `None` disables the timer.
    pub timer_ps: Option<u64>,
    /// Whether feedback during the first cycle leaves R_T and the byte counter unchanged.
    pub extra_fast_recovery: bool,
    /// Whether R_T above 10 R_C becomes R_T / 8 at the end of a first cycle of either counter.
    pub target_rate_reduction: bool,
    /// R_HAI, bit/s; `None` disables hyper-active increase.
    pub hyper_increase_bps: Option<u64>,
    /// Mode of rate increase: QCN or QCN-AIMD.
    pub increase: Increase,
}

/// QCN reaction point of one source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReactionPoint {
    config: ReactionPointConfig,
    current_bps: u64,
    target_bps: u64,
    /// Bytes sent in the current cycle.
    counted_bytes: u64,
    /// Cycles of the byte counter and of the timer since the last feedback.
    byte_cycles: u32,
    timer_cycles: u32,
    next_timer_ps: u64,
}

impl ReactionPoint {
    /// Creates a source that starts at `now_ps` in Active Increase, because it has received no
    /// feedback.
    ///
    /// # Panics
    /// Panics if the smallest rate, the bytes of a cycle or the timer's period is zero.
    pub fn new(config: &ReactionPointConfig, now_ps: u64) -> Self {
        assert!(config.min_rate_bps > 0, "min_rate_bps must be above zero");
        assert!(config.cycle_bytes > 0, "cycle_bytes must be above zero");
        assert!(config.timer_ps != Some(0), "timer_ps must be above zero");
        let mut point = Self {
            config: *config,
            current_bps: 0,
            target_bps: 0,
            counted_bytes: 0,
            byte_cycles: config.recovery_cycles,
            timer_cycles: config.recovery_cycles,
            next_timer_ps: u64::MAX,
        };
        point.current_bps = point.bounded(config.initial_rate_bps);
        point.target_bps = point.current_bps;
        point.restart_timer(now_ps);
        point
    }

    /// Sending rate (R_C), bit/s.
    #[inline]
    pub fn rate_bps(&self) -> u64 {
        self.current_bps
    }

    /// Target rate (R_T), bit/s.
    pub fn target_bps(&self) -> u64 {
        self.target_bps
    }

    /// End of the timer's current period, ps; `u64::MAX` without a timer.
    pub fn next_timer_ps(&self) -> u64 {
        self.next_timer_ps
    }

    /// Reacts to feedback of `feedback` steps at `now_ps` by equations 5.1 and 5.2.
    pub fn on_feedback(&mut self, now_ps: u64, feedback: u8) {
        self.on_timer(now_ps);
        let first_cycle = self.byte_cycles == 0 && self.timer_cycles == 0;
        if !(self.config.extra_fast_recovery && first_cycle) {
            self.target_bps = self.current_bps;
            self.counted_bytes = 0;
        }
        let cut = u128::from(self.config.decrease) * u128::from(feedback);
        let kept = (1_u128 << 32).saturating_sub(cut);
        let rate_bps = (u128::from(self.current_bps) * kept) >> 32;
        self.current_bps = self.bounded(rate_bps as u64);
        self.byte_cycles = 0;
        self.timer_cycles = 0;
        self.restart_timer(now_ps);
    }

    /// Advances the byte counter by `bytes` sent.
    #[inline]
    pub fn on_sent(&mut self, bytes: u32) {
        self.counted_bytes += u64::from(bytes);
        while self.counted_bytes >= u64::from(self.config.cycle_bytes) {
            self.counted_bytes -= u64::from(self.config.cycle_bytes);
            self.byte_cycles = self.byte_cycles.saturating_add(1);
            self.cycle();
        }
    }

    /// Ends the timer cycles due by `now_ps`.
    pub fn on_timer(&mut self, now_ps: u64) {
        let Some(period_ps) = self.config.timer_ps else {
            return;
        };
        while self.next_timer_ps <= now_ps {
            self.next_timer_ps += period_ps;
            self.timer_cycles = self.timer_cycles.saturating_add(1);
            self.cycle();
        }
    }

    /// Updates the rates at the end of a cycle.
    fn cycle(&mut self) {
        let rate_bps = match self.config.increase {
            Increase::Additive => self.current_bps.saturating_add(self.config.increase_bps),
            Increase::Averaging => {
                self.target_bps = self.bounded(self.next_target_bps());
                u64::midpoint(self.current_bps, self.target_bps)
            }
        };
        self.current_bps = self.bounded(rate_bps);
    }

    /// R_T after this cycle, bit/s, before its bounds are applied.
    fn next_target_bps(&self) -> u64 {
        let (config, target_bps) = (&self.config, self.target_bps);
        let first_cycle = self.byte_cycles == 1 || self.timer_cycles == 1;
        let far = target_bps > self.current_bps.saturating_mul(REDUCTION_RATIO);
        if config.target_rate_reduction && first_cycle && far {
            return target_bps / REDUCTION;
        }
        let most = self.byte_cycles.max(self.timer_cycles);
        let least = self.byte_cycles.min(self.timer_cycles);
        let recovery = config.recovery_cycles;
        let increase_bps = match config.hyper_increase_bps {
            Some(bps) if least > recovery => bps.saturating_mul(u64::from(least - recovery)),
            _ if most > recovery => config.increase_bps,
            _ => 0,
        };
        target_bps.saturating_add(increase_bps)
    }

    fn restart_timer(&mut self, now_ps: u64) {
        if let Some(period_ps) = self.config.timer_ps {
            self.next_timer_ps = now_ps.saturating_add(period_ps);
        }
    }

    fn bounded(&self, rate_bps: u64) -> u64 {
        rate_bps
            .min(self.config.line_rate_bps)
            .max(self.config.min_rate_bps)
    }
}
