//! The routes of a flow with a path per entropy value.

use crate::network::Network;

/// Route in the network's list of hops; it is computed when the first packet takes it.
#[derive(Clone, Copy, Debug)]
pub struct Route {
    pub at: u32,
    pub is_found: bool,
}

/// Route that has no place yet.
pub const NO_ROUTE: Route = Route {
    at: u32::MAX,
    is_found: false,
};

/// Routes out in use.
#[derive(Clone, Debug, Default)]
pub struct Shapes {
    /// One for each sequence of times of their links.
    pub routes: Vec<u32>,
    /// Whether they differ.
    pub spread: bool,
}

impl Shapes {
    /// Records a new route out.
    pub fn note(&mut self, route: u32, network: &Network) {
        let like = |&shape: &u32| network.have_equal_times(shape, route);
        if let Some(&shape) = self.routes.first() {
            self.spread |= network.whole_route(shape) != network.whole_route(route);
        }
        if !self.routes.iter().any(like) {
            self.routes.push(route);
        }
    }
}
