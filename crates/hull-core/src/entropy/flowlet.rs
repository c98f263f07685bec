//! Flowlets: a burst keeps its path; a packet that follows the previous one after more than a gap draws
//! a new EV.
//!
//! Source: E. Vanini et al., "Let It Flow: Resilient Asymmetric Load Balancing with Flowlet Switching"
//! (NSDI 2017). There switches detect the gaps, here the sender does.

use super::{Feedback, LoadBalance, draw};

/// Flowlet load balancer: the path of the current burst.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flowlet {
    paths: u16,
    gap_ps: u64,
    ev: u16,
    sent_at_ps: Option<u64>,
}

impl Flowlet {
    /// Creates a new flow in which a gap of more than `gap_ps` begins a new burst.
    ///
    /// # Panics
    /// Panics if `paths` is zero.
    pub fn new(paths: u16, gap_ps: u64) -> Self {
        assert!(paths > 0, "paths must be above zero");
        Self {
            paths,
            gap_ps,
            ev: 0,
            sent_at_ps: None,
        }
    }
}

impl LoadBalance for Flowlet {
    #[inline]
    fn next_ev(&mut self, random: u64, now_ps: u64) -> u16 {
        if self
            .sent_at_ps
            .is_none_or(|sent_at_ps| now_ps - sent_at_ps > self.gap_ps)
        {
            self.ev = draw(random, self.paths);
        }
        self.sent_at_ps = Some(now_ps);
        self.ev
    }

    #[inline]
    fn on_feedback(&mut self, _ev: u16, _feedback: Feedback, _now_ps: u64) {}
}
