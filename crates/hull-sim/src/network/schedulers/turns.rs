//! Round robin by packets, as among the transmit queues of a host's adapter: a flow's number selects
//! its queue.

use std::collections::VecDeque;

use super::Scheduler;
use crate::network::Packet;

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

    fn next(&mut self, _first_bytes: &dyn Fn(usize) -> Option<u16>) -> Option<usize> {
        self.waiting.pop_front()
    }

    fn on_served(&mut self, queue: usize, empty: bool) {
        if !empty {
            self.waiting.push_back(queue);
        }
    }
}
