//! TIMELY: the rate of a RoCE flow follows the gradient of its round-trip time.
//!
//! Sources: R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter" (SIGCOMM'15),
//! algorithm 1, "the paper"; the form of the simulator of HPCC (alibaba-edu/
//! High-Precision-Congestion-Control at 9f4be2a, `rdma-hw.cc`, mode 7), "the simulator". A flow starts
//! at line rate.
//!
//! Once per round trip of data, with the round trip of an ACK and the one before it:
//!
//! ```text
//! d <- (1 - w) d + w (rtt - previous rtt),  gradient = d / min_rtt
//! rtt < T_low:    R <- R + step
//! rtt > T_high:   R <- R (1 - beta (1 - T_high / rtt))
//! gradient <= 0:  R <- R + step
//! otherwise:      R <- R (1 - beta gradient), at least 0
//! ```
//!
//! The step is the additive one, and the larger hyper-active one after N increases in a row. The
//! simulator counts all increases, the paper only those by the gradient (`counts_low`). The first ACK
//! only stores its round trip.
//!
//! The paper updates once per completion of a segment of 16 to 64 KB and subtracts the segment's
//! serialization from its round trip; here, as in the simulator, once per round trip of data, and the
//! round trip includes the packet's own serialization.
//!
//! Published: w 0.875, beta 0.8, T_low 50 us, T_high 500 us, min_rtt 20 us, N 5. Units: bit/s, bytes,
//! ps; R is rounded down, gradients are `f64`.

/// Settings of TIMELY, shared by flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyConfig {
    /// Largest and initial rate, bit/s.
    pub line_rate_bps: u64,
    /// Smallest rate, bit/s.
    pub min_rate_bps: u64,
    /// Additive step, bit/s.
    pub additive_bps: u64,
    /// Hyper-active step, bit/s.
    pub hyper_bps: u64,
    /// N: number of increases in a row before hyper-active ones.
    pub hyper_after: u32,
    /// Whether increases below T_low count among them, and can be hyper-active.
    pub counts_low: bool,
    /// w: weight of a new difference of round trips, 0 to 1.
    pub weight: f64,
    /// beta: strength of a decrease, 0 to 1.
    pub beta: f64,
    /// T_low: round trip below which the rate increases, ps.
    pub low_ps: u64,
    /// T_high: round trip above which the rate decreases, ps.
    pub high_ps: u64,
    /// Round trip that the gradient is divided by, ps, above zero.
    pub min_rtt_ps: u64,
}

/// Last update of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Update {
    rtt_ps: u64,
    /// Highest byte sent then.
    nxt: u64,
}

/// TIMELY state of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Timely {
    rate_bps: u64,
    /// d: moving average of the differences of round trips, ps.
    difference_ps: f64,
    last: Option<Update>,
    /// Increases in a row.
    increases: u32,
}

impl Timely {
    /// Creates a flow that has received no ACK.
    pub fn new(config: &TimelyConfig) -> Self {
        Self {
            rate_bps: config.line_rate_bps,
            difference_ps: 0.0,
            last: None,
            increases: 0,
        }
    }

    /// Sending rate, bit/s.
    #[inline]
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Processes an ACK up to byte `una` of a packet with this round trip; `nxt` is the highest byte
    /// sent.
    #[inline]
    pub fn on_ack(&mut self, config: &TimelyConfig, una: u64, nxt: u64, rtt_ps: u64) {
        match self.last {
            Some(last) if una <= last.nxt => return,
            Some(last) => self.update(config, rtt_ps, last.rtt_ps),
            None => {}
        }
        self.last = Some(Update { rtt_ps, nxt });
    }

    fn update(&mut self, config: &TimelyConfig, rtt_ps: u64, previous_ps: u64) {
        let difference_ps = rtt_ps as f64 - previous_ps as f64;
        self.difference_ps =
            (1.0 - config.weight) * self.difference_ps + config.weight * difference_ps;
        let gradient = self.difference_ps / config.min_rtt_ps as f64;
        if rtt_ps < config.low_ps {
            self.increase(config, config.counts_low);
        } else if rtt_ps > config.high_ps {
            let excess = 1.0 - config.high_ps as f64 / rtt_ps as f64;
            self.decrease(config, excess);
        } else if gradient <= 0.0 {
            self.increase(config, true);
        } else {
            self.decrease(config, gradient);
        }
    }

    fn increase(&mut self, config: &TimelyConfig, counts: bool) {
        let is_hyper = counts && self.increases >= config.hyper_after;
        let step_bps = match is_hyper {
            true => config.hyper_bps,
            false => config.additive_bps,
        };
        self.increases = match counts {
            true => self.increases.saturating_add(1),
            false => 0,
        };
        let rate_bps = self.rate_bps.saturating_add(step_bps);
        self.rate_bps = rate_bps.min(config.line_rate_bps);
    }

    fn decrease(&mut self, config: &TimelyConfig, by: f64) {
        self.increases = 0;
        let kept = (1.0 - config.beta * by).max(0.0);
        let rate_bps = (self.rate_bps as f64 * kept) as u64;
        self.rate_bps = rate_bps.max(config.min_rate_bps);
    }
}
