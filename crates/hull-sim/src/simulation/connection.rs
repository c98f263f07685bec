//! Connections of the message transport among the flows of a run: both halves, and a route per entropy
//! value, computed when the first packet uses it.

use std::sync::Arc;

use super::flows::FlowTable;
use super::opening::mix;
use crate::memory::{block, block_of};
use crate::network::Network;
use crate::prefetch::prefetch;
use crate::topology::Routes;
use crate::transport::message::{MessageConfig, MessageReceiver, MessageSender};

/// Direction of a connection's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Out = 0,
    Back = 1,
}

/// Route in the network's list of hops; it is computed when the first packet takes it.
#[derive(Clone, Copy, Debug)]
struct Route {
    at: u32,
    is_found: bool,
}

const NO_ROUTE: Route = Route {
    at: u32::MAX,
    is_found: false,
};

/// Connection of the message transport.
#[derive(Debug)]
pub struct Connection {
    pub sender: MessageSender,
    pub receiver: MessageReceiver,
    /// Routes: two per entropy value, out and back.
    routes: Vec<Route>,
    /// Routes out in use, one for each sequence of times of their links.
    pub(super) shapes: Vec<u32>,
    /// Whether the routes out in use differ.
    pub(super) spreads: bool,
    /// Number of the connection in the order of opening; with the seed it determines the routes.
    number: u64,
    /// Number of the connection at the receiver's host, if it grants credit.
    pub(super) at_puller: Option<u32>,
}

impl Connection {
    /// Creates a connection, which replaces an old one of its slot if there is one; `random` holds
    /// 64 random bits.
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
            shapes: Vec::new(),
            spreads: false,
            number,
            at_puller: None,
        }
    }

    /// Memory of a new connection with these settings, bytes.
    pub(super) fn bytes(config: &MessageConfig) -> u64 {
        let paths = usize::from(config.paths);
        let of_balancer = match config.balancing.walks() {
            true => block(paths),
            false => 0,
        };
        block_of::<Connection>(1) + block_of::<Route>(2 * paths) + of_balancer
    }

    /// Prefetches the fields that a data packet needs.
    #[inline]
    pub(super) fn prefetch_receiver(&self) {
        prefetch(&self.receiver);
        prefetch(&self.routes);
    }

    /// Prefetches a route and the receiver's packet state, once the fields are in the cache.
    #[inline]
    pub(super) fn prefetch_route(&self, entropy: u16, way: Way) {
        self.receiver.prefetch_packets();
        if let Some(route) = self.routes.get(2 * usize::from(entropy) + way as usize) {
            prefetch(route);
        }
    }

    /// Route, if already computed.
    #[inline]
    pub(super) fn known_route(&self, entropy: u16, way: Way) -> Option<u32> {
        let route = self.routes.get(2 * usize::from(entropy) + way as usize)?;
        route.is_found.then_some(route.at)
    }

    /// Starts a message of `bytes`.
    pub fn write(&mut self, now_ps: u64, bytes: u64) {
        self.sender.write(now_ps, bytes);
        self.receiver.expect(bytes);
    }

    /// Ends a lasting message after the sent data. Returns the end of the payload and the payload
    /// that has arrived, bytes.
    pub fn stop(&mut self) -> (u64, u64) {
        let end = self.sender.stop();
        (end, self.receiver.stop(end))
    }

    /// Discards the routes after a change of the network. Packets in flight keep their routes;
    /// later ones compute new ones.
    pub fn forget_routes(&mut self, number: u64) {
        self.number = number;
        self.routes.fill(NO_ROUTE);
        self.shapes.clear();
        self.spreads = false;
    }

    /// Records a new route out.
    fn note_route(&mut self, route: u32, network: &Network) {
        let like = |&shape: &u32| network.have_equal_times(shape, route);
        if let Some(&shape) = self.shapes.first() {
            self.spreads |= network.whole_route(shape) != network.whole_route(route);
        }
        if !self.shapes.iter().any(like) {
            self.shapes.push(route);
        }
    }
}

impl FlowTable {
    /// Creates the connection of a new flow if its transport is the message transport.
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
        let transport = usize::from(self.flows[at].transport);
        let distances = self.templates[transport].message.as_mut();
        let config = distances.map(|distances| distances.between(src, dst).clone());
        let random = mix(self.seed ^ mix(number));
        self.connections[at] =
            config.map(|config| Box::new(Connection::new(&config, number, random, old)));
    }

    /// Selects an entropy value of a connection by 32 random bits.
    pub(super) fn any_entropy(&self, slot: u32, random: u32) -> u16 {
        let config = self.template(slot).message.as_ref();
        let paths = config.map_or(1, |config| u64::from(config.common.paths));
        ((u64::from(random) * paths) >> 32) as u16
    }

    /// Connection in a slot, if its flow uses the message transport.
    #[inline]
    pub fn connection(&mut self, slot: u32) -> Option<&mut Connection> {
        self.connections.get_mut(slot as usize)?.as_deref_mut()
    }

    /// Whether the flow in a slot uses the message transport.
    #[inline]
    pub fn is_message(&self, slot: u32) -> bool {
        !self.connections.is_empty() && self.connections[slot as usize].is_some()
    }

    /// Whether a slot holds an open connection with this number at its receiver's host.
    pub(super) fn is_pulled(&self, slot: u32, number: u32) -> bool {
        let connection = self.connections[slot as usize].as_deref();
        self.flows[slot as usize].live
            && connection.is_some_and(|connection| connection.at_puller == Some(number))
    }

    /// The connection in a slot, for reading.
    pub(super) fn connection_at(&self, slot: u32) -> Option<&Connection> {
        self.connections.get(slot as usize)?.as_deref()
    }

    /// First entry of a packet's route.
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
            if way == Way::Out
                && let Some(connection) = self.connection(slot)
            {
                connection.note_route(route_at, network);
            }
            return route_at;
        }
        route.at
    }
}
