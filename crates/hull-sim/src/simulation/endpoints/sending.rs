//! The start of senders, and the segments that pace and window allow. Times are ps.

use super::Endpoints;
use crate::engine::Kind;
use crate::network::Network;
use crate::simulation::clock::Clock;
use crate::transport::{CongestionControl, Segment, Start};

impl Endpoints {
    /// Starts the sender of a new flow.
    pub fn start_sender(&mut self, slot: u32, now_ps: u64, network: &Network) {
        self.table.forget_answer(slot);
        let flow = &self.table.flows[slot as usize];
        let host = flow.src as usize;
        let nic = self.hosts.nic(host, || network.first_port(flow.out));
        let link = &network.ports[self.hosts.ports[nic] as usize];
        let start = Start {
            now_ps,
            link_bps: link.rate_bps() as u64,
            flow: flow.number,
        };
        if let Some(connection) = self.table.connection(slot) {
            return connection.sender.start(&start);
        }
        let at = self.table.place(slot);
        self.table.senders[at].start(&start);
        if let Some(paced) = self.table.paced.get_mut(at) {
            paced.reset(self.table.senders[at].controller().pace());
            self.table.join_limiter(slot, &start);
        }
    }

    /// Takes the next segment that a flow's pace and window allow now. If the pace does not,
    /// schedules an event for the time when it does.
    #[inline]
    pub fn next_paced(&mut self, slot: u32, clock: &mut Clock) -> Option<Segment> {
        let at = self.table.place(slot);
        if let Some(limiter) = self.table.limiter_of(slot) {
            return self.next_limited(slot, limiter, clock);
        }
        let (sender, pacing) = (
            &mut self.table.senders[at],
            &mut self.table.paced[at].pacing,
        );
        let next_ps = pacing.next_ps(|| sender.pipe());
        if next_ps > clock.now_ps {
            if next_ps < pacing.event_ps {
                pacing.event_ps = next_ps;
                clock.schedule(next_ps, Kind::Pace, slot as usize);
            }
            return None;
        }
        if self.table.template(slot).paces_window {
            return self.next_of_window(slot, clock.now_ps);
        }
        if self.table.senders[at].controller().is_paced_by_host() && !self.has_room_at_host(slot) {
            return None;
        }
        let (sender, pacing) = (
            &mut self.table.senders[at],
            &mut self.table.paced[at].pacing,
        );
        let segment = sender.poll(clock.now_ps)?;
        let wire_bytes = segment.bytes + self.header_bytes;
        let pace = sender.paced(clock.now_ps, wire_bytes);
        pacing.sent(clock.now_ps, wire_bytes, pace);
        Some(segment)
    }

    /// Takes the next piece of a window that has a pace. Without a round trip, and for the first ten
    /// segments, there is no gap (Linux).
    fn next_of_window(&mut self, slot: u32, now_ps: u64) -> Option<Segment> {
        const UNPACED: u32 = 10;
        if !self.has_room_at_host(slot) {
            return None;
        }
        let (at, mss) = (self.table.place(slot), u32::from(self.mss));
        let (sender, paced) = (&mut self.table.senders[at], &mut self.table.paced[at]);
        let rate_bps = sender.pacing_bps();
        let most = match (self.hosts.offload_bytes, rate_bps) {
            (0, _) | (_, None) => self.hosts.offload_bytes,
            // A millisecond of the rate, two segments at least (tcp_tso_autosize).
            (most, Some(bps)) => (bps >> 13).clamp(
                2 * u64::from(self.mss),
                u64::from(most).max(2 * u64::from(self.mss)),
            ) as u16,
        };
        let segment = sender.poll_burst(now_ps, most)?;
        let segments = u32::from(segment.bytes).div_ceil(mss).max(1);
        let wire_bytes = u32::from(segment.bytes) + segments * u32::from(self.header_bytes);
        if let Some(rate_bps) = rate_bps
            && paced.sent >= UNPACED
        {
            paced.pacing.sent_of_window(now_ps, wire_bytes, rate_bps);
        }
        paced.sent = paced.sent.saturating_add(segments);
        Some(segment)
    }
}
