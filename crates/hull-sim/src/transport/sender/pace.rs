//! The sender and its host: the pace of a window, and the limit that the host's queue sets (docs/host.md).

use super::super::control::{CongestionControl, Pace};
use super::Sender;
use crate::network::rules::Notice;

impl Sender {
    /// Records a segment of `wire_bytes` that is sent now. Returns the pace of the next one.
    pub fn paced(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        self.controller.on_sent(now_ps, wire_bytes)
    }

    /// Passes a switch's notice to the congestion control.
    pub fn on_notice(&mut self, now_ps: u64, notice: Notice) {
        self.controller.on_notice(now_ps, notice);
    }

    /// Records that the queue of the host has stopped the sender: the window does not limit it.
    #[inline]
    pub fn note_host_limit(&mut self) {
        self.host_limited = true;
    }

    /// Rate at which Linux paces the flow, bit/s. Some controls set it; otherwise it is twice the window
    /// per smoothed round trip up to half the slow-start threshold, and 1.2 times it afterwards
    /// (net/ipv4/tcp_input.c, `tcp_update_pacing_rate`). `None` before the first round trip.
    pub fn pacing_bps(&self) -> Option<u64> {
        if let Pace::Bps(rate_bps) = self.controller.pace() {
            return Some(rate_bps);
        }
        let srtt_ns = self.rto.srtt_ps() / 1000;
        if srtt_ns == 0 {
            return None;
        }
        let percent = if self.window.cwnd() < self.window.ssthresh() / 2 {
            200
        } else {
            120
        };
        let bytes = self.window.cwnd().max(self.pipe());
        Some(bytes * 80_000_000 * percent / srtt_ns)
    }
}
