//! TCP small queues: a flow with enough bytes in the queue of its host waits until some have left (Linux:
//! net/ipv4/tcp_output.c, `tcp_small_queue_check`). The packet on the wire has left. Linux counts the
//! memory of its buffers, which exceeds these bytes. The pacing rate counts up to the rate of the link:
//! Linux measures the round trip at each acknowledgment, a sender here once per round trip, so the rate
//! would be far too high while the queue grows. Times are ps.

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
    pub fn has_room(&self, bytes: u32, sender: &Sender, link_bps: u64) -> bool {
        bytes < self.least || (bytes < self.most && bytes < self.paced_bytes(sender, link_bps))
    }

    /// Bytes that the flow's pacing rate sends in the time of the limit.
    fn paced_bytes(&self, sender: &Sender, link_bps: u64) -> u32 {
        let rate_bps = sender.pacing_bps().unwrap_or(u64::MAX).min(link_bps);
        let bytes = u128::from(rate_bps) * u128::from(self.time_ps) / 8_000_000_000_000;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }
}
