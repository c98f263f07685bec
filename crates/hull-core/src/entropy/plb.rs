//! PLB, protective load balancing: a flow leaves its path only after sustained congestion.
//!
//! Source: M. Qureshi et al., "PLB: Congestion Signals are Simple and Effective for Network Load
//! Balancing" (SIGCOMM 2022), as implemented in Uno's simulator. A round is a base round trip and ends
//! with the first feedback after it. It is congested if more than 1/4 of its ACKs carried an echo.
//! After more than one congested round in a row the next packet draws a new EV. So it does after a
//! timeout or a NACK, but at most once per retransmission timeout.
//!
//! Difference: there each flow begins with EV 0, here with a random EV.

use super::{Feedback, LoadBalance, draw};

/// Number of consecutive congested rounds that are tolerated.
const ROUNDS: u32 = 1;

/// Settings of [`Plb`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlbConfig {
    /// Number of EVs to draw from.
    pub paths: u16,
    /// Length of a round: the unloaded round trip, ps.
    pub base_rtt_ps: u64,
    /// Minimum time between two path changes caused by losses: the retransmission timeout, ps.
    pub timeout_ps: u64,
}

/// PLB load balancer: the current path and its congestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plb {
    config: PlbConfig,
    ev: u16,
    draws: bool,
    acked: u64,
    marked: u64,
    round_end_ps: u64,
    congested_rounds: u32,
    losses_from_ps: u64,
}

impl Plb {
    /// Creates a flow that draws its EV with its first packet.
    ///
    /// # Panics
    /// Panics if `paths` is zero.
    pub fn new(config: &PlbConfig) -> Self {
        assert!(config.paths > 0, "paths must be above zero");
        Self {
            config: *config,
            ev: 0,
            draws: true,
            acked: 0,
            marked: 0,
            round_end_ps: 0,
            congested_rounds: 0,
            losses_from_ps: 0,
        }
    }
}

impl LoadBalance for Plb {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        if self.congested_rounds > ROUNDS {
            self.congested_rounds = 0;
            self.draws = true;
        }
        if self.draws {
            self.draws = false;
            self.ev = draw(random, self.config.paths);
        }
        self.ev
    }

    fn on_feedback(&mut self, _ev: u16, feedback: Feedback, now_ps: u64) {
        if matches!(feedback, Feedback::Nack | Feedback::Timeout) {
            if now_ps > self.losses_from_ps {
                self.losses_from_ps = now_ps + self.config.timeout_ps;
                self.congested_rounds = 0;
                self.draws = true;
            }
            return;
        }
        self.acked += 1;
        self.marked += u64::from(feedback == Feedback::Ecn);
        if now_ps > self.round_end_ps {
            self.congested_rounds = if 4 * self.marked > self.acked {
                self.congested_rounds + 1
            } else {
                0
            };
            (self.acked, self.marked) = (0, 0);
            self.round_end_ps = now_ps + self.config.base_rtt_ps;
        }
    }
}
