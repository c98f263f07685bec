//! Sorts a bucket of up to 64 events by rank: an event's place is the number of events before it.
//!
//! All pairs are compared, and none of the comparisons is a branch. A processor that compares four
//! keys in one instruction (AVX2) counts faster than it recovers from the wrong predictions of a sort
//! that branches.

#![allow(unsafe_code)]

use super::near::Near;

/// Largest number of events that are sorted by rank.
pub const MOST: usize = 64;

/// Sorts at most [`MOST`] events by time and entity, if the processor has the instructions and no two
/// of them share both. Returns whether it did; if not, the events are as they were.
#[inline]
pub fn sort(events: &mut [Near]) -> bool {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, all that the function requires.
        return unsafe { sort_with_avx2(events) };
    }
    let _ = events;
    false
}

/// [`sort`] in one of three sizes, whose loops have a known length.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sort_with_avx2(events: &mut [Near]) -> bool {
    match events.len() {
        ..=16 => sort_up_to::<16>(events),
        17..=32 => sort_up_to::<32>(events),
        _ => sort_up_to::<MOST>(events),
    }
}

/// Sorts at most `N` events.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sort_up_to<const N: usize>(events: &mut [Near]) -> bool {
    debug_assert!(events.len() <= N);
    // AVX2 compares signed numbers. The keys of a bucket are positive (`Near::WIDEST`).
    let mut keys = [i64::MAX; N];
    let mut before = [Near::default(); N];
    for ((key, copy), near) in keys.iter_mut().zip(&mut before).zip(&*events) {
        debug_assert!(near.key() < i64::MAX as u64);
        *key = near.key() as i64;
        *copy = *near;
    }
    let mut ranks = [0_i64; N];
    for other in keys {
        for (rank, key) in ranks.iter_mut().zip(keys) {
            *rank += i64::from(other < key);
        }
    }
    let len = events.len();
    let sum: i64 = ranks[..len].iter().sum();
    if sum as usize != len * len.saturating_sub(1) / 2 {
        return false; // equal keys share a rank
    }
    for (near, rank) in before[..len].iter().zip(ranks) {
        events[rank as usize] = *near;
    }
    true
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::super::near::PacketRef;
    use super::*;

    fn event(within_ps: u64, entity: u32, packet: u32) -> Near {
        Near::new(within_ps, entity, PacketRef { packet, next: 1 })
    }

    /// Every number of events in many orders, the largest time and entity among them. Many events
    /// share their time, and many their entity.
    #[test]
    fn ranks_sort() {
        let can = std::arch::is_x86_feature_detected!("avx2");
        // Miri is slow; each of the three sizes is there.
        let strides = if cfg!(miri) { 62 } else { 2 };
        for len in (0..=MOST as u32).filter(|len| !cfg!(miri) || len % 16 < 2) {
            for stride in (1..128).step_by(strides) {
                let order =
                    (0..MOST as u32).map(|place| (place * stride + stride / 2) % MOST as u32);
                let events = order.filter(|number| *number < len).map(|number| {
                    let within_ps = u64::from(64 * (number * 7 % 20));
                    match number {
                        0 => event((1 << Near::WIDEST) - 1, u32::MAX, 0),
                        number if number % 2 == 0 => event(within_ps, 5000 - number, number),
                        _ => event(within_ps + u64::from(number), 1 << 20, number),
                    }
                });
                let mut events: Vec<Near> = events.collect();
                let mut expected = events.clone();
                expected.sort_unstable();
                assert_eq!(expected.len(), len as usize);
                assert_eq!(sort(&mut events), can);
                assert!(!can || events == expected, "{len} events");
            }
        }
    }

    /// Events of the same time and entity have no rank of their own.
    #[test]
    fn equal_events_are_left_as_they_were() {
        for len in [2, 16, 17, 33, MOST] {
            let latest_first = (0..len as u64).rev();
            let mut events: Vec<Near> = latest_first.map(|at| event(at, 3, 0)).collect();
            events[len - 1] = events[0];
            let before = events.clone();
            assert!(!sort(&mut events));
            assert_eq!(events, before);
        }
    }
}
