//! A part of a network: this part simulates the queues of its own ports, other parts those of all
//! others. Packets that leave the part, and routes unknown to the others, are kept until the caller
//! fetches them. Sizes are bytes, times ps.

use std::collections::BTreeSet;

use super::packet::Packet;
use super::port::{Port, Verdict};
use super::{HOST, Network, next_of};
use crate::engine::Cargo;

/// A packet with the time when it comes off its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// When its event is due, ps.
    pub arrival_ps: u64,
    /// The packet.
    pub packet: Packet,
}

/// A packet on its way to another part: it is on the link before its next hop.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// The part that it goes to.
    pub to: u8,
    /// The packet, with the time when it comes off its link.
    pub scheduled: Scheduled,
}

/// Which part this is, and what has to be told to others.
#[derive(Debug)]
pub(super) struct OwnPart {
    number: u8,
    /// The part of each port's queue; hosts are in part 0.
    of_ports: Vec<u8>,
    /// Whether each port is observed: what comes from another part needs to know no more of its port here.
    observed: Vec<bool>,
    departures: Vec<Departure>,
    /// Routes that were set: place of the first entry, and how many ports.
    routes: Vec<(u32, u32)>,
}

impl OwnPart {
    #[cold]
    pub(super) fn note_route(&mut self, at: u32, ports: usize) {
        self.routes.push((at, ports as u32));
    }
}

impl Network {
    /// Makes this the part `number` of a network whose ports' queues are in parts `of_ports`; the links
    /// of `cut` may lead out of it.
    pub fn become_part(&mut self, number: u8, of_ports: &[u8], cut: &[usize]) {
        let own = cut.iter().filter(|&&port| of_ports[port] == number);
        own.for_each(|&port| self.ports[port].cut(true));
        self.part = Some(Box::new(OwnPart {
            number,
            of_ports: of_ports.to_vec(),
            observed: self.ports.iter().map(Port::is_observed).collect(),
            departures: Vec::new(),
            routes: Vec::new(),
        }));
    }

    /// A packet was offered to a port whose link is cut: it stays in this part or departs.
    #[inline]
    pub(super) fn pass_on(&mut self, place: u32, verdict: Verdict) -> Verdict {
        let (Verdict::Accepted { arrival_ps, .. }, Some(part)) = (verdict, &mut self.part) else {
            return verdict;
        };
        let entry = self.hops[self.in_flight.get(place).hop as usize];
        let to = match entry & HOST {
            0 => part.of_ports[entry as usize],
            _ => 0,
        };
        if to == part.number {
            return verdict;
        }
        let packet = self.in_flight.remove(place);
        let scheduled = Scheduled { arrival_ps, packet };
        part.departures.push(Departure { to, scheduled });
        Verdict::HandedOver
    }

    /// Takes what has departed since the last time, in order, and calls `carry` with each.
    #[inline]
    pub fn for_each_departure(&mut self, carry: impl FnMut(Departure)) {
        if let Some(part) = &mut self.part {
            part.departures.drain(..).for_each(carry);
        }
    }

    /// Takes the routes that were set since the last time, and calls `carry` with the place of each
    /// one's first entry and its entries.
    #[inline]
    pub fn for_each_new_route(&mut self, mut carry: impl FnMut(u32, &[u32])) {
        let Some(part) = &mut self.part else { return };
        for (at, ports) in part.routes.drain(..) {
            let first = at as usize;
            carry(at, &self.hops[first..=first + ports as usize]);
        }
    }

    /// Takes over all routes of another part, which has none left to tell then.
    pub fn copy_routes(&mut self, other: &Network) {
        self.hops.clone_from(&other.hops);
    }

    /// The routes that were set so far are known to all parts.
    pub fn forget_new_routes(&mut self) {
        if let Some(part) = &mut self.part {
            part.routes = Vec::new();
        }
    }

    /// Exchanges with another part the ports that are its own, and the memories that they share: takes them
    /// over, or gives them back.
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

    /// Takes over what another part has in flight and holds back, at the end of a run: only for the count.
    pub fn count_packets_of(&mut self, other: &mut Network) {
        self.in_flight.join(&mut other.in_flight);
        self.held.join(&mut other.held);
    }

    /// Takes over the packet of another part's event; returns what the event carries here.
    pub fn take_packet(&mut self, other: &mut Network, cargo: Cargo) -> Cargo {
        let packet = other.in_flight.remove(cargo.packet);
        Cargo {
            packet: self.in_flight.insert(packet),
            ..cargo
        }
    }

    /// A packet comes from another part: returns when its event is due (ps), the link, and what the event
    /// carries.
    #[inline]
    pub fn land(&mut self, scheduled: Scheduled) -> (u64, usize, Cargo) {
        let Scheduled { arrival_ps, packet } = scheduled;
        let hop = packet.hop as usize;
        let port = self.hops[hop - 1] as usize;
        let observed = self.part.as_ref().is_some_and(|part| part.observed[port]);
        let cargo = Cargo {
            packet: self.in_flight.insert(packet),
            next: next_of(self.hops[hop], observed),
        };
        (arrival_ps, port, cargo)
    }
}
