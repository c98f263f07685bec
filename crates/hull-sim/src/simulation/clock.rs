//! The time of a run: the current time and the next event. Times are ps.
//!
//! A run has a warm-up, the measured time, and a drain in which open flows may complete.

use crate::engine::{Due, Entity, EventQueue, Kind, PacketRef};

/// Time, phases of a run, and pending events.
#[derive(Debug)]
pub struct Clock {
    pub now_ps: u64,
    /// Number of events served, without those that results do not count.
    pub served: u64,
    /// This number when the control was last looked at.
    pub at_last_look: u64,
    /// Time before the last event that was not a packet's arrival.
    before_ps: u64,
    pub events: EventQueue,
    /// End of the warm-up, ps.
    pub warmup_ps: u64,
    /// End of the measured time, ps.
    pub end_ps: u64,
    /// End of the drain, ps.
    pub last_ps: u64,
    /// Events from this time on are not served, for now or because the run is over, ps.
    pub limit_ps: u64,
}

impl Clock {
    /// Creates the clock at time 0 of a run with these phases.
    pub fn new(events: EventQueue, warmup_ps: u64, duration_ps: u64, drain_ps: u64) -> Self {
        let end_ps = warmup_ps + duration_ps;
        Clock {
            now_ps: 0,
            served: 0,
            at_last_look: 0,
            before_ps: 0,
            events,
            warmup_ps,
            end_ps,
            last_ps: end_ps.saturating_add(drain_ps),
            limit_ps: u64::MAX,
        }
    }

    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, at_ps: u64, kind: Kind, index: usize) {
        debug_assert!(at_ps >= self.now_ps, "{kind:?} {index} at {at_ps} ps");
        self.events
            .push(at_ps, Entity::new(kind, index), PacketRef::default());
    }

    /// Schedules a packet's arrival at the end of a port's link.
    #[inline(always)]
    pub fn schedule_arrival(&mut self, at_ps: u64, port: usize, packet_ref: PacketRef) {
        let link = Entity::new(Kind::Link, port);
        self.events.push(at_ps, link, packet_ref);
    }

    /// Removes the next event if it is sorted and before `bound_ps` and the limit, and counts it. The
    /// caller must then advance to it.
    #[inline(always)]
    pub fn pop_before(&mut self, bound_ps: u64) -> Option<Due> {
        let due = self.events.pop_sorted(bound_ps.min(self.limit_ps))?;
        self.served += 1;
        Some(due)
    }

    /// Whether the next event is of this kind and due at the current time.
    #[inline]
    pub fn is_next(&self, kind: Kind) -> bool {
        self.events.next_sorted() == Some((self.now_ps, kind))
    }

    /// Sorts the next events, with `bound_ps` and the limit; see [`EventQueue::turn`].
    #[inline(always)]
    pub fn turn(&mut self, bound_ps: u64) -> bool {
        self.events.turn(bound_ps.min(self.limit_ps))
    }

    /// Advances to an event that is a packet's arrival.
    #[inline(always)]
    pub fn advance_to_arrival(&mut self, at_ps: u64) {
        debug_assert!(at_ps >= self.now_ps, "an event in the past");
        self.now_ps = at_ps;
    }

    /// Advances to an event that is not a packet's arrival.
    #[inline(always)]
    pub fn advance_to_other(&mut self, at_ps: u64) {
        self.before_ps = self.now_ps;
        self.advance_to_arrival(at_ps);
    }

    /// Excludes events from the results: their number depends on instruments, parts, or the slots
    /// of flows.
    pub fn uncount(&mut self, events: u64) {
        self.served -= events;
    }

    /// Goes back from the current event, which is not a link's and not part of the model: a run that
    /// ends with it ends at the time before.
    pub fn step_back(&mut self) {
        self.now_ps = self.before_ps;
    }

    /// Excludes the current event from the results, and goes back from it.
    pub fn disregard(&mut self) {
        self.uncount(1);
        self.step_back();
    }

    /// Whether events at this time are measured.
    #[inline]
    pub fn is_measured(&self, at_ps: u64) -> bool {
        (self.warmup_ps..self.end_ps).contains(&at_ps)
    }

    /// Advances to the limit, after all events before it. Returns its time, ps.
    pub fn advance_to_limit(&mut self) -> u64 {
        self.now_ps = self.limit_ps;
        self.limit_ps
    }

    /// Sets the limit to the end of the measured time.
    pub fn aim_at_end(&mut self) {
        self.limit_ps = self.limit_ps.min(self.end_ps);
    }

    /// Sets the limit to the end of the drain.
    pub fn aim_at_last(&mut self) {
        self.limit_ps = self.last_ps + 1;
    }

    /// Limits the rest of the run to this time.
    pub fn end_after(&mut self, later_ps: u64) {
        self.limit_ps = self.limit_ps.min(self.now_ps + later_ps);
    }
}
