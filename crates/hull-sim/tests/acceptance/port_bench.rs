//! Ports driven directly, without hosts: packets are offered, links are emptied in time order, and
//! priority ports supply their next packet when they choose it. Contains no tests.

use std::collections::VecDeque;

use hull_sim::network::{NO_OPTIONS, Network, Packet, Port, PortConfig, Verdict, flags};

/// A data packet of `bytes` that can be marked, of priority `class`; `stamp_ps` is kept in it.
pub fn packet(bytes: u16, class: u16, stamp_ps: u64) -> Packet {
    Packet {
        seq: stamp_ps as u32,
        ack: (stamp_ps >> 32) as u32,
        flow: 0,
        options: NO_OPTIONS,
        hop: 0,
        wire_bytes: bytes,
        flags: flags::DATA | flags::ECT0 | (class << flags::CLASS_SHIFT),
    }
}

/// Stamp of `packet`.
pub fn stamp_ps(packet: &Packet) -> u64 {
    u64::from(packet.seq) | (u64::from(packet.ack) << 32)
}

/// A packet that has left the queue, and the start of its transmission.
pub struct Sent {
    pub start_ps: u64,
    pub packet: Packet,
}

/// A network of ports, and when those with priorities choose their next packet.
pub struct Bench {
    pub network: Network,
    ports: usize,
    asked_ps: Vec<u64>,
    /// Packets on each link: arrival time, ps, and place.
    on_links: Vec<VecDeque<(u64, u32)>>,
    now_ps: u64,
    rate_ps_per_byte: u64,
    framing_bytes: u64,
    delay_ps: u64,
    /// All packets sent so far, by the time of delivery.
    pub sent: Vec<Sent>,
}

impl Bench {
    /// `ports` ports of this configuration.
    pub fn new(config: impl Fn() -> PortConfig, ports: usize) -> Self {
        let all = (0..ports).map(|_| Port::new(config())).collect();
        let config = config();
        let mut network = Network::new(all);
        network.add_route(&[0], 0); // the route of all packets; no packet takes it
        Bench {
            network,
            ports,
            asked_ps: vec![u64::MAX; ports],
            on_links: vec![VecDeque::new(); ports],
            now_ps: 0,
            rate_ps_per_byte: 8_000_000_000_000 / config.rate_bps,
            framing_bytes: u64::from(config.framing_bytes),
            delay_ps: config.delay_ps,
            sent: Vec::new(),
        }
    }

    /// Processes all events up to `now_ps`, in order.
    pub fn advance(&mut self, now_ps: u64) {
        loop {
            let mut next = (u64::MAX, 0, false);
            for port in 0..self.ports {
                let delivery_ps = self.on_links[port].front().map(|first| first.0);
                let delivery = (delivery_ps.unwrap_or(u64::MAX), port, false);
                next = next.min(delivery).min((self.asked_ps[port], port, true));
            }
            let (at_ps, port, ask) = next;
            if at_ps > now_ps {
                break;
            }
            if ask {
                let selected = self.network.transmit_next(at_ps, port);
                let sent = (selected.arrival)
                    .map(|(arrival_ps, packet_ref)| (arrival_ps, packet_ref.packet));
                self.on_links[port].extend(sent);
                self.asked_ps[port] = selected.again_ps.unwrap_or(u64::MAX);
            } else {
                let (_, place) = self.on_links[port].pop_front().expect("found above");
                let (link, options) = (&mut self.network.ports[port], &mut self.network.options);
                let mut packet = self.network.in_flight.remove(place);
                link.mark_delivered(at_ps, &mut packet, options);
                let wire_bytes = u64::from(packet.wire_bytes) + self.framing_bytes;
                let wire_ps = wire_bytes * self.rate_ps_per_byte;
                self.sent.push(Sent {
                    start_ps: at_ps - wire_ps - self.delay_ps,
                    packet,
                });
            }
        }
        self.now_ps = now_ps;
    }

    /// Offers a packet at `now_ps`; returns whether the port accepted it.
    pub fn offer(&mut self, now_ps: u64, port: usize, packet: Packet) -> bool {
        self.advance(now_ps);
        let place = self.network.in_flight.insert(packet);
        match self.network.enqueue(now_ps, now_ps, (port, port), place) {
            Verdict::Accepted { arrival_ps, .. } => {
                self.on_links[port].push_back((arrival_ps, place));
                true
            }
            Verdict::Held { .. } => {
                let on_links = &mut self.on_links;
                (self.network).let_all_in(|port, arrival_ps, packet_ref| {
                    on_links[port].push_back((arrival_ps, packet_ref.packet));
                });
                true
            }
            Verdict::HandedOver => unreachable!("no link is cut"),
            Verdict::Queued { choice_ps } => {
                self.network.in_flight.remove(place);
                if let Some(choice_ps) = choice_ps {
                    self.asked_ps[port] = choice_ps;
                }
                true
            }
            Verdict::Dropped => {
                self.network.in_flight.remove(place);
                false
            }
        }
    }
}
