//! Flows of other parts whose receiver is here.

use super::Endpoints;
use crate::network::Network;
use crate::simulation::flow::halves::Opening;

impl Endpoints {
    /// Adds the receiver's half of a flow of another part.
    pub fn adopt(&mut self, opening: &Opening, network: &mut Network) {
        self.table.adopt(opening, network);
        (self.hosts).forget_flow(opening.ends, opening.slot, network);
    }
}
