//! Prefetching for upcoming events in networks that are too large for the cache.
//!
//! An event leads from its port or host to further memory, one pointer at a time. Each event is
//! therefore processed in stages before it is served, and each stage prefetches the data that the
//! previous one makes known. Prefetching does not affect results.

use super::endpoints::Endpoints;
use super::flow::connection::Way;
use super::flow_table::FlowTable;
use crate::engine::{Entity, EventQueue, Kind, PacketRef};
use crate::network::{Hop, Network, Packet, flags};
use crate::prefetch::prefetch;

/// Number of stages before an event is served.
const STAGES: usize = 5;

/// Number of events between two stages, served while the memory responds.
const STEP: usize = 5;

/// If more events come next, these are left to the stages.
const FEW: u8 = 64;

/// Prefetching of a run: none, for the packets of the next events, or also in stages.
pub(super) const NOT: u8 = 0;
pub(super) const PACKETS: u8 = 1;
pub(super) const STAGED: u8 = 2;

/// Parts of a run that are prefetched.
#[derive(Clone, Copy)]
pub(super) struct Ahead<'a> {
    pub events: &'a EventQueue,
    pub network: &'a Network,
    pub endpoints: &'a Endpoints,
}

impl Ahead<'_> {
    /// Prefetches data for the coming events if the calendar has sorted them, otherwise for the
    /// events of the next bucket. If events are also processed in stages, large buckets are left to
    /// these.
    #[inline(always)]
    pub(super) fn at_turn(&self, in_stages: bool) {
        let events = self.events;
        let most = if in_stages { FEW } else { u8::MAX };
        let coming = events.coming();
        if coming.len() == 0 {
            events.for_each_of_next(most, |entity, packet_ref| self.soon(entity, packet_ref));
        } else {
            events.prefetch_next();
            if !in_stages || coming.len() <= usize::from(most) {
                coming.for_each(|(entity, packet_ref)| self.soon(entity, packet_ref));
            }
        }
        if in_stages && events.ahead(usize::from(FEW)).is_some() {
            for others in 0..=STEP * STAGES {
                if let Some((entity, packet_ref)) = events.ahead(others) {
                    self.stage(0, entity, packet_ref);
                }
            }
        }
    }

    /// Prefetches data for a coming event: packet and next port, the port of a host that will answer
    /// the packet, or the port that admits packets that it holds back.
    #[inline(always)]
    fn soon(&self, entity: Entity, packet_ref: PacketRef) {
        let network = self.network;
        if entity.is_link() {
            network.prefetch(packet_ref, &self.endpoints.hosts.ports);
        } else if entity.kind() == Kind::Held {
            network.ports[entity.index()].prefetch();
        }
    }

    /// Prefetches data for the sorted events that follow.
    #[inline(always)]
    pub(super) fn before_event(&self) {
        for stage in 0..STAGES {
            if let Some((entity, packet_ref)) = self.events.ahead(STEP * (STAGES - stage)) {
                self.stage(stage, entity, packet_ref);
            }
        }
    }

    #[inline(always)]
    fn stage(&self, stage: usize, entity: Entity, packet_ref: PacketRef) {
        if entity.is_link() {
            return self.arrival(stage, packet_ref);
        }
        match entity.kind() {
            Kind::Transmit => self.choice(stage, entity.index()),
            Kind::MessageNic => self.nic(stage, entity.index()),
            _ => {}
        }
    }

    /// Prefetches data for a packet that leaves a link.
    #[inline(always)]
    fn arrival(&self, stage: usize, packet_ref: PacketRef) {
        let network = self.network;
        if stage == 0 {
            return network.prefetch(packet_ref, &self.endpoints.hosts.ports);
        }
        let Hop::Host(host) = Hop::of(packet_ref) else {
            return network.prefetch_behind(stage - 1, packet_ref);
        };
        let packet = network.in_flight.get(packet_ref.packet);
        if stage == 1 {
            network.options.prefetch(packet.options);
        }
        if let (1, Some(nic)) = (stage, self.endpoints.hosts.message_nics.get(host)) {
            nic.prefetch_queues();
        }
        let route = self.endpoints.table.prefetch_arrival(stage, packet);
        if let Some(at) = route {
            network.prefetch_hop(at + 1);
        }
    }

    /// Prefetches data for a `Queued` port that selects a packet.
    #[inline(always)]
    fn choice(&self, stage: usize, port: usize) {
        let network = self.network;
        let port = &network.ports[port];
        match stage {
            0 => port.prefetch(),
            1..4 => port.prefetch_for_choice(stage - 1),
            _ => {
                if let Some(packet) = port.next_packet() {
                    network.prefetch_hop(packet.hop);
                }
            }
        }
    }

    /// Prefetches data for the message transport's NIC that serves a connection.
    #[inline(always)]
    fn nic(&self, stage: usize, host: usize) {
        let hosts = &self.endpoints.hosts;
        let Some(nic) = hosts.message_nics.get(host) else {
            return;
        };
        if stage == 0 {
            return prefetch(nic);
        }
        if stage == 1 {
            nic.prefetch_senders();
            return self.network.ports[hosts.ports[host] as usize].prefetch();
        }
        let table = &self.endpoints.table;
        let Some(slot) = nic.next_sender() else {
            return;
        };
        if stage == 2 {
            return table.prefetch_slot(slot);
        }
        if let Some(connection) = table.connection_at(slot) {
            match stage {
                3 => prefetch(&connection.sender),
                _ => connection.sender.prefetch_sent(),
            }
        }
    }
}

impl FlowTable {
    /// Prefetches data for a packet that arrives at a host. Returns the route of its
    /// acknowledgment, if already known.
    #[inline(always)]
    fn prefetch_arrival(&self, stage: usize, packet: &Packet) -> Option<u32> {
        let (slot, is_data) = (packet.flow, packet.has(flags::DATA));
        let connection = match stage {
            1 => {
                self.prefetch_slot(slot);
                return None;
            }
            _ => {
                self.flows.get(slot as usize)?; // a probe has none
                self.connection_at(slot)?
            }
        };
        match (stage, is_data) {
            (2, true) => connection.prefetch_receiver(),
            (2, false) => prefetch(&connection.sender),
            (3, true) => connection.prefetch_route(packet.ack as u16, Way::Back),
            (3, false) => connection.sender.prefetch_sent(),
            (_, true) => return connection.known_route(packet.ack as u16, Way::Back),
            _ => {}
        }
        None
    }

    /// Prefetches a slot's flow.
    #[inline(always)]
    fn prefetch_slot(&self, slot: u32) {
        if let Some(flow) = self.flows.get(slot as usize) {
            prefetch(flow);
        }
    }
}
