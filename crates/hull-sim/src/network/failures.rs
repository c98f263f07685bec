//! Failed links of a network: what is on a link or waits for it is lost with it, and what a flow sends
//! without a path leads nowhere. Both are counted apart from other drops. Times are ps.

use super::Network;
use super::packet::Packet;
use crate::engine::PacketRef;

impl Network {
    /// Fails the link of a port. Returns the packets from the queue and the wire. `on_link` holds
    /// the reference of the cancelled events.
    pub fn fail(&mut self, now_ps: u64, port: usize, on_link: &[PacketRef]) -> Vec<Packet> {
        let places = on_link.iter().map(|packet_ref| packet_ref.packet);
        let mut lost: Vec<Packet> = places.map(|at| self.in_flight.remove(at)).collect();
        lost.extend(self.ports[port].fail(now_ps, &mut self.options));
        self.ports[port].drops += lost.len() as u64;
        self.count_failure_drops(port, lost.len() as u64);
        if let Some(&Some(place)) = self.places.get(port) {
            let memory = &mut self.memories[place.memory as usize];
            memory.clear(now_ps, place.queue as usize, self.classes);
            self.note_departures(now_ps, place.memory);
        }
        self.end_pauses(now_ps, port);
        lost
    }

    /// Port that drops all packets, for flows without a path.
    pub fn nowhere(&self) -> u32 {
        (self.ports.len() - 1) as u32
    }

    pub(super) fn count_failure_drops(&mut self, port: usize, packets: u64) {
        if port != self.nowhere() as usize && packets > 0 {
            *self.failure_drops.entry(port).or_default() += packets;
        }
    }

    /// Number of the port's dropped packets that were lost because its link had failed.
    pub fn failure_drops(&self, port: usize) -> u64 {
        self.failure_drops.get(&port).copied().unwrap_or(0)
    }

    /// Number of packets dropped because their flow had no path.
    pub fn drops_without_route(&self) -> u64 {
        self.ports.last().map_or(0, |nowhere| nowhere.drops)
    }
}
