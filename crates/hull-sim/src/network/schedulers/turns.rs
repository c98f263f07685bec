//! Round robin by packets, as among the transmit queues of a host's adapter: a flow's number selects
//! its queue.

use std::collections::VecDeque;

use super::Scheduler;
use crate::network::Packet;
use crate::network::queue::Heads;

/// Non-empty queues; the one to be served next comes first.
#[derive(Debug, Default)]
pub struct Turns {
    waiting: VecDeque<usize>,
}

impl Scheduler for Turns {
    fn queue_of(&self, packet: &Packet, count: usize) -> usize {
        packet.flow as usize % count
    }

    fn queue_name(&self, _queue: usize) -> Option<String> {
        None
    }

    fn on_filled(&mut self, queue: usize, _packet: &Packet) {
        self.waiting.push_back(queue);
    }

    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        let mut waiting = self.waiting.iter();
        let first = waiting.position(|&queue| heads.bytes(queue).is_some())?;
        self.waiting.remove(first)
    }

    fn on_served(&mut self, queue: usize, empty: bool) {
        if !empty {
            self.waiting.push_back(queue);
        }
    }
}
