//! A connection of the message transport: both halves, and a route per entropy value, computed when the
//! first packet uses it.

use std::sync::Arc;

use super::path_routes::{NO_ROUTE, Route, Shapes};
use crate::memory::{block, block_of};
use crate::prefetch::prefetch;
use crate::transport::message::{LoadBalancing, MessageConfig, MessageReceiver, MessageSender};

/// Direction of a connection's packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    Out = 0,
    Back = 1,
}

/// Connection of the message transport.
#[derive(Debug)]
pub struct Connection {
    pub sender: MessageSender,
    pub receiver: MessageReceiver,
    /// Routes: two per entropy value, out and back.
    pub routes: Vec<Route>,
    /// Routes out in use.
    pub shapes: Shapes,
    /// Number of the connection in the order of opening; with the seed it determines the routes.
    pub number: u64,
    /// Number of the connection at the receiver's host, if it grants credit, or admits packets that are not there.
    pub at_puller: Option<u32>,
}

impl Connection {
    /// Creates a connection with the places of its routes, which an old one of its slot may have left;
    /// `random` holds 64 random bits.
    pub fn new(
        config: &Arc<MessageConfig>,
        number: u64,
        random: u64,
        mut routes: Vec<Route>,
    ) -> Self {
        routes.resize(2 * usize::from(config.paths), NO_ROUTE);
        for route in &mut routes {
            route.is_found = false;
        }
        Connection {
            sender: MessageSender::new(config, random),
            receiver: MessageReceiver::new(config),
            routes,
            shapes: Shapes::default(),
            number,
            at_puller: None,
        }
    }

    /// Memory of a new connection with this number of paths, bytes.
    pub fn bytes(paths: u16, balancing: LoadBalancing) -> u64 {
        let paths = usize::from(paths);
        let of_balancer = match balancing.walks() {
            true => block(paths),
            false => 0,
        };
        size_of::<Connection>() as u64 + block_of::<Route>(2 * paths) + of_balancer
    }

    /// Prefetches the fields that a data packet needs.
    #[inline]
    pub fn prefetch_receiver(&self) {
        prefetch(&self.receiver);
        prefetch(&self.routes);
    }

    /// Prefetches a route and the receiver's packet state, once the fields are in the cache.
    #[inline]
    pub fn prefetch_route(&self, entropy: u16, way: Way) {
        self.receiver.prefetch_packets();
        if let Some(route) = self.routes.get(2 * usize::from(entropy) + way as usize) {
            prefetch(route);
        }
    }

    /// Route, if already computed.
    #[inline]
    pub fn known_route(&self, entropy: u16, way: Way) -> Option<u32> {
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
        self.shapes = Shapes::default();
    }
}
