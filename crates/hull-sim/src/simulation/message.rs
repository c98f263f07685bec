//! The message transport's part of a run: what connections and receivers want to send becomes packets on the
//! path of their entropy value, packets become calls of both, timers become events. Times are ps.

use super::clock::Clock;
use super::flows::{FlowTable, mix};
use super::{Endpoints, Simulation};
use crate::engine::Kind;
use crate::host::{HostSide, Puller, Turn};
use crate::network::{NO_OPTIONS, Network, Options, Packet, PathWord, Signal, flags};
use crate::topology::Routes;
use crate::transport::message::{Arriving, MessageConfig, MessageReceiver, MessageSender};

use std::sync::Arc;

/// The class of data; control packets and trimmed headers are of class 0.
const DATA_CLASS: u16 = 1 << flags::CLASS_SHIFT;

/// Which way a packet of a connection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out = 0,
    Back = 1,
}

/// A route in the network's list of hops; it is found when the first packet takes it.
#[derive(Clone, Copy, Debug)]
struct Route {
    at: u32,
    is_found: bool,
}

const NO_ROUTE: Route = Route {
    at: u32::MAX,
    is_found: false,
};

/// What a connection of the message transport has.
#[derive(Debug)]
pub struct Connection {
    pub sender: MessageSender,
    pub receiver: MessageReceiver,
    /// Two for each entropy value, out and back.
    routes: Vec<Route>,
    /// Number of the connection in the order of opening: with the seed it decides the routes.
    number: u64,
    /// What the receiver's host calls it, where it grants credit.
    at_puller: Option<u32>,
}

impl Connection {
    /// A new connection, in the slot of an old one where there was one; `random` are 64 random bits.
    fn new(
        config: &Arc<MessageConfig>,
        number: u64,
        random: u64,
        old: Option<Box<Connection>>,
    ) -> Self {
        let mut routes = old.map_or_else(Vec::new, |old| old.routes);
        routes.resize(2 * usize::from(config.paths), NO_ROUTE);
        for route in &mut routes {
            route.is_found = false;
        }
        Connection {
            sender: MessageSender::new(config, random),
            receiver: MessageReceiver::new(config),
            routes,
            number,
            at_puller: None,
        }
    }

    /// A message is to be sent.
    pub fn write(&mut self, bytes: u64) {
        self.sender.write(bytes);
        self.receiver.expect(bytes);
    }

    /// A lasting message ends with what has been sent: where, and how much of its payload has arrived.
    pub fn stop(&mut self) -> (u64, u64) {
        let end = self.sender.stop();
        (end, self.receiver.stop(end))
    }

    /// The network has changed: packets under way keep their routes, all later ones find new ones.
    pub fn forget_routes(&mut self, number: u64) {
        self.number = number;
        self.routes.fill(NO_ROUTE);
    }
}

impl FlowTable {
    /// A flow was opened: if its transport is the message transport, its connection begins.
    pub(super) fn connect_messages(&mut self, slot: u32, number: u64) {
        if self.templates.iter().all(|one| one.message.is_none()) {
            return;
        }
        let at = slot as usize;
        if self.connections.len() <= at {
            self.connections.resize_with(at + 1, || None);
        }
        let old = self.connections[at].take();
        let config = self.template(slot).message.clone();
        let random = mix(self.seed ^ mix(number));
        self.connections[at] =
            config.map(|config| Box::new(Connection::new(&config, number, random, old)));
    }

    /// An entropy value of a connection, by 32 random bits.
    fn any_entropy(&self, slot: u32, random: u32) -> u16 {
        let config = self.template(slot).message.as_ref();
        let paths = config.map_or(1, |config| u64::from(config.paths));
        ((u64::from(random) * paths) >> 32) as u16
    }

    /// The connection in a slot, where it is one of the message transport.
    #[inline]
    pub fn connection(&mut self, slot: u32) -> Option<&mut Connection> {
        self.connections.get_mut(slot as usize)?.as_deref_mut()
    }

    /// Whether a slot's flow is of the message transport.
    #[inline]
    pub fn is_message(&self, slot: u32) -> bool {
        !self.connections.is_empty() && self.connections[slot as usize].is_some()
    }

    /// Whether a slot has the connection that its receiver's host calls `number`, and it is not over.
    fn is_pulled(&self, slot: u32, number: u32) -> bool {
        let connection = self.connections[slot as usize].as_deref();
        self.flows[slot as usize].live
            && connection.is_some_and(|connection| connection.at_puller == Some(number))
    }

    /// The first entry of the route of a connection's data, where it has one path and has taken it.
    pub(super) fn only_message_route(&self, slot: u32) -> Option<u32> {
        let connection = self.connections.get(slot as usize)?.as_deref()?;
        let route = connection.routes.first()?;
        (connection.routes.len() == 2 && route.is_found).then_some(route.at)
    }

    /// The first entry of the route of a packet.
    fn message_route(
        &mut self,
        slot: u32,
        entropy: u16,
        way: Way,
        network: &mut Network,
        routes: &Routes,
    ) -> u32 {
        let at = slot as usize;
        let (flow, seed, longest) = (&self.flows[at], self.seed, self.longest_route);
        let ends = match way {
            Way::Out => (flow.src, flow.dst),
            Way::Back => (flow.dst, flow.src),
        };
        let Some(connection) = self.connections[at].as_deref_mut() else {
            unreachable!("the slot's flow is of the message transport")
        };
        let number = mix(2 * connection.number + way as u64);
        let route = &mut connection.routes[2 * usize::from(entropy) + way as usize];
        if !route.is_found {
            if route.at == u32::MAX {
                route.at = network.reserve_route(longest);
            }
            route.is_found = true;
            let hash = mix(seed ^ number.wrapping_add(u64::from(entropy) + 1));
            let route_at = route.at;
            self.find_route(network, routes, route_at, ends, hash);
            return route_at;
        }
        route.at
    }
}

impl Simulation {
    /// A packet of the message transport has come.
    pub(super) fn receive_message(&mut self, host: usize, packet: &Packet) {
        let options = self.fabric.network.options.take(packet.options);
        let signal = options.and_then(|options| options.signal);
        if let Some(Signal::Demand { target }) = signal
            && let Some((puller, number)) = self.endpoints.puller(host, packet.flow)
        {
            puller.demand(number, target);
        }
        if packet.has(flags::TRIMMED) {
            self.receive_trimmed(host, packet);
        } else if packet.has(flags::DATA) {
            self.receive_message_data(host, packet);
        } else if let Some(signal) = signal {
            self.receive_signal(packet.flow, &signal);
        }
        if host < self.endpoints.hosts.pullers.len() {
            // Behind the answer.
            self.serve_puller(host);
        }
        self.endpoints.table.release_if_done(packet.flow);
    }

    fn receive_message_data(&mut self, host: usize, packet: &Packet) {
        let slot = packet.flow;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &mut connection.receiver;
        let (had_bytes, had_payload) = (receiver.delivered_bytes(), receiver.received_payload());
        let answer = receiver.on_data(&Arriving::of(packet));
        let delivered_bytes = receiver.delivered_bytes();
        let new_payload = receiver.received_payload() - had_payload;
        if let Some(signal) = answer {
            self.send_signal(host, slot, packet.ack as u16, Way::Back, signal);
        }
        if let Some((puller, _)) = self.endpoints.puller(host, slot) {
            puller.on_data(packet.has(flags::CE));
        }
        let table = &self.endpoints.table;
        (self.instruments).count_received(
            &self.clock,
            &self.fabric,
            table,
            host,
            packet,
            new_payload,
        );
        self.tally.count_received(table, packet, new_payload);
        if delivered_bytes > had_bytes {
            let at = slot as usize;
            while let Some(message) = self.endpoints.table.flows[at].completed(delivered_bytes) {
                self.message_delivered(slot, &message);
            }
        }
    }

    fn receive_trimmed(&mut self, host: usize, packet: &Packet) {
        let slot = packet.flow;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let (answer, is_missing) = connection.receiver.on_trimmed(&Arriving::of(packet));
        self.send_signal(host, slot, packet.ack as u16, Way::Back, answer);
        if let Some((puller, number)) = self.endpoints.puller(host, slot) {
            puller.on_trimmed(packet.has(flags::LAST_HOP));
            if is_missing {
                puller.request(number);
            }
        }
    }

    /// What a receiver says comes to the sender.
    fn receive_signal(&mut self, slot: u32, signal: &Signal) {
        let now_ps = self.clock.now_ps;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        match signal {
            Signal::Ack(ack) => {
                if sender.on_ack(now_ps, ack) {
                    self.take_acked(slot);
                }
            }
            Signal::Nack(nack) => sender.on_nack(now_ps, nack),
            Signal::Pull { granted } => sender.on_pull(*granted),
            Signal::Demand { .. } => {}
        }
        self.pump_message(slot);
    }

    /// A connection may have something to send.
    pub(super) fn pump_message(&mut self, slot: u32) {
        let host = self.endpoints.table.flows[slot as usize].src as usize;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if !sender.waits_for_nic && sender.may_send() {
            sender.waits_for_nic = true;
            self.endpoints.hosts.message_nics[host].push_sender(slot);
            self.serve_message_nic(host);
        }
        self.watch_timeout(slot);
    }

    /// Sends what a host has to send while its link is free.
    pub(super) fn serve_message_nic(&mut self, host: usize) {
        let port = self.endpoints.hosts.ports[host] as usize;
        loop {
            let free_ps = self.fabric.network.ports[port].busy_until_ps();
            let nic = &mut self.endpoints.hosts.message_nics[host];
            if nic.is_idle() {
                return;
            }
            if free_ps > self.clock.now_ps {
                if nic.event_ps != free_ps {
                    nic.event_ps = free_ps;
                    self.clock.schedule(free_ps, Kind::MessageNic, host);
                }
                return;
            }
            match nic.next_turn() {
                Some(Turn::Control(packet)) => self.send_to_wire(host, packet),
                Some(Turn::Sender(slot)) => self.send_message_data(host, slot),
                None => return,
            }
        }
    }

    /// It is a connection's turn.
    fn send_message_data(&mut self, host: usize, slot: u32) {
        let now_ps = self.clock.now_ps;
        let nic = &mut self.endpoints.hosts.message_nics[host];
        let table = &mut self.endpoints.table;
        let Some(connection) = table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        sender.waits_for_nic = false;
        if !sender.may_send() {
            return;
        }
        // The connection whose turn it is counts too.
        let senders = nic.senders() + 1;
        let Some(sending) = sender.poll(now_ps, senders, nic.random.bits64()) else {
            return;
        };
        if sender.may_send() {
            sender.waits_for_nic = true;
            nic.push_sender(slot);
        }
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        let hop = table.message_route(slot, sending.entropy, Way::Out, network, routes);
        let signal = sending.demand.map(|target| Signal::Demand { target });
        let ecn = table.templates[usize::from(table.flows[slot as usize].transport)]
            .message
            .as_ref()
            .is_some_and(|config| config.ecn);
        let path = PathWord {
            entropy: sending.entropy,
            asks_ack: sending.asks_ack,
            resent: sending.resent,
        };
        let packet = Packet {
            seq: sending.number as u32,
            ack: path.bits(),
            flow: slot,
            options: match signal {
                Some(_) => network.options.insert(Options {
                    signal,
                    ..Options::default()
                }),
                None => NO_OPTIONS,
            },
            hop,
            wire_bytes: sending.bytes,
            flags: flags::DATA | DATA_CLASS | flags::TRIMMABLE | if ecn { flags::ECT0 } else { 0 },
        };
        self.tally.packets_sent += 1;
        self.tally.counts.first_sends += u64::from(!sending.resent);
        table.flows[slot as usize].in_flight += 1;
        self.send_to_wire(host, packet);
        self.watch_timeout(slot);
    }

    /// A control packet is to be sent.
    fn send_signal(&mut self, host: usize, slot: u32, entropy: u16, way: Way, signal: Signal) {
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        let table = &mut self.endpoints.table;
        let hop = table.message_route(slot, entropy, way, network, routes);
        let options = network.options.insert(Options {
            signal: Some(signal),
            ..Options::default()
        });
        let packet = Packet {
            seq: 0,
            ack: u32::from(entropy),
            flow: slot,
            options,
            hop,
            wire_bytes: self.endpoints.header_bytes,
            flags: 0,
        };
        self.tally.packets_sent += 1;
        let counts = &mut self.tally.counts;
        match signal {
            Signal::Ack(_) => counts.acks += 1,
            Signal::Nack(_) => counts.nacks += 1,
            Signal::Pull { .. } => counts.pulls += 1,
            Signal::Demand { .. } => {}
        }
        table.flows[slot as usize].in_flight += 1;
        self.endpoints.hosts.message_nics[host].push_control(packet);
        self.serve_message_nic(host);
    }

    /// A host grants credit when it is time.
    pub(super) fn serve_puller(&mut self, host: usize) {
        let now_ps = self.clock.now_ps;
        let puller = &mut self.endpoints.hosts.pullers[host];
        if puller.waits(now_ps) {
            return;
        }
        let (slot, pull) = loop {
            let Some((slot, pull)) = puller.next_pull() else {
                return;
            };
            if self.endpoints.table.is_pulled(slot, pull.sender) {
                break (slot, pull);
            }
            // The slot may have another connection already.
            puller.remove(pull.sender);
        };
        let (granted, next_ps) = (pull.pulled, puller.sent(now_ps, &pull));
        self.clock.schedule(next_ps, Kind::Pull, host);
        let random = self.endpoints.hosts.message_nics[host].random.bits();
        let entropy = self.endpoints.table.any_entropy(slot, random);
        self.send_signal(host, slot, entropy, Way::Back, Signal::Pull { granted });
    }

    /// The event of a connection's timer.
    pub(super) fn serve_message_timeout(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].src as usize;
        let senders = self.endpoints.hosts.message_nics[host].senders();
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if sender.timeout_event_ps != now_ps {
            return; // an earlier event took its place
        }
        sender.timeout_event_ps = u64::MAX;
        if sender.timeout_ps <= now_ps
            && let Some(target) = sender.on_timeout(now_ps, senders)
        {
            self.send_signal(host, slot, 0, Way::Out, Signal::Demand { target });
        }
        self.pump_message(slot);
    }

    /// Sees to it that a connection's timer has an event.
    fn watch_timeout(&mut self, slot: u32) {
        if let Some(connection) = self.endpoints.table.connection(slot) {
            let sender = &mut connection.sender;
            if sender.timeout_ps < sender.timeout_event_ps {
                sender.timeout_event_ps = sender.timeout_ps;
                (self.clock).schedule(sender.timeout_ps, Kind::Rto, slot as usize);
            }
        }
    }
}

impl Endpoints {
    /// What grants the credit of a connection to `host`, and what the connection is called there.
    fn puller(&mut self, host: usize, slot: u32) -> Option<(&mut Puller, u32)> {
        let puller = self.hosts.pullers.get_mut(host)?;
        let config = self.table.template(slot).message.as_ref()?;
        config.credit_bytes?;
        let connection = self.table.connection(slot)?;
        let number = connection.at_puller.get_or_insert_with(|| puller.add(slot));
        Some((puller, *number))
    }
}

impl HostSide {
    /// A host adapts the rate at which it grants credit, where it does.
    pub(super) fn adapt_pulls(&mut self, host: usize, clock: &mut Clock) {
        if let Some(at_ps) = self.pullers[host].adapt(clock.now_ps) {
            clock.schedule(at_ps, Kind::PullRate, host);
        }
    }
}
