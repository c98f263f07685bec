//! Bitmap: the sequence of [`Oblivious`], which skips EVs with a penalty.
//!
//! Penalties: ECN 1, NACK 4, timeout 15, at most 15 in total. A packet that encounters penalties
//! advances to the first EV without one; the first penalty on its way decreases by 1, the others do
//! not. After as many steps as there are EVs it takes the current EV, because all may have penalties,
//! or a new round's order may have hidden the free one.

use super::{Feedback, LoadBalance, Oblivious};
use alloc::boxed::Box;
use alloc::vec;

/// Largest penalty.
const MAX_PENALTY: u8 = 15;

/// Bitmap load balancer: the sequence of EVs and their penalties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmap {
    walk: Oblivious,
    penalties: Box<[u8]>,
}

impl Bitmap {
    /// Creates a balancer without penalties; `random` yields the first mask of the sequence.
    ///
    /// # Panics
    /// Panics if `paths` is not a power of two.
    pub fn new(paths: u16, random: u64) -> Self {
        Self {
            walk: Oblivious::new(paths, random),
            penalties: vec![0; usize::from(paths)].into_boxed_slice(),
        }
    }

    /// Penalty of `ev`.
    pub fn penalty(&self, ev: u16) -> u8 {
        self.penalties[usize::from(ev)]
    }
}

impl LoadBalance for Bitmap {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        let mut random = random;
        let mut ev = self.walk.ev();
        if self.penalty(ev) > 0 {
            self.penalties[usize::from(ev)] -= 1;
            for _ in 0..self.walk.paths() {
                self.walk.advance(&mut random);
                ev = self.walk.ev();
                if self.penalty(ev) == 0 {
                    break;
                }
            }
        }
        self.walk.advance(&mut random);
        ev
    }

    #[inline]
    fn on_feedback(&mut self, ev: u16, feedback: Feedback, _now_ps: u64) {
        let more = match feedback {
            Feedback::Good => return,
            Feedback::Ecn => 1,
            Feedback::Nack => 4,
            Feedback::Timeout => MAX_PENALTY,
        };
        let penalty = &mut self.penalties[usize::from(ev)];
        *penalty = (*penalty + more).min(MAX_PENALTY);
    }
}
