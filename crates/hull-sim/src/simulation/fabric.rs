//! The network of a run: links that fail and recover, and ports that select among their classes.

use std::sync::Arc;

use super::Locked;
use super::clock::Clock;
use crate::engine::{Entity, Kind};
use crate::network::{Network, Packet};
use crate::topology::{Change, Graph, Kind as NodeKind, Routes};

/// Network and its changes.
#[derive(Debug)]
pub struct Fabric {
    pub graph: Arc<Graph>,
    pub routes: Routes,
    pub network: Network,
    /// Number of packets carried, counted at each link.
    pub packet_hops: u64,
    /// Tiers that ports between switches and to hosts connect, in the order of a path.
    pub tiers: Vec<(u8, u8)>,
    /// Link failures and repairs.
    pub changes: Vec<Change>,
    pub failed_links: Vec<bool>,
}

impl Fabric {
    /// Selects the next packet of a `Queued` port. Returns it with its wait, ps, unless
    /// all were dropped.
    pub fn transmit_next(&mut self, port: usize, clock: &mut Clock) -> Option<(Packet, u64)> {
        let selected = self.network.transmit_next(clock.now_ps, port);
        if let Some((at_ps, packet_ref)) = selected.arrival {
            clock.schedule_arrival(at_ps, port, packet_ref);
        }
        if let Some(at_ps) = selected.again_ps {
            clock.schedule(at_ps, Kind::Transmit, port);
        }
        self.schedule_pauses(clock);
        selected.packet
    }

    /// Schedules the events of pauses that packets have caused.
    #[inline]
    pub fn schedule_pauses(&mut self, clock: &mut Clock) {
        while let Some(at_ps) = self.network.next_pause_wake() {
            clock.schedule(at_ps, Kind::Pause, 0);
        }
    }

    /// Serves pauses that begin, end or are refreshed now. Returns hosts' ports of which a pause has ended.
    pub fn serve_pauses(&mut self, clock: &mut Clock) -> Vec<usize> {
        let now_ps = clock.now_ps;
        let mut resumed = Vec::new();
        self.network.serve_pauses(now_ps, |port, next_ps| {
            if let Some(at_ps) = next_ps {
                clock.schedule(at_ps, Kind::Transmit, port);
            }
            resumed.push(port);
        });
        self.schedule_pauses(clock);
        resumed.retain(|&port| self.is_of_host(port));
        resumed
    }

    /// Ports that wait for each other for ever.
    pub fn locked(&self) -> Option<Locked> {
        let deadlock = self.network.deadlock()?;
        let name = |&port: &u32| self.graph.port_name(port as usize);
        Some(Locked {
            since_ps: deadlock.since_ps,
            class: deadlock.class,
            cycle: deadlock.cycle.iter().map(name).collect(),
            bytes: deadlock.bytes,
        })
    }

    /// Number of the host that sends through this port.
    pub fn host_at(&self, port: usize) -> usize {
        let hosts = self.graph.hosts();
        hosts.partition_point(|&node| node < self.graph.port_owner(port))
    }

    /// Whether a host sends through this port.
    pub fn is_of_host(&self, port: usize) -> bool {
        self.graph.nodes[self.graph.port_owner(port)].kind == NodeKind::Host
    }

    /// Ports whose link has failed.
    pub fn failed_ports(&self) -> impl Iterator<Item = usize> {
        let failed = self.failed_links.iter().enumerate();
        failed
            .filter_map(|(link, &is_down)| is_down.then_some([2 * link, 2 * link + 1]))
            .flatten()
    }

    /// Admits packets that a port holds back.
    pub fn let_in(&mut self, port: usize, clock: &mut Clock) {
        let now_ps = clock.now_ps;
        let arrive = |at_ps, packet_ref| clock.schedule_arrival(at_ps, port, packet_ref);
        let again_ps = self.network.let_in(now_ps, port, arrive);
        if let Some(at_ps) = again_ps {
            clock.schedule(at_ps, Kind::Held, port);
        }
    }

    /// Admits all packets that ports hold back, before ports or links change.
    pub fn let_all_in(&mut self, clock: &mut Clock) {
        (self.network)
            .let_all_in(|port, at_ps, packet_ref| clock.schedule_arrival(at_ps, port, packet_ref));
    }

    /// Fails links, with all packets on them, or restores links, and recomputes the routes at once.
    /// Packets in flight keep their route; those that reach a failed link are lost. Returns the
    /// packets that are lost now.
    pub fn change_links(&mut self, index: usize, clock: &mut Clock) -> Vec<Packet> {
        let change = std::mem::take(&mut self.changes[index]);
        let mut lost = Vec::new();
        for link in change.failed {
            self.failed_links[link] = true;
            for port in [2 * link, 2 * link + 1] {
                // Nothing arrives or is sent on this link any more.
                let on_link = clock.events.cancel(Entity::new(Kind::Link, port));
                clock.events.cancel(Entity::new(Kind::Transmit, port));
                lost.extend(self.network.fail(clock.now_ps, port, &on_link));
            }
        }
        for link in change.restored {
            self.failed_links[link] = false;
            for port in [2 * link, 2 * link + 1] {
                self.network.ports[port].repair();
                self.network.repeat_pauses(clock.now_ps, port);
            }
        }
        self.schedule_pauses(clock);
        self.routes = Routes::without(&self.graph, &self.failed_links);
        lost
    }

    /// Reception time of a packet over a host's link, the first one of several, ps.
    pub fn reception_ps(&self, host: usize, wire_bytes: u16) -> u64 {
        let port = Graph::opposite(self.graph.host_port(host));
        self.network.ports[port].serialization_ps(wire_bytes)
    }
}
