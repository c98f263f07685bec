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
    /// An empty stack.
    pub fn new(delay: ServiceTime, random: Stream) -> Self {
        DelayLine {
            queue: VecDeque::new(),
            packets: 0,
            last_ps: 0,
            delay,
            random,
        }
    }

    /// The least that a packet takes, ps.
    pub fn least_ps(&self) -> u64 {
        self.delay.least_ps()
    }

    /// A packet enters; returns when it leaves, if it is the only one and so needs an event.
    pub fn push(&mut self, now_ps: u64, received: Received) -> Option<u64> {
        let drawn_ps = self.delay.draw(&mut self.random);
        self.last_ps = self.last_ps.max(now_ps + drawn_ps);
        self.enter(received)
    }

    /// A packet enters with the one before it, as part of the same piece (segmentation offload): it
    /// leaves right behind it.
    pub fn push_behind(&mut self, now_ps: u64, received: Received) -> Option<u64> {
        self.last_ps = self.last_ps.max(now_ps);
        self.enter(received)
    }

    fn enter(&mut self, received: Received) -> Option<u64> {
        self.packets += received.count as usize;
        self.queue.push_back((self.last_ps, received));
        (self.queue.len() == 1).then_some(self.last_ps)
    }

    /// The packet that leaves now, and when the next one does.
    pub fn pop(&mut self) -> (Option<Received>, Option<u64>) {
        let received = self.queue.pop_front().map(|(_, received)| received);
        self.packets -= received.map_or(0, |received| received.count as usize);
        (received, self.queue.front().map(|&(at_ps, _)| at_ps))
    }

    /// Packets inside.
    pub fn len(&self) -> usize {
        self.packets
    }

    /// Whether nothing is inside.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}
