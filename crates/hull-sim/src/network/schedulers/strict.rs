//! Strict priority: the lowest class number is served first, without preemption of the packet on the
//! wire (thesis 4.1.5 and 4.5.2: QoS with two priorities).

use super::Scheduler;
use crate::network::queue::Heads;

/// Scheduler that selects the first non-empty queue.
#[derive(Debug)]
pub struct Strict {
    count: usize,
}

impl Strict {
    /// Creates the scheduler of `count` queues.
    pub fn new(count: usize) -> Self {
        Strict { count }
    }
}

impl Scheduler for Strict {
    fn next(&mut self, heads: &Heads<'_>) -> Option<usize> {
        (0..self.count).find(|&queue| heads.bytes(queue).is_some())
    }
}
