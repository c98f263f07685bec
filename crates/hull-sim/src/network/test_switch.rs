//! Ports of one switch for tests: packets are offered to them, and their selections are made in the order
//! of time.

use std::collections::BTreeSet;

use super::packet::{Packet, flags};
use super::{NO_OPTIONS, Network, Port, PortConfig, Verdict};

/// Packet to be offered; its class is its flow, and flow 0 is scalable (ECT(1)).
#[derive(Clone, Copy, Debug)]
pub struct Offer {
    pub flow: u32,
    pub seq: u32,
    pub bytes: u16,
}

/// Packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    pub flow: u32,
    pub seq: u32,
    /// Start and end of the transmission, ps.
    pub start_ps: u64,
    pub end_ps: u64,
}

/// Ports, and their next selections.
pub struct TestSwitch {
    pub network: Network,
    route: u32,
    selections: BTreeSet<(u64, usize)>,
    /// Sent packets, in the order of their selection.
    pub sent: Vec<Sent>,
    /// Number of packets that were dropped on departure.
    pub lost: usize,
}

impl TestSwitch {
    /// A switch with ports of this configuration, whose links have no delay.
    pub fn new(ports: usize, config: impl Fn() -> PortConfig) -> Self {
        let mut network = Network::new((0..ports).map(|_| Port::new(config())).collect());
        let route = network.add_route(&[0], 0) + 1;
        TestSwitch {
            network,
            route,
            selections: BTreeSet::new(),
            sent: Vec::new(),
            lost: 0,
        }
    }

    /// Makes the selections up to `until_ps`.
    pub fn serve(&mut self, until_ps: u64) {
        while let Some(&(at_ps, port)) = self.selections.first()
            && at_ps <= until_ps
        {
            self.selections.pop_first();
            while self.network.ports[port].selects_at(at_ps) {
                let selected = self.network.transmit_next(at_ps, port);
                self.selections
                    .extend(selected.again_ps.map(|at_ps| (at_ps, port)));
                if let Some((arrival_ps, packet_ref)) = selected.arrival {
                    self.take_sent(port, packet_ref.packet, arrival_ps);
                }
                while self.network.ports[port].take_lost().is_some() {
                    self.lost += 1;
                }
            }
        }
    }

    fn take_sent(&mut self, port: usize, place: u32, end_ps: u64) {
        let packet = self.network.in_flight.remove(place);
        let sending_ps = self.network.ports[port].serialization_ps(packet.wire_bytes);
        self.sent.push(Sent {
            flow: packet.flow,
            seq: packet.seq,
            start_ps: end_ps - sending_ps,
            end_ps,
        });
    }

    /// Offers a packet, which came through the link of port `from`, to `port`. Returns whether it was
    /// accepted.
    pub fn offer(&mut self, now_ps: u64, (from, port): (usize, usize), offer: Offer) -> bool {
        self.serve(now_ps);
        let ecn = if offer.flow == 0 {
            flags::ECT1
        } else {
            flags::ECT0
        };
        let class = (offer.flow as u16) << flags::CLASS_SHIFT;
        let place = self.network.in_flight.insert(Packet {
            seq: offer.seq,
            ack: 0,
            flow: offer.flow,
            options: NO_OPTIONS,
            hop: self.route,
            wire_bytes: offer.bytes,
            flags: flags::DATA | ecn | class,
        });
        match self.network.enqueue(now_ps, now_ps, (from, port), place) {
            Verdict::Accepted { arrival_ps, .. } => self.take_sent(port, place, arrival_ps),
            Verdict::Queued { choice_ps } => {
                self.network.in_flight.remove(place);
                self.selections.extend(choice_ps.map(|at_ps| (at_ps, port)));
            }
            Verdict::Dropped => {
                self.network.in_flight.remove(place);
                return false;
            }
            Verdict::Held { .. } | Verdict::HandedOver => unreachable!("the port is `Queued`"),
        }
        true
    }

    /// Pauses a class at `now_ps`, before a selection at that time.
    pub fn pause(&mut self, now_ps: u64, port: usize, class: usize) {
        self.serve(now_ps.saturating_sub(1));
        self.network.ports[port].pause(class);
    }

    /// Resumes a class at `now_ps`.
    pub fn resume(&mut self, now_ps: u64, port: usize, class: usize) {
        self.serve(now_ps.saturating_sub(1));
        let next_ps = self.network.ports[port].resume(now_ps, class);
        self.selections.extend(next_ps.map(|at_ps| (at_ps, port)));
    }
}
