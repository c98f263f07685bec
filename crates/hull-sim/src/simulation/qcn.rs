//! QCN's part of a run: packets leave at the rate of their source's reaction point, and what a
//! congestion point has to say travels back to it.
//!
//! Feedback is of the first class and small, so it meets no queue: it takes the time of a frame of 64
//! bytes over the links that the packet has come by, back. It is no packet of the run: it takes no
//! capacity and is never lost. Times are ps.

use super::Simulation;
use super::rate_source::RateSource;
use crate::engine::{Entity, Kind};
use crate::network::Hop;

/// Bytes of a feedback message on the wire: Ethernet's smallest frame.
const FEEDBACK_BYTES: u16 = 64;

impl Simulation {
    /// A flow is opened: its source starts.
    pub(super) fn open_source(&mut self, slot: u32) {
        let Some(mut config) = self.table.reaction else {
            return;
        };
        let host = self.table.flows[slot as usize].src as usize;
        let link = &self.network.ports[self.hosts.ports[host] as usize];
        config.line_rate_bps = config.line_rate_bps.min(link.rate_bps() as u64);
        let source = RateSource::new(&config, self.now_ps);
        match self.table.sources.get_mut(slot as usize) {
            Some(old) => *old = source,
            None => self.table.sources.push(source),
        }
    }

    /// Sends the flow's next segment, if its rate allows it now, or sees to it that it is looked at when
    /// it does.
    pub(super) fn send_at_rate(&mut self, slot: u32) {
        let at = slot as usize;
        if self.table.sources[at].may_send(self.now_ps) {
            let Some(segment) = self.table.senders[at].poll(self.now_ps) else {
                return;
            };
            let bytes = segment.bytes + self.header_bytes;
            self.table.sources[at].sent(self.now_ps, bytes);
            self.send_segment(slot, &segment, false);
        }
        if let Some(at_ps) = self.table.sources[at].arm() {
            self.events.push(at_ps, Entity::new(Kind::Source, at));
        }
    }

    /// Feedback has arrived, or a source may send.
    pub(super) fn serve_source(&mut self, at: usize) {
        if self.table.sources[at].on_event(self.now_ps) && self.table.flows[at].live {
            self.pump(at as u32);
        }
    }

    /// After a packet of `flow` was offered to `port`: what the congestion point has to say. `hop` is
    /// the place behind the port in the packet's route.
    #[inline]
    pub(super) fn carry_feedback(&mut self, port: usize, flow: u32, hop: u32) {
        if let Some(steps) = self.network.ports[port].take_feedback() {
            self.send_feedback(flow, hop, steps);
        }
    }

    #[inline(never)]
    fn send_feedback(&mut self, flow: u32, hop: u32, steps: u8) {
        let at = flow as usize;
        let mut at_ps = self.now_ps;
        for passed in self.table.flows[at].out..hop - 1 {
            if let Hop::Port(port) = self.network.hop(passed) {
                // The two directions of a link are neighbours.
                at_ps += self.network.ports[port ^ 1].transit_ps(FEEDBACK_BYTES);
            }
        }
        self.table.sources[at].await_feedback(at_ps, steps);
        self.events.push(at_ps, Entity::new(Kind::Source, at));
    }
}
