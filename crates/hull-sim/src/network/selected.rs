//! The selection of the next packet of a `Queued` port. Times are ps.

use super::{Network, Packet, Verdict};
use crate::engine::PacketRef;

/// Result of a selection.
#[derive(Clone, Copy, Debug)]
pub struct Selected {
    /// Packet that leaves its queue, and the time from its arrival to its transmission, ps; none if
    /// all were dropped.
    pub packet: Option<(Packet, u64)>,
    /// Arrival time (ps) and reference of the packet, unless it goes to another part of the network.
    pub arrival: Option<(u64, PacketRef)>,
    /// Time at which the port must be called again, ps.
    pub again_ps: Option<u64>,
}

impl Network {
    /// Selects the next packet of a `Queued` port; see [`Port::transmit_next`].
    pub fn transmit_next(&mut self, now_ps: u64, port: usize) -> Selected {
        let link = &mut self.ports[port];
        let (sent, again_ps) = if link.is_in_turn() {
            link.transmit_in_turn(now_ps)
        } else {
            link.look_at_sent(now_ps, &mut self.in_flight);
            link.transmit_next(now_ps, &mut self.options)
        };
        let mut selected = Selected {
            packet: None,
            arrival: None,
            again_ps,
        };
        let Some((packet, verdict, arrived_ps)) = sent else {
            return selected;
        };
        selected.packet = Some((packet, now_ps - arrived_ps));
        let Verdict::Accepted {
            start_ps,
            arrival_ps,
        } = verdict
        else {
            return selected;
        };
        selected.packet = Some((packet, start_ps - arrived_ps));
        if let Some(&Some(shared)) = self.places.get(port) {
            let leaves_ps = self.leaves_ps(port, start_ps, packet.wire_bytes);
            let queue = shared.queue as usize + packet.class().min(self.classes - 1);
            let memory = &mut self.memories[shared.memory as usize];
            memory.release_at(leaves_ps, queue, u32::from(packet.wire_bytes));
            self.note_departures(now_ps, shared.memory);
        }
        let place = self.in_flight.insert(packet);
        self.ports[port].note_sent(arrival_ps, place);
        if self.hands_over(arrival_ps, port, place) {
            return selected;
        }
        selected.arrival = Some((arrival_ps, self.packet_ref(port, place)));
        selected
    }
}
