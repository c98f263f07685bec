//! Flows with a pace: when their next segment leaves, and what switches say about it.
//!
//! What switches write rides on packets: data carries it, as RCP's least rate of the way (thesis 5.5.3); the
//! receiver keeps what came last and puts it on its ACKs. A notice (QCN)
//! travels by itself from the switch to the sender. It is of the first class and small, so it meets no
//! queue: it takes the time of a frame of 64 bytes over the links that the packet has come by, back. It is
//! no packet of the run: it takes no capacity and is never lost. Times are ps.

use super::{Endpoints, Simulation};
use crate::engine::Kind;
use crate::network::rules::Notice;
use crate::network::{Hop, NO_OPTIONS, Network, Options, Packet, Written};
use crate::transport::{CongestionControl, Pace, Pacing, Start};

/// Bytes of a notice on the wire: Ethernet's smallest frame.
const NOTICE_BYTES: u16 = 64;

/// What a flow with a pace has besides its sender and receiver.
#[derive(Clone, Debug)]
pub struct Paced {
    /// When it may send.
    pacing: Pacing,
    /// What the last data came with, at the receiver.
    written: Option<Written>,
    /// Notices under way: when each arrives, the next one last.
    notices: Vec<(u64, Notice)>,
}

impl Paced {
    /// That of a flow that was never open.
    pub fn new() -> Self {
        Paced {
            pacing: Pacing::new(),
            written: None,
            notices: Vec::new(),
        }
    }

    fn reset(&mut self, pace: Pace) {
        self.pacing.reset(pace);
        self.written = None;
        self.notices.clear();
    }
}

impl Endpoints {
    /// A flow was opened: its sender starts.
    pub(super) fn start_sender(&mut self, slot: u32, now_ps: u64, network: &Network) {
        let at = slot as usize;
        let host = self.table.flows[at].src as usize;
        let link = &network.ports[self.hosts.ports[host] as usize];
        let start = Start {
            now_ps,
            link_bps: link.rate_bps() as u64,
        };
        self.table.senders[at].start(&start);
        if let Some(paced) = self.table.paced.get_mut(at) {
            paced.reset(self.table.senders[at].controller().pace());
        }
    }
}

impl Simulation {
    /// Sends what a flow's pace and window allow.
    pub(super) fn send_paced(&mut self, slot: u32) {
        let at = slot as usize;
        loop {
            let (sender, paced) = (
                &mut self.endpoints.table.senders[at],
                &mut self.endpoints.table.paced[at],
            );
            let next_ps = paced.pacing.next_ps(|| sender.pipe());
            if next_ps > self.clock.now_ps {
                if next_ps < paced.pacing.event_ps {
                    paced.pacing.event_ps = next_ps;
                    self.clock.schedule(next_ps, Kind::Pace, at);
                }
                return;
            }
            let Some(segment) = sender.poll(self.clock.now_ps) else {
                return;
            };
            let wire_bytes = segment.bytes + self.endpoints.header_bytes;
            let pace = sender.paced(self.clock.now_ps, wire_bytes);
            paced.pacing.sent(self.clock.now_ps, wire_bytes, pace);
            self.send_segment(slot, &segment, false);
        }
    }

    /// The event of a paced flow: due, put off by a change of its rate, or replaced by an earlier one.
    pub(super) fn serve_pace(&mut self, at: usize) {
        let pacing = &mut self.endpoints.table.paced[at].pacing;
        if pacing.event_ps != self.clock.now_ps {
            return;
        }
        pacing.event_ps = u64::MAX;
        self.pump(at as u32);
    }

    /// The pace of a flow may have changed.
    pub(super) fn adjust_pace(&mut self, slot: u32) {
        let control = self.endpoints.table.senders[slot as usize].controller();
        if control.adjusts_gap() {
            let pacing = &mut self.endpoints.table.paced[slot as usize].pacing;
            pacing.adjust(self.clock.now_ps, control.pace());
        }
    }

    /// What data of this flow asks switches for.
    pub(super) fn ask(&mut self, slot: u32) -> u32 {
        let sender = &self.endpoints.table.senders[slot as usize];
        match sender.controller().ask(sender.srtt_ps()) {
            Some(written) => self.fabric.network.options.insert(Options {
                written: Some(written),
                ..Options::default()
            }),
            None => NO_OPTIONS,
        }
    }

    /// Data arrives with what switches wrote.
    pub(super) fn note_written(&mut self, packet: &Packet, options: &Options) {
        if let Some(paced) = self.endpoints.table.paced.get_mut(packet.flow as usize) {
            paced.written = options.written;
        }
    }

    /// What an ACK of this flow brings back.
    pub(super) fn written_back(&self, slot: u32) -> Option<Written> {
        let written = self.endpoints.table.paced.get(slot as usize)?.written?;
        Some(Written {
            round_trip_ns: 0,
            ..written
        })
    }

    /// After a packet of `flow` was offered to `port`: what its rules have to say. `hop` is the place
    /// behind the port in the packet's route.
    #[inline]
    pub(super) fn carry_notice(&mut self, port: usize, flow: u32, hop: u32) {
        if let Some(notice) = self.fabric.network.ports[port].take_notice() {
            self.send_notice(flow, hop, notice);
        }
    }

    #[inline(never)]
    fn send_notice(&mut self, flow: u32, hop: u32, notice: Notice) {
        let at = flow as usize;
        if !self.endpoints.table.has_pace(flow) {
            return; // Nobody there reads it.
        }
        let mut at_ps = self.clock.now_ps;
        for passed in self.endpoints.table.flows[at].out..hop - 1 {
            if let Hop::Port(port) = self.fabric.network.hop(passed) {
                // The two directions of a link are neighbours.
                at_ps += self.fabric.network.ports[port ^ 1].transit_ps(NOTICE_BYTES);
            }
        }
        let notices = &mut self.endpoints.table.paced[at].notices;
        let place = notices.partition_point(|&(other, _)| other > at_ps);
        notices.insert(place, (at_ps, notice));
        self.clock.schedule(at_ps, Kind::Notice, at);
    }

    /// Notices have arrived at a sender.
    pub(super) fn serve_notice(&mut self, at: usize) {
        let (sender, paced) = (
            &mut self.endpoints.table.senders[at],
            &mut self.endpoints.table.paced[at],
        );
        while let Some(&(at_ps, notice)) = paced.notices.last()
            && at_ps <= self.clock.now_ps
        {
            paced.notices.pop();
            sender.on_notice(self.clock.now_ps, notice);
        }
        self.adjust_pace(at as u32);
    }
}
