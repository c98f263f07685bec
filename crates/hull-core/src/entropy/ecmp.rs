//! ECMP: a flow keeps the EV drawn for its first packet.

use super::{Feedback, LoadBalance, draw};

/// ECMP load balancer: one fixed path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ecmp {
    paths: u16,
    ev: Option<u16>,
}

impl Ecmp {
    /// Creates a flow that has not drawn an EV.
    ///
    /// # Panics
    /// Panics if `paths` is zero.
    pub fn new(paths: u16) -> Self {
        assert!(paths > 0, "paths must be above zero");
        Self { paths, ev: None }
    }
}

impl LoadBalance for Ecmp {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        let paths = self.paths;
        *self.ev.get_or_insert_with(|| draw(random, paths))
    }

    #[inline]
    fn on_feedback(&mut self, _ev: u16, _feedback: Feedback, _now_ps: u64) {}
}
