//! Flows that share the rate limiters of their host.

use std::collections::VecDeque;

use super::FlowTable;
use crate::network::rules::Notice;
use crate::simulation::flow::ends::Initial;
use crate::simulation::flow::limiters::{Limiter, Limiters, Share};
use crate::simulation::hash::mix;
use crate::transport::{CongestionControl, Pace, Pacing, Start};

impl FlowTable {
    /// Hashes a new flow to a limiter of its host, if its transport shares them.
    pub fn join_limiter(&mut self, slot: u32, start: &Start) {
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
    pub fn leave_limiter(&mut self, slot: u32) {
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
    pub fn limiter_of(&self, slot: u32) -> Option<usize> {
        let share = self.paced[self.place(slot)].share?;
        Some(share.limiter as usize)
    }

    /// Passes a notice to the flow's limiter. Returns false if it shares none.
    pub fn limit(&mut self, slot: u32, now_ps: u64, notice: Notice) -> bool {
        let limiter = self.limiter_of(slot);
        if let Some(place) = limiter {
            let limiter = &mut self.limiters.all[place];
            limiter.control.on_notice(now_ps, notice);
        }
        limiter.is_some()
    }

    /// Pace of the flow, or of all flows of its limiter.
    pub fn pace_of(&self, slot: u32) -> Pace {
        let at = self.place(slot);
        let paced = self.paced.get(at);
        match paced.and_then(|paced| paced.share) {
            Some(share) => self.limiters.all[share.limiter as usize].control.pace(),
            None => self.senders[at].controller().pace(),
        }
    }

    /// Gives the next flow of a limiter its turn, if the rate allows a packet.
    pub fn next_turn(&mut self, place: usize, now_ps: u64) -> Option<u32> {
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
