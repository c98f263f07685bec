//! Segments of flows that share a rate limiter.

use super::Endpoints;
use crate::simulation::clock::Clock;
use crate::transport::{CongestionControl, Segment};

impl Endpoints {
    /// Takes the next segment of a flow with a shared limiter, if its turn has come. If not, the flow
    /// waits for it.
    pub fn next_limited(&mut self, slot: u32, place: usize, clock: &mut Clock) -> Option<Segment> {
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
