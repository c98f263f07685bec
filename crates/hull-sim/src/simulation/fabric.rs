//! The network of a run: links that fail and recover, and ports that select among their classes.

use super::clock::Clock;
use crate::engine::{Entity, Kind};
use crate::network::{Network, Packet};
use crate::topology::{Change, Graph, Notice, Routes};

/// The network, and what changes in it.
#[derive(Debug)]
pub struct Fabric {
    pub graph: Graph,
    pub routes: Routes,
    pub network: Network,
    /// When links fail and work again.
    pub changes: Vec<Change>,
    pub failed_links: Vec<bool>,
    /// When losses become known and how long the run goes on when all is done.
    pub notice: Notice,
}

impl Fabric {
    /// A strict-priority port chooses its next packet.
    pub fn transmit_next(&mut self, port: usize, clock: &mut Clock) {
        let (sent, again_ps) = self.network.transmit_next(clock.now_ps, port);
        if let Some((at_ps, cargo)) = sent {
            clock.schedule_arrival(at_ps, port, cargo);
        }
        if let Some(at_ps) = again_ps {
            clock.schedule(at_ps, Kind::Transmit, port);
        }
    }

    /// Packets that a port holds back come near their turn.
    pub fn let_in(&mut self, port: usize, clock: &mut Clock) {
        let now_ps = clock.now_ps;
        let arrive = |at_ps, cargo| clock.schedule_arrival(at_ps, port, cargo);
        let again_ps = self.network.let_in(now_ps, port, arrive);
        if let Some(at_ps) = again_ps {
            clock.schedule(at_ps, Kind::Held, port);
        }
    }

    /// Lets everything in that ports hold back, before ports or links change.
    pub fn let_all_in(&mut self, clock: &mut Clock) {
        (self.network).let_all_in(|port, at_ps, cargo| clock.schedule_arrival(at_ps, port, cargo));
    }

    /// Links fail, with all that is on them, or work again; routes are computed again at once. Packets
    /// under way keep their route: those that come to a link that is down are lost. Returns those that
    /// are lost now.
    pub fn change_links(&mut self, index: usize, clock: &mut Clock) -> Vec<Packet> {
        let change = std::mem::take(&mut self.changes[index]);
        let mut lost = Vec::new();
        for link in change.failed {
            self.failed_links[link] = true;
            for port in [2 * link, 2 * link + 1] {
                // Nothing arrives or is sent there any more.
                let on_link = clock.events.cancel(Entity::new(Kind::Link, port));
                clock.events.cancel(Entity::new(Kind::Transmit, port));
                lost.extend(self.network.fail(clock.now_ps, port, &on_link));
            }
        }
        for link in change.restored {
            self.failed_links[link] = false;
            self.network.ports[2 * link].repair();
            self.network.ports[2 * link + 1].repair();
        }
        self.routes = Routes::without(&self.graph, &self.failed_links);
        lost
    }

    /// How long the bytes of a packet take to come in over a host's link.
    pub fn reception_ps(&self, host: usize, wire_bytes: u16) -> u64 {
        let port = Graph::opposite(self.graph.host_port(host));
        self.network.ports[port].serialization_ps(wire_bytes)
    }
}
