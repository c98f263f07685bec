//! A part of a network: this part simulates the queues of its own ports, other parts the queues of
//! all other ports. Packets that leave the part, and routes unknown to the others, are kept until
//! the caller fetches them. Sizes are bytes, times ps.

use std::collections::BTreeSet;

use super::packet::Packet;
use super::port::Port;
use super::{HOST, Network, OBSERVED, OptionTable};
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

/// Number of this part, and the changes to report to the others. Two threads never share its cache
/// lines (two are fetched together).
#[derive(Debug)]
#[repr(align(128))]
pub(super) struct OwnPart {
    number: u8,
    /// Part that simulates each port's queue.
    of_ports: Vec<u8>,
    /// Part of the hosts that this part's links lead to.
    of_hosts: u8,
    /// Whether each port is observed, which is all that packets from other parts need of their
    /// ports.
    observed: Vec<bool>,
    departures: Vec<Departure>,
    /// Routes that were set: place of the first entry, and number of ports. `None` if they are not
    /// reported.
    routes: Option<Vec<(u32, u32)>>,
}

impl OwnPart {
    #[cold]
    pub(super) fn note_route(&mut self, at: u32, ports: usize) {
        if let Some(routes) = &mut self.routes {
            routes.push((at, ports as u32));
        }
    }
}

impl Network {
    /// Makes this network part `number` of a network whose port queues belong to the parts
    /// `of_ports`. The links of the ports `cut` may lead out of the part. If it `has_hosts`, its
    /// links to hosts lead to hosts of this part; otherwise all hosts are in part 0, and all parts
    /// are told of its routes.
    pub fn become_part(&mut self, number: u8, of_ports: &[u8], cut: &[usize], has_hosts: bool) {
        let own = cut.iter().filter(|&&port| of_ports[port] == number);
        own.for_each(|&port| self.ports[port].cut(true));
        self.part = Some(Box::new(OwnPart {
            number,
            of_ports: of_ports.to_vec(),
            of_hosts: if has_hosts { number } else { 0 },
            observed: self.ports.iter().map(Port::is_observed).collect(),
            departures: Vec::new(),
            routes: (!has_hosts).then(Vec::new),
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
        let entry = self.hops[self.in_flight.get(place).hop as usize];
        let to = match entry & HOST {
            0 => part.of_ports[entry as usize],
            _ => part.of_hosts,
        };
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

    /// Takes the routes set since the last call, and calls `carry` with the place of each route's
    /// first entry and its entries.
    #[inline]
    pub fn for_each_new_route(&mut self, mut carry: impl FnMut(u32, &[u32])) {
        let Some(part) = &mut self.part else { return };
        for (at, ports) in part.routes.iter_mut().flat_map(|routes| routes.drain(..)) {
            let first = at as usize;
            carry(at, &self.hops[first..=first + ports as usize]);
        }
    }

    /// Copies all routes of another part, which has none left to report then.
    pub fn copy_routes(&mut self, other: &Network) {
        self.hops.clone_from(&other.hops);
    }

    /// Discards the new routes, because all parts know them.
    pub fn forget_new_routes(&mut self) {
        if let Some(part) = &mut self.part {
            part.routes = part.routes.take().map(|_| Vec::new());
        }
    }

    /// Exchanges the other part's own ports and their shared memories with it, to take them over or
    /// to give them back.
    pub fn exchange_ports(&mut self, other: &mut Network) {
        let Some(part) = &other.part else { return };
        let mut memories = BTreeSet::new();
        for (port, &owner) in part.of_ports.iter().enumerate() {
            if owner != part.number {
                continue;
            }
            std::mem::swap(&mut self.ports[port], &mut other.ports[port]);
            let place = self.places.get(port).copied().flatten();
            memories.extend(place.map(|place| place.memory as usize));
        }
        for memory in memories {
            std::mem::swap(&mut self.memories[memory], &mut other.memories[memory]);
        }
    }

    /// Adds the packets in flight and the held packets of another part at the end of a run, and their
    /// options; only their number.
    pub fn count_packets_of(&mut self, other: &mut Network) {
        self.in_flight.join(&mut other.in_flight);
        self.held.join(&mut other.held);
        self.options.join(&other.options);
    }

    /// Takes over the packet of another part's event. Returns the event's reference in this part.
    pub fn take_packet(&mut self, other: &mut Network, packet_ref: PacketRef) -> PacketRef {
        let packet = other.in_flight.remove(packet_ref.packet);
        PacketRef {
            packet: self.in_flight.insert(packet),
            ..packet_ref
        }
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
