//! A stack with variable delay (thesis 4.4.2: the hosts' own latency is most of a small flow's time).
//! Packets leave in order, each after a delay drawn for it, or immediately behind the previous packet.
//! Times are ps.

use std::collections::VecDeque;

use super::receive_path::Received;
use crate::random::Stream;
use crate::service_time::ServiceTime;

/// One direction of a host's stack.
#[derive(Debug)]
pub struct DelayLine {
    queue: VecDeque<(u64, Received)>,
    packets: usize,
    last_ps: u64,
    delay: ServiceTime,
    random: Stream,
}

impl DelayLine {
    /// Creates an empty stack.
    pub fn new(delay: ServiceTime, random: Stream) -> Self {
        DelayLine {
            queue: VecDeque::new(),
            packets: 0,
            last_ps: 0,
            delay,
            random,
        }
    }

    /// Smallest delay of a packet, ps.
    pub fn least_ps(&self) -> u64 {
        self.delay.least_ps()
    }

    /// Adds a packet. Returns its departure time, ps, if it is the only one and therefore needs an
    /// event.
    pub fn push(&mut self, now_ps: u64, received: Received) -> Option<u64> {
        let drawn_ps = self.delay.draw(&mut self.random);
        self.last_ps = self.last_ps.max(now_ps + drawn_ps);
        self.enter(received)
    }

    /// Adds a packet that belongs to the same piece as the previous one (segmentation offload): it
    /// leaves immediately behind it.
    pub fn push_behind(&mut self, now_ps: u64, received: Received) -> Option<u64> {
        self.last_ps = self.last_ps.max(now_ps);
        self.enter(received)
    }

    fn enter(&mut self, received: Received) -> Option<u64> {
        self.packets += received.count as usize;
        self.queue.push_back((self.last_ps, received));
        (self.queue.len() == 1).then_some(self.last_ps)
    }

    /// Takes the packet that leaves now. Returns it with the departure time of the next one, ps.
    pub fn pop(&mut self) -> (Option<Received>, Option<u64>) {
        let received = self.queue.pop_front().map(|(_, received)| received);
        self.packets -= received.map_or(0, |received| received.count as usize);
        (received, self.queue.front().map(|&(at_ps, _)| at_ps))
    }

    /// Number of packets in the stack.
    pub fn len(&self) -> usize {
        self.packets
    }

    /// Whether the stack is empty.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}
