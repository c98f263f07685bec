//! Connections of the message transport among the flows of a run: both halves, and a route per entropy
//! value, computed when the first packet uses it.

use std::sync::Arc;

use super::flows::FlowTable;
use super::opening::mix;
use crate::memory::{block, block_of};
use crate::network::Network;
use crate::prefetch::prefetch;
use crate::topology::{Routes, Sending};
use crate::transport::message::{LoadBalancing, MessageConfig, MessageReceiver, MessageSender};

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
    /// Creates a connection with the places of its routes, which an old one of its slot may have left;
    /// `random` holds 64 random bits.
    fn new(config: &Arc<MessageConfig>, number: u64, random: u64, mut routes: Vec<Route>) -> Self {
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

    /// Memory of a new connection with this number of paths, bytes.
    pub(super) fn bytes(paths: u16, balancing: LoadBalancing) -> u64 {
        let paths = usize::from(paths);
        let of_balancer = match balancing.walks() {
            true => block(paths),
            false => 0,
        };
        size_of::<Connection>() as u64 + block_of::<Route>(2 * paths) + of_balancer
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
    /// Begins the last flow opened as a connection at this place.
    pub(super) fn begin_connection(&mut self, at: usize, config: &Arc<MessageConfig>) {
        let (number, random) = (self.opened, mix(self.seed ^ mix(self.opened)));
        match self.connections.get_mut(at) {
            Some(old) => {
                let routes = std::mem::take(&mut old.routes);
                *old = Connection::new(config, number, random, routes);
            }
            None => {
                let new = Connection::new(config, number, random, Vec::new());
                self.connections.push(new);
            }
        }
    }

    /// Selects an entropy value of a connection by 32 random bits.
    pub(super) fn any_entropy(&self, slot: u32, random: u32) -> u16 {
        let config = self.template(slot).messages();
        let paths = config.map_or(1, |config| u64::from(config.common.paths));
        ((u64::from(random) * paths) >> 32) as u16
    }

    /// Whether a slot holds an open connection with this number at its receiver's host.
    pub(super) fn is_pulled(&self, slot: u32, number: u32) -> bool {
        let connection = self.connection_at(slot);
        self.flows[slot as usize].live
            && connection.is_some_and(|connection| connection.at_puller == Some(number))
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
        let receiver = flow.dst;
        let ends = match way {
            Way::Out => (flow.src, flow.dst),
            Way::Back => (flow.dst, flow.src),
        };
        let place = self.place(slot);
        let connection = &mut self.connections[place];
        let number = mix(2 * connection.number + way as u64);
        let route = &mut connection.routes[2 * usize::from(entropy) + way as usize];
        if !route.is_found {
            if route.at == u32::MAX {
                route.at = network.reserve_route(longest);
            }
            route.is_found = true;
            let sending = Sending {
                ends,
                receiver,
                path: entropy,
                flow_hash: mix(seed ^ number),
                path_hash: mix(seed ^ number.wrapping_add(u64::from(entropy) + 1)),
            };
            let route_at = route.at;
            self.find_route(network, routes, route_at, &sending);
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
