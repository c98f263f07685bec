//! Rate limiters of hosts that flows share: QCN's sources with few of them (thesis 2.4, 5.1).
//!
//! A flow is hashed to one of the limiters of its host. A limiter has one reaction point: all its
//! flows together have its rate, and a notice for any of them reduces it. Flows with data take turns, packet
//! by packet (chosen: the thesis does not say how a limiter serves its flows; one queue of packets would
//! make a short flow wait for the windows of the others, too).
//!
//! A limiter that has no other flow when one begins starts again at the initial rate, as a limiter of its
//! own does. So with more limiters than collisions the flows send as if each had one. Times are ps.

use std::collections::{HashMap, VecDeque};

use crate::engine::Kind;
use crate::simulation::clock::Clock;
use crate::transport::{Controller, Pacing};

/// The rate limiters that flows have been hashed to so far.
#[derive(Debug, Default)]
pub struct Limiters {
    pub all: Vec<Limiter>,
    /// Place of a limiter in the list, by transport, host and number.
    pub places: HashMap<(u16, u32, u32), u32>,
}

/// One rate limiter.
#[derive(Debug)]
pub struct Limiter {
    pub control: Controller,
    pub pacing: Pacing,
    /// Number of flows that have not ended.
    pub flows: u32,
    /// Flows that wait for their turn, next one first.
    pub waiting: VecDeque<u32>,
    /// Whether a flow has been given its turn.
    pub serves: bool,
}

impl Limiter {
    /// Whether a flow may send now, with respect to the rate and the flows before it.
    pub fn admits(&self, now_ps: u64, slot: u32) -> bool {
        let is_next = self.serves || self.waiting.front().is_none_or(|&first| first == slot);
        is_next && self.next_ps() <= now_ps
    }

    pub fn next_ps(&self) -> u64 {
        self.pacing.next_ps(|| 0)
    }
}

/// A flow's part of a limiter.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Place of the limiter in the list.
    pub limiter: u32,
    /// Whether the flow waits for its turn.
    pub waits: bool,
}

impl Limiters {
    /// Whether the event of a limiter is due; otherwise an earlier event has replaced it.
    pub fn is_due(&mut self, place: usize, now_ps: u64) -> bool {
        let pacing = &mut self.all[place].pacing;
        let is_due = pacing.event_ps == now_ps;
        if is_due {
            pacing.event_ps = u64::MAX;
        }
        is_due
    }

    /// Schedules the event of a limiter for which flows wait.
    pub fn watch(&mut self, place: usize, clock: &mut Clock) {
        let limiter = &mut self.all[place];
        let next_ps = limiter.next_ps().max(clock.now_ps);
        if !limiter.waiting.is_empty() && next_ps < limiter.pacing.event_ps {
            limiter.pacing.event_ps = next_ps;
            clock.schedule(next_ps, Kind::Limiter, place);
        }
    }
}
