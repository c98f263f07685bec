//! Oblivious spraying: cycles through all EVs, in an order that an exclusive-or shuffles and that
//! changes every round.
//!
//! The order of a round is `index ^ mask` for index 0, 1, ..: with 2^k paths each EV occurs once. After
//! the last EV of a round a new mask is drawn.

use super::{Feedback, LoadBalance};

/// Oblivious load balancer: a shuffled sequence of all EVs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oblivious {
    paths: u16,
    index: u16,
    mask: u16,
}

impl Oblivious {
    /// Creates a sequence whose first mask comes from `random`.
    ///
    /// # Panics
    /// Panics if `paths` is not a power of two.
    pub fn new(paths: u16, random: u64) -> Self {
        assert!(paths.is_power_of_two(), "paths must be a power of two");
        Self {
            paths,
            index: 0,
            mask: random as u16 & (paths - 1),
        }
    }

    /// EV at the current position.
    #[inline]
    pub(super) fn ev(&self) -> u16 {
        self.index ^ self.mask
    }

    /// Advances by one position. A new round takes its mask from the lowest 16 random bits and
    /// shifts them out.
    #[inline]
    pub(super) fn advance(&mut self, random: &mut u64) {
        self.index += 1;
        if self.index == self.paths {
            self.index = 0;
            self.mask = *random as u16 & (self.paths - 1);
            *random >>= 16;
        }
    }

    pub(super) fn paths(&self) -> u16 {
        self.paths
    }
}

impl LoadBalance for Oblivious {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        let ev = self.ev();
        let mut random = random;
        self.advance(&mut random);
        ev
    }

    #[inline]
    fn on_feedback(&mut self, _ev: u16, _feedback: Feedback, _now_ps: u64) {}
}
