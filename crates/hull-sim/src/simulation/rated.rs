//! Rate-based sources in a run: when they send, and how the rate that a path offers to a flow (RCP,
//! thesis 5.5.3) comes back to its source. Data carries the least rate on its way, from that of the
//! source's own link down, and the source's smoothed round trip; the receiver keeps the rate that came last and
//! puts it on its ACKs. Times are ps, on packets ns, rates on packets kbit/s.

use super::Simulation;
use crate::engine::{Entity, Kind};
use crate::network::{Packet, flags};
use crate::transport::PacedSource;

/// What a flow with a rate-based source has besides its TCP.
#[derive(Clone, Debug)]
pub struct Rated {
    /// When it may send.
    pub source: PacedSource,
    /// Rate of the source's link.
    pub link_kbps: u32,
    /// The rate that the last data came with.
    pub offered_kbps: u32,
}

impl Simulation {
    /// Sends what a flow's rate and window allow.
    pub(super) fn pump_rated(&mut self, slot: u32) {
        let at = slot as usize;
        loop {
            let (sender, rated) = (&mut self.table.senders[at], &mut self.table.rated[at]);
            let next_ps = rated.source.next_ps(sender.pipe());
            if next_ps > self.now_ps {
                if next_ps < rated.source.event_ps {
                    rated.source.event_ps = next_ps;
                    self.events.push(next_ps, Entity::new(Kind::Pace, at));
                }
                return;
            }
            let Some(segment) = sender.poll(self.now_ps) else {
                return;
            };
            let wire_bytes = u64::from(segment.bytes) + u64::from(self.header_bytes);
            rated.source.sent(self.now_ps, wire_bytes);
            self.send_segment(slot, &segment, false);
        }
    }

    /// The event of a source: due, put off by a change of its rate, or replaced by an earlier one.
    pub(super) fn serve_pace(&mut self, at: usize) {
        let source = &mut self.table.rated[at].source;
        if source.event_ps != self.now_ps {
            return;
        }
        source.event_ps = u64::MAX;
        self.pump(at as u32);
    }

    /// Data leaves a rate-based source.
    pub(super) fn ask_rate(&self, packet: &mut Packet) {
        packet.flags |= flags::RATED;
        packet.ack = self.table.rated[packet.flow as usize].link_kbps;
        let srtt_ps = self.table.senders[packet.flow as usize].srtt_ps();
        packet.sack = u32::try_from(srtt_ps / 1000).unwrap_or(u32::MAX);
    }

    /// Data arrives with the rate of its path.
    pub(super) fn note_rate(&mut self, packet: &Packet) {
        self.table.rated[packet.flow as usize].offered_kbps = packet.ack;
    }

    /// An ACK leaves for a rate-based source.
    pub(super) fn return_rate(&self, packet: &mut Packet) {
        packet.flags |= flags::RATED;
        packet.seq = self.table.rated[packet.flow as usize].offered_kbps;
    }

    /// An ACK comes back with a rate.
    pub(super) fn take_rate(&mut self, packet: &Packet) {
        let source = &mut self.table.rated[packet.flow as usize].source;
        source.set_rate(self.now_ps, u64::from(packet.seq) * 1000);
    }
}
