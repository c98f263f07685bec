//! Several queues of a port. In a switch, strict priority: one queue for each class, the lowest class
//! number is served first and no packet on the wire is interrupted (thesis 4.1.5 and 4.5.2: QoS with
//! two priorities). In a host's adapter, transmit queues that are served in turn, a packet each: a
//! flow's number decides which is its queue.
//!
//! A switch's transmitter holds some bytes behind its scheduler, so that the link does not run dry: the
//! next packet is chosen when so much is left to send, and what comes later does not overtake it.
//!
//! Such a port does not know on arrival when a packet will be sent, so it has an event of its own
//! for each choice that somebody waits for. Sizes are bytes, times ps.

use std::collections::VecDeque;

use super::packet::Packet;

/// One class.
#[derive(Debug, Default)]
struct Lane {
    queue: VecDeque<Packet>,
    bytes: u64,
}

/// Which queue is served next, and which one a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The first that is not empty; a packet's class is its queue.
    Priority,
    /// Each that is not empty in its turn; flows are spread over the queues.
    Turns,
}

/// The queues of a port.
#[derive(Debug)]
pub struct Lanes {
    lanes: Vec<Lane>,
    order: Order,
    /// With turns: the queues that are not empty, the one that is served next in front.
    turns: VecDeque<usize>,
    bytes: u64,
    packets: usize,
    /// How long before the link is free the next packet is chosen, ps.
    commit_ps: u64,
    /// Whether the port is to be asked for its next packet then.
    asked: bool,
}

impl Lanes {
    /// `count` empty queues; the next packet is chosen `commit_ps` before the link is free.
    pub fn new(count: usize, order: Order, commit_ps: u64) -> Self {
        Lanes {
            lanes: (0..count).map(|_| Lane::default()).collect(),
            order,
            turns: VecDeque::new(),
            bytes: 0,
            packets: 0,
            commit_ps,
            asked: false,
        }
    }

    /// The queue that a packet belongs to: its class, or the last one there is; with turns, by its
    /// flow's number.
    pub fn class_of(&self, packet: &Packet) -> usize {
        match self.order {
            Order::Priority => packet.class().min(self.lanes.len() - 1),
            Order::Turns => packet.flow as usize % self.lanes.len(),
        }
    }

    /// Bytes and packets in a class.
    pub fn queue(&self, class: usize) -> (u64, u64) {
        let lane = &self.lanes[class];
        (lane.bytes, lane.queue.len() as u64)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// When the next packet is chosen, ps, if the link is free at `free_ps` and it is `now_ps`.
    pub fn choice_ps(&self, now_ps: u64, free_ps: u64) -> u64 {
        free_ps.saturating_sub(self.commit_ps).max(now_ps)
    }

    /// Adds a packet; true when the port has to be asked for its next one.
    pub fn push(&mut self, class: usize, packet: Packet) -> bool {
        let lane = &mut self.lanes[class];
        if self.order == Order::Turns && lane.queue.is_empty() {
            self.turns.push_back(class);
        }
        lane.bytes += u64::from(packet.wire_bytes);
        lane.queue.push_back(packet);
        self.bytes += u64::from(packet.wire_bytes);
        self.packets += 1;
        !std::mem::replace(&mut self.asked, true)
    }

    /// Takes all packets out, when the link has failed; nobody asks the port any more.
    pub fn clear(&mut self) -> Vec<Packet> {
        let mut lost = Vec::new();
        while let Some(packet) = self.pop() {
            lost.push(packet);
        }
        self.asked = false;
        lost
    }

    /// The next packet to be sent.
    pub fn pop(&mut self) -> Option<Packet> {
        let place = match self.order {
            Order::Priority => self.lanes.iter().position(|lane| !lane.queue.is_empty())?,
            Order::Turns => self.turns.pop_front()?,
        };
        let lane = &mut self.lanes[place];
        let packet = lane.queue.pop_front()?;
        if self.order == Order::Turns && !lane.queue.is_empty() {
            self.turns.push_back(place);
        }
        lane.bytes -= u64::from(packet.wire_bytes);
        self.bytes -= u64::from(packet.wire_bytes);
        self.packets -= 1;
        Some(packet)
    }

    /// After a packet was taken: whether the port has to be asked again.
    pub fn asked_again(&mut self) -> bool {
        self.asked = !self.is_empty();
        self.asked
    }

    /// Bytes of the first class: the latency that is measured is that of the high priority (thesis
    /// table 4.5).
    pub fn watched_bytes(&self) -> u64 {
        self.lanes[0].bytes
    }

    /// Bytes in all classes.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets in all classes.
    pub fn packets(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::packet::NO_SACK;
    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet {
            seq: 0,
            ack: 0,
            flow,
            sack: NO_SACK,
            hop: 0,
            wire_bytes: 1500,
            flags: 0,
        }
    }

    fn served(lanes: &mut Lanes) -> Vec<u32> {
        std::iter::from_fn(|| lanes.pop().map(|packet| packet.flow)).collect()
    }

    /// Flow 0 has five packets, flow 1 two and flow 6 (of the third queue of four) one.
    fn fill(lanes: &mut Lanes) {
        for flow in [0, 0, 0, 0, 0, 1, 1, 6] {
            lanes.push(lanes.class_of(&packet(flow)), packet(flow));
        }
    }

    #[test]
    fn queues_in_turn_share_the_link() {
        let mut lanes = Lanes::new(4, Order::Turns, 0);
        fill(&mut lanes);
        assert_eq!(served(&mut lanes), [0, 1, 6, 0, 1, 0, 0, 0]);
        assert_eq!((lanes.bytes(), lanes.packets()), (0, 0));
    }

    /// Without classes in their packets all are of the first one, and leave as they came.
    #[test]
    fn one_class_is_a_fifo() {
        let mut lanes = Lanes::new(2, Order::Priority, 0);
        fill(&mut lanes);
        assert_eq!(served(&mut lanes), [0, 0, 0, 0, 0, 1, 1, 6]);
    }
}
