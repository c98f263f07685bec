//! The NIC of a host with the message transport: selects the packet to send when the link is free.
//!
//! Source: the reference simulator of Ultra Ethernet (named in `uet-nscc.md`). Connections with
//! something to send take turns, one packet each; control packets (acknowledgments, credit) have their
//! own queue. When both wait, ten control packets leave per data packet. The NIC requests a packet from
//! a connection only when it can leave, so data queues in the connections. These packets bypass the
//! host's stack, pacer and interrupts.

use std::collections::VecDeque;
use std::mem::offset_of;

use crate::network::Packet;
use crate::prefetch::{prefetch, prefetch_lines};
use crate::random::Stream;

/// Control packets for one data packet, where both wait.
const CONTROL_SHARE: u8 = 10;

/// What leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// A control packet.
    Control(Packet),
    /// A packet of the connection in this slot, if it still has one.
    Sender(u32),
}

/// The NIC of one host.
#[derive(Debug)]
#[repr(C)]
pub struct MessageNic {
    control: VecDeque<Packet>,
    senders: VecDeque<u32>,
    turn: u8,
    /// When the event queue will look; kept by the simulation, ps.
    pub event_ps: u64,
    /// Decides the paths of the host's packets.
    pub random: Stream,
}

impl MessageNic {
    /// A NIC with nothing to send.
    pub fn new(random: Stream) -> Self {
        MessageNic {
            control: VecDeque::new(),
            senders: VecDeque::new(),
            turn: 0,
            event_ps: u64::MAX,
            random,
        }
    }

    /// A control packet is to be sent.
    pub fn push_control(&mut self, packet: Packet) {
        self.control.push_back(packet);
    }

    /// A connection has something to send.
    pub fn push_sender(&mut self, slot: u32) {
        self.senders.push_back(slot);
    }

    /// Connections that have something to send.
    pub fn senders(&self) -> u64 {
        self.senders.len() as u64
    }

    /// The connection whose turn is next.
    #[inline]
    pub fn next_sender(&self) -> Option<u32> {
        self.senders.front().copied()
    }

    /// Asks for what a control packet needs.
    #[inline]
    pub fn prefetch_queues(&self) {
        prefetch_lines(self, offset_of!(MessageNic, random).div_ceil(64));
    }

    /// Asks for the number of the connection whose turn is next.
    #[inline]
    pub fn prefetch_senders(&self) {
        if let Some(slot) = self.senders.front() {
            prefetch(slot);
        }
    }

    /// Control packets that wait.
    pub fn backlog(&self) -> usize {
        self.control.len()
    }

    /// Whether nothing is to be sent.
    pub fn is_idle(&self) -> bool {
        self.control.is_empty() && self.senders.is_empty()
    }

    /// The link is free: what leaves.
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
    fn ten_control_packets_leave_for_one_of_data() {
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
