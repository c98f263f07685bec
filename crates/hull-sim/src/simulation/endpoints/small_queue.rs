//! Flows that wait until bytes of theirs have left the queue of their host (TCP small queues).

use super::Endpoints;
use crate::network::{Packet, flags};

impl Endpoints {
    /// Whether a flow may add to the queue of its host. If not, it waits for it.
    #[inline]
    pub fn has_room_at_host(&mut self, slot: u32) -> bool {
        let Some(limit) = self.table.template(slot).small_queue else {
            return true;
        };
        let at = self.table.place(slot);
        let flow = &mut self.table.flows[slot as usize];
        let sender = &mut self.table.senders[at];
        let link_bps = self.hosts.rates_bps[flow.src as usize];
        let has_room = limit.has_room(flow.at_host_bytes, sender, link_bps);
        flow.waits_for_host = !has_room;
        if !has_room {
            sender.note_host_limit();
        }
        has_room
    }

    /// Counts a packet that enters a host.
    #[inline]
    pub fn enter_host(&mut self, packet: &Packet) {
        if self.limits_queues && packet.has(flags::DATA) {
            let flow = &mut self.table.flows[packet.flow as usize];
            flow.at_host_bytes += u32::from(packet.wire_bytes);
        }
    }

    /// Counts a packet that leaves the queue of a host. Returns true if its flow waits for that.
    #[inline]
    pub fn leave_host(&mut self, packet: &Packet) -> bool {
        if !packet.has(flags::DATA) {
            return false;
        }
        let bytes = u32::from(packet.wire_bytes);
        let flow = &mut self.table.flows[packet.flow as usize];
        flow.at_host_bytes = flow.at_host_bytes.saturating_sub(bytes);
        flow.waits_for_host
    }

    /// Forgets what flows had in the queue of a port that has failed.
    pub fn forget_host_queue(&mut self, port: usize) {
        for flow in &mut self.table.flows {
            // A flow may have been at another NIC of its host before the last change of links.
            let mut nics = self.hosts.nics_of(flow.src as usize);
            if nics.any(|nic| self.hosts.ports[nic] as usize == port) {
                flow.at_host_bytes = 0;
            }
        }
    }
}
