//! A queue for each flow, served in turn by bytes: deficit round robin (M. Shreedhar and G. Varghese,
//! "Efficient fair queuing using deficit round robin", SIGCOMM 1995). Sizes are bytes.
//!
//! A flow whose first packet comes joins the end of the round, so it waits for at most one turn of each
//! other flow. A flow that leaves takes no deficit with it.

use std::collections::VecDeque;

use super::Scheduler;
use super::flow_numbers::FlowNumbers;
use crate::network::Packet;
use crate::network::queue::Heads;

/// Flows with waiting packets, in the order of their turns.
#[derive(Debug)]
pub struct Fair {
    quantum: i64,
    numbers: FlowNumbers,
    /// Bytes that each queue may still send in this turn.
    credits: Vec<i64>,
    round: VecDeque<u32>,
}

impl Fair {
    /// Creates the round; `quantum` is the largest packet.
    pub fn new(quantum: u32) -> Self {
        Fair {
            quantum: i64::from(quantum),
            numbers: FlowNumbers::default(),
            credits: Vec::new(),
            round: VecDeque::new(),
        }
    }
}

impl Scheduler for Fair {
    fn queue_of(&self, packet: &Packet, _count: usize) -> usize {
        self.numbers.of(packet.flow)
    }

    fn queue_name(&self, _queue: usize) -> Option<String> {
        None
    }

    fn on_filled(&mut self, queue: usize, packet: &Packet) {
        if self.numbers.take(packet.flow, queue) {
            self.credits.push(0);
        }
        self.credits[queue] = self.quantum;
        self.round.push_back(queue as u32);
    }

    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        loop {
            let queue = *self.round.front()? as usize;
            if let Some(bytes) = heads.bytes(queue) {
                if self.credits[queue] > 0 {
                    self.credits[queue] -= i64::from(bytes);
                    return Some(queue);
                }
                self.credits[queue] += self.quantum;
            }
            self.round.rotate_left(1);
        }
    }

    fn on_continued(&mut self, queue: usize, bytes: u16) {
        self.credits[queue] -= i64::from(bytes);
    }

    fn on_served(&mut self, queue: usize, empty: bool) {
        if empty {
            self.round.pop_front();
            self.numbers.give_back(queue);
        }
    }
}
