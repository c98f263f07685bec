//! Random spraying: each packet draws its own EV.

use super::{Feedback, LoadBalance, draw};

/// Random load balancer: an independent path for each packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerPacket {
    paths: u16,
}

impl PerPacket {
    /// Creates a balancer that draws from `paths` EVs.
    ///
    /// # Panics
    /// Panics if `paths` is zero.
    pub fn new(paths: u16) -> Self {
        assert!(paths > 0, "paths must be above zero");
        Self { paths }
    }
}

impl LoadBalance for PerPacket {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        draw(random, self.paths)
    }

    #[inline]
    fn on_feedback(&mut self, _ev: u16, _feedback: Feedback, _now_ps: u64) {}
}
