//! A part of a network: this part simulates the queues of its own ports, other parts the queues of
//! all other ports. Packets that leave the part are kept until the caller fetches them. Times are ps.

use super::packet::Packet;
use super::port::Port;
use super::{Network, OBSERVED, OptionTable};
use crate::engine::PacketRef;

/// Packet with the time at which it leaves its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// Time of its event, ps.
    pub arrival_ps: u64,
    /// The packet.
    pub packet: Packet,
}

/// Packet on its way to another part, on the link before its next hop.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Destination part.
    pub to: u8,
    /// The packet, with the time at which it leaves its link.
    pub scheduled: Scheduled,
}

/// Number of this part, and the packets that leave it. Two threads never share its cache lines (two
/// are fetched together).
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct OwnPart {
    number: u8,
    /// Part that simulates each port's queue.
    of_ports: Vec<u8>,
    /// Whether each port is observed, which is all that packets from other parts need of their
    /// ports.
    observed: Vec<bool>,
    departures: Vec<Departure>,
}

impl Network {
    /// Makes this network part `number` of a network whose port queues belong to the parts
    /// `of_ports`. The links of the ports `cut`, which lead to switches, may lead out of the part.
    pub fn become_part(&mut self, number: u8, of_ports: &[u8], cut: &[usize]) {
        let own = cut.iter().filter(|&&port| of_ports[port] == number);
        own.for_each(|&port| self.ports[port].cut());
        self.part = Some(Box::new(OwnPart {
            number,
            of_ports: of_ports.to_vec(),
            observed: self.ports.iter().map(Port::is_observed).collect(),
            departures: Vec::new(),
        }));
    }

    /// Hands over a packet that a port has accepted to another part, if its link is cut and leads
    /// there. Returns whether it did.
    #[inline]
    pub(super) fn hands_over(&mut self, arrival_ps: u64, port: usize, place: u32) -> bool {
        self.ports[port].is_cut() && self.hands_over_if_theirs(arrival_ps, place)
    }

    /// Hands over a packet on a cut link, if the link leads to another part.
    #[inline(never)]
    pub(super) fn hands_over_if_theirs(&mut self, arrival_ps: u64, place: u32) -> bool {
        let Some(part) = &mut self.part else {
            return false;
        };
        let next = self.hops[self.in_flight.get(place).hop as usize];
        let to = part.of_ports[next as usize];
        if to == part.number {
            return false;
        }
        let packet = self.in_flight.hand_over(place);
        let scheduled = Scheduled { arrival_ps, packet };
        part.departures.push(Departure { to, scheduled });
        true
    }

    /// Takes the departures since the last call, in order. Returns also the options of their
    /// packets.
    #[inline]
    pub fn departures(&mut self) -> (impl Iterator<Item = Departure>, &mut OptionTable) {
        let part = self.part.iter_mut();
        let departures = part.flat_map(|part| part.departures.drain(..));
        (departures, &mut self.options)
    }

    /// Adds the packets in flight and the held packets of another part at the end of a run, and their
    /// options; only their number.
    pub fn count_packets_of(&mut self, other: &mut Network) {
        self.in_flight.join(&mut other.in_flight);
        self.held.join(&mut other.held);
        self.options.join(&other.options);
    }

    /// Receives a packet from another part. Returns the time of its event (ps), the link, and the
    /// event's reference.
    #[inline]
    pub fn land(&mut self, scheduled: Scheduled) -> (u64, usize, PacketRef) {
        let Scheduled { arrival_ps, packet } = scheduled;
        let hop = packet.hop as usize;
        let port = self.hops[hop - 1] as usize;
        let observed = self.part.as_ref().is_some_and(|part| part.observed[port]);
        let observed = observed | packet.is_last();
        let packet_ref = PacketRef {
            packet: self.in_flight.land(packet),
            next: self.hops[hop] | (u32::from(observed) * OBSERVED),
        };
        (arrival_ps, port, packet_ref)
    }
}
