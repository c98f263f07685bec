//! Paced flows: the times of their segments, and the feedback of switches.
//!
//! RCP's rate travels with data and ACKs (`in_band`). A QCN notice travels by itself from the switch to
//! the sender. It is of the first class and small, so it encounters no queue:
//! it takes the time of a 64-byte frame back over the links that the packet came by. It is not a packet
//! of the run: it uses no capacity and is never lost. Times are ps.

use super::clock::Clock;
use super::endpoints::Endpoints;
use super::flows::FlowTable;
use super::limiters::Share;
use crate::engine::Kind;
use crate::network::rules::Notice;
use crate::network::{Hop, Network, PathRate};
use crate::transport::{CongestionControl, Pace, Pacing, Segment, Start};

/// Size of a notice on the wire, bytes: Ethernet's smallest frame.
const NOTICE_BYTES: u16 = 64;

/// State of a paced flow in addition to its sender and receiver.
#[derive(Clone, Debug)]
pub struct Paced {
    /// Time of the next segment.
    pacing: Pacing,
    /// The flow's part of a shared rate limiter, which then has the time of the next segment.
    pub(super) share: Option<Share>,
    /// Number of data segments sent, for windows with a pace.
    sent: u32,
    /// Rate offered to the last data, at the receiver.
    pub(super) offered: Option<PathRate>,
    /// Notices in flight with their arrival times, ps; the next one is last.
    notices: Vec<(u64, Notice)>,
}

impl Paced {
    /// Creates the state of a flow that was never open.
    pub fn new() -> Self {
        Paced {
            pacing: Pacing::new(),
            share: None,
            sent: 0,
            offered: None,
            notices: Vec::new(),
        }
    }

    fn reset(&mut self, pace: Pace) {
        self.pacing.reset(pace);
        self.share = None;
        self.sent = 0;
        self.offered = None;
        self.notices.clear();
    }
}

impl Endpoints {
    /// Starts the sender of a new flow.
    pub(super) fn start_sender(&mut self, slot: u32, now_ps: u64, network: &Network) {
        self.table.forget_answer(slot);
        let flow = &self.table.flows[slot as usize];
        let host = flow.src as usize;
        let link = &network.ports[self.hosts.ports[host] as usize];
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
    pub(super) fn next_paced(&mut self, slot: u32, clock: &mut Clock) -> Option<Segment> {
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

impl FlowTable {
    /// Whether the event of a paced flow is due; otherwise a change of the flow's rate has
    /// postponed it or an earlier event has replaced it.
    pub(super) fn pace_is_due(&mut self, slot: u32, now_ps: u64) -> bool {
        let at = self.place(slot);
        let pacing = &mut self.paced[at].pacing;
        let is_due = pacing.event_ps == now_ps;
        if is_due {
            pacing.event_ps = u64::MAX;
        }
        is_due
    }

    /// Adjusts the gap after a possible change of the flow's rate.
    pub(super) fn adjust_pace(&mut self, slot: u32, now_ps: u64) {
        if self.template(slot).paces_window {
            return; // a gap that has begun stays
        }
        let at = self.place(slot);
        let control = self.senders[at].controller();
        if control.adjusts_gap() {
            let pacing = &mut self.paced[at].pacing;
            pacing.adjust(now_ps, control.pace());
        }
    }

    /// Sends the notice of a port's rules after a packet of `flow` was offered to the port. `hop`
    /// is the place after the port in the packet's route.
    #[inline(never)]
    pub(super) fn send_notice(
        &mut self,
        flow: u32,
        hop: u32,
        notice: Notice,
        clock: &mut Clock,
        network: &Network,
    ) {
        if !self.has_pace(flow) {
            return; // It is not read there.
        }
        let mut at_ps = clock.now_ps;
        for passed in self.flows[flow as usize].out..hop - 1 {
            if let Hop::Port(port) = network.hop(passed) {
                // The two directions of a link are neighbours.
                at_ps += network.ports[port ^ 1].transit_ps(NOTICE_BYTES);
            }
        }
        let at = self.place(flow);
        let notices = &mut self.paced[at].notices;
        let place = notices.partition_point(|&(other, _)| other > at_ps);
        notices.insert(place, (at_ps, notice));
        clock.schedule(at_ps, Kind::Notice, flow as usize);
    }

    /// Processes the notices that have arrived at a sender.
    pub(super) fn take_notices(&mut self, slot: u32, now_ps: u64) {
        let at = self.place(slot);
        while let Some(&(at_ps, notice)) = self.paced[at].notices.last()
            && at_ps <= now_ps
        {
            self.paced[at].notices.pop();
            if !self.limit(slot, now_ps, notice) {
                self.senders[at].on_notice(now_ps, notice);
            }
        }
        self.adjust_pace(slot, now_ps);
    }
}
