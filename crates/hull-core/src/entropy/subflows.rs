//! Subflows with re-routing, the balancer of Uno (UnoLB): packets cycle through a few random EVs;
//! silent EVs are replaced.
//!
//! On a timeout or a NACK for missing parity, a subflow draws a new EV if it has had no ACK for more
//! than half a base round trip and has not moved for more than a base round trip. Published: 10
//! subflows, EVs 0 to 249.
//!
//! Differences: ACKs there name their subflow; here their EV identifies it, either the current or the
//! previous one. The new EV is drawn when the subflow sends its next packet.

use super::{Feedback, LoadBalance, draw};
use alloc::boxed::Box;
use alloc::vec;

/// Settings of [`Subflows`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowsConfig {
    /// Number of EVs to draw from.
    pub paths: u16,
    /// Number of subflows.
    pub subflows: u16,
    /// Unloaded round trip, ps.
    pub base_rtt_ps: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Subflow {
    ev: u16,
    /// EV before the last path change.
    previous_ev: u16,
    draws: bool,
    moved_at_ps: u64,
    acked_at_ps: u64,
}

/// UnoLB load balancer: the subflows of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subflows {
    config: SubflowsConfig,
    subflows: Box<[Subflow]>,
    /// Subflow that sent last.
    current: usize,
}

impl Subflows {
    /// Creates a flow that starts at `now_ps`; each subflow draws its EV with its first packet.
    ///
    /// # Panics
    /// Panics if a number is zero.
    pub fn new(config: &SubflowsConfig, now_ps: u64) -> Self {
        assert!(config.paths > 0, "paths must be above zero");
        assert!(config.subflows > 0, "subflows must be above zero");
        let subflow = Subflow {
            ev: 0,
            previous_ev: 0,
            draws: true,
            moved_at_ps: now_ps,
            acked_at_ps: now_ps,
        };
        Self {
            config: *config,
            subflows: vec![subflow; usize::from(config.subflows)].into_boxed_slice(),
            current: 0,
        }
    }
}

impl LoadBalance for Subflows {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        self.current = (self.current + 1) % self.subflows.len();
        let subflow = &mut self.subflows[self.current];
        if subflow.draws {
            subflow.draws = false;
            subflow.previous_ev = subflow.ev;
            subflow.ev = draw(random, self.config.paths);
        }
        subflow.ev
    }

    fn on_feedback(&mut self, ev: u16, feedback: Feedback, now_ps: u64) {
        let base_rtt_ps = self.config.base_rtt_ps;
        for subflow in &mut self.subflows {
            if matches!(feedback, Feedback::Good | Feedback::Ecn) {
                if subflow.ev == ev || subflow.previous_ev == ev {
                    subflow.acked_at_ps = now_ps;
                }
            } else if now_ps - subflow.moved_at_ps > base_rtt_ps
                && now_ps - subflow.acked_at_ps > base_rtt_ps / 2
            {
                subflow.moved_at_ps = now_ps;
                subflow.draws = true;
            }
        }
    }
}
