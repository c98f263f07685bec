//! The global event queue: for each busy link, timer or source the time at which it acts next.
//!
//! An entity (a link, a flow's timer, a workload) has at most one useful event pending, so the
//! queue is as long as there are busy entities and stays in the first-level cache. Events at the
//! same picosecond are served in the order of their entity numbers, a total order that does not
//! depend on who was scheduled first. Times are in picoseconds.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What acts when an event comes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// The first packet in flight on a link reaches its far end.
    Link = 0,
    /// A packet reaches the head of a host's NIC queue and is handed to the pacer.
    NicHead = 1,
    /// A pacer updates its rate or releases the head of its FIFO.
    Pacer = 2,
    /// A flow's retransmission timer.
    Rto = 3,
    /// A flow's delayed-ACK timer.
    DelayedAck = 4,
    /// A message passes a host's stack to or from the application.
    Application = 5,
    /// The next arrival of a workload.
    Arrival = 6,
    /// The latency probe.
    Probe = 7,
    /// The queue sampler.
    Sample = 8,
    /// The end of the warm-up.
    Warmup = 9,
}

const KINDS: [Kind; 10] = [
    Kind::Link,
    Kind::NicHead,
    Kind::Pacer,
    Kind::Rto,
    Kind::DelayedAck,
    Kind::Application,
    Kind::Arrival,
    Kind::Probe,
    Kind::Sample,
    Kind::Warmup,
];

/// A kind and an index, packed so that they compare as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity(u32);

impl Entity {
    const INDEX_BITS: u32 = 28;

    /// The entity `index` of `kind`; `index` must be below 2^28.
    pub fn new(kind: Kind, index: usize) -> Self {
        debug_assert!(index < 1 << Self::INDEX_BITS);
        Entity(((kind as u32) << Self::INDEX_BITS) | index as u32)
    }

    /// What the entity is.
    #[inline]
    pub fn kind(self) -> Kind {
        KINDS[(self.0 >> Self::INDEX_BITS) as usize]
    }

    /// Which one of its kind.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & ((1 << Self::INDEX_BITS) - 1)) as usize
    }
}

/// Time in the high bits, entity below: one comparison orders both.
type Key = Reverse<u128>;

#[inline]
fn key(at_ps: u64, entity: Entity) -> Key {
    Reverse((u128::from(at_ps) << 32) | u128::from(entity.0))
}

#[inline]
fn unkey(key: &Key) -> (u64, Entity) {
    ((key.0 >> 32) as u64, Entity(key.0 as u32))
}

/// The events to come, earliest first.
#[derive(Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Key>,
}

impl EventQueue {
    /// Adds an event. The caller sees to it that an entity's stale events are recognised.
    #[inline]
    pub fn push(&mut self, at_ps: u64, entity: Entity) {
        self.heap.push(key(at_ps, entity));
    }

    /// The earliest event, left in place.
    #[inline]
    pub fn peek(&self) -> Option<(u64, Entity)> {
        self.heap.peek().map(unkey)
    }

    /// Removes the earliest event.
    #[inline]
    pub fn pop(&mut self) {
        self.heap.pop();
    }

    /// Puts the entity of the earliest event to a later time: one sift instead of two.
    #[inline]
    pub fn postpone(&mut self, at_ps: u64) {
        if let Some(mut top) = self.heap.peek_mut() {
            let (_, entity) = unkey(&top);
            *top = key(at_ps, entity);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn serves_by_time_then_by_entity() {
        let mut queue = EventQueue::default();
        let (a, b) = (Entity::new(Kind::Link, 7), Entity::new(Kind::Rto, 1));
        queue.push(20, b);
        queue.push(20, a);
        queue.push(10, b);
        let mut order = Vec::new();
        while let Some(event) = queue.peek() {
            order.push(event);
            queue.pop();
        }
        assert_eq!(order, [(10, b), (20, a), (20, b)]);
        assert_eq!((b.kind(), b.index()), (Kind::Rto, 1));
    }

    #[test]
    fn postponing_keeps_the_entity() {
        let mut queue = EventQueue::default();
        let (a, b) = (Entity::new(Kind::Link, 0), Entity::new(Kind::Link, 1));
        queue.push(1, a);
        queue.push(2, b);
        queue.postpone(3);
        assert_eq!(queue.peek(), Some((2, b)));
        queue.pop();
        assert_eq!(queue.peek(), Some((3, a)));
    }
}
