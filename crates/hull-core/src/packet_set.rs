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

/// What became of a packet that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It is the first with this number.
    New,
    /// It has been there.
    Duplicate,
}

/// How much the path reordered, in packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reordering {
    /// Packets that came after one with a higher number.
    pub late: u64,
    /// Sum of their degrees: the highest number so far less their own.
    pub degree_sum: u64,
    /// The largest degree.
    pub degree_max: u64,
    /// Most packets that a reordering buffer would have held.
    pub held_max: u64,
}

/// The packets of one connection at its receiver.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PacketSet {
    /// The first that has not arrived.
    expected: u64,
    /// One above the highest that has.
    end: u64,
    received: u64,
    /// 64 packets a word, from the word of `expected` on.
    words: VecDeque<u64>,
    reordering: Reordering,
}

impl PacketSet {
    /// Nothing has arrived.
    pub fn new() -> Self {
        Self::default()
    }

    /// Packet `number` arrives. Memory grows by one bit for each number between the first missing and the
    /// highest packet: a sender's window bounds it.
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

    /// Packet `number` is not needed: it counts as arrived, out of order or not. Returns false when it had arrived.
    pub fn fill(&mut self, number: u64) -> bool {
        let is_new = self.put(number);
        self.end = self.end.max(number + 1);
        is_new
    }

    /// Notes a packet that has arrived; returns false when it had before.
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

    /// The cumulative number: the first packet that has not arrived.
    pub fn expected(&self) -> u64 {
        self.expected
    }

    /// The first word of the map of packets, for whoever wants it in the cache before packets come.
    pub fn first_word(&self) -> Option<&u64> {
        self.words.front()
    }

    /// Packets above the first missing one.
    pub fn held(&self) -> u64 {
        self.received - self.expected
    }

    /// How the arrivals were ordered so far.
    pub fn reordering(&self) -> Reordering {
        self.reordering
    }

    /// Where the map of an ACK begins that answers packet `number` without mark and request.
    pub fn map_base(&self, number: u64) -> u64 {
        number.saturating_sub(63).max(self.expected + 1)
    }

    /// The map of an ACK: bit i is set when packet `base + i` has arrived.
    pub fn map(&self, base: u64) -> u64 {
        let (word, bit) = (base / 64, base % 64);
        if bit == 0 {
            return self.word(word);
        }
        self.word(word) >> bit | self.word(word + 1) << (64 - bit)
    }

    /// Packets `64 word` to `64 word + 63`.
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

    /// Moves `expected` to the first packet that is missing.
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
