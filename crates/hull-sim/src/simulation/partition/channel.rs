//! A channel between two threads: a ring of words with one writer and one reader, without locks and
//! atomic read-modify-write operations. Only the words and one counter move between the two caches,
//! which a run in parts can afford every few hundred nanoseconds.
//!
//! Records have a fixed length. The reader sees them when the writer publishes; records that do not fit
//! wait on the writer's side, so no thread ever blocks.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of words in a record: two records fill a cache line.
pub const WORDS: usize = 4;

/// One record.
pub type Record = [u64; WORDS];

/// Counter that is alone in its cache lines (two are fetched together).
#[derive(Debug, Default)]
#[repr(align(128))]
struct Counter(AtomicU64);

#[derive(Debug)]
struct Ring {
    /// Number of records written and read.
    written: Counter,
    read: Counter,
    slots: Box<[[AtomicU64; WORDS]]>,
}

impl Ring {
    #[inline]
    fn slot(&self, position: u64) -> &[AtomicU64; WORDS] {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }
}

/// Writing end.
#[derive(Debug)]
pub struct Writer {
    ring: Arc<Ring>,
    written: u64,
    /// Number of records that the reader had read at the last check.
    read: u64,
    /// Records that are not yet in the ring.
    waiting: Vec<Record>,
}

/// Reading end.
#[derive(Debug)]
pub struct Reader {
    ring: Arc<Ring>,
    /// Number of records fetched, the most recently fetched ones, and how many of them have been
    /// returned.
    read: u64,
    fetched: Vec<Record>,
    next: usize,
}

/// Creates a channel for this number of records, a power of two.
pub fn channel(capacity: usize) -> (Writer, Reader) {
    debug_assert!(capacity.is_power_of_two());
    let slots = (0..capacity).map(|_| [const { AtomicU64::new(0) }; WORDS]);
    let ring = Arc::new(Ring {
        written: Counter::default(),
        read: Counter::default(),
        slots: slots.collect(),
    });
    let writer = Writer {
        ring: Arc::clone(&ring),
        written: 0,
        read: 0,
        waiting: Vec::new(),
    };
    let reader = Reader {
        ring,
        read: 0,
        fetched: Vec::with_capacity(capacity),
        next: 0,
    };
    (writer, reader)
}

impl Writer {
    /// Adds a record.
    #[inline]
    pub fn write(&mut self, record: Record) {
        self.waiting.push(record);
    }

    /// Publishes the written records as far as there is room. All enter the ring at once, so that
    /// the cache lines are requested together from the reader's cache.
    #[inline]
    pub fn publish(&mut self) {
        let (count, capacity) = (self.waiting.len(), self.ring.slots.len());
        if (self.written - self.read) as usize + count > capacity {
            self.read = self.ring.read.0.load(Ordering::Acquire);
        }
        let room = capacity - (self.written - self.read) as usize;
        let fitting = count.min(room);
        for record in &self.waiting[..fitting] {
            let slot = self.ring.slot(self.written);
            for (word, &value) in slot.iter().zip(record) {
                word.store(value, Ordering::Relaxed);
            }
            self.written += 1;
        }
        self.ring.written.0.store(self.written, Ordering::Release);
        self.waiting.drain(..fitting);
    }

    /// Whether written records are not yet published.
    #[inline]
    pub fn is_behind(&self) -> bool {
        !self.waiting.is_empty()
    }
}

impl Reader {
    /// Whether there are new records.
    #[inline]
    pub fn has_new(&self) -> bool {
        self.ring.written.0.load(Ordering::Acquire) != self.read
    }

    /// Fetches new records. Returns true if there are any. All are fetched at once, so that the
    /// reader waits once for the other processor's cache and not for each record.
    #[inline]
    pub fn look(&mut self) -> bool {
        let written = self.ring.written.0.load(Ordering::Acquire);
        if written == self.read {
            return false;
        }
        self.fetched.clear();
        self.next = 0;
        for position in self.read..written {
            let slot = self.ring.slot(position);
            let word = |i: usize| slot[i].load(Ordering::Relaxed);
            self.fetched.push([word(0), word(1), word(2), word(3)]);
        }
        self.read = written;
        self.ring.read.0.store(written, Ordering::Release);
        true
    }

    /// Next of the records that [`Reader::look`] has fetched.
    #[inline]
    pub fn next(&mut self) -> Option<Record> {
        let record = *self.fetched.get(self.next)?;
        self.next += 1;
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every record arrives once and in order, regardless of how the two threads are scheduled and
    /// how full the ring gets.
    #[test]
    fn everything_arrives_in_order() {
        const CAPACITY: usize = 1 << 11;
        // Miri is slow; the ring is passed once.
        const COUNT: u64 = if cfg!(miri) {
            CAPACITY as u64 + 200
        } else {
            20 * CAPACITY as u64
        };
        let (mut writer, mut reader) = channel(CAPACITY);
        let writing = std::thread::spawn(move || {
            for n in 0..COUNT {
                writer.write([n, n + 1, n * n, !n]);
                if n % 97 == 0 {
                    writer.publish();
                }
            }
            writer.publish();
            while writer.is_behind() {
                std::thread::yield_now();
                writer.publish();
            }
        });
        let mut expected = 0;
        while expected < COUNT {
            reader.look();
            while let Some(record) = reader.next() {
                let n = expected;
                assert_eq!(record, [n, n + 1, n * n, !n]);
                expected += 1;
            }
        }
        assert!(!reader.has_new());
        writing.join().expect("the writer does not panic");
    }

    #[test]
    fn nothing_is_seen_before_it_is_published() {
        let (mut writer, mut reader) = channel(2);
        writer.write([1; WORDS]);
        assert!(!reader.look() && reader.next().is_none());
        writer.publish();
        assert!(reader.look());
        assert_eq!((reader.next(), reader.next()), (Some([1; WORDS]), None));
    }
}
