//! One queue of a port, and what a scheduler sees of the queues: their first packets. Sizes are bytes,
//! times ps.

use std::collections::VecDeque;

use super::packet::Packet;

/// Waiting packet.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// Arrival time, ps.
    pub arrived_ps: u64,
    /// Earliest start of transmission, ps: later than the arrival behind a cut-through switch whose
    /// input is slower than this link.
    pub earliest_ps: u64,
    pub packet: Packet,
}

/// One queue.
#[derive(Debug, Default)]
pub struct Queue {
    pub packets: VecDeque<Waiting>,
    pub bytes: u64,
}

/// Paused priority classes, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paused(u8);

impl Paused {
    /// Pauses a class, or resumes it.
    pub fn set(&mut self, class: usize, is_paused: bool) {
        self.0 &= !(1 << class);
        self.0 |= u8::from(is_paused) << class;
    }

    /// Whether the packet's class is paused.
    #[inline]
    pub fn stops(self, packet: &Packet) -> bool {
        self.0 >> packet.class() & 1 == 1
    }

    /// Whether a class is paused.
    #[inline]
    pub fn stops_class(self, class: u8) -> bool {
        self.0 >> class & 1 == 1
    }

    /// Whether any class is paused.
    #[inline]
    pub fn any(self) -> bool {
        self.0 != 0
    }
}

/// First packets of a port's queues.
#[derive(Clone, Copy, Debug)]
pub struct Heads<'a> {
    queues: &'a [Queue],
    paused: Paused,
}

impl<'a> Heads<'a> {
    /// First packets of these queues, while these classes are paused.
    #[inline]
    pub fn of(queues: &'a [Queue], paused: Paused) -> Self {
        Heads { queues, paused }
    }

    /// Size of a queue's first packet; `None` if the queue is empty or the packet's class is paused.
    #[inline]
    pub fn bytes(&self, queue: usize) -> Option<u16> {
        let first = &self.queues[queue].packets.front()?.packet;
        (!self.paused.stops(first)).then_some(first.wire_bytes)
    }

    /// Whether a queue holds packets, paused or not.
    #[inline]
    pub fn holds(&self, queue: usize) -> bool {
        !self.queues[queue].packets.is_empty()
    }

    /// Whether any queue may send its first packet.
    pub fn any(&self) -> bool {
        (0..self.queues.len()).any(|queue| self.bytes(queue).is_some())
    }
}

const _: () = assert!(super::packet::CLASSES <= u8::BITS as usize);
