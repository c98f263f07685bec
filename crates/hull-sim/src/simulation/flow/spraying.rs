//! A stream whose packets take several paths: the entropy value of the next packet, and a route per value,
//! computed when the first packet takes it. Acknowledgments keep one path. Times are ps.

use hull_core::entropy::{LoadBalance, LoadBalancer};

use super::path_routes::{NO_ROUTE, Route, Shapes};
use crate::memory::block_of;
use crate::scenario::Spray;
use crate::simulation::hash::mix;

/// Paths of a stream in addition to its sender and receiver.
#[derive(Clone, Debug)]
pub struct Spraying {
    balancer: LoadBalancer,
    random: u64,
    /// Number of values chosen so far.
    chosen: u64,
    /// Routes of the entropy values.
    pub routes: Vec<Route>,
    /// Routes in use.
    pub shapes: Shapes,
    /// Number of the routes in the order of their computation; with the seed it determines them.
    pub number: u64,
}

impl Spraying {
    /// Creates the state of a flow that has sent nothing; `random` holds 64 random bits.
    pub fn new(spray: &Spray, random: u64) -> Self {
        Spraying {
            balancer: spray.start(random),
            random,
            chosen: 0,
            routes: vec![NO_ROUTE; usize::from(spray.paths)],
            shapes: Shapes::default(),
            number: 0,
        }
    }

    /// Begins another flow, whose routes may have the places of the last one's.
    pub fn begin(&mut self, spray: &Spray, random: u64) {
        let routes = std::mem::take(&mut self.routes);
        *self = Spraying {
            routes,
            ..Spraying::new(spray, random)
        };
        self.routes.resize(usize::from(spray.paths), NO_ROUTE);
        (self.routes.iter_mut()).for_each(|route| route.is_found = false);
    }

    /// Discards the routes after a change of the network. Packets in flight keep theirs.
    pub fn forget_routes(&mut self) {
        self.routes.fill(NO_ROUTE);
        self.shapes = Shapes::default();
    }

    /// Chooses the entropy value of the next packet.
    pub fn next_entropy(&mut self, now_ps: u64) -> u16 {
        self.chosen += 1;
        let random = mix(self.random ^ mix(self.chosen));
        self.balancer.next_ev(random, now_ps)
    }

    /// Memory of a flow's paths, bytes.
    pub fn bytes(spray: &Spray) -> u64 {
        size_of::<Spraying>() as u64 + block_of::<Route>(usize::from(spray.paths))
    }
}
