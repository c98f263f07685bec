//! The NIC of a host with the message transport: selects the packet to send when the link is free.
//!
//! Source: the reference simulator of Ultra Ethernet (named in `uet-nscc.md`). Connections with
//! something to send take turns, one packet each; control packets (acknowledgments, credit) have their
//! own queue. When both wait, ten control packets leave per data packet. The NIC requests a packet from
//! a connection only when it can leave, so data queues in the connections. What belongs to a paused class
//! waits beside the queues until a class resumes. These packets bypass the host's stack, pacer and
//! interrupts.

use std::collections::VecDeque;
use std::mem::offset_of;

use crate::network::Packet;
use crate::prefetch::{prefetch, prefetch_lines};
use crate::random::Stream;

/// Control packets per data packet if both wait.
const CONTROL_SHARE: u8 = 10;

/// Next transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A control packet.
    Control(Packet),
    /// A packet of the connection in this slot, if it still has one.
    Sender(u32),
}

/// What waits for a class to resume.
#[derive(Debug, Default)]
struct Paused {
    control: VecDeque<Packet>,
    senders: VecDeque<u32>,
}

/// The NIC of one host.
#[derive(Debug)]
#[repr(C)]
pub struct MessageNic {
    control: VecDeque<Packet>,
    senders: VecDeque<u32>,
    turn: u8,
    /// What waits for the end of a pause, by class.
    paused: Vec<Paused>,
    /// Time of the NIC's event in the event queue, ps; maintained by the simulation.
    pub event_ps: u64,
    /// Random numbers that select the paths of the host's packets.
    pub random: Stream,
}

impl MessageNic {
    /// Creates a NIC with nothing to send.
    pub fn new(random: Stream) -> Self {
        MessageNic {
            control: VecDeque::new(),
            senders: VecDeque::new(),
            turn: 0,
            paused: Vec::new(),
            event_ps: u64::MAX,
            random,
        }
    }

    /// Queues a control packet.
    pub fn push_control(&mut self, packet: Packet) {
        self.control.push_back(packet);
    }

    /// Queues a connection that has data to send.
    pub fn push_sender(&mut self, slot: u32) {
        self.senders.push_back(slot);
    }

    /// Lets what had its turn wait for the end of its class's pause.
    pub fn pause(&mut self, class: usize, turn: Turn) {
        if self.paused.len() <= class {
            self.paused.resize_with(class + 1, Paused::default);
        }
        match turn {
            Turn::Control(packet) => self.paused[class].control.push_back(packet),
            Turn::Sender(slot) => self.paused[class].senders.push_back(slot),
        }
    }

    /// Lets what waits for the end of a pause take its turn again. Returns whether there is any.
    pub fn resume(&mut self) -> bool {
        let before = self.control.len() + self.senders.len();
        for paused in &mut self.paused {
            self.control.append(&mut paused.control);
            self.senders.append(&mut paused.senders);
        }
        self.control.len() + self.senders.len() > before
    }

    /// Number of connections with data to send.
    pub fn senders(&self) -> u64 {
        let paused = self.paused.iter().map(|paused| paused.senders.len());
        (self.senders.len() + paused.sum::<usize>()) as u64
    }

    /// Slot of the connection whose turn is next.
    #[inline]
    pub fn next_sender(&self) -> Option<u32> {
        self.senders.front().copied()
    }

    /// Prefetches the fields that a control packet needs.
    #[inline]
    pub fn prefetch_queues(&self) {
        prefetch_lines(self, offset_of!(MessageNic, random).div_ceil(64));
    }

    /// Prefetches the slot of the connection whose turn is next.
    #[inline]
    pub fn prefetch_senders(&self) {
        if let Some(slot) = self.senders.front() {
            prefetch(slot);
        }
    }

    /// Number of waiting control packets.
    pub fn backlog(&self) -> usize {
        let paused = self.paused.iter().map(|paused| paused.control.len());
        self.control.len() + paused.sum::<usize>()
    }

    /// Whether nothing waits for its turn.
    pub fn is_idle(&self) -> bool {
        self.control.is_empty() && self.senders.is_empty()
    }

    /// Selects the next transmission when the link is free.
    pub fn next_turn(&mut self) -> Option<Turn> {
        let both = !self.control.is_empty() && !self.senders.is_empty();
        if both {
            self.turn = (self.turn + 1) % (CONTROL_SHARE + 1);
        }
        if !self.senders.is_empty() && (self.control.is_empty() || self.turn == 0) {
            return self.senders.pop_front().map(Turn::Sender);
        }
        self.control.pop_front().map(Turn::Control)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::NO_OPTIONS;
    use crate::random::Purpose;

    #[test]
    fn ten_control_packets_per_data_packet() {
        let mut nic = MessageNic::new(Stream::new(1, Purpose::Paths, 0));
        let control = Packet {
            seq: 0,
            ack: 0,
            flow: 0,
            options: NO_OPTIONS,
            hop: 0,
            wire_bytes: 64,
            flags: 0,
        };
        for _ in 0..25 {
            nic.push_control(control);
        }
        nic.push_sender(7);
        nic.push_sender(8);
        let turns = std::iter::from_fn(|| nic.next_turn());
        let of_data: Vec<usize> = turns
            .enumerate()
            .filter_map(|(at, turn)| matches!(turn, Turn::Sender(_)).then_some(at))
            .collect();
        assert_eq!(of_data, [10, 21]);
        assert!(nic.is_idle());
    }
}
