//! Selective acknowledgments in flight (RFC 2018). Most ACKs have none, so packets carry only an
//! index into this table.

/// Up to three blocks of bytes received above the cumulative acknowledgment, the latest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); 3],
    len: u8,
}

impl SackBlocks {
    /// Adds the block [start, end) while there is room for it.
    pub fn push(&mut self, start: u64, end: u64) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (start, end);
            self.len += 1;
        }
    }

    /// The blocks [start, end).
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.blocks[..usize::from(self.len)]
    }

    /// Bytes that the option takes in the header: 8 a block and 4 for kind, length and padding.
    pub fn option_bytes(&self) -> u16 {
        if self.len == 0 {
            0
        } else {
            4 + 8 * u16::from(self.len)
        }
    }
}

/// The blocks of all ACKs in flight.
#[derive(Debug, Default)]
pub struct SackTable {
    slots: Vec<SackBlocks>,
    free: Vec<u32>,
}

impl SackTable {
    /// Stores blocks and returns their index.
    pub fn insert(&mut self, blocks: SackBlocks) -> u32 {
        if let Some(index) = self.free.pop() {
            self.slots[index as usize] = blocks;
            index
        } else {
            self.slots.push(blocks);
            (self.slots.len() - 1) as u32
        }
    }

    /// The blocks of a packet that is on its way.
    pub fn get(&self, index: u32) -> &SackBlocks {
        &self.slots[index as usize]
    }

    /// Takes the blocks out again, when their packet arrives or is dropped.
    pub fn take(&mut self, index: u32) -> SackBlocks {
        self.free.push(index);
        self.slots[index as usize]
    }

    /// Entries in use.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no ACK in flight carries blocks.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
