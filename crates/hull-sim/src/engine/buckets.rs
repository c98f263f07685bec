//! The buckets of the calendar, a ring with a power of two of them: unordered events by the time in
//! which they are due.
//!
//! The numbers of events are apart from the events. An event is then added without reading its bucket,
//! which is rarely in the first-level cache: a processor waits for what it reads, not for what it
//! writes.

use super::lists::{List, Lists};
use super::near::{FEW, Near, add_sorted, sort};
use crate::prefetch::prefetch;

/// Events of a bucket in two cache lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(128))]
struct Inside([Near; FEW]);

impl Inside {
    /// Events of a bucket with this count.
    #[inline(always)]
    fn events(&self, count: u8) -> &[Near] {
        &self.0[..usize::from(count).min(FEW)]
    }
}

/// Number of buckets whose counts are read at once.
pub const WORD: usize = 8;

/// Buckets by place: their number modulo the number of buckets.
#[derive(Debug)]
pub struct Buckets {
    /// Number of events in each bucket, 255 if there are more.
    counts: Vec<[u8; WORD]>,
    inside: Vec<Inside>,
    /// Events that do not fit inside, of each bucket.
    lists: Vec<List>,
    crowded: Lists<Near>,
}

/// Buckets that others have replaced, with their events.
#[derive(Debug)]
pub struct Replaced {
    counts: Vec<[u8; WORD]>,
    inside: Vec<Inside>,
    lists: Vec<List>,
}

impl Replaced {
    /// Number of buckets.
    pub fn len(&self) -> usize {
        self.inside.len()
    }
}

impl Buckets {
    /// Creates no bucket.
    pub fn new() -> Self {
        Buckets {
            counts: Vec::new(),
            inside: Vec::new(),
            lists: Vec::new(),
            crowded: Lists::new(),
        }
    }

    /// Replaces the buckets by `count` empty ones, a power of two and at least [`WORD`]. Returns
    /// those that were replaced.
    pub fn replace(&mut self, count: usize) -> Replaced {
        debug_assert!(count.is_power_of_two() && count >= WORD);
        Replaced {
            counts: std::mem::replace(&mut self.counts, vec![[0; WORD]; count / WORD]),
            inside: std::mem::replace(&mut self.inside, vec![Inside::default(); count]),
            lists: std::mem::replace(&mut self.lists, vec![List::EMPTY; count]),
        }
    }

    /// Moves the events of a replaced bucket to the end of `events`, in no particular order.
    pub fn take_replaced(&mut self, old: &mut Replaced, bucket: u64, events: &mut Vec<Near>) {
        let place = bucket as usize & (old.len() - 1);
        let count = std::mem::take(&mut old.counts.as_flattened_mut()[place]);
        events.extend_from_slice(old.inside[place].events(count));
        self.crowded.take(&mut old.lists[place], events);
    }

    /// Number of buckets.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.inside.len()
    }

    /// Place of a bucket with this number.
    #[inline(always)]
    fn place(&self, bucket: u64) -> usize {
        bucket as usize & (self.inside.len() - 1)
    }

    /// Adds an event to a bucket.
    #[inline(always)]
    pub fn push(&mut self, bucket: u64, near: Near) {
        let place = self.place(bucket);
        let count = &mut self.counts.as_flattened_mut()[place];
        match self.inside[place].0.get_mut(usize::from(*count)) {
            Some(slot) => {
                *slot = near;
                *count += 1;
            }
            None => {
                *count = count.saturating_add(1);
                self.crowded.push(&mut self.lists[place], near);
            }
        }
    }

    /// Moves the events of a bucket to the end of `sorted`, the earliest first, each `later_ps`
    /// later.
    #[inline(always)]
    pub fn take_sorted(&mut self, bucket: u64, sorted: &mut Vec<Near>, later_ps: u64) {
        let place = self.place(bucket);
        let count = std::mem::take(&mut self.counts.as_flattened_mut()[place]);
        let inside = &self.inside[place].0;
        if usize::from(count) <= FEW {
            return add_sorted(sorted, inside, count.into(), later_ps);
        }
        let before = sorted.len();
        sorted.extend_from_slice(inside);
        self.crowded.take(&mut self.lists[place], sorted);
        let events = &mut sorted[before..];
        sort(events);
        events
            .iter_mut()
            .for_each(|near| *near = near.delayed(later_ps));
    }

    /// Moves the events of a bucket to the end of `events`, in no particular order.
    pub fn take(&mut self, bucket: u64, events: &mut Vec<Near>) {
        let place = self.place(bucket);
        let count = std::mem::take(&mut self.counts.as_flattened_mut()[place]);
        events.extend_from_slice(self.inside[place].events(count));
        self.crowded.take(&mut self.lists[place], events);
    }

    /// Calls `look` with each event of a bucket, in no particular order, unless it holds more than
    /// `most` events; 255 is no limit.
    #[inline(always)]
    pub fn for_each(&self, bucket: u64, most: u8, mut look: impl FnMut(&Near)) {
        let place = self.place(bucket);
        let count = self.counts.as_flattened()[place];
        if count <= most {
            self.inside[place].events(count).iter().for_each(&mut look);
            self.crowded.for_each(&self.lists[place], look);
        }
    }

    /// Number of events in a bucket, 255 if there are more.
    #[inline(always)]
    pub fn count(&self, bucket: u64) -> u8 {
        self.counts.as_flattened()[self.place(bucket)]
    }

    /// Prefetches events of a bucket.
    #[inline(always)]
    pub fn prefetch(&self, bucket: u64) {
        prefetch(&self.inside[self.place(bucket)]);
    }

    /// Prefetches the events of a bucket that do not fit inside.
    #[inline(always)]
    pub fn prefetch_crowded(&self, bucket: u64) {
        self.crowded.prefetch(&self.lists[self.place(bucket)]);
    }

    /// Counts of eight buckets from `bucket` on, the first in the lowest byte.
    #[inline(always)]
    fn counts_from(&self, bucket: u64) -> u64 {
        let place = self.place(bucket);
        let (word, shift) = (place / WORD, place % WORD * 8);
        let after = (word + 1) & (self.counts.len() - 1);
        let [low, high] = [word, after].map(|at| u64::from_le_bytes(self.counts[at]));
        // The second shift is in two steps, because it may be by 64.
        low >> shift | high << 1 << (63 - shift)
    }

    /// Number of buckets from `bucket` to the next one that is not empty; nine if that is not among
    /// the next eight.
    #[inline(always)]
    pub fn steps_to_filled(&self, bucket: u64) -> u64 {
        1 + u64::from(self.counts_from(bucket + 1).trailing_zeros() / 8)
    }

    /// First bucket from `start` on that is not empty; `u64::MAX` if all are empty.
    #[inline]
    pub fn next_filled(&self, start: u64) -> u64 {
        let counts = self.counts_from(start);
        if counts != 0 {
            return start + u64::from(counts.trailing_zeros() / 8);
        }
        // Some of the next word's buckets were among these; they are empty.
        let (first, words) = (self.place(start), self.counts.len());
        for step in 1..=words {
            // After a full round, the low bytes of the first word come last.
            let at = (first / WORD + step) & (words - 1);
            let counts = u64::from_le_bytes(self.counts[at]);
            if counts != 0 {
                let place = at * WORD + counts.trailing_zeros() as usize / 8;
                return start + self.place((place + self.len() - first) as u64) as u64;
            }
        }
        u64::MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::PacketRef;

    fn near(number: u64) -> Near {
        Near::new(number % 7, number as u32, PacketRef::default())
    }

    /// The next bucket that is not empty is found from everywhere, also across the ring's end.
    #[test]
    fn finds_the_next_filled_bucket() {
        const COUNT: u64 = 16;
        for start in (1..=COUNT).chain([COUNT << 40 | 13]) {
            for (a, b) in (0..COUNT * COUNT).map(|both| (both / COUNT, both % COUNT)) {
                let mut buckets = Buckets::new();
                buckets.replace(COUNT as usize);
                assert_eq!(buckets.next_filled(start), u64::MAX);
                assert_eq!(buckets.steps_to_filled(start - 1), 9);
                for after in [a, b] {
                    buckets.push(start + after, near(after));
                }
                let first = a.min(b);
                assert_eq!(buckets.next_filled(start), start + first);
                let steps = buckets.steps_to_filled(start - 1);
                assert_eq!(steps, if first < 8 { first + 1 } else { 9 });
                buckets.take(start + first, &mut Vec::new());
                let last = if a == b { u64::MAX } else { start + a.max(b) };
                assert_eq!(buckets.next_filled(start), last);
            }
        }
    }

    /// A bucket keeps all its events, also those that do not fit inside, and is then empty.
    #[test]
    fn keeps_all_events() {
        for len in (0..66).chain([254, 255, 256, 300]) {
            let mut buckets = Buckets::new();
            buckets.replace(64);
            let fill = |buckets: &mut Buckets| (0..len).for_each(|n| buckets.push(70, near(n)));
            let mut expected: Vec<Near> = (0..len).map(near).collect();
            expected.sort_unstable();
            let mut found = Vec::new();

            fill(&mut buckets);
            buckets.for_each(70, u8::MAX, |&event| found.push(event));
            found.sort_unstable();
            assert_eq!(found, expected);
            for most in [0, 1, 8, 9, 64] {
                found.clear();
                buckets.for_each(70, most, |&event| found.push(event));
                let is_seen = len <= u64::from(most);
                assert_eq!(found.len() as u64, if is_seen { len } else { 0 });
            }

            found.clear();
            buckets.take_sorted(70, &mut found, 0);
            assert_eq!(found, expected);
            found.clear();
            buckets.take_sorted(70, &mut found, 0);
            assert_eq!((found.len(), buckets.next_filled(0)), (0, u64::MAX));

            fill(&mut buckets);
            let mut old = buckets.replace(128);
            assert_eq!(buckets.next_filled(0), u64::MAX);
            buckets.take_replaced(&mut old, 70, &mut found);
            found.sort_unstable();
            assert_eq!(found, expected);
            found.clear();
            fill(&mut buckets);
            buckets.take(70, &mut found);
            found.sort_unstable();
            assert_eq!(found, expected);
        }
    }
}
