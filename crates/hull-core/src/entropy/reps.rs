//! REPS, recycled entropies: a ring of 8 holds the EVs of the latest unmarked ACKs. Each is reused
//! once, the oldest first; without a fresh one the EV is random.
//!
//! A timeout freezes the ring: packets then cycle through all its EVs, fresh or used, and so stay on
//! paths known to work. The first feedback after 10 ms ends the freeze; the ring is then empty, and for
//! the next 16 random EVs a timeout does not freeze it.

use super::{Feedback, LoadBalance, draw};

/// Number of EVs in the ring.
const RING: usize = 8;
/// Duration of a freeze, ps: 10 ms.
const FROZEN_PS: u64 = 10_000_000_000;
/// Number of random EVs after a freeze.
const EXPLORE: u8 = 16;

/// REPS load balancer: a ring of recycled EVs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reps {
    paths: u16,
    ring: [u16; RING],
    /// Unused entries: bit i is set if entry i has not been used since its ACK.
    fresh: u8,
    /// Number of entries that hold an EV, counted from entry 0.
    held: usize,
    /// Next entry to be written.
    head: usize,
    /// Next entry to be used while frozen.
    frozen_next: usize,
    frozen_until_ps: Option<u64>,
    explore: u8,
}

impl Reps {
    /// Creates an empty ring.
    ///
    /// # Panics
    /// Panics if `paths` is zero.
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

    /// Whether the ring is frozen, so that only its EVs are used.
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
            // Fresh entries are contiguous and end before the head.
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
