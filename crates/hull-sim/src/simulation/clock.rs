//! The time of a run: the current time and the next event. Times are ps.
//!
//! A run has a warm-up, the measured time, and a drain in which open flows may complete.

use crate::engine::{Cargo, Entity, EventQueue, Kind};

/// Time, the phases of a run, and the events to come.
#[derive(Debug)]
pub struct Clock {
    pub now_ps: u64,
    /// The time before an event that was no packet's on a link.
    before_ps: u64,
    pub events: EventQueue,
    /// End of the warm-up.
    pub warmup_ps: u64,
    /// End of the measured time.
    pub end_ps: u64,
    /// End of the drain.
    pub last_ps: u64,
    /// Events from here on are left: for now, or because the run is over.
    pub limit_ps: u64,
}

impl Clock {
    /// Time 0 of a run of such phases.
    pub fn new(events: EventQueue, warmup_ps: u64, duration_ps: u64, drain_ps: u64) -> Self {
        let end_ps = warmup_ps + duration_ps;
        Clock {
            now_ps: 0,
            before_ps: 0,
            events,
            warmup_ps,
            end_ps,
            last_ps: end_ps.saturating_add(drain_ps),
            limit_ps: u64::MAX,
        }
    }

    /// Something is to happen.
    #[inline]
    pub fn schedule(&mut self, at_ps: u64, kind: Kind, index: usize) {
        self.events
            .push(at_ps, Entity::new(kind, index), Cargo::default());
    }

    /// A packet is to come off the link of a port.
    #[inline(always)]
    pub fn schedule_arrival(&mut self, at_ps: u64, port: usize, cargo: Cargo) {
        let link = Entity::new(Kind::Link, port);
        self.events.push(at_ps, link, cargo);
    }

    /// Goes on to the next event before `bound_ps` and the limit.
    #[inline(always)]
    pub fn next_before(&mut self, bound_ps: u64) -> Option<(Entity, Cargo)> {
        let due = self.events.pop_before(bound_ps.min(self.limit_ps))?;
        let (at_ps, entity) = (due.at_ps, due.entity);
        debug_assert!(at_ps >= self.now_ps, "{entity:?} wants to act in the past");
        if !entity.is_link() {
            self.before_ps = self.now_ps;
        }
        self.now_ps = at_ps;
        Some((entity, due.cargo))
    }

    /// The event, not of a link, is none of the model's: a run that ends with it ends before.
    pub fn disregard(&mut self) {
        self.now_ps = self.before_ps;
    }

    /// Whether what happens then is measured.
    #[inline]
    pub fn is_measured(&self, at_ps: u64) -> bool {
        (self.warmup_ps..self.end_ps).contains(&at_ps)
    }

    /// The next limit is the end of the measured time.
    pub fn aim_at_end(&mut self) {
        self.limit_ps = self.limit_ps.min(self.end_ps);
    }

    /// The next limit is the end of the drain.
    pub fn aim_at_last(&mut self) {
        self.limit_ps = self.last_ps + 1;
    }

    /// The run goes on for so long, no longer.
    pub fn end_after(&mut self, later_ps: u64) {
        self.limit_ps = self.limit_ps.min(self.now_ps + later_ps);
    }
}
