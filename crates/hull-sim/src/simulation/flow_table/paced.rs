//! Paced flows: the times of their segments, and the fields that switches write. Data carries RCP's
//! smallest rate of the path (thesis 5.5.3); the receiver keeps the latest value and copies it to its
//! ACKs. Times are ps.

use super::FlowTable;
use crate::network::{NO_OPTIONS, OptionTable, Options, Packet, Written};
use crate::transport::CongestionControl;

impl FlowTable {
    /// Whether the event of a paced flow is due; otherwise a change of the flow's rate has
    /// postponed it or an earlier event has replaced it.
    pub fn pace_is_due(&mut self, slot: u32, now_ps: u64) -> bool {
        let at = self.place(slot);
        let pacing = &mut self.paced[at].pacing;
        let is_due = pacing.event_ps == now_ps;
        if is_due {
            pacing.event_ps = u64::MAX;
        }
        is_due
    }

    /// Adjusts the gap after a possible change of the flow's rate.
    pub fn adjust_pace(&mut self, slot: u32, now_ps: u64) {
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

    /// Creates the request that data of this flow carries to switches.
    pub fn ask(&self, slot: u32, options: &mut OptionTable) -> u32 {
        let sender = &self.senders[self.place(slot)];
        match sender.controller().ask(sender.srtt_ps()) {
            Some(written) => options.insert(Options {
                written: Some(written),
                ..Options::default()
            }),
            None => NO_OPTIONS,
        }
    }

    /// Records the fields that switches wrote into arriving data.
    pub fn note_written(&mut self, packet: &Packet, options: &Options) {
        let at = self.place(packet.flow);
        if let Some(paced) = self.paced.get_mut(at) {
            paced.written = options.written;
        }
    }

    /// Fields of switches that an ACK of this flow returns.
    pub fn written_back(&self, slot: u32) -> Option<Written> {
        let written = self.paced.get(self.place(slot))?.written?;
        Some(Written {
            round_trip_ns: 0,
            ..written
        })
    }
}
