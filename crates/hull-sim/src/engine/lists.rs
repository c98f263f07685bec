//! Lists of events in chunks of one arena: a list takes a chunk when it needs one and returns it
//! afterwards. Memory therefore follows the number of events in all lists, not the peak of each. The
//! most recently returned chunk, which is still in the cache, is reused first.

use crate::prefetch::prefetch;

/// No chunk.
const NONE: u32 = u32::MAX;

/// Number of events in a chunk. With the number of the next chunk, near events take four cache
/// lines.
const EVENTS: usize = 15;

/// List of events. Only the [`Lists`] that it belongs to can access them.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// Last chunk; all chunks before it are full.
    chunk: u32,
    /// Number of free places in that chunk, which fills from its end.
    room: u32,
}

impl List {
    pub const EMPTY: List = List {
        chunk: NONE,
        room: 0,
    };

    pub fn is_empty(&self) -> bool {
        self.chunk == NONE
    }
}

impl Default for List {
    fn default() -> Self {
        List::EMPTY
    }
}

#[derive(Debug)]
struct Chunk<T> {
    events: [T; EVENTS],
    /// Previous chunk in the list, or the next free chunk.
    next: u32,
}

/// Events of many lists.
#[derive(Debug)]
pub struct Lists<T> {
    chunks: Vec<Chunk<T>>,
    free: u32,
}

impl<T: Copy> Lists<T> {
    pub fn new() -> Self {
        Lists {
            chunks: Vec::new(),
            free: NONE,
        }
    }

    /// Adds an event.
    #[inline(always)]
    pub fn push(&mut self, list: &mut List, event: T) {
        if list.room == 0 {
            self.extend(list, event);
        }
        list.room -= 1;
        self.chunks[list.chunk as usize].events[list.room as usize] = event;
    }

    /// Adds an empty chunk; `filler` fills the places that hold no event yet.
    #[inline(never)]
    fn extend(&mut self, list: &mut List, filler: T) {
        let before = list.chunk;
        list.room = EVENTS as u32;
        if self.free == NONE {
            list.chunk = self.chunks.len() as u32;
            self.chunks.push(Chunk {
                events: [filler; EVENTS],
                next: before,
            });
        } else {
            list.chunk = self.free;
            let chunk = &mut self.chunks[list.chunk as usize];
            self.free = std::mem::replace(&mut chunk.next, before);
        }
    }

    /// Removes the last event.
    pub fn pop(&mut self, list: &mut List) -> Option<T> {
        if list.is_empty() {
            return None;
        }
        let at = list.chunk;
        let chunk = &mut self.chunks[at as usize];
        let event = chunk.events[list.room as usize];
        list.room += 1;
        if list.room as usize == EVENTS {
            list.room = 0;
            list.chunk = std::mem::replace(&mut chunk.next, self.free);
            self.free = at;
        }
        Some(event)
    }

    /// Moves the events of a list to a vector, in no particular order.
    #[inline]
    pub fn take(&mut self, list: &mut List, into: &mut Vec<T>) {
        let mut from = list.room as usize;
        let mut at = list.chunk;
        while at != NONE {
            let chunk = &mut self.chunks[at as usize];
            into.extend_from_slice(&chunk.events[from..]);
            let next = std::mem::replace(&mut chunk.next, self.free);
            self.free = at;
            (at, from) = (next, 0);
        }
        *list = List::EMPTY;
    }

    /// Calls `look` with each event of a list, in no particular order.
    #[inline(always)]
    pub fn for_each(&self, list: &List, mut look: impl FnMut(&T)) {
        let mut from = list.room as usize;
        let mut at = list.chunk;
        while let Some(chunk) = self.chunks.get(at as usize) {
            if let Some(next) = self.chunks.get(chunk.next as usize) {
                prefetch(next);
            }
            chunk.events[from..].iter().for_each(&mut look);
            (at, from) = (chunk.next, 0);
        }
    }

    /// Prefetches the first events of a list.
    #[inline(always)]
    pub fn prefetch(&self, list: &List) {
        if let Some(chunk) = self.chunks.get(list.chunk as usize) {
            prefetch(chunk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{EVENTS, List, Lists};

    /// Lists that share chunks keep their events, and returned chunks are reused.
    #[test]
    fn lists_share_chunks() {
        let mut lists = Lists::new();
        let mut both = [List::EMPTY; 2];
        for round in 0..3 {
            for event in 0..10 * EVENTS {
                lists.push(&mut both[event % 2], event);
            }
            let mut seen = 0;
            lists.for_each(&both[0], |event| seen += event);
            let mut even = Vec::new();
            lists.take(&mut both[0], &mut even);
            assert_eq!(seen, even.iter().sum::<usize>());
            even.sort_unstable();
            let odd: Vec<usize> = std::iter::from_fn(|| lists.pop(&mut both[1])).collect();
            assert!(even.into_iter().eq((0..10 * EVENTS).step_by(2)));
            assert!(odd.into_iter().rev().eq((1..10 * EVENTS).step_by(2)));
            assert!(both.iter().all(List::is_empty));
            assert_eq!(lists.chunks.len(), 10, "round {round}");
        }
    }
}
