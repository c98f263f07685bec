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

/// Buckets by place: their number modulo the number of buckets.
#[derive(Debug)]
pub struct Buckets {
    /// One bit per bucket: set if the bucket is not empty.
    filled: Vec<u64>,
    /// Number of events in each bucket.
    counts: Vec<u32>,
    inside: Vec<Inside>,
    /// Events that do not fit inside, of each bucket.
    lists: Vec<List>,
    crowded: Lists<Near>,
}

/// Buckets that others have replaced, with their events.
#[derive(Debug)]
pub struct Replaced {
    counts: Vec<u32>,
    inside: Vec<Inside>,
    lists: Vec<List>,
}

impl Replaced {
    /// Number of buckets.
    pub fn len(&self) -> usize {
        self.counts.len()
    }
}

impl Buckets {
    /// Creates no bucket.
    pub fn new() -> Self {
        Buckets {
            filled: Vec::new(),
            counts: Vec::new(),
            inside: Vec::new(),
            lists: Vec::new(),
            crowded: Lists::new(),
        }
    }

    /// Replaces the buckets by `count` empty ones, a power of two and at least 64. Returns those
    /// that were replaced.
    pub fn replace(&mut self, count: usize) -> Replaced {
        debug_assert!(count.is_power_of_two() && count >= 64);
        self.filled = vec![0; count / 64];
        Replaced {
            counts: std::mem::replace(&mut self.counts, vec![0; count]),
            inside: std::mem::replace(&mut self.inside, vec![Inside::default(); count]),
            lists: std::mem::replace(&mut self.lists, vec![List::EMPTY; count]),
        }
    }

    /// Moves the events of a replaced bucket to the end of `events`, in no particular order.
    pub fn take_replaced(&mut self, old: &mut Replaced, bucket: u64, events: &mut Vec<Near>) {
        let place = bucket as usize & (old.len() - 1);
        let count = std::mem::take(&mut old.counts[place]) as usize;
        events.extend(old.inside[place].0.iter().take(count));
        self.crowded.take(&mut old.lists[place], events);
    }

    /// Number of buckets.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Place of a bucket with this number.
    #[inline(always)]
    fn place(&self, bucket: u64) -> usize {
        bucket as usize & (self.counts.len() - 1)
    }

    /// Adds an event to a bucket.
    #[inline(always)]
    pub fn push(&mut self, bucket: u64, near: Near) {
        let place = self.place(bucket);
        let count = &mut self.counts[place];
        match self.inside[place].0.get_mut(*count as usize) {
            Some(slot) => *slot = near,
            None => self.crowded.push(&mut self.lists[place], near),
        }
        *count += 1;
        self.filled[place / 64] |= 1 << (place % 64);
    }

    /// Moves the events of a bucket to the end of `sorted`, the earliest first, each `later_ps`
    /// later.
    #[inline(always)]
    pub fn take_sorted(&mut self, bucket: u64, sorted: &mut Vec<Near>, later_ps: u64) {
        let place = self.place(bucket);
        self.filled[place / 64] &= !(1 << (place % 64));
        let count = std::mem::take(&mut self.counts[place]) as usize;
        let inside = &self.inside[place].0;
        if count <= FEW {
            return add_sorted(sorted, inside, count, later_ps);
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
        self.filled[place / 64] &= !(1 << (place % 64));
        let count = std::mem::take(&mut self.counts[place]) as usize;
        events.extend(self.inside[place].0.iter().take(count));
        self.crowded.take(&mut self.lists[place], events);
    }

    /// Calls `look` with each event of a bucket, in no particular order, unless it holds more than
    /// `most` events.
    #[inline(always)]
    pub fn for_each(&self, bucket: u64, most: usize, mut look: impl FnMut(&Near)) {
        let place = self.place(bucket);
        let count = self.counts[place] as usize;
        if count <= most {
            self.inside[place].0.iter().take(count).for_each(&mut look);
            self.crowded.for_each(&self.lists[place], look);
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

    /// Number of buckets from `bucket` to the next one that is not empty, at least 64 if it is not
    /// among those that share a word with `bucket`.
    #[inline(always)]
    pub fn steps_to_filled(&self, bucket: u64) -> u64 {
        let place = self.place(bucket);
        let later = self.filled[place / 64] >> (place % 64) >> 1;
        1 + u64::from(later.trailing_zeros())
    }

    /// First bucket from `start` on that is not empty; `u64::MAX` if all are empty.
    #[inline]
    pub fn next_filled(&self, start: u64) -> u64 {
        let first = self.place(start);
        let (word, bit) = (first / 64, first % 64);
        let bits = self.filled[word] >> bit;
        if bits != 0 {
            return start + u64::from(bits.trailing_zeros());
        }
        let words = self.filled.len();
        for step in 1..=words {
            // After a full round, the low bits of the first word come last.
            let at = (word + step) & (words - 1);
            let bits = self.filled[at];
            if bits != 0 {
                let place = at * 64 + bits.trailing_zeros() as usize;
                return start + self.place((place + self.len() - first) as u64) as u64;
            }
        }
        u64::MAX
    }
}
