//! The packets that wait at a FIFO port, in order: start of transmission (ps) and bytes of each. A ring
//! with a power of two of slots; a port without a queue never reads it.

/// Waiting packet in 10 bytes: without padding, the rings of large networks are smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, packed(2))]
pub struct Start {
    /// Start of its transmission, ps.
    pub at_ps: u64,
    /// Bytes on the wire.
    pub bytes: u16,
}

/// Growing ring buffer.
#[derive(Debug)]
pub struct Ring {
    /// Start of the first packet's transmission, ps; [`u64::MAX`] if none waits. One comparison
    /// shows whether a packet must be removed.
    first_ps: u64,
    slots: Box<[Start]>,
    /// Place of the first packet, modulo the number of slots.
    head: u32,
    len: u32,
}

impl Ring {
    /// Smallest number of slots of a ring that has any.
    const FEWEST: usize = 4;

    #[inline(always)]
    fn place(&self, index: u32) -> usize {
        (self.head.wrapping_add(index)) as usize & (self.slots.len().wrapping_sub(1))
    }

    /// Creates an empty ring.
    pub fn new() -> Self {
        Ring {
            first_ps: u64::MAX,
            slots: Box::default(),
            head: 0,
            len: 0,
        }
    }

    /// Number of packets.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Adds a packet at the end.
    #[inline(always)]
    pub fn push(&mut self, next: Start) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = next;
        self.len += 1;
        self.first_ps = self.first_ps.min(next.at_ps);
    }

    /// Whether there is a slot for another packet, and fewer than `most` packets wait.
    #[inline(always)]
    pub fn has_room(&self, most: u32) -> bool {
        (self.len < most) & ((self.len as usize) < self.slots.len())
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![Start::default(); (2 * self.slots.len()).max(Self::FEWEST)];
        for index in 0..self.len {
            slots[index as usize] = self.slots[self.place(index)];
        }
        self.head = 0;
        self.slots = slots.into_boxed_slice();
    }

    /// Start of the first packet's transmission, ps; [`u64::MAX`] if none waits.
    #[inline(always)]
    pub fn first_ps(&self) -> u64 {
        self.first_ps
    }

    /// Start of the last packet's transmission, ps. The ring must not be empty.
    pub fn last_ps(&self) -> u64 {
        debug_assert!(self.len > 0);
        self.slots[self.place(self.len - 1)].at_ps
    }

    /// Removes and returns the first packet. The ring must not be empty.
    #[inline(always)]
    pub fn pop(&mut self) -> Start {
        debug_assert!(self.len > 0);
        let first = self.slots[self.place(0)];
        let next_ps = self.slots[self.place(1)].at_ps;
        self.len -= 1;
        // An empty ring restarts at its first slot, which is more likely in the cache.
        let is_empty = self.len == 0;
        self.head = if is_empty {
            0
        } else {
            self.head.wrapping_add(1)
        };
        self.first_ps = if is_empty { u64::MAX } else { next_ps };
        first
    }

    /// Removes all packets.
    pub fn clear(&mut self) {
        self.len = 0;
        self.head = 0;
        self.first_ps = u64::MAX;
    }
}
