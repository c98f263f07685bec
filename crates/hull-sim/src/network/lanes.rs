//! Strict priority: one queue for each class of a port, the lowest class number is served first
//! and no packet on the wire is interrupted (thesis 4.1.5 and 4.5.2: QoS with two priorities).
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

/// The queues of a port.
#[derive(Debug)]
pub struct Lanes {
    lanes: Vec<Lane>,
    /// How long before the link is free the next packet is chosen, ps.
    commit_ps: u64,
    /// Whether the port is to be asked for its next packet then.
    asked: bool,
}

impl Lanes {
    /// `classes` empty queues; the next packet is chosen `commit_ps` before the link is free.
    pub fn new(classes: usize, commit_ps: u64) -> Self {
        Lanes {
            lanes: (0..classes).map(|_| Lane::default()).collect(),
            commit_ps,
            asked: false,
        }
    }

    /// The queue that a packet belongs to: its class, or the last one there is.
    pub fn class_of(&self, packet: &Packet) -> usize {
        packet.class().min(self.lanes.len() - 1)
    }

    /// Bytes and packets in a class.
    pub fn queue(&self, class: usize) -> (u64, u64) {
        let lane = &self.lanes[class];
        (lane.bytes, lane.queue.len() as u64)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.lanes.iter().all(|lane| lane.queue.is_empty())
    }

    /// When the next packet is chosen, ps, if the link is free at `free_ps` and it is `now_ps`.
    pub fn choice_ps(&self, now_ps: u64, free_ps: u64) -> u64 {
        free_ps.saturating_sub(self.commit_ps).max(now_ps)
    }

    /// Adds a packet; true when the port has to be asked for its next one.
    pub fn push(&mut self, class: usize, packet: Packet) -> bool {
        let lane = &mut self.lanes[class];
        lane.bytes += u64::from(packet.wire_bytes);
        lane.queue.push_back(packet);
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
        let lane = self.lanes.iter_mut().find(|lane| !lane.queue.is_empty())?;
        let packet = lane.queue.pop_front()?;
        lane.bytes -= u64::from(packet.wire_bytes);
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
        self.lanes.iter().map(|lane| lane.bytes).sum()
    }

    /// Packets in all classes.
    pub fn packets(&self) -> usize {
        self.lanes.iter().map(|lane| lane.queue.len()).sum()
    }
}
