//! The data that a receiver holds above the next expected byte. Positions are bytes of the stream.

use crate::network::SackBlocks;

/// Blocks received out of order: disjoint [start, end), the latest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Reassembly {
    blocks: Vec<(u64, u64)>,
}

impl Reassembly {
    /// Whether nothing is held.
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Bytes held.
    pub fn bytes(&self) -> u64 {
        self.blocks.iter().map(|&(start, end)| end - start).sum()
    }

    /// Takes data [start, end), joins it with what it touches, and returns the next byte expected
    /// after it for one of `next` before it.
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

    /// The first blocks, as an ACK reports them.
    pub fn sack(&self) -> SackBlocks {
        let mut sack = SackBlocks::default();
        for &(start, end) in self.blocks.iter().take(3) {
            sack.push(start, end);
        }
        sack
    }
}
