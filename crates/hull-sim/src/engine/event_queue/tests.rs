//! Events are served by time and entity, regardless of the order in which they were scheduled.

use super::super::entity::{Entity, Kind};
use super::{Due, EventQueue, PacketRef};

const NONE: PacketRef = PacketRef { packet: 0, next: 0 };

/// Removes and returns the earliest event if it is before `limit_ps`.
fn pop_before(queue: &mut EventQueue, limit_ps: u64) -> Option<Due> {
    loop {
        let due = queue.pop_sorted(limit_ps);
        if due.is_some() || !queue.turn(limit_ps) {
            return due;
        }
    }
}

fn drain(queue: &mut EventQueue) -> Vec<(u64, Entity)> {
    let mut order = Vec::new();
    while let Some(due) = pop_before(queue, u64::MAX) {
        order.push((due.at_ps, due.entity));
    }
    order
}

#[test]
fn serves_by_time_then_by_entity() {
    let mut queue = EventQueue::new(1000, 1);
    let (a, b) = (Entity::new(Kind::Link, 7), Entity::new(Kind::Rto, 1));
    queue.push(20, b, NONE);
    queue.push(20, a, NONE);
    queue.push(10, b, NONE);
    assert_eq!(drain(&mut queue), [(10, b), (20, a), (20, b)]);
    assert_eq!((b.kind(), b.index()), (Kind::Rto, 1));
}

/// Cancelled events are not served, wherever they wait; all others are.
#[test]
fn cancelled_events_are_not_served() {
    let packet_ref = |packet| PacketRef { packet, next: 0 };
    for horizon in [1, 1000, 1 << 44] {
        let mut queue = EventQueue::new(horizon, 100);
        let mut expected = Vec::new();
        for at in [0, 1, 30, 31, 900, 5000, 70_000, 1 << 50] {
            for link in 0..3 {
                let entity = Entity::new(Kind::Link, link);
                queue.push(at, entity, packet_ref(at as u32));
                if link != 1 {
                    expected.push((at, entity));
                }
            }
        }
        let carried = [0, 1, 30, 31, 900, 5000, 70_000, 0].map(packet_ref);
        assert_eq!(queue.cancel(Entity::new(Kind::Link, 1)), carried);
        assert_eq!(drain(&mut queue), expected);
    }
}

/// Events pushed in any order, near and far, before and between pops, are served sorted.
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
            queue.push(at, entity, NONE);
            waiting.push((at, entity));
            if random.below(3) > 0 {
                let first = *waiting.iter().min().expect("not empty");
                waiting.retain(|&event| event != first);
                assert_eq!(pop_before(&mut queue, first.0), None);
                assert!(queue.next_not_before_ps() <= first.0);
                let due = Due {
                    at_ps: first.0,
                    entity: first.1,
                    packet_ref: NONE,
                };
                assert_eq!(pop_before(&mut queue, first.0 + 1), Some(due));
                now = first.0;
            }
        }
        waiting.sort_unstable();
        assert_eq!(drain(&mut queue), waiting);
    }
}

/// Sparse buckets widen, but stay narrow enough for time and entity to fit into a key.
#[test]
fn stays_sorted_when_buckets_widen() {
    stays_sorted_when_sparse(1);
    stays_sorted_when_sparse(5000);
}

fn stays_sorted_when_sparse(links: usize) {
    let mut random = crate::random::Stream::new(2, crate::random::Purpose::Arrivals, 0);
    let horizon_ps = 1 << 44;
    let mut queue = EventQueue::new(horizon_ps, links);
    let mut now = 0;
    let mut waiting = std::collections::BTreeSet::new();
    for round in 0..60_000_usize {
        let event = (
            now + random.below(1 << 36) as u64,
            Entity::new(Kind::Link, round),
        );
        queue.push(event.0, event.1, NONE);
        waiting.insert(event);
        if waiting.len() > 4 {
            let due = pop_before(&mut queue, u64::MAX).expect("not empty");
            assert_eq!(Some((due.at_ps, due.entity)), waiting.pop_first());
            now = due.at_ps;
        }
    }
    assert!(Vec::from_iter(waiting) == drain(&mut queue));
}

/// Events can be cancelled and the width of the buckets can change while sorted events wait, and
/// earlier ones may then be added.
#[test]
fn stays_sorted_when_sorted_events_are_cancelled() {
    let mut random = crate::random::Stream::new(3, crate::random::Purpose::Arrivals, 0);
    let (kept, cancelled) = (|n| Entity::new(Kind::Rto, n), Entity::new(Kind::Link, 7));
    for links in [1, 5000] {
        let mut queue = EventQueue::new(1000, links);
        let mut waiting = std::collections::BTreeSet::new();
        let mut now_ps = 0;
        for round in 0..60_000 {
            let at_ps = now_ps + 1 + random.below(40) as u64;
            // Some rounds have no other events than those that are cancelled.
            if random.below(3) > 0 {
                queue.push(at_ps, kept(round), NONE);
                waiting.insert((at_ps, kept(round)));
            } else {
                (0..8).for_each(|k| queue.push(at_ps + 16 * k, cancelled, NONE));
            }
            // The time advances less far than to the events.
            now_ps += random.below(12) as u64;
            while let Some(due) = pop_before(&mut queue, now_ps) {
                if due.entity != cancelled {
                    assert_eq!(Some((due.at_ps, due.entity)), waiting.pop_first());
                }
            }
            assert!(waiting.first().is_none_or(|event| event.0 >= now_ps));
            if random.below(4) == 0 {
                queue.cancel(cancelled);
                assert_eq!(pop_before(&mut queue, now_ps), None);
            }
        }
        queue.cancel(cancelled);
        assert!(Vec::from_iter(waiting) == drain(&mut queue));
    }
}

/// Cancelled events were sorted; an event before them may be added, also after the width of the
/// buckets has changed.
#[test]
fn an_event_before_cancelled_ones_may_be_added() {
    let (cancelled, kept) = (Entity::new(Kind::Link, 7), Entity::new(Kind::Rto, 1));
    let mut queue = EventQueue::new(1000, 1);
    for start_ps in (0..2000).map(|round| 128 * round) {
        (0..8).for_each(|k| queue.push(start_ps + 16 * k, cancelled, NONE));
        assert_eq!(
            pop_before(&mut queue, start_ps + 1).map(|due| due.at_ps),
            Some(start_ps)
        );
        queue.cancel(cancelled);
        assert_eq!(pop_before(&mut queue, start_ps + 2), None);
        queue.push(start_ps + 2, kept, NONE);
        assert_eq!(drain(&mut queue), [(start_ps + 2, kept)]);
    }
}

/// Buckets that hold too many events become narrower; what waits in them, beside them and beyond the
/// calendar stays sorted.
#[test]
fn stays_sorted_when_buckets_narrow() {
    stays_sorted_when_dense(100_000, 1);
    stays_sorted_when_dense(1_000_000, 5000);
}

fn stays_sorted_when_dense(horizon_ps: u64, links: usize) {
    let mut random = crate::random::Stream::new(4, crate::random::Purpose::Arrivals, 0);
    let mut queue = EventQueue::new(horizon_ps, links);
    let before = queue.shift;
    let mut waiting = std::collections::BTreeSet::new();
    let mut now_ps = 0;
    for round in 0..200_000 {
        let spread_ps = if random.below(64) == 0 {
            20_000_000
        } else {
            200_000
        };
        let event = (
            now_ps + random.below(spread_ps) as u64,
            Entity::new(Kind::Rto, round),
        );
        queue.push(event.0, event.1, NONE);
        waiting.insert(event);
        if waiting.len() > 2_000 {
            let due = pop_before(&mut queue, u64::MAX).expect("not empty");
            assert_eq!(Some((due.at_ps, due.entity)), waiting.pop_first());
            now_ps = due.at_ps;
        }
    }
    assert!(queue.shift < before, "{} {before}", queue.shift);
    assert!(Vec::from_iter(waiting) == drain(&mut queue));
}

/// In a large network events are sorted before all earlier ones are served. Events added among the
/// sorted or the earlier ones are served in their place, for any limits.
#[test]
fn stays_sorted_with_coming_events() {
    let mut random = crate::random::Stream::new(5, crate::random::Purpose::Arrivals, 0);
    let mut queue = EventQueue::new(800_000, 50_000);
    let mut waiting = std::collections::BTreeSet::new();
    let (mut now_ps, mut beside) = (0, 0);
    for round in 0..200_000 {
        // Most events come in steps, a few soon.
        let soon = random.below(4) == 0;
        let later_ps = if soon { random.below(8_000) } else { 600_000 };
        let event = (now_ps + later_ps as u64, Entity::new(Kind::Link, round));
        let is_coming = !queue.coming.is_empty() && queue.coming_ps <= event.0;
        beside += usize::from(is_coming && event.0 >> queue.shift <= queue.present);
        queue.push(event.0, event.1, NONE);
        waiting.insert(event);
        if waiting.len() > 3_000 {
            let has_limit = random.below(2) == 0;
            let limit_ps = if has_limit {
                now_ps + random.below(500) as u64
            } else {
                u64::MAX
            };
            let due = pop_before(&mut queue, limit_ps);
            let first = waiting.first().copied().expect("not empty");
            if let Some(due) = due {
                assert_eq!((due.at_ps, due.entity), first);
                waiting.pop_first();
            }
            assert_eq!(due.is_some(), first.0 < limit_ps);
            now_ps = first.0.min(limit_ps);
        }
    }
    assert!(beside > 1_000, "{beside}");
    assert!(Vec::from_iter(waiting) == drain(&mut queue));
}

/// An event may be added before sorted ones after a limit that excludes these.
#[test]
fn an_event_before_coming_ones_may_be_added() {
    let event = |number| Entity::new(Kind::Link, number);
    let mut queue = EventQueue::new(800_000, 5000);
    let width_ps = 1 << queue.shift;
    (0..20).for_each(|number| queue.push(width_ps, event(number), NONE));
    queue.push(5 * width_ps, event(20), NONE);
    for number in 0..20 {
        let due = pop_before(&mut queue, 10 * width_ps).expect("not empty");
        assert_eq!((due.at_ps, due.entity), (width_ps, event(number)));
    }
    assert_eq!(queue.coming_ps, 5 * width_ps);
    assert_eq!(pop_before(&mut queue, 2 * width_ps), None);
    queue.push(3 * width_ps, event(21), NONE);
    let rest = [(3 * width_ps, event(21)), (5 * width_ps, event(20))];
    assert_eq!(drain(&mut queue), rest);
}

/// Cancelled events among the coming ones are not served either, and all others are.
#[test]
fn coming_events_can_be_cancelled() {
    let event = |number| Entity::new(Kind::Link, number);
    let packet_ref = |packet| PacketRef { packet, next: 0 };
    let mut queue = EventQueue::new(800_000, 5000);
    let width_ps = 1 << queue.shift;
    for number in 0..20 {
        queue.push(width_ps, event(number), packet_ref(100 + number as u32));
        let later_ps = 5 * width_ps + number as u64;
        queue.push(later_ps, event(number % 2), packet_ref(number as u32));
    }
    let first = pop_before(&mut queue, u64::MAX).expect("not empty");
    assert_eq!((first.at_ps, queue.coming.len()), (width_ps, 20));
    let odd = (1..20).step_by(2);
    let cancelled = std::iter::once(101).chain(odd).map(packet_ref);
    assert_eq!(queue.cancel(event(1)), Vec::from_iter(cancelled));
    let now = (2..20).map(|number| (width_ps, event(number)));
    let later = (0..20).step_by(2);
    let later = later.map(|number| (5 * width_ps + number, event(0)));
    assert_eq!(drain(&mut queue), Vec::from_iter(now.chain(later)));
}

/// A bucket with more than `CROWD` events is not sorted ahead, and while it is served, nothing is
/// sorted ahead. Pairs are the numbers of events that are sorted and coming when a bucket begins.
#[test]
fn crowds_are_sorted_when_they_are_due() {
    let most = usize::from(super::CROWD);
    for (sizes, at_begin) in [
        ([10, 10, 20], [(20, 20), (20, 20), (20, 0)]),
        ([20, most, 20], [(20, most), (most, 20), (20, 0)]),
        ([20, most + 1, 20], [(20, 0), (most + 1, 0), (20, 0)]),
        ([10, most + 1, 20], [(10, 0), (most + 1, 0), (20, 0)]),
        ([most + 1, 20, 20], [(most + 1, 0), (20, 20), (20, 0)]),
    ] {
        let mut queue = EventQueue::new(800_000, 5000);
        let width_ps = 1 << queue.shift;
        for (bucket, size) in (1..).zip(sizes) {
            for number in 0..size {
                let event = Entity::new(Kind::Link, number);
                queue.push(bucket * width_ps, event, NONE);
            }
        }
        for (size, at_begin) in sizes.into_iter().zip(at_begin) {
            for number in 0..size {
                pop_before(&mut queue, u64::MAX).expect("not empty");
                let found = (queue.sorted.len(), queue.coming.len());
                assert!(number > 0 || found == at_begin, "{sizes:?}: {found:?}");
            }
        }
        assert_eq!(pop_before(&mut queue, u64::MAX), None);
    }
}
