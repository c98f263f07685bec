//! Routes and credit of the connections of the message transport.

use super::FlowTable;
use crate::network::Network;
use crate::simulation::flow::connection::Way;
use crate::simulation::hash::mix;
use crate::topology::{Routes, Sending};

impl FlowTable {
    /// Selects an entropy value of a connection by 32 random bits.
    pub fn any_entropy(&self, slot: u32, random: u32) -> u16 {
        let config = self.template(slot).messages();
        let paths = config.map_or(1, |config| u64::from(config.common.paths));
        ((u64::from(random) * paths) >> 32) as u16
    }

    /// Whether a slot holds an open connection with this number at its receiver's host.
    pub fn is_pulled(&self, slot: u32, number: u32) -> bool {
        let connection = self.connection_at(slot);
        self.flows[slot as usize].live
            && connection.is_some_and(|connection| connection.at_puller == Some(number))
    }

    /// First entry of a packet's route.
    pub fn message_route(
        &mut self,
        slot: u32,
        entropy: u16,
        way: Way,
        network: &mut Network,
        routes: &Routes,
    ) -> u32 {
        let longest = self.longest_route;
        let place = self.place(slot);
        let connection = &mut self.connections[place];
        let number = connection.number;
        let route = &mut connection.routes[2 * usize::from(entropy) + way as usize];
        if !route.is_found {
            if route.at == u32::MAX {
                route.at = network.reserve_route(longest);
            }
            route.is_found = true;
            let route_at = route.at;
            let mut sending = self.on_path(slot, number, entropy, way);
            if way == Way::Out {
                sending = self.steered(routes, slot, sending);
            }
            self.find_route(network, routes, route_at, &sending);
            if way == Way::Out
                && let Some(connection) = self.connection(slot)
            {
                connection.shapes.note(route_at, network);
            }
            return route_at;
        }
        route.at
    }

    /// Packets of a flow with this entropy value, whose routes have a number.
    pub(super) fn on_path(&self, slot: u32, number: u64, entropy: u16, way: Way) -> Sending {
        let flow = &self.flows[slot as usize];
        let number = mix(2 * number + way as u64);
        Sending {
            ends: match way {
                Way::Out => (flow.src, flow.dst),
                Way::Back => (flow.dst, flow.src),
            },
            receiver: flow.dst,
            path: entropy,
            flow_hash: mix(self.seed ^ number),
            path_hash: mix(self.seed ^ number.wrapping_add(u64::from(entropy) + 1)),
        }
    }
}
