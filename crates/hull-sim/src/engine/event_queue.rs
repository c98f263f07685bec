//! The global event queue: for each busy link, timer or source the time at which it acts next.
//!
//! An entity (a link, a flow's timer, a workload) has at most one useful event pending, so the
//! queue is as long as there are busy entities. Events at the same picosecond are served in the
//! order of their entity numbers, a total order that does not depend on who was scheduled first.
//!
//! It is a calendar: near events lie unsorted in buckets of a power of two picoseconds, of which
//! only the present one is sorted; what is beyond the calendar waits in a heap. Pushing and
//! serving then cost the same with ten links as with ten thousand. Times are in picoseconds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::entity::Entity;

/// An event within a bucket: the time since the bucket's beginning in the high half, the entity in
/// the low one. One comparison orders both.
type Near = u64;

/// The events to come, earliest first.
#[derive(Debug)]
pub struct EventQueue {
    /// Width of a bucket: 2^shift ps.
    shift: u32,
    /// Number of the present bucket, counted from time 0.
    present: u64,
    /// Events of the present bucket, latest first.
    sorted: Vec<Near>,
    /// A bit for each bucket that is not empty.
    filled: Vec<u64>,
    buckets: Vec<Vec<Near>>,
    /// Events beyond the calendar, by time and entity.
    far: BinaryHeap<Reverse<(u64, u32)>>,
}

impl EventQueue {
    /// An empty queue whose calendar covers at least `horizon_ps`, where most events fall: the
    /// longest time from the start of a transmission to its arrival. With so many `links` a busy
    /// network has several events in each bucket, few enough to sort at little cost.
    pub fn new(horizon_ps: u64, links: usize) -> Self {
        let count = (links / 32).next_power_of_two().clamp(64, 1 << 14);
        let width = (horizon_ps / (count as u64 - 2)).max(1);
        EventQueue {
            shift: width.next_power_of_two().trailing_zeros().min(31),
            present: 0,
            sorted: Vec::with_capacity(64),
            filled: vec![0; count / 64],
            buckets: vec![Vec::new(); count],
            far: BinaryHeap::new(),
        }
    }

    /// The place of a bucket by its number.
    #[inline]
    fn slot(&self, bucket: u64) -> usize {
        bucket as usize & (self.buckets.len() - 1)
    }

    #[inline]
    fn near(&self, at_ps: u64, entity: u32) -> Near {
        let within = at_ps & ((1 << self.shift) - 1);
        (within << 32) | u64::from(entity)
    }

    /// Adds an event, at or after the time of the last one served. The caller sees to it that an
    /// entity's stale events are recognised.
    #[inline]
    pub fn push(&mut self, at_ps: u64, entity: Entity) {
        let bucket = at_ps >> self.shift;
        let ahead = bucket.wrapping_sub(self.present);
        if ahead.wrapping_sub(1) < self.buckets.len() as u64 - 1 {
            let near = self.near(at_ps, entity.bits());
            let slot = self.slot(bucket);
            self.buckets[slot].push(near);
            self.filled[slot / 64] |= 1 << (slot % 64);
        } else {
            self.push_off_calendar(at_ps, entity);
        }
    }

    /// An event of the present bucket, or beyond the calendar.
    fn push_off_calendar(&mut self, at_ps: u64, entity: Entity) {
        if at_ps >> self.shift != self.present {
            self.far.push(Reverse((at_ps, entity.bits())));
            return;
        }
        // Soon: the place is near the end, where the earliest are.
        let near = self.near(at_ps, entity.bits());
        let mut place = self.sorted.len();
        while place > 0 && self.sorted[place - 1] < near {
            place -= 1;
        }
        self.sorted.insert(place, near);
    }

    /// The earliest event, left in place, when it is before `limit_ps`. Later events, from
    /// `limit_ps` on, may still be added.
    #[inline]
    pub fn peek_before(&mut self, limit_ps: u64) -> Option<(u64, Entity)> {
        loop {
            if let Some(&near) = self.sorted.last() {
                let at_ps = (self.present << self.shift) | (near >> 32);
                return (at_ps < limit_ps).then_some((at_ps, Entity::from_bits(near as u32)));
            }
            if !self.turn(limit_ps) {
                return None;
            }
        }
    }

    /// No event is earlier than this, ps: the earliest one's time or a little less.
    pub fn next_not_before_ps(&self) -> u64 {
        if let Some(&near) = self.sorted.last() {
            return (self.present << self.shift) | (near >> 32);
        }
        let far_ps = self.far.peek().map_or(u64::MAX, |top| top.0.0);
        match self.next_filled() {
            u64::MAX => far_ps,
            bucket => far_ps.min(bucket << self.shift),
        }
    }

    /// Removes the earliest event, which [`EventQueue::peek_before`] has shown.
    #[inline]
    pub fn pop(&mut self) {
        self.sorted.pop();
    }

    /// The earliest event, as far as it is known without work.
    #[inline]
    pub fn upcoming(&self) -> Option<Entity> {
        let &near = self.sorted.last()?;
        Some(Entity::from_bits(near as u32))
    }

    /// Removes all events of an entity, at a cost that goes with all events: for links that fail.
    pub fn cancel(&mut self, entity: Entity) {
        let other = |near: &Near| *near as u32 != entity.bits();
        self.sorted.retain(other);
        // A bucket that is left empty stays marked as filled; turning to it does no harm.
        for bucket in self.buckets.iter_mut() {
            bucket.retain(other);
        }
        self.far.retain(|&Reverse((_, bits))| bits != entity.bits());
    }

    /// Goes to the next bucket that holds an event; false when none before `limit_ps` does.
    fn turn(&mut self, limit_ps: u64) -> bool {
        let near = self.next_filled();
        let far = match self.far.peek() {
            Some(top) => top.0.0 >> self.shift,
            None => u64::MAX,
        };
        let bucket = near.min(far);
        if bucket == u64::MAX || bucket << self.shift >= limit_ps {
            return false;
        }
        self.present = bucket;
        if near == bucket {
            let slot = self.slot(bucket);
            std::mem::swap(&mut self.sorted, &mut self.buckets[slot]);
            self.filled[slot / 64] &= !(1 << (slot % 64));
        }
        if far == bucket {
            self.take_far(bucket);
        }
        if self.sorted.len() > 1 {
            sort_descending(&mut self.sorted);
        }
        true
    }

    /// Moves what is due in `bucket` from beyond the calendar.
    fn take_far(&mut self, bucket: u64) {
        while let Some(&Reverse((at_ps, entity))) = self.far.peek() {
            if at_ps >> self.shift != bucket {
                break;
            }
            self.far.pop();
            self.sorted.push(self.near(at_ps, entity));
        }
    }

    /// The first bucket after the present one that is not empty; `u64::MAX` when all are.
    #[inline]
    fn next_filled(&self) -> u64 {
        let start = self.present + 1;
        let first = self.slot(start);
        let (word, bit) = (first / 64, first % 64);
        let bits = self.filled[word] >> bit;
        if bits != 0 {
            return start + u64::from(bits.trailing_zeros());
        }
        let words = self.filled.len();
        for step in 1..=words {
            // All the way round: the low bits of the first word come last.
            let at = (word + step) & (words - 1);
            let bits = self.filled[at];
            if bits != 0 {
                let slot = at * 64 + bits.trailing_zeros() as usize;
                return start + self.slot((slot + self.buckets.len() - first) as u64) as u64;
            }
        }
        u64::MAX
    }
}

/// Buckets hold a few events: insertion is faster than a general sort.
#[inline]
fn sort_descending(events: &mut [Near]) {
    if events.len() > 24 {
        events.sort_unstable_by(|a, b| b.cmp(a));
        return;
    }
    for i in 1..events.len() {
        let event = events[i];
        let mut place = i;
        while place > 0 && events[place - 1] < event {
            events[place] = events[place - 1];
            place -= 1;
        }
        events[place] = event;
    }
}

#[cfg(test)]
mod tests {
    use super::super::entity::{Entity, Kind};
    use super::EventQueue;

    fn drain(queue: &mut EventQueue) -> Vec<(u64, Entity)> {
        let mut order = Vec::new();
        while let Some(event) = queue.peek_before(u64::MAX) {
            order.push(event);
            queue.pop();
        }
        order
    }

    #[test]
    fn serves_by_time_then_by_entity() {
        let mut queue = EventQueue::new(1000, 1);
        let (a, b) = (Entity::new(Kind::Link, 7), Entity::new(Kind::Rto, 1));
        queue.push(20, b);
        queue.push(20, a);
        queue.push(10, b);
        assert_eq!(drain(&mut queue), [(10, b), (20, a), (20, b)]);
        assert_eq!((b.kind(), b.index()), (Kind::Rto, 1));
    }

    /// What was cancelled is not served, wherever it was waiting; all else is.
    #[test]
    fn serves_nothing_that_was_cancelled() {
        for horizon in [1, 1000, 1 << 44] {
            let mut queue = EventQueue::new(horizon, 100);
            let mut expected = Vec::new();
            for at in [0, 1, 30, 31, 900, 5000, 70_000, 1 << 50] {
                for link in 0..3 {
                    let entity = Entity::new(Kind::Link, link);
                    queue.push(at, entity);
                    if link != 1 {
                        expected.push((at, entity));
                    }
                }
            }
            queue.cancel(Entity::new(Kind::Link, 1));
            assert_eq!(drain(&mut queue), expected);
        }
    }

    /// Any order of pushes, near and far, before and between servings, is served sorted.
    #[test]
    fn agrees_with_sorting() {
        let mut random = crate::random::Stream::new(1, crate::random::Purpose::Arrivals, 0);
        for (horizon, links) in [(1, 1), (700, 5000), (100_000, 1000), (1 << 44, 20_000)] {
            let mut queue = EventQueue::new(horizon, links);
            let mut waiting = Vec::new();
            let mut now = 0;
            for round in 0..20_000 {
                let spread = [3, 1000, 60_000, 10_000_000][random.below(4)];
                let at = now + random.below(spread) as u64;
                let entity = Entity::new(Kind::Link, round);
                queue.push(at, entity);
                waiting.push((at, entity));
                if random.below(3) > 0 {
                    let first = *waiting.iter().min().expect("not empty");
                    waiting.retain(|&event| event != first);
                    assert_eq!(queue.peek_before(first.0), None);
                    assert!(queue.next_not_before_ps() <= first.0);
                    assert_eq!(queue.peek_before(first.0 + 1), Some(first));
                    queue.pop();
                    now = first.0;
                }
            }
            waiting.sort_unstable();
            assert_eq!(drain(&mut queue), waiting);
        }
    }
}
