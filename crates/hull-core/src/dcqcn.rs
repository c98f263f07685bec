//! DCQCN: the rate control of RoCE NICs, which cuts a flow's rate when its receiver reports ECN marks.
//!
//! Sources: Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments" (SIGCOMM'15),
//! section 3.1 and figure 7, "the paper"; the form of Mellanox adapters in the simulator of HPCC
//! (alibaba-edu/High-Precision-Congestion-Control at 9f4be2a, `rdma-hw.cc`, mode 1), "the adapter". A
//! mark below is a congestion notification, or an ACK that echoes a marked packet.
//!
//! A flow starts at line rate. Its first mark starts the timers; alpha is 1 then.
//!
//! - **Cut.** `R_T <- R_C, R_C <- R_C (1 - alpha / 2)`, not below the smallest rate. The cycles of
//!   increase begin again. The paper cuts at each mark, then `alpha <- (1 - g) alpha + g`. The adapter
//!   checks for a mark every `decrease_ps`, for the first time 1 ns late, so that alpha moves first;
//!   R_T stays unless R_C has increased since the last cut.
//! - **Alpha.** Every `alpha_ps`: `alpha <- (1 - g) alpha`, plus g if the adapter has seen a mark
//!   meanwhile. In the paper each mark restarts this timer.
//! - **Increase.** A cycle ends each `increase_ps` after a cut, and in the paper also whenever
//!   `increase_bytes` have been sent. With t and b cycles of the two counters since the cut, F of fast
//!   recovery:
//!
//!   ```text
//!   max(t, b) <= F: recovery  R_T stays
//!   min(t, b) > F:  hyper     R_T <- R_T + (min(t, b) - F) R_HAI
//!   otherwise:      additive  R_T <- R_T + R_AI
//!   ```
//!
//!   Then `R_C <- (R_C + R_T) / 2`. The adapter has no byte counter: t = F + 1 is additive, and later
//!   cycles add R_HAI. The paper leaves hyper increase to QCN; the factor is IEEE 802.1Qau's.
//!
//! Timers need no events: each call first applies what has expired, in the order of time; at equal times
//! alpha, increase, cut. The rate can only matter when a packet is sent.
//!
//! Units: bit/s, bytes, ps. R_C is rounded down at a cut and up in an increase, so that it reaches R_T;
//! alpha and g are `f64`.

/// Delay of the first check for a cut, ps.
const FIRST_CHECK_PS: u64 = 1000;
/// A time that never comes.
const NEVER: u64 = u64::MAX;

/// Settings of DCQCN, shared by flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnConfig {
    /// Largest and initial rate, bit/s.
    pub line_rate_bps: u64,
    /// Smallest rate, bit/s, above zero.
    pub min_rate_bps: u64,
    /// R_AI, bit/s.
    pub additive_bps: u64,
    /// R_HAI, bit/s.
    pub hyper_bps: u64,
    /// g: weight of a new sample of alpha, 0 to 1.
    pub gain: f64,
    /// Period of alpha's timer, ps, above zero.
    pub alpha_ps: u64,
    /// Period of the adapter's check for a cut, ps, above zero; `None` cuts at each mark, as the paper.
    pub decrease_ps: Option<u64>,
    /// Period of the increase timer, ps, above zero.
    pub increase_ps: u64,
    /// Length of a cycle of the byte counter, bytes, above zero; `None` disables the counter.
    pub increase_bytes: Option<u64>,
    /// F: number of cycles of fast recovery.
    pub recovery_cycles: u32,
    /// Whether each cut lowers R_T; otherwise only the first one after an increase.
    pub clamps_target: bool,
    /// Time after a mark in which further ones are ignored, ps: the paper's receivers send one
    /// notification in this time.
    pub mark_interval_ps: u64,
}

impl DcqcnConfig {
    /// Checks that the settings can be used.
    ///
    /// # Panics
    /// Panics if a period, the bytes of a cycle or the smallest rate is zero, or the smallest rate is
    /// above line rate.
    fn check(&self) {
        let rates = 1..=self.line_rate_bps;
        assert!(rates.contains(&self.min_rate_bps), "min_rate_bps");
        assert!(self.alpha_ps > 0, "alpha_ps must be above zero");
        assert!(self.decrease_ps != Some(0), "decrease_ps must be above 0");
        assert!(self.increase_ps > 0, "increase_ps must be above zero");
        assert!(self.increase_bytes != Some(0), "increase_bytes is zero");
    }
}

/// DCQCN state of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Dcqcn {
    rate_bps: u64,
    target_bps: u64,
    alpha: f64,
    /// Next expiry of each timer, ps; [`NEVER`] before the first mark.
    next_alpha_ps: u64,
    next_check_ps: u64,
    next_increase_ps: u64,
    /// Earliest time of a mark that counts, ps.
    marks_from_ps: u64,
    /// Bytes sent in the current cycle of the byte counter.
    counted_bytes: u64,
    /// Cycles of the timer and of the byte counter since the last cut.
    timer_cycles: u32,
    byte_cycles: u32,
    /// Whether a mark came since alpha's last step, and since the last check.
    marked_for_alpha: bool,
    marked_for_cut: bool,
}

/// Number of periods that end from `next_ps` to `until_ps`.
fn periods(next_ps: u64, until_ps: u64, period_ps: u64) -> u64 {
    match until_ps.checked_sub(next_ps) {
        Some(late_ps) => late_ps / period_ps + 1,
        None => 0,
    }
}

/// `base` to the power of `exponent`.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

impl Dcqcn {
    /// Creates a flow that has received no mark.
    ///
    /// # Panics
    /// Panics if a period, the bytes of a cycle or the smallest rate is zero, or the smallest rate is
    /// above line rate.
    pub fn new(config: &DcqcnConfig) -> Self {
        config.check();
        Self {
            rate_bps: config.line_rate_bps,
            target_bps: config.line_rate_bps,
            alpha: 1.0,
            next_alpha_ps: NEVER,
            next_check_ps: NEVER,
            next_increase_ps: NEVER,
            marks_from_ps: 0,
            counted_bytes: 0,
            timer_cycles: 0,
            byte_cycles: 0,
            marked_for_alpha: false,
            marked_for_cut: false,
        }
    }

    /// Sending rate R_C as of the last call, bit/s.
    #[inline]
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Target rate R_T, bit/s.
    pub fn target_bps(&self) -> u64 {
        self.target_bps
    }

    /// Alpha: estimated share of periods with a mark.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Processes a mark.
    pub fn on_mark(&mut self, config: &DcqcnConfig, now_ps: u64) {
        self.advance(config, now_ps);
        if now_ps < self.marks_from_ps {
            return;
        }
        self.marks_from_ps = now_ps.saturating_add(config.mark_interval_ps);
        let is_first = self.next_alpha_ps == NEVER;
        let Some(decrease_ps) = config.decrease_ps else {
            self.cut(config, now_ps);
            self.alpha = (1.0 - config.gain) * self.alpha + config.gain;
            self.next_alpha_ps = now_ps + config.alpha_ps;
            return;
        };
        self.marked_for_cut = true;
        self.marked_for_alpha = !is_first;
        if is_first {
            self.next_alpha_ps = now_ps + config.alpha_ps;
            self.next_check_ps = now_ps + decrease_ps + FIRST_CHECK_PS;
        }
    }

    /// Processes a packet of `bytes` that is sent now.
    #[inline]
    pub fn on_sent(&mut self, config: &DcqcnConfig, now_ps: u64, bytes: u64) {
        self.advance(config, now_ps);
        if let Some(cycle_bytes) = config.increase_bytes
            && self.next_increase_ps != NEVER
        {
            self.counted_bytes += bytes;
            while self.counted_bytes >= cycle_bytes {
                self.counted_bytes -= cycle_bytes;
                self.byte_cycles = self.byte_cycles.saturating_add(1);
                self.increase(config);
            }
        }
    }

    /// Applies the timers that have expired.
    #[inline]
    pub fn advance(&mut self, config: &DcqcnConfig, now_ps: u64) {
        let next_ps = self.next_alpha_ps.min(self.next_increase_ps);
        if next_ps.min(self.next_check_ps) <= now_ps {
            self.expire(config, now_ps);
        }
    }

    fn expire(&mut self, config: &DcqcnConfig, now_ps: u64) {
        if let Some(decrease_ps) = config.decrease_ps
            && self.next_check_ps <= now_ps
        {
            // Without a new mark only the first check can cut.
            if self.marked_for_cut {
                let check_ps = self.next_check_ps;
                self.age_alpha(config, check_ps);
                self.run_increase_timer(config, check_ps);
                self.cut(config, check_ps);
                self.marked_for_cut = false;
            }
            let checks = periods(self.next_check_ps, now_ps, decrease_ps);
            self.next_check_ps += checks * decrease_ps;
        }
        self.age_alpha(config, now_ps);
        self.run_increase_timer(config, now_ps);
    }

    fn age_alpha(&mut self, config: &DcqcnConfig, until_ps: u64) {
        let mut steps = periods(self.next_alpha_ps, until_ps, config.alpha_ps);
        if steps == 0 {
            return;
        }
        self.next_alpha_ps += steps * config.alpha_ps;
        let kept = 1.0 - config.gain;
        if self.marked_for_alpha {
            self.alpha = kept * self.alpha + config.gain;
            self.marked_for_alpha = false;
            steps -= 1;
        }
        self.alpha *= power(kept, steps);
    }

    fn run_increase_timer(&mut self, config: &DcqcnConfig, until_ps: u64) {
        while self.next_increase_ps <= until_ps {
            self.next_increase_ps += config.increase_ps;
            self.timer_cycles = self.timer_cycles.saturating_add(1);
            self.increase(config);
            if self.rate_bps == config.line_rate_bps {
                // Further cycles change nothing but their number.
                let more = periods(self.next_increase_ps, until_ps, config.increase_ps);
                self.next_increase_ps += more * config.increase_ps;
                let more = u32::try_from(more).unwrap_or(u32::MAX);
                self.timer_cycles = self.timer_cycles.saturating_add(more);
            }
        }
    }

    fn cut(&mut self, config: &DcqcnConfig, now_ps: u64) {
        if config.clamps_target || self.timer_cycles > 0 || self.byte_cycles > 0 {
            self.target_bps = self.rate_bps;
        }
        let rate_bps = self.rate_bps as f64 * (1.0 - self.alpha / 2.0);
        self.rate_bps = (rate_bps as u64).max(config.min_rate_bps);
        (self.timer_cycles, self.byte_cycles) = (0, 0);
        self.counted_bytes = 0;
        self.next_increase_ps = now_ps + config.increase_ps;
    }

    /// Ends a cycle of a counter.
    fn increase(&mut self, config: &DcqcnConfig) {
        let beyond = |cycles: u32| u64::from(cycles.saturating_sub(config.recovery_cycles));
        let (timer, bytes) = (beyond(self.timer_cycles), beyond(self.byte_cycles));
        let step_bps = match config.increase_bytes {
            Some(_) if timer.max(bytes) == 0 => 0,
            Some(_) if timer.min(bytes) == 0 => config.additive_bps,
            Some(_) => config.hyper_bps.saturating_mul(timer.min(bytes)),
            None if timer == 0 => 0,
            None if timer == 1 => config.additive_bps,
            None => config.hyper_bps,
        };
        let target_bps = self.target_bps.saturating_add(step_bps);
        self.target_bps = target_bps.min(config.line_rate_bps);
        self.rate_bps = (self.rate_bps + self.target_bps).div_ceil(2);
    }
}
