//! Streams whose packets take several paths. Times are ps.

use super::FlowTable;
use crate::network::Network;
use crate::simulation::flow::connection::Way;
use crate::topology::Routes;

impl FlowTable {
    /// Whether the packets of a stream take several paths.
    #[inline]
    pub fn sprays(&self, slot: u32) -> bool {
        !self.spraying.is_empty() && self.template(slot).spray.is_some()
    }

    /// First entry of the route of the next packet.
    pub fn next_route(
        &mut self,
        slot: u32,
        now_ps: u64,
        network: &mut Network,
        routes: &Routes,
    ) -> u32 {
        let (at, longest) = (self.place(slot), self.longest_route);
        let spraying = &mut self.spraying[at];
        let entropy = spraying.next_entropy(now_ps);
        let number = spraying.number;
        let route = &mut spraying.routes[usize::from(entropy)];
        if route.is_found {
            return route.at;
        }
        route.is_found = true;
        if route.at == u32::MAX {
            route.at = network.reserve_route(longest);
        }
        let place = route.at;
        let sending = self.on_path(slot, number, entropy, Way::Out);
        let sending = self.steered(routes, slot, sending);
        self.find_route(network, routes, place, &sending);
        self.spraying[at].shapes.note(place, network);
        place
    }
}
