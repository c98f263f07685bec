//! Mixed, the default of Ultra Ethernet's simulator: an EV whose packet got an unmarked ACK is reused
//! once, first in, first out. If none is available, [`Bitmap`] chooses.
//!
//! Reused EVs do not advance the bitmap's sequence.

use super::{Bitmap, Feedback, LoadBalance};
use alloc::collections::VecDeque;

/// Mixed load balancer: reusable EVs, and the bitmap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mixed {
    good: VecDeque<u16>,
    bitmap: Bitmap,
}

impl Mixed {
    /// Creates a balancer without reusable EVs and penalties; `random` yields the first mask of the
    /// sequence.
    ///
    /// # Panics
    /// Panics if `paths` is not a power of two.
    pub fn new(paths: u16, random: u64) -> Self {
        Self {
            good: VecDeque::new(),
            bitmap: Bitmap::new(paths, random),
        }
    }
}

impl LoadBalance for Mixed {
    #[inline]
    fn next_ev(&mut self, random: u64, now_ps: u64) -> u16 {
        match self.good.pop_front() {
            Some(ev) => ev,
            None => self.bitmap.next_ev(random, now_ps),
        }
    }

    #[inline]
    fn on_feedback(&mut self, ev: u16, feedback: Feedback, now_ps: u64) {
        if feedback == Feedback::Good {
            self.good.push_back(ev);
        }
        self.bitmap.on_feedback(ev, feedback, now_ps);
    }
}
