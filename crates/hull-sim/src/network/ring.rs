//! The packets of a port and its link, in order, each with the start of its transmission (ps): a
//! ring of a power of two of slots. Nearly all of a simulation's memory traffic goes through here,
//! so that it does less than a `VecDeque`.

use super::packet::Packet;

/// A packet with the start of its transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Start of transmission, ps.
    pub start_ps: u64,
    /// The packet.
    pub packet: Packet,
}

const VACANT: Scheduled = Scheduled {
    start_ps: 0,
    packet: Packet {
        seq: 0,
        ack: 0,
        flow: 0,
        options: 0,
        hop: 0,
        wire_bytes: 0,
        flags: 0,
    },
};

/// A queue that grows.
#[derive(Debug)]
pub struct Ring {
    slots: Box<[Scheduled]>,
    /// Packets taken off so far; the place of the first, modulo the slots.
    head: u32,
    len: u32,
}

impl Ring {
    /// An empty ring with a few slots.
    pub fn new() -> Self {
        Ring {
            slots: vec![VACANT; 4].into_boxed_slice(),
            head: 0,
            len: 0,
        }
    }

    #[inline(always)]
    fn place(&self, index: u32) -> usize {
        (self.head.wrapping_add(index)) as usize & (self.slots.len() - 1)
    }

    /// Number of packets.
    #[inline(always)]
    pub fn len(&self) -> u32 {
        self.len
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a packet at the end.
    #[inline(always)]
    pub fn push(&mut self, next: Scheduled) {
        if self.len as usize == self.slots.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.slots[place] = next;
        self.len += 1;
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = vec![VACANT; 2 * self.slots.len()];
        for index in 0..self.len {
            let place = self.head.wrapping_add(index) as usize & (slots.len() - 1);
            slots[place] = self.slots[self.place(index)];
        }
        self.slots = slots.into_boxed_slice();
    }

    /// Packets taken off so far, modulo 2^32.
    pub fn taken(&self) -> u32 {
        self.head
    }

    /// The last `packets` that were taken off an empty ring do not count.
    pub fn uncount(&mut self, packets: u32) {
        debug_assert!(self.is_empty());
        self.head = self.head.wrapping_sub(packets);
    }

    /// The packet at `index`, which must be below the length.
    #[inline(always)]
    pub fn get(&self, index: u32) -> &Scheduled {
        debug_assert!(index < self.len);
        &self.slots[self.place(index)]
    }

    /// The packet at `index`, which must be below the length, to be changed.
    pub fn get_mut(&mut self, index: u32) -> &mut Scheduled {
        debug_assert!(index < self.len);
        let place = self.place(index);
        &mut self.slots[place]
    }

    /// The first packet; of an empty ring an old one.
    #[inline(always)]
    pub fn front(&self) -> &Scheduled {
        &self.slots[self.place(0)]
    }

    /// The slot of the next packet, or where the ring has to grow for it any other one.
    #[inline(always)]
    pub fn vacant(&self) -> &Scheduled {
        &self.slots[self.place(self.len)]
    }

    /// Takes the last packet off; the ring must not be empty.
    #[inline(always)]
    pub fn pop_last(&mut self) -> Scheduled {
        debug_assert!(self.len > 0);
        self.len -= 1;
        self.slots[self.place(self.len)]
    }

    /// Takes the first packet off; the ring must not be empty.
    #[inline(always)]
    pub fn pop(&mut self) -> Packet {
        debug_assert!(self.len > 0);
        let packet = self.slots[self.place(0)].packet;
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
        packet
    }
}
