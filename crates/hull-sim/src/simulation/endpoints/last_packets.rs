//! The last packets of messages: where each waits on its way, and when it arrives. A message is complete
//! with its last packet, or later if an earlier one was lost or is slower. Times are ps.
//!
//! The waits travel with the packet's options. They end at the receiver, before interrupts and stack,
//! and are kept there until the message is complete.

use super::Endpoints;
use crate::network::{FIRST_TIER, OptionTable, PLACES, Packet, SENDER, Waits, flags};
use crate::simulation::fabric::Fabric;
use crate::simulation::flow::last_packets::Arrival;
use crate::transport::sequence;

impl OptionTable {
    /// Records the waits of a packet from now on.
    pub fn follow_last(&mut self, packet: &mut Packet, now_ps: u64) {
        packet.flags |= flags::LAST;
        packet.options = self.follow(packet.options, Waits::of_sent(now_ps));
    }

    /// Ends a stage of a last packet in its host: it has been at `place` since the last one.
    pub fn leave_stage(&mut self, packet: &Packet, place: usize, now_ps: u64) {
        if packet.is_last()
            && let Some(waits) = self.waits_mut(packet.options)
        {
            waits.leave(place, now_ps);
        }
    }
}

impl Fabric {
    /// Records that a last packet has waited at a port.
    pub fn note_wait(&mut self, packet: &Packet, port: usize, wait_ps: u64) {
        if wait_ps > 0
            && let Some(place) = self.place_of(port)
            && let Some(waits) = self.network.options.waits_mut(packet.options)
        {
            waits.add(place, wait_ps);
        }
    }

    /// Place of waits at a port; `None` for flows without a route.
    fn place_of(&self, port: usize) -> Option<usize> {
        if port >= self.graph.ports() {
            return None;
        }
        let of = self.graph.tiers_of(port);
        let tier = self.tiers.iter().position(|&tier| tier == of);
        Some(tier.map_or(SENDER, |tier| (FIRST_TIER + tier).min(PLACES - 1)))
    }
}

impl Endpoints {
    /// Follows a packet that ends at this position of its flow's data, if a message ends there.
    #[inline(always)]
    pub fn follow_if_last(
        &self,
        packet: &mut Packet,
        position: u64,
        now_ps: u64,
        options: &mut OptionTable,
    ) {
        if self.table.flows[packet.flow as usize].ends_at(position) {
            options.follow_last(packet, now_ps);
        }
    }

    /// Takes a last packet that has arrived at its host out of the network.
    #[inline(never)]
    pub fn take_last(&mut self, packet: &mut Packet, now_ps: u64, options: &mut OptionTable) {
        let (waits, entry) = options.arrive(packet.options);
        packet.options = entry;
        let slot = packet.flow;
        let Some(end) = self.end_of(packet) else {
            return;
        };
        if let Some(waits) = waits
            && self.table.flows[slot as usize].ends_message(end)
        {
            let arrival = Arrival {
                waits,
                at_ps: now_ps,
                received_ps: None,
            };
            self.table.last_packets.insert((slot, end), arrival);
        }
    }

    /// Records that the transport has received a last packet.
    #[inline(never)]
    pub fn receive_last(&mut self, packet: &Packet, now_ps: u64) {
        if let Some(end) = self.end_of(packet)
            && let Some(arrival) = self.table.last_packets.get_mut((packet.flow, end))
        {
            arrival.received_ps.get_or_insert(now_ps);
        }
    }

    /// End of the message of a last packet, modulo 2^32; `None` if it was trimmed.
    fn end_of(&mut self, packet: &Packet) -> Option<u32> {
        if packet.has(flags::TRIMMED) {
            return None;
        }
        if let Some(connection) = self.table.connection(packet.flow) {
            return connection
                .receiver
                .end_after(packet.seq)
                .map(sequence::wrap);
        }
        let payload = u32::from(packet.wire_bytes - self.header_bytes);
        Some(packet.seq.wrapping_add(payload))
    }
}
