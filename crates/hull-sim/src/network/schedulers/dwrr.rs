//! Deficit weighted round robin: the non-empty queues are served in turn, each up to its quantum of
//! bytes per turn. The unused part of a quantum is added to the next turn, unless the queue becomes
//! empty.
//!
//! Source: M. Shreedhar, G. Varghese, "Efficient Fair Queueing using Deficit Round Robin" (SIGCOMM
//! 1995), section 3. In the long run a backlogged queue gets its quantum's share of the link. With a
//! quantum of at least the largest packet every turn serves a packet.

use std::collections::VecDeque;

use super::Scheduler;
use crate::memory::block_of;
use crate::network::Packet;
use crate::network::queue::Heads;

/// Turns of a port's queues.
#[derive(Debug)]
pub struct Dwrr {
    /// Bytes that each queue may send in a turn.
    quanta: Vec<u32>,
    /// Unused bytes of each queue's turn.
    deficits: Vec<u32>,
    /// Non-empty queues; the one whose turn it is comes first.
    waiting: VecDeque<usize>,
    /// Whether the turn of the first queue has begun.
    begun: bool,
}

impl Dwrr {
    /// Creates the scheduler with the bytes of each queue's turn, all above 0.
    pub fn new(quanta: Vec<u32>) -> Self {
        Dwrr {
            deficits: vec![0; quanta.len()],
            quanta,
            waiting: VecDeque::new(),
            begun: false,
        }
    }
}

impl Scheduler for Dwrr {
    fn on_filled(&mut self, queue: usize, _packet: &Packet) {
        self.waiting.push_back(queue);
    }

    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        loop {
            let &queue = self.waiting.front()?;
            if let Some(bytes) = heads.bytes(queue) {
                if !self.begun {
                    self.deficits[queue] += self.quanta[queue];
                    self.begun = true;
                }
                let bytes = u32::from(bytes);
                if bytes <= self.deficits[queue] {
                    self.deficits[queue] -= bytes;
                    return Some(queue);
                }
            }
            self.waiting.rotate_left(1);
            self.begun = false;
        }
    }

    fn on_served(&mut self, queue: usize, empty: bool) {
        if empty {
            self.deficits[queue] = 0;
            self.waiting.pop_front();
            self.begun = false;
        }
    }

    fn on_emptied(&mut self, queue: usize) {
        self.deficits[queue] = 0;
        if self.waiting.front() == Some(&queue) {
            self.begun = false;
        }
        self.waiting.retain(|&waiting| waiting != queue);
    }

    fn heap_bytes(&self) -> u64 {
        2 * block_of::<u32>(self.quanta.len())
    }
}
