//! TCP small queues: a flow with enough bytes in the queue of its host waits until some have left (Linux:
//! net/ipv4/tcp_output.c, `tcp_small_queue_check`). The packet on the wire has left. Linux counts the
//! memory of its buffers, which exceeds these bytes. The pacing rate counts up to the rate of the link:
//! Linux measures the round trip at each acknowledgment, a sender here once per round trip, so the rate
//! would be far too high while the queue grows. Times are ps.

use super::endpoints::Endpoints;
use crate::network::{Packet, flags};
use crate::scenario::Scenario;
use crate::transport::Sender;

/// Limit of the bytes of a flow in the queue of its host.
#[derive(Clone, Copy, Debug)]
pub struct SmallQueue {
    /// Smallest limit, bytes.
    least: u32,
    /// Largest limit, bytes.
    most: u32,
    /// The limit in between, as a time of the flow's pacing rate, ps.
    time_ps: u64,
}

impl SmallQueue {
    /// Creates the limit of a transport's flows, if the scenario has one. `offload_bytes` is the largest
    /// piece for the NIC, 0 without offload.
    pub fn of(
        scenario: &Scenario,
        settings: &crate::scenario::Transport,
        offload_bytes: u16,
    ) -> Option<SmallQueue> {
        let limits = &settings.small_queues;
        if !limits.are_on(scenario.host.queue()) {
            return None;
        }
        let piece = u64::from(offload_bytes).max(settings.mtu.0);
        let most = limits.bytes.0.max(settings.mtu.0) as u32;
        Some(SmallQueue {
            least: (u64::from(limits.segments) * piece).min(u64::from(most)) as u32,
            most,
            time_ps: limits.time.0,
        })
    }

    /// Whether a transport of the scenario is limited.
    pub fn limits_any(scenario: &Scenario) -> bool {
        let mut transports = scenario.all_transports();
        transports.any(|one| SmallQueue::of(scenario, one, 0).is_some())
    }

    /// Whether a flow with `bytes` in the queue may add to it.
    #[inline]
    fn has_room(&self, bytes: u32, sender: &Sender, link_bps: u64) -> bool {
        bytes < self.least || (bytes < self.most && bytes < self.paced_bytes(sender, link_bps))
    }

    /// Bytes that the flow's pacing rate sends in the time of the limit.
    fn paced_bytes(&self, sender: &Sender, link_bps: u64) -> u32 {
        let rate_bps = sender.pacing_bps().unwrap_or(u64::MAX).min(link_bps);
        let bytes = u128::from(rate_bps) * u128::from(self.time_ps) / 8_000_000_000_000;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}

impl Endpoints {
    /// Whether a flow may add to the queue of its host. If not, it waits for it.
    #[inline]
    pub(super) fn has_room_at_host(&mut self, slot: u32) -> bool {
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
    pub(super) fn enter_host(&mut self, packet: &Packet) {
        if self.limits_queues && packet.has(flags::DATA) {
            let flow = &mut self.table.flows[packet.flow as usize];
            flow.at_host_bytes += u32::from(packet.wire_bytes);
        }
    }

    /// Counts a packet that leaves the queue of a host. Returns true if its flow waits for that.
    #[inline]
    pub(super) fn leave_host(&mut self, packet: &Packet) -> bool {
        if !packet.has(flags::DATA) {
            return false;
        }
        let bytes = u32::from(packet.wire_bytes);
        let flow = &mut self.table.flows[packet.flow as usize];
        flow.at_host_bytes = flow.at_host_bytes.saturating_sub(bytes);
        flow.waits_for_host
    }

    /// Forgets what flows had in the queue of a port that has failed.
    pub(super) fn forget_host_queue(&mut self, port: usize) {
        for flow in &mut self.table.flows {
            // A flow may have been at another NIC of its host before the last change of links.
            let mut nics = self.hosts.nics_of(flow.src as usize);
            if nics.any(|nic| self.hosts.ports[nic] as usize == port) {
                flow.at_host_bytes = 0;
            }
        }
    }
}
