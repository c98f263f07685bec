//! A sender's calls of the delivery rate, for controls that request it. Positions are bytes of the stream,
//! times ps.

use super::Sender;
use crate::transport::control::CongestionControl;

impl Sender {
    /// Records that the application limits the flow, if less than a segment waits although the window has
    /// room and no loss is repaired.
    #[inline(never)]
    pub(super) fn note_application_limit(&mut self) {
        let in_flight = self.pipe();
        if self.written - self.nxt < self.window.mss()
            && in_flight < self.window.cwnd()
            && self.recovery.is_none()
            && let Some(rate) = self.controller.delivery_rate()
        {
            rate.limit(in_flight);
        }
    }

    /// Records a segment that is sent, for the first time or again.
    #[inline(never)]
    pub(super) fn note_sent(&mut self, now_ps: u64, start: u64, bytes: u64) {
        if bytes > 0
            && let Some(rate) = self.controller.delivery_rate()
        {
            rate.sent(now_ps, start, start + bytes);
        }
    }

    /// Starts the sample of an acknowledgment.
    #[inline(never)]
    pub(super) fn begin_sample(&mut self, now_ps: u64) {
        let in_flight = self.pipe();
        if let Some(rate) = self.controller.delivery_rate() {
            rate.begin(now_ps, in_flight);
        }
    }

    /// Completes the sample of an acknowledgment up to `una`.
    #[inline(never)]
    pub(super) fn finish_sample(&mut self, una: u64) {
        let (in_flight, tolerated_bytes) = (self.pipe(), self.config.tolerated_bytes());
        let recovery = self.recovery.as_deref();
        let is_recovering = recovery.is_some_and(|recovery| una < recovery.until);
        let lost_below = match recovery {
            Some(recovery) if recovery.is_fast => {
                let first = u64::from(recovery.retransmit_first) * (una + 1);
                recovery.scoreboard.lost_below(tolerated_bytes).max(first)
            }
            _ => 0,
        };
        if let Some(rate) = self.controller.delivery_rate() {
            rate.acknowledge(una);
            rate.lose_below(lost_below);
            rate.finish(in_flight, is_recovering);
        }
    }
}
