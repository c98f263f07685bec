//! The queues of flows at a port with a queue for each flow: a flow gets a queue with its first waiting
//! packet, and returns it when none is left. No two flows share one, and numbers do not depend on the
//! slots that flows have, so a run may be divided by hosts.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Hashes a flow's slot by one multiplication; the map is never walked, so its order does not matter.
#[derive(Debug, Default)]
pub struct SlotHasher(u64);

impl Hasher for SlotHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    fn write_u32(&mut self, slot: u32) {
        // The golden ratio; the map reads the upper bits too.
        self.0 = (self.0 ^ u64::from(slot)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// No flow.
const NONE: u32 = u32::MAX;

/// Queue of each flow that has one.
#[derive(Debug, Default)]
pub struct FlowNumbers {
    of_flows: HashMap<u32, u32, BuildHasherDefault<SlotHasher>>,
    /// Flow of each queue.
    flows: Vec<u32>,
    /// Queues without a flow; the last one is given next.
    free: Vec<u32>,
}

impl FlowNumbers {
    /// Queue of a flow, or the one that it will get.
    #[inline]
    pub fn of(&self, flow: u32) -> usize {
        let next = || self.free.last().copied().unwrap_or(self.flows.len() as u32);
        self.of_flows.get(&flow).copied().unwrap_or_else(next) as usize
    }

    /// Gives a flow the queue that [`FlowNumbers::of`] returned. Returns true if the queue is new.
    pub fn take(&mut self, flow: u32, queue: usize) -> bool {
        let is_new = queue == self.flows.len();
        if is_new {
            self.flows.push(flow);
        } else if self.of_flows.contains_key(&flow) {
            return false;
        } else {
            let free = self.free.pop();
            debug_assert_eq!(free, Some(queue as u32), "found before it was given back");
            self.flows[queue] = flow;
        }
        self.of_flows.insert(flow, queue as u32);
        is_new
    }

    /// Takes a queue back from its flow.
    pub fn give_back(&mut self, queue: usize) {
        self.of_flows.remove(&self.flows[queue]);
        self.flows[queue] = NONE;
        self.free.push(queue as u32);
    }

    /// Forgets a flow, whose empty queue may still be in a list.
    pub fn forget(&mut self, flow: u32) {
        if let Some(queue) = self.of_flows.remove(&flow) {
            self.flows[queue as usize] = NONE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_never_share_a_queue() {
        let mut numbers = FlowNumbers::default();
        for flow in [700, 3, 700, 12] {
            let queue = numbers.of(flow);
            numbers.take(flow, queue);
        }
        let found = [700, 3, 12].map(|flow| numbers.of(flow));
        assert_eq!(found, [0, 1, 2]);
        numbers.give_back(1);
        assert_eq!([numbers.of(4), numbers.of(12)], [1, 2]);
        assert!(!numbers.take(4, 1));
        assert!(numbers.take(3, numbers.of(3)));
        // A forgotten flow's queue is in a list until it is given back.
        numbers.forget(3);
        assert_eq!(numbers.of(3), 4);
        numbers.give_back(3);
        assert_eq!(numbers.of(3), 3);
        numbers.take(3, 3);
        assert_eq!([numbers.of(3), numbers.of(4)], [3, 1]);
    }
}
