//! A sender's state of loss recovery (RFC 6675, RFC 6582). It exists from the first selective
//! acknowledgment or timeout until all data outstanding then is acknowledged; with RACK ([`super::rack`])
//! always. Positions are bytes of the stream.

use hull_core::rack::{Rack, RackConfig};

use super::handshake::Handshake;
use super::{NEVER, Segment, Sender};
use crate::transport::control::CongestionControl;
use crate::transport::scoreboard::Scoreboard;
use crate::transport::sequence;

/// State of loss recovery.
#[derive(Clone, Debug)]
pub(super) struct Recovery {
    /// Data reported as received above the cumulative acknowledgment.
    pub scoreboard: Scoreboard,
    /// End of the data ever sent; above the sender's `nxt` only after a timeout.
    pub max_sent: u64,
    /// End of the reduction: it holds until this is acknowledged, and holes below it are
    /// retransmitted.
    pub until: u64,
    /// Position below which everything has been retransmitted in this fast recovery.
    pub retransmitted_below: u64,
    /// Bytes outstanding when the first duplicate arrived, before limited transmit added more.
    pub flight_before_duplicates: u64,
    pub duplicate_acks: u32,
    /// Whether fast recovery is in progress.
    pub is_fast: bool,
    /// Whether the first hole is retransmitted regardless of the window.
    pub retransmit_first: bool,
    /// First byte not acknowledged when the retransmission timer last fired; [`NEVER`] before.
    pub timed_out_at: u64,
    /// Detection of losses by time, if it is used.
    pub rack: Option<Box<Timed>>,
}

/// Segments whose losses RACK detects.
#[derive(Clone, Debug)]
pub(super) struct Timed {
    pub rack: Rack,
    /// Deadline of the retransmission timer while the timer waits for reordered segments instead, ps;
    /// otherwise [`NEVER`].
    pub rto_deadline_ps: u64,
}

impl Recovery {
    /// Creates the state without losses; `max_sent` is the end of the data sent.
    pub fn new(max_sent: u64) -> Self {
        Recovery {
            scoreboard: Scoreboard::default(),
            max_sent,
            until: 0,
            retransmitted_below: 0,
            flight_before_duplicates: 0,
            duplicate_acks: 0,
            is_fast: false,
            retransmit_first: false,
            timed_out_at: NEVER,
            rack: None,
        }
    }

    /// Creates the state of a sender that detects losses by time.
    pub fn with_rack(config: RackConfig) -> Box<Self> {
        let rack = Box::new(Timed {
            rack: Rack::new(&config),
            rto_deadline_ps: NEVER,
        });
        Box::new(Recovery {
            rack: Some(rack),
            ..Recovery::new(0)
        })
    }

    /// Whether no loss is repaired, and without RACK the state can be discarded, given that all data below `una` is acknowledged and
    /// `nxt` is sent next.
    pub fn is_over(&self, una: u64, nxt: u64) -> bool {
        self.scoreboard.is_empty() && una >= self.until && nxt == self.max_sent
    }
}

impl Sender {
    /// Discards round-trip measurements, because retransmitted data yields no sample (Karn).
    fn forget_samples(&mut self) {
        self.timed_position = NEVER;
        if let Some(times) = self.send_times() {
            times.forget();
        }
    }

    /// Goes back to the first hole after a timeout and retransmits data that was not received.
    pub(super) fn poll_after_timeout(&mut self, now_ps: u64) -> Option<Segment> {
        let recovery = self.recovery.as_ref()?;
        let max_sent = recovery.max_sent;
        let (start, bound) = recovery.scoreboard.next_hole(self.nxt);
        if start >= max_sent {
            self.nxt = max_sent;
            return self.poll_new(now_ps, 0);
        }
        self.nxt = start;
        let end = bound.unwrap_or(max_sent).min(max_sent);
        let bytes = (end - start).min(self.window.mss());
        if start - self.una + bytes > self.limit() && start > self.una {
            self.window_limited = true;
            return None;
        }
        self.nxt += bytes;
        self.retransmissions += 1;
        Some(self.segment(start, bytes, now_ps))
    }

    /// `NextSeg` of RFC 6675: lost holes first, then new data, as far as the pipe allows.
    pub(super) fn poll_recovery(&mut self, now_ps: u64) -> Option<Segment> {
        let (limit, mss) = (self.limit(), self.window.mss());
        let tolerated_bytes = self.config.tolerated_bytes();
        let recovery = self.recovery.as_mut()?;
        let forced = std::mem::take(&mut recovery.retransmit_first);
        if !forced && self.pipe() + mss > limit {
            return None;
        }
        let recovery = self.recovery.as_mut()?;
        let lost_below = recovery.scoreboard.lost_below(tolerated_bytes);
        let lost_below = lost_below.max(self.una + 1);
        let from = recovery.retransmitted_below.max(self.una);
        let (start, bound) = recovery.scoreboard.next_hole(from);
        if start < lost_below && start < recovery.until {
            let end = bound.unwrap_or(recovery.max_sent).min(recovery.max_sent);
            let bytes = (end - start).min(mss);
            recovery.retransmitted_below = start + bytes;
            self.retransmissions += 1;
            return Some(self.segment(start, bytes, now_ps));
        }
        let bytes = (self.written - self.nxt).min(mss);
        if bytes == 0 || self.nxt + bytes - self.una > self.config.receive_window {
            return None;
        }
        Some(self.new_segment(bytes, now_ps))
    }

    /// Records the blocks above `ack`, given by their sequence numbers. Returns true if any byte is new.
    pub(super) fn report(
        &mut self,
        now_ps: u64,
        ack: u64,
        max_sent: u64,
        blocks: &[(u32, u32)],
    ) -> bool {
        if self.config.rack.is_some() {
            return self.report_to_rack(now_ps, ack, blocks);
        }
        let mut new = 0;
        for &(start, end) in blocks {
            let (start, end) = (sequence::unwrap(start, ack), sequence::unwrap(end, ack));
            if end <= max_sent && start >= ack.max(self.una) {
                let recovery = self
                    .recovery
                    .get_or_insert_with(|| Box::new(Recovery::new(max_sent)));
                let added = recovery.scoreboard.add(start, end);
                new += added;
                if added > 0
                    && self.config.samples_delivery
                    && let Some(rate) = self.controller.delivery_rate()
                {
                    rate.acknowledge_selectively(start, end);
                }
            }
        }
        new > 0
    }

    /// Processes the acknowledgment of new data up to `ack`.
    pub(super) fn progress_in_recovery(&mut self, now_ps: u64, ack: u64) {
        let Some(recovery) = &mut self.recovery else {
            return;
        };
        if recovery.rack.is_some() {
            return self.progress_with_rack(now_ps, ack);
        }
        recovery.duplicate_acks = 0;
        recovery.scoreboard.acknowledge(ack);
        if recovery.is_fast && ack >= recovery.until {
            recovery.is_fast = false;
            self.window.recovered();
        }
        // A partial acknowledgment: the next missing segment was lost too, however little has
        // arrived above it (RFC 6582, 3.2, step 3). If nothing has, it may only be late.
        if recovery.is_fast && recovery.retransmitted_below <= ack {
            recovery.retransmit_first = !recovery.scoreboard.is_empty();
        }
        if recovery.is_over(ack, self.nxt) {
            self.recovery = None;
        }
    }

    /// Processes an acknowledgment with new blocks only.
    pub(super) fn on_duplicate(&mut self, now_ps: u64) {
        let tolerated_bytes = self.config.tolerated_bytes();
        let Some(recovery) = &mut self.recovery else {
            return;
        };
        if recovery.rack.is_some() {
            return self.duplicate_with_rack(now_ps);
        }
        if recovery.duplicate_acks == 0 {
            recovery.flight_before_duplicates = recovery.max_sent - self.una;
        }
        recovery.duplicate_acks += 1;
        if recovery.is_fast || self.una < recovery.until {
            return;
        }
        let lost = recovery.scoreboard.lost_below(tolerated_bytes) > self.una;
        if recovery.duplicate_acks >= self.config.duplicate_threshold || lost {
            recovery.retransmitted_below = self.una;
            let flight = recovery.flight_before_duplicates;
            self.begin_recovery(flight);
        }
    }

    /// Begins fast recovery after a loss among `flight` bytes.
    pub(super) fn begin_recovery(&mut self, flight: u64) {
        let Some(recovery) = &mut self.recovery else {
            return;
        };
        recovery.is_fast = true;
        recovery.until = recovery.max_sent;
        recovery.retransmit_first = true;
        self.forget_samples();
        self.cwr = self.config.ecn;
        self.controller.on_loss(&mut self.window, flight);
    }

    /// Processes an expiry of the retransmission timer: one segment, go back, twice the timeout.
    /// During the handshake, the SYN is retransmitted. If the timer expires again for the same
    /// segment, window and threshold stay as after the first timeout (RFC 5681, 3.1).
    pub fn on_timeout(&mut self, now_ps: u64) {
        if self.config.rack.is_some() && self.waited_for_reordered(now_ps) {
            return;
        }
        self.timeouts += 1;
        self.rto.back_off();
        self.rto_deadline_ps = self.rto.deadline_ps(&self.config.rto, now_ps);
        if self.handshake != Handshake::Done {
            self.handshake = Handshake::Lost;
            return;
        }
        let max_sent = self.max_sent();
        let recovery = self
            .recovery
            .get_or_insert_with(|| Box::new(Recovery::new(max_sent)));
        if recovery.timed_out_at != self.una {
            recovery.timed_out_at = self.una;
            let flight = (max_sent - self.una).min(self.window.cwnd());
            self.controller.on_timeout(&mut self.window, flight);
        }
        recovery.is_fast = false;
        recovery.retransmit_first = false;
        recovery.duplicate_acks = 0;
        recovery.until = max_sent;
        match &mut recovery.rack {
            None => self.nxt = self.una,
            Some(timed) => {
                timed.rack.on_timeout(now_ps);
                recovery.retransmit_first = true;
            }
        }
        self.forget_samples();
        if self.config.samples_delivery
            && let Some(rate) = self.controller.delivery_rate()
        {
            rate.lose_all();
        }
        self.cwr = self.config.ecn;
    }
}
