//! Packet set: the packets of a connection that have arrived, for receivers that accept any order.
//!
//! Source: Ultra Ethernet's simulator uet-htsim (commit 40ccb05, `uec.cpp`). An ACK carries the
//! cumulative number, which is the first missing packet, and a bitmap of 64 packets from a base on. The
//! base is the packet's own number if its mark or a request triggered the ACK. Otherwise it is 63 below
//! that number, but above the cumulative number, so that the bitmap ends with the packet
//! ([`PacketSet::map_base`]).
//!
//! Difference: there the bitmap omits packets below the cumulative number, here it includes them.
//!
//! Reordering is measured at each arrival. A packet is late if a higher number arrived before it; its
//! degree is its distance from the highest number. A reordering buffer would hold the packets above the
//! first missing one. Retransmissions count as late too.
//!
//! Units: packets, numbered from zero.

use alloc::collections::VecDeque;

/// Result of the arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// First packet with this number.
    New,
    /// Packet that had arrived before.
    Duplicate,
}

/// Reordering measured at the receiver, packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Packets that arrived after one with a higher number.
    pub late: u64,
    /// Sum of the degrees of the late packets. A degree is the highest number so far less the
    /// packet's own.
    pub degree_sum: u64,
    /// Largest degree.
    pub degree_max: u64,
    /// Largest number of packets that a reordering buffer would have held.
    pub held_max: u64,
}

/// Received packets of one connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketSet {
    /// First packet that has not arrived.
    expected: u64,
    /// One above the highest number that has arrived.
    end: u64,
    received: u64,
    /// Bitmap of the received packets, 64 per word, from the word of `expected` on.
    words: VecDeque<u64>,
    reordering: Reordering,
}

impl PacketSet {
    /// Creates an empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Inserts packet `number`. Memory grows by one bit per packet between the first missing and
    /// the highest one; the sender's window bounds it.
    pub fn insert(&mut self, number: u64) -> Arrival {
        if !self.put(number) {
            return Arrival::Duplicate;
        }
        if number < self.end {
            let degree = self.end - 1 - number;
            self.reordering.late += 1;
            self.reordering.degree_sum += degree;
            self.reordering.degree_max = self.reordering.degree_max.max(degree);
        }
        self.end = self.end.max(number + 1);
        self.reordering.held_max = self.reordering.held_max.max(self.held());
        Arrival::New
    }

    /// Counts packet `number` as received because it is not needed; reordering is not measured.
    /// Returns false if it had arrived.
    pub fn fill(&mut self, number: u64) -> bool {
        let is_new = self.put(number);
        self.end = self.end.max(number + 1);
        is_new
    }

    /// Records packet `number`. Returns false if it had arrived before.
    fn put(&mut self, number: u64) -> bool {
        if self.contains(number) {
            return false;
        }
        let word = (number / 64 - self.expected / 64) as usize;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (number % 64);
        self.received += 1;
        if number == self.expected {
            self.advance();
        }
        true
    }

    /// Whether packet `number` has arrived.
    pub fn contains(&self, number: u64) -> bool {
        number < self.expected || self.word(number / 64) >> (number % 64) & 1 == 1
    }

    /// Cumulative number: the first packet that has not arrived.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// First word of the bitmap, for prefetching into the cache.
    pub fn first_word(&self) -> Option<&u64> {
        self.words.front()
    }

    /// Number of packets above the first missing one.
    pub fn held(&self) -> u64 {
        self.received - self.expected
    }

    /// Reordering of the arrivals so far.
    pub fn reordering(&self) -> Reordering {
        self.reordering
    }

    /// Base of the bitmap in an ACK for packet `number`, if neither a mark nor a request triggered
    /// the ACK.
    pub fn map_base(&self, number: u64) -> u64 {
        number.saturating_sub(63).max(self.expected + 1)
    }

    /// Bitmap of an ACK: bit i is set if packet `base + i` has arrived.
    pub fn map(&self, base: u64) -> u64 {
        let (word, bit) = (base / 64, base % 64);
        if bit == 0 {
            return self.word(word);
        }
        self.word(word) >> bit | self.word(word + 1) << (64 - bit)
    }

    /// Word of the bitmap for packets `64 word` to `64 word + 63`.
    fn word(&self, word: u64) -> u64 {
        match word.checked_sub(self.expected / 64) {
            None => u64::MAX,
            Some(at) => usize::try_from(at)
                .ok()
                .and_then(|at| self.words.get(at))
                .copied()
                .unwrap_or(0),
        }
    }

    /// Advances `expected` to the first missing packet.
    fn advance(&mut self) {
        while let Some(&word) = self.words.front() {
            let arrived = u64::from(word.trailing_ones());
            self.expected = self.expected / 64 * 64 + arrived;
            if arrived < 64 {
                return;
            }
            self.words.pop_front();
        }
    }
}
