//! Connections of the message transport among the flows of a run: both halves, and a route per entropy
//! value, computed when the first packet uses it.

use std::sync::Arc;

use super::flows::{FlowTable, mix};
use crate::network::Network;
use crate::prefetch::prefetch;
use crate::topology::Routes;
use crate::transport::message::{MessageConfig, MessageReceiver, MessageSender};

/// Which way a packet of a connection goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
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
    pub(super) at_puller: Option<u32>,
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

    /// Asks for what a packet with data needs.
    #[inline]
    pub(super) fn prefetch_receiver(&self) {
        prefetch(&self.receiver);
        prefetch(&self.routes);
    }

    /// When that is there: asks for a route, and for what the receiver has of packets.
    #[inline]
    pub(super) fn prefetch_route(&self, entropy: u16, way: Way) {
        self.receiver.prefetch_packets();
        if let Some(route) = self.routes.get(2 * usize::from(entropy) + way as usize) {
            prefetch(route);
        }
    }

    /// A route, when it was found.
    #[inline]
    pub(super) fn known_route(&self, entropy: u16, way: Way) -> Option<u32> {
        let route = self.routes.get(2 * usize::from(entropy) + way as usize)?;
        route.is_found.then_some(route.at)
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
        let (src, dst) = (self.flows[at].src, self.flows[at].dst);
        let distances = self.template(slot).message.as_ref();
        let config = distances.map(|distances| distances.between(src, dst).clone());
        let random = mix(self.seed ^ mix(number));
        self.connections[at] =
            config.map(|config| Box::new(Connection::new(&config, number, random, old)));
    }

    /// An entropy value of a connection, by 32 random bits.
    pub(super) fn any_entropy(&self, slot: u32, random: u32) -> u16 {
        let config = self.template(slot).message.as_ref();
        let paths = config.map_or(1, |config| u64::from(config.near.paths));
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
    pub(super) fn is_pulled(&self, slot: u32, number: u32) -> bool {
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
    pub(super) fn message_route(
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
