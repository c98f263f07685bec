//! REPS, recycled entropies: a ring of 8 holds the EVs of the latest unmarked ACKs. Each is reused
//! once, the oldest first; without a fresh one the EV is random.
//!
//! A timeout freezes the ring: packets then cycle through all its EVs, fresh or used, and so stay on
//! paths known to work. The first feedback after 10 ms ends the freeze; the ring is then empty, and for
//! the next 16 random EVs a timeout does not freeze it.

use super::{Feedback, LoadBalance, draw};

/// EVs in the ring.
const RING: usize = 8;
/// How long it stays frozen.
const FROZEN_PS: u64 = 10_000_000_000;
/// Random EVs after that.
const EXPLORE: u8 = 16;

/// The ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reps {
    paths: u16,
    ring: [u16; RING],
    /// Bit i: entry i has not been used since its ACK.
    fresh: u8,
    /// Entries that hold an EV, from 0 on.
    held: usize,
    /// The next entry to be written.
    head: usize,
    /// The next entry to be used when frozen.
    frozen_next: usize,
    frozen_until_ps: Option<u64>,
    explore: u8,
}

impl Reps {
    /// An empty ring.
    ///
    /// # Panics
    /// When `paths` is zero.
    pub fn new(paths: u16) -> Self {
        assert!(paths > 0, "paths must be above zero");
        Self {
            paths,
            ring: [0; RING],
            fresh: 0,
            held: 0,
            head: 0,
            frozen_next: 0,
            frozen_until_ps: None,
            explore: 0,
        }
    }

    /// Whether it keeps to the EVs of the ring.
    pub fn frozen(&self) -> bool {
        self.frozen_until_ps.is_some()
    }
}

impl LoadBalance for Reps {
    #[inline]
    fn next_ev(&mut self, random: u64, _now_ps: u64) -> u16 {
        if self.explore > 0 {
            self.explore -= 1;
            return draw(random, self.paths);
        }
        let entry = if self.frozen() && self.held > 0 {
            let entry = self.frozen_next;
            self.frozen_next = (entry + 1) % self.held;
            entry
        } else if !self.frozen() && self.fresh != 0 {
            // Fresh entries lie one behind the other before the head.
            (self.head + RING - self.fresh.count_ones() as usize) % RING
        } else {
            return draw(random, self.paths);
        };
        self.fresh &= !(1 << entry);
        self.ring[entry]
    }

    #[inline]
    fn on_feedback(&mut self, ev: u16, feedback: Feedback, now_ps: u64) {
        if feedback == Feedback::Timeout && !self.frozen() && self.explore == 0 {
            self.frozen_until_ps = Some(now_ps + FROZEN_PS);
        }
        if self
            .frozen_until_ps
            .is_some_and(|until_ps| now_ps > until_ps)
        {
            *self = Self {
                explore: EXPLORE,
                ..Self::new(self.paths)
            };
        }
        if feedback == Feedback::Good {
            self.ring[self.head] = ev;
            self.fresh |= 1 << self.head;
            self.head = (self.head + 1) % RING;
            self.held = (self.held + 1).min(RING);
        }
    }
}
