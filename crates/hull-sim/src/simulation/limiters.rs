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

use super::clock::Clock;
use super::endpoints::Endpoints;
use super::ends::Initial;
use super::flows::FlowTable;
use super::opening::mix;
use crate::engine::Kind;
use crate::network::rules::Notice;
use crate::transport::{CongestionControl, Controller, Pace, Pacing, Segment, Start};

/// The rate limiters that flows have been hashed to so far.
#[derive(Debug, Default)]
pub struct Limiters {
    all: Vec<Limiter>,
    /// Place of a limiter in the list, by transport, host and number.
    places: HashMap<(u16, u32, u32), u32>,
}

/// One rate limiter.
#[derive(Debug)]
struct Limiter {
    control: Controller,
    pacing: Pacing,
    /// Number of flows that have not ended.
    flows: u32,
    /// Flows that wait for their turn, next one first.
    waiting: VecDeque<u32>,
    /// Whether a flow has been given its turn.
    serves: bool,
}

impl Limiter {
    /// Whether a flow may send now, with respect to the rate and the flows before it.
    fn admits(&self, now_ps: u64, slot: u32) -> bool {
        let is_next = self.serves || self.waiting.front().is_none_or(|&first| first == slot);
        is_next && self.next_ps() <= now_ps
    }

    fn next_ps(&self) -> u64 {
        self.pacing.next_ps(|| 0)
    }
}

/// A flow's part of a limiter.
#[derive(Clone, Copy, Debug)]
pub struct Share {
    /// Place of the limiter in the list.
    limiter: u32,
    /// Whether the flow waits for its turn.
    waits: bool,
}

impl Endpoints {
    /// Takes the next segment of a flow with a shared limiter, if its turn has come. If not, the flow
    /// waits for it.
    pub(super) fn next_limited(
        &mut self,
        slot: u32,
        place: usize,
        clock: &mut Clock,
    ) -> Option<Segment> {
        let table = &mut self.table;
        let at = table.place(slot);
        let limiter = &mut table.limiters.all[place];
        let share = table.paced[at].share.as_mut()?;
        if !limiter.admits(clock.now_ps, slot) {
            if !std::mem::replace(&mut share.waits, true) {
                limiter.waiting.push_back(slot);
            }
            table.limiters.watch(place, clock);
            return None;
        }
        if std::mem::take(&mut share.waits) {
            limiter.waiting.retain(|&waiting| waiting != slot);
        }
        let segment = table.senders[at].poll(clock.now_ps)?;
        let wire_bytes = segment.bytes + self.header_bytes;
        let pace = limiter.control.on_sent(clock.now_ps, wire_bytes);
        limiter.pacing.sent(clock.now_ps, wire_bytes, pace);
        Some(segment)
    }
}

impl FlowTable {
    /// Hashes a new flow to a limiter of its host, if its transport shares them.
    pub(super) fn join_limiter(&mut self, slot: u32, start: &Start) {
        let at = self.place(slot);
        let Some(each) = self.template(slot).rate_limiters else {
            return;
        };
        let flow = &self.flows[slot as usize];
        let number = (mix(mix(self.seed) ^ flow.number) % u64::from(each)) as u32;
        let key = (flow.transport, flow.src, number);
        let Initial::Stream(ends) = &self.templates[usize::from(flow.transport)].initial else {
            return;
        };
        let control = || ends.0.controller().clone();
        let Limiters { all, places } = &mut self.limiters;
        let limiter = *places.entry(key).or_insert_with(|| {
            all.push(Limiter {
                control: control(),
                pacing: Pacing::new(),
                flows: 0,
                waiting: VecDeque::new(),
                serves: false,
            });
            all.len() as u32 - 1
        });
        let joined = &mut all[limiter as usize];
        if joined.flows == 0 {
            joined.control = control();
            joined.control.on_start(start);
            joined.pacing.reset(joined.control.pace());
        }
        joined.flows += 1;
        self.paced[at].share = Some(Share {
            limiter,
            waits: false,
        });
    }

    /// Takes a flow that has ended from its limiter.
    pub(super) fn leave_limiter(&mut self, slot: u32) {
        let at = self.place(slot);
        let share = self.paced.get_mut(at);
        if let Some(share) = share.and_then(|paced| paced.share.take()) {
            let limiter = &mut self.limiters.all[share.limiter as usize];
            limiter.flows -= 1;
            limiter.waiting.retain(|&waiting| waiting != slot);
        }
    }

    /// Place of the flow's limiter, if it shares one.
    #[inline]
    pub(super) fn limiter_of(&self, slot: u32) -> Option<usize> {
        let share = self.paced[self.place(slot)].share?;
        Some(share.limiter as usize)
    }

    /// Passes a notice to the flow's limiter. Returns false if it shares none.
    pub(super) fn limit(&mut self, slot: u32, now_ps: u64, notice: Notice) -> bool {
        let limiter = self.limiter_of(slot);
        if let Some(place) = limiter {
            let limiter = &mut self.limiters.all[place];
            limiter.control.on_notice(now_ps, notice);
        }
        limiter.is_some()
    }

    /// Pace of the flow, or of all flows of its limiter.
    pub(super) fn pace_of(&self, slot: u32) -> Pace {
        let at = self.place(slot);
        let paced = self.paced.get(at);
        match paced.and_then(|paced| paced.share) {
            Some(share) => self.limiters.all[share.limiter as usize].control.pace(),
            None => self.senders[at].controller().pace(),
        }
    }

    /// Gives the next flow of a limiter its turn, if the rate allows a packet.
    pub(super) fn next_turn(&mut self, place: usize, now_ps: u64) -> Option<u32> {
        let limiter = &mut self.limiters.all[place];
        limiter.serves = false;
        if limiter.next_ps() > now_ps {
            return None;
        }
        let slot = limiter.waiting.pop_front()?;
        limiter.serves = true;
        let at = self.place(slot);
        if let Some(share) = &mut self.paced[at].share {
            share.waits = false;
        }
        Some(slot)
    }
}

impl Limiters {
    /// Whether the event of a limiter is due; otherwise an earlier event has replaced it.
    pub(super) fn is_due(&mut self, place: usize, now_ps: u64) -> bool {
        let pacing = &mut self.all[place].pacing;
        let is_due = pacing.event_ps == now_ps;
        if is_due {
            pacing.event_ps = u64::MAX;
        }
        is_due
    }

    /// Schedules the event of a limiter for which flows wait.
    pub(super) fn watch(&mut self, place: usize, clock: &mut Clock) {
        let limiter = &mut self.all[place];
        let next_ps = limiter.next_ps().max(clock.now_ps);
        if !limiter.waiting.is_empty() && next_ps < limiter.pacing.event_ps {
            limiter.pacing.event_ps = next_ps;
            clock.schedule(next_ps, Kind::Limiter, place);
        }
    }
}
