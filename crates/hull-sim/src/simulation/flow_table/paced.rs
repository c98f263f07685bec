//! Paced flows: the times of their segments. Times are ps.

use super::FlowTable;
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
}
