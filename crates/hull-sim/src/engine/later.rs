//! Events beyond the calendar: a list for each of the next spans, each as long as the calendar, and a
//! heap for events beyond these. Times are ps.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use super::lists::{List, Lists};
use super::near::PacketRef;

/// Event with its time, in 20 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, packed(4))]
pub struct Far {
    pub at_ps: u64,
    /// Entity as a number.
    pub entity: u32,
    pub packet_ref: PacketRef,
}

/// Memory of an event that is far away, such as a timer's, bytes.
pub const FAR_BYTES: u64 = size_of::<Far>() as u64;

impl Ord for Far {
    fn cmp(&self, other: &Self) -> Ordering {
        let key = |far: &Self| (far.at_ps, far.entity);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Far {
    pub fn new(at_ps: u64, entity: u32, packet_ref: PacketRef) -> Self {
        Far {
            at_ps,
            entity,
            packet_ref,
        }
    }
}

/// Number of spans that have a list.
const SPANS: u64 = 256;

/// Events of later spans.
#[derive(Debug)]
pub struct Later {
    spans: [List; SPANS as usize],
    lists: Lists<Far>,
    /// First span whose list holds an event; `u64::MAX` if there is none.
    first_span: u64,
    heap: BinaryHeap<Reverse<Far>>,
}

impl Later {
    pub fn new() -> Self {
        Later {
            spans: [List::EMPTY; SPANS as usize],
            lists: Lists::new(),
            first_span: u64::MAX,
            heap: BinaryHeap::new(),
        }
    }

    /// Adds an event of `span`, which is `ahead` (at least 1) spans after the current one. Returns
    /// whether it is in the span's list.
    pub fn push(&mut self, span: u64, ahead: u64, event: Far) -> bool {
        debug_assert!(ahead > 0);
        let is_in_list = ahead < SPANS;
        if is_in_list {
            let list = &mut self.spans[(span % SPANS) as usize];
            self.lists.push(list, event);
            self.first_span = self.first_span.min(span);
        } else {
            self.heap.push(Reverse(event));
        }
        is_in_list
    }

    /// First span whose list holds an event; `u64::MAX` if there is none.
    #[inline]
    pub fn first_span(&self) -> u64 {
        self.first_span
    }

    /// Removes the list of the first span and returns it.
    pub fn take_first(&mut self) -> List {
        let first = self.first_span;
        let list = std::mem::take(&mut self.spans[(first % SPANS) as usize]);
        let others = first + 1..first + SPANS;
        let mut filled = others.filter(|span| !self.spans[(span % SPANS) as usize].is_empty());
        self.first_span = filled.next().unwrap_or(u64::MAX);
        list
    }

    /// Adds an event to a list returned by [`Self::take_first`] or [`Self::drain`].
    pub fn put(&mut self, list: &mut List, event: Far) {
        self.lists.push(list, event);
    }

    /// Removes an event from a list returned by [`Self::take_first`] or [`Self::drain`].
    pub fn pop(&mut self, list: &mut List) -> Option<Far> {
        self.lists.pop(list)
    }

    /// Time of the first event beyond the lists, ps.
    #[inline]
    pub fn first_of_heap_ps(&self) -> Option<u64> {
        self.heap.peek().map(|event| event.0.at_ps)
    }

    /// Removes the first event beyond the lists.
    pub fn pop_heap(&mut self) -> Option<Far> {
        self.heap.pop().map(|event| event.0)
    }

    /// Moves all events to one list, in no particular order.
    pub fn drain(&mut self) -> List {
        self.first_span = u64::MAX;
        let mut all = List::EMPTY;
        for Reverse(event) in self.heap.drain() {
            self.lists.push(&mut all, event);
        }
        for span in &mut self.spans {
            while let Some(event) = self.lists.pop(span) {
                self.lists.push(&mut all, event);
            }
        }
        all
    }
}
