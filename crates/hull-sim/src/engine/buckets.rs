//! The buckets of the calendar, a ring with a power of two of them: unordered events by the time in
//! which they are due.
//!
//! The numbers of events are apart from the events. An event is then added without reading its bucket,
//! which is rarely in the first-level cache: a processor waits for what it reads, not for what it
//! writes.

use super::lists::{List, Lists};
use super::near::{FEW, Near, add_sorted};
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
const WORD: usize = 8;

/// Count of a bucket with more events than fit inside.
const CROWDED: u8 = FEW as u8 + 1;

/// Buckets by place: their number modulo the number of buckets.
#[derive(Debug)]
pub struct Buckets {
    /// Number of events in each bucket, or [`CROWDED`].
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

    /// Replaces the buckets by `count` empty ones, a power of two and at least 16. Returns those
    /// that were replaced.
    pub fn replace(&mut self, count: usize) -> Replaced {
        debug_assert!(count.is_power_of_two() && count >= 2 * WORD);
        Replaced {
            counts: std::mem::replace(&mut self.counts, vec![[0; WORD]; count / WORD]),
            inside: std::mem::replace(&mut self.inside, vec![Inside::default(); count]),
            lists: std::mem::replace(&mut self.lists, vec![List::EMPTY; count]),
        }
    }

    /// Moves the events of a replaced bucket to the end of `events`, in no particular order.
    pub fn take_replaced(&mut self, old: &mut Replaced, bucket: u64, events: &mut Vec<Near>) {
        let place = bucket as usize & (old.len() - 1);
        let count = std::mem::take(&mut old.counts[place / WORD][place % WORD]);
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
        let count = &mut self.counts[place / WORD][place % WORD];
        match self.inside[place].0.get_mut(usize::from(*count)) {
            Some(slot) => {
                *slot = near;
                *count += 1;
            }
            None => {
                *count = CROWDED;
                self.crowded.push(&mut self.lists[place], near);
            }
        }
    }

    /// Moves the events of a bucket to the end of `sorted`, the earliest first, each `later_ps`
    /// later.
    #[inline(always)]
    pub fn take_sorted(&mut self, bucket: u64, sorted: &mut Vec<Near>, later_ps: u64) {
        let place = self.place(bucket);
        let count = std::mem::take(&mut self.counts[place / WORD][place % WORD]);
        let inside = &self.inside[place].0;
        if count < CROWDED {
            return add_sorted(sorted, inside, count.into(), later_ps);
        }
        let before = sorted.len();
        sorted.extend_from_slice(inside);
        self.crowded.take(&mut self.lists[place], sorted);
        let events = &mut sorted[before..];
        events.sort_unstable();
        events
            .iter_mut()
            .for_each(|near| *near = near.delayed(later_ps));
    }

    /// Moves the events of a bucket to the end of `events`, in no particular order.
    pub fn take(&mut self, bucket: u64, events: &mut Vec<Near>) {
        let place = self.place(bucket);
        let count = std::mem::take(&mut self.counts[place / WORD][place % WORD]);
        events.extend_from_slice(self.inside[place].events(count));
        self.crowded.take(&mut self.lists[place], events);
    }

    /// Calls `look` with each event of a bucket, in no particular order, unless it holds more than
    /// `most` events.
    #[inline(always)]
    pub fn for_each(&self, bucket: u64, most: Option<usize>, mut look: impl FnMut(&Near)) {
        let place = self.place(bucket);
        let count = self.counts[place / WORD][place % WORD];
        let list = &self.lists[place];
        if most.is_none_or(|most| FEW + self.crowded.count(list, most) <= most) {
            self.inside[place].events(count).iter().for_each(&mut look);
            self.crowded.for_each(list, look);
        }
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
        low >> shift | high << 1 << (63 - shift)
    }

    /// Number of buckets from `bucket` to the next one that is not empty; more than eight if that
    /// is not among the next eight.
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
        // The first bucket of the next word may be one of these; then it is empty.
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
