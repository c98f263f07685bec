//! The data that a receiver holds above the next expected byte. Positions are bytes of the stream.

use super::sequence;
use crate::network::SackBlocks;

/// Blocks received out of order: disjoint [start, end), the latest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    blocks: Vec<(u64, u64)>,
    /// Data that has just arrived a second time, for the acknowledgment of this packet (RFC 2883).
    duplicate: Option<(u64, u64)>,
}

impl Reassembly {
    /// Whether there is nothing to report.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty() && self.duplicate.is_none()
    }

    /// Records whether data [start, end) has arrived before; `next` is the next expected byte.
    pub fn note_duplicate(&mut self, start: u64, end: u64, next: u64) {
        let held = |&(s, e): &(u64, u64)| s <= start && end <= e;
        let is_second = end <= next || self.blocks.iter().any(held);
        self.duplicate = is_second.then_some((start, end));
    }

    /// Number of bytes held.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|&(start, end)| end - start).sum()
    }

    /// Adds data [start, end) and merges it with adjacent blocks. `next` is the next expected byte;
    /// returns its new value.
    pub fn take(&mut self, start: u64, end: u64, next: u64) -> u64 {
        let (mut low, mut high) = (start.max(next), end);
        if low >= high {
            return next;
        }
        self.blocks.retain(|&(s, e)| {
            let touches = s <= high && e >= low;
            if touches {
                low = low.min(s);
                high = high.max(e);
            }
            !touches
        });
        if low == next {
            return high;
        }
        self.blocks.insert(0, (low, high));
        next
    }

    /// First blocks, as reported in an ACK.
    pub fn sack(&self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for &(start, end) in self.duplicate.iter().chain(&self.blocks).take(3) {
            sack.push(sequence::wrap(start), sequence::wrap(end));
        }
        sack
    }
}
