//! A sender that detects losses by time ([`hull_core::rack`], RFC 8985), instead of by duplicates. It does
//! not go back after a timeout: it retransmits what counts as lost, as far as the window allows.
//!
//! Its timer waits for the time until which overtaken segments may arrive, if there are any, and otherwise
//! for the retransmission timeout. Positions are bytes of the stream, times ps.

use super::recovery::Recovery;
use super::{NEVER, Segment, Sender};
use crate::transport::sequence;

impl Recovery {
    /// Bytes in the network, with RACK.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        (self.rack.as_ref()).map_or(0, |timed| timed.rack.in_flight())
    }

    /// Whether RACK detects losses and none is repaired, given that all data below `una` is acknowledged.
    #[inline]
    pub fn is_waiting(&self, una: u64) -> bool {
        self.rack.is_some() && una >= self.until
    }

    /// Records new data up to `end` in segments of at most `mss` bytes.
    #[inline]
    pub fn sent(&mut self, now_ps: u64, end: u64, mss: u64) {
        if let Some(timed) = &mut self.rack {
            let mut at = self.max_sent;
            while at < end {
                at = (at + mss).min(end);
                timed.rack.sent(now_ps, at);
            }
        }
        self.max_sent = end;
    }
}

impl Sender {
    /// Takes a lost segment or new data, as far as the window allows.
    pub(super) fn poll_rack(&mut self, now_ps: u64, max_bytes: u16) -> Option<Segment> {
        let (limit, mss) = (self.limit(), self.window.mss());
        let recovery = self.recovery.as_mut()?;
        let in_flight = recovery.in_flight();
        let timed = recovery.rack.as_mut()?;
        if timed.rack.has_lost() {
            let forced = std::mem::take(&mut recovery.retransmit_first);
            if !forced && in_flight + mss > limit {
                self.window_limited = true;
                return None;
            }
            let (start, end) = timed.rack.resend(now_ps)?;
            self.retransmissions += 1;
            return Some(self.segment(start, end - start, now_ps));
        }
        let room = (self.una + self.config.receive_window).saturating_sub(self.nxt);
        if room < mss.min(self.written - self.nxt) {
            self.window_limited = true;
            return None;
        }
        let most = u64::from(max_bytes).min(room / mss * mss) as u16;
        self.poll_new(now_ps, most)
    }

    /// Records an acknowledgment up to `ack` with its blocks, given by their sequence numbers. A first
    /// block below `ack`, or within the second, reports data that has arrived twice (RFC 2883). Returns
    /// true if any byte above `ack` is new.
    pub(super) fn report_to_rack(&mut self, now_ps: u64, ack: u64, blocks: &[(u32, u32)]) -> bool {
        let Some(timed) = (self.recovery.as_mut()).and_then(|of| of.rack.as_mut()) else {
            return false;
        };
        timed.rack.acknowledge(now_ps, ack);
        let mut sorted = [(0, 0); 3];
        let sorted = &mut sorted[..blocks.len()];
        for (block, &(start, end)) in sorted.iter_mut().zip(blocks) {
            *block = (sequence::unwrap(start, ack), sequence::unwrap(end, ack));
        }
        if let Some(&(start, end)) = sorted.first() {
            let within = |&(s, e): &(u64, u64)| s <= start && end <= e;
            if start < ack || sorted.get(1).is_some_and(within) {
                timed.rack.on_duplicate();
            }
        }
        sorted.sort_unstable();
        let mut is_new = false;
        for &(start, end) in sorted.iter().filter(|&&(start, _)| start >= ack) {
            is_new |= timed.rack.acknowledge_block(now_ps, start, end);
        }
        is_new
    }

    /// Processes the acknowledgment of new data up to `ack`.
    pub(super) fn progress_with_rack(&mut self, now_ps: u64, ack: u64) {
        let Some(recovery) = &mut self.recovery else {
            return;
        };
        if let Some(timed) = &mut recovery.rack {
            timed.rack.acknowledge(now_ps, ack);
            timed.rto_deadline_ps = NEVER; // it has been set again
            if recovery.until > 0 && ack >= recovery.until {
                timed.rack.recovered();
                recovery.until = 0;
                if std::mem::take(&mut recovery.is_fast) {
                    self.window.recovered();
                }
            }
        }
        self.detect_losses(now_ps);
    }

    /// Processes an acknowledgment with new blocks only.
    pub(super) fn duplicate_with_rack(&mut self, now_ps: u64) {
        self.restore_timeout();
        self.detect_losses(now_ps);
    }

    /// Processes an expiry of the timer, if it has waited for overtaken segments. Returns false if it is a
    /// timeout.
    pub(super) fn waited_for_reordered(&mut self, now_ps: u64) -> bool {
        let waited = self.restore_timeout() && now_ps < self.rto_deadline_ps;
        if waited {
            self.detect_losses(now_ps);
        }
        waited
    }

    /// Sets the timer to the retransmission timeout. Returns whether it has waited for overtaken segments.
    fn restore_timeout(&mut self) -> bool {
        let timed = (self.recovery.as_mut()).and_then(|of| of.rack.as_mut());
        let Some(timed) = timed.filter(|timed| timed.rto_deadline_ps != NEVER) else {
            return false;
        };
        self.rto_deadline_ps = std::mem::replace(&mut timed.rto_deadline_ps, NEVER);
        true
    }

    /// Finds lost segments, begins recovery for those sent after the last one, and sets the timer.
    fn detect_losses(&mut self, now_ps: u64) {
        let srtt_ps = self.rto.srtt_ps();
        let Some(recovery) = &mut self.recovery else {
            return;
        };
        let in_recovery = self.una < recovery.until;
        let Some(timed) = &mut recovery.rack else {
            return;
        };
        let until_ps = timed.rack.detect(now_ps, in_recovery, srtt_ps);
        if let Some(until_ps) = until_ps
            && until_ps < self.rto_deadline_ps
        {
            timed.rto_deadline_ps = std::mem::replace(&mut self.rto_deadline_ps, until_ps);
        }
        if !in_recovery && timed.rack.has_lost() {
            // What has been sent because others were overtaken is not part of the flight (RFC 5681, 3.2).
            let flight = (self.nxt - self.una).min(self.window.cwnd());
            self.begin_recovery(flight);
        }
    }
}
