//! The sending half of a TCP flow: a byte stream, its window, loss recovery with SACK (RFC 6675),
//! the retransmission timer (RFC 6298) and the restart after idle (RFC 5681, 4.1).
//!
//! Positions are bytes of the stream, times ps. The sender is polled for segments; it puts
//! nothing on a wire itself. Nagle's algorithm is off: a short segment goes out at once.

use super::congestion::{AckEvent, CongestionControl, Controller, Window};
use super::rto::RtoEstimator;
use super::scoreboard::Scoreboard;

/// No time.
pub const NEVER: u64 = u64::MAX;

/// What a sender is made of.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Congestion window at the start.
    pub window: Window,
    /// Algorithm.
    pub controller: Controller,
    /// Timeout estimator.
    pub rto: RtoEstimator,
    /// The receiver's window, bytes.
    pub receive_window: u64,
    /// Whether an idle time of more than one RTO resets the window to its initial size.
    pub idle_restart: bool,
    /// Whether the window grows only while it limits the sender.
    pub cwnd_validation: bool,
    /// Whether packets are ECN-capable.
    pub ecn: bool,
}

/// A segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of its first byte.
    pub start: u64,
    /// Payload bytes.
    pub bytes: u16,
    /// Whether the packet is ECN-capable: new data is, what is sent again is not (RFC 3168, 6.1.5).
    pub ect: bool,
    /// Whether the sender reports a reduced window to the receiver (CWR).
    pub cwr: bool,
}

/// The sending half of a flow.
#[derive(Clone, Debug)]
pub struct Sender {
    una: u64,
    nxt: u64,
    /// End of what was ever sent; above `nxt` only after a timeout.
    max_sent: u64,
    /// End of what the application has written.
    written: u64,
    window: Window,
    receive_window: u64,
    initial_window: u64,
    controller: Controller,
    scoreboard: Scoreboard,
    /// Loss recovery ends when this is acknowledged; holes below are sent again.
    recover: u64,
    in_recovery: bool,
    /// Everything below has been sent again in this recovery.
    retransmitted_below: u64,
    duplicate_acks: u32,
    /// Bytes outstanding when the first of them came, before limited transmit added to them.
    flight_before_duplicates: u64,
    /// The first hole goes out whatever the window says.
    retransmit_first: bool,
    rto: RtoEstimator,
    /// Round-trip measurement under way: position and time sent.
    timed: Option<(u64, u64)>,
    last_sent_ps: u64,
    idle_restart: bool,
    cwnd_validation: bool,
    /// Whether the window stopped the sender since the last acknowledgment.
    window_limited: bool,
    cwr: bool,
    ecn: bool,
    /// When the retransmission timer is due; [`NEVER`] when it is off.
    pub rto_deadline_ps: u64,
    /// When the event queue will look at the timer; kept by the simulation.
    pub rto_event_ps: u64,
    /// Segments sent again.
    pub retransmissions: u64,
    /// Timeouts.
    pub timeouts: u64,
}

impl Sender {
    /// An idle sender.
    pub fn new(config: &SenderConfig) -> Self {
        Sender {
            una: 0,
            nxt: 0,
            max_sent: 0,
            written: 0,
            initial_window: config.window.cwnd,
            window: config.window.clone(),
            receive_window: config.receive_window,
            controller: config.controller.clone(),
            scoreboard: Scoreboard::default(),
            recover: 0,
            in_recovery: false,
            retransmitted_below: 0,
            duplicate_acks: 0,
            flight_before_duplicates: 0,
            retransmit_first: false,
            rto: config.rto.clone(),
            timed: None,
            last_sent_ps: 0,
            idle_restart: config.idle_restart,
            cwnd_validation: config.cwnd_validation,
            window_limited: false,
            cwr: false,
            ecn: config.ecn,
            rto_deadline_ps: NEVER,
            rto_event_ps: NEVER,
            retransmissions: 0,
            timeouts: 0,
        }
    }

    /// The application writes `bytes` more.
    pub fn write(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// First byte not acknowledged.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Whether everything written has been acknowledged.
    pub fn is_idle(&self) -> bool {
        self.una == self.written
    }

    /// The congestion window and its bounds.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// The congestion control algorithm's state.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    fn mss(&self) -> u64 {
        u64::from(self.window.mss)
    }

    /// Bytes thought to be in the network.
    #[inline]
    fn pipe(&self) -> u64 {
        if self.scoreboard.is_empty() && !self.in_recovery {
            return self.nxt - self.una;
        }
        if self.in_recovery {
            let sent_again = self.retransmitted_below;
            self.scoreboard
                .pipe(self.una, self.nxt, sent_again, self.window.mss)
        } else {
            (self.nxt - self.una).saturating_sub(self.scoreboard.sacked_bytes())
        }
    }

    /// The next segment that may be sent at `now_ps`, taken as sent; call until `None`.
    #[inline]
    pub fn poll(&mut self, now_ps: u64) -> Option<Segment> {
        if self.in_recovery {
            return self.poll_recovery(now_ps);
        }
        if self.nxt < self.max_sent {
            return self.poll_after_timeout(now_ps);
        }
        self.poll_new(now_ps)
    }

    #[inline]
    fn poll_new(&mut self, now_ps: u64) -> Option<Segment> {
        let unsent = self.written - self.nxt;
        if unsent == 0 {
            return None;
        }
        if self.idle_restart
            && self.nxt == self.una
            && now_ps.saturating_sub(self.last_sent_ps) > self.rto.timeout_ps()
        {
            self.window.cwnd = self.window.cwnd.min(self.initial_window);
        }
        let bytes = unsent.min(self.mss());
        let pipe = self.pipe();
        if pipe + bytes > self.window.cwnd.min(self.receive_window) && pipe > 0 {
            self.window_limited = true;
            return None;
        }
        if self.timed.is_none() {
            self.timed = Some((self.nxt, now_ps));
        }
        Some(self.new_segment(bytes, now_ps))
    }

    /// After a timeout: go back to the first hole and send again what was not received.
    fn poll_after_timeout(&mut self, now_ps: u64) -> Option<Segment> {
        let (start, bound) = self.scoreboard.next_hole(self.nxt);
        if start >= self.max_sent {
            self.nxt = self.max_sent;
            return self.poll_new(now_ps);
        }
        self.nxt = start;
        let end = bound.unwrap_or(self.max_sent).min(self.max_sent);
        let bytes = (end - start).min(self.mss());
        let sacked_below = start - self.una;
        if sacked_below + bytes > self.window.cwnd.min(self.receive_window) && start > self.una {
            self.window_limited = true;
            return None;
        }
        self.nxt += bytes;
        self.retransmissions += 1;
        Some(self.segment(start, bytes, now_ps))
    }

    /// `NextSeg` of RFC 6675: lost holes first, then new data, as far as the pipe allows.
    fn poll_recovery(&mut self, now_ps: u64) -> Option<Segment> {
        let limit = self.window.cwnd.min(self.receive_window);
        let forced = std::mem::take(&mut self.retransmit_first);
        if !forced && self.pipe() + self.mss() > limit {
            return None;
        }
        let lost_below = self
            .scoreboard
            .lost_below(self.window.mss)
            .max(self.una + 1);
        let from = self.retransmitted_below.max(self.una);
        let (start, bound) = self.scoreboard.next_hole(from);
        if start < lost_below && start < self.recover {
            let end = bound.unwrap_or(self.max_sent).min(self.max_sent);
            let bytes = (end - start).min(self.mss());
            self.retransmitted_below = start + bytes;
            self.retransmissions += 1;
            return Some(self.segment(start, bytes, now_ps));
        }
        let bytes = (self.written - self.nxt).min(self.mss());
        if bytes == 0 || self.nxt + bytes - self.una > self.receive_window {
            return None;
        }
        Some(self.new_segment(bytes, now_ps))
    }

    /// A segment of new data: the first after a reduction of the window says so (RFC 3168, 6.1.2).
    #[inline]
    fn new_segment(&mut self, bytes: u64, now_ps: u64) -> Segment {
        let start = self.nxt;
        self.nxt += bytes;
        self.max_sent = self.nxt;
        Segment {
            ect: self.ecn,
            cwr: std::mem::take(&mut self.cwr),
            ..self.segment(start, bytes, now_ps)
        }
    }

    #[inline]
    fn segment(&mut self, start: u64, bytes: u64, now_ps: u64) -> Segment {
        self.last_sent_ps = now_ps;
        if self.rto_deadline_ps == NEVER {
            self.rto_deadline_ps = now_ps + self.rto.timeout_ps();
        }
        Segment {
            start,
            bytes: bytes as u16,
            ect: false,
            cwr: false,
        }
    }

    /// An acknowledgment up to position `ack`, with ECN-Echo and SACK blocks. It is a duplicate
    /// when it acknowledges nothing but blocks that are new (RFC 6675): the echo of a segment
    /// that was sent twice is none.
    #[inline]
    pub fn on_ack(&mut self, now_ps: u64, ack: u64, ece: bool, blocks: &[(u64, u64)]) {
        if ack > self.max_sent {
            return;
        }
        let mut newly_sacked = 0;
        for &(start, end) in blocks {
            if end <= self.max_sent && start >= ack {
                newly_sacked += self.scoreboard.add(start, end);
            }
        }
        if ack > self.una {
            self.on_progress(now_ps, ack, ece);
        } else if ack == self.una && newly_sacked > 0 {
            self.on_duplicate();
        }
    }

    #[inline]
    fn on_progress(&mut self, now_ps: u64, ack: u64, ece: bool) {
        let acked = ack - self.una;
        let after_loss = self.una < self.recover;
        let may_grow = !self.in_recovery && (self.window_limited || !self.cwnd_validation);
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.duplicate_acks = 0;
        if !self.scoreboard.is_empty() {
            self.scoreboard.acknowledge(ack);
        }
        if let Some((position, sent_ps)) = self.timed
            && ack > position
        {
            self.rto.sample(now_ps - sent_ps);
            self.timed = None;
        }
        self.rto.progress();
        self.rto_deadline_ps = if self.una == self.max_sent {
            NEVER
        } else {
            now_ps + self.rto.timeout_ps()
        };
        if self.in_recovery && ack >= self.recover {
            self.in_recovery = false;
            self.window.cwnd = self.window.ssthresh.max(self.window.min);
        }
        self.window_limited = false;
        let event = AckEvent {
            una: ack,
            nxt: self.max_sent,
            acked,
            ece,
            after_loss,
            may_grow,
        };
        if self.controller.on_ack(&mut self.window, &event) {
            self.cwr = true;
        }
    }

    fn on_duplicate(&mut self) {
        if self.duplicate_acks == 0 {
            self.flight_before_duplicates = self.max_sent - self.una;
        }
        self.duplicate_acks += 1;
        if self.in_recovery || self.una < self.recover {
            return;
        }
        let lost = self.scoreboard.lost_below(self.window.mss) > self.una;
        if self.duplicate_acks >= 3 || lost {
            self.in_recovery = true;
            self.recover = self.max_sent;
            self.retransmitted_below = self.una;
            self.retransmit_first = true;
            self.timed = None;
            self.cwr = self.ecn;
            let flight = self.flight_before_duplicates;
            self.controller.on_loss(&mut self.window, flight);
        }
    }

    /// The retransmission timer fired: one segment, go back, twice the timeout.
    pub fn on_timeout(&mut self, now_ps: u64) {
        let flight = (self.max_sent - self.una).min(self.window.cwnd);
        self.timeouts += 1;
        self.controller.on_timeout(&mut self.window, flight);
        self.in_recovery = false;
        self.retransmit_first = false;
        self.duplicate_acks = 0;
        self.cwr = self.ecn;
        self.recover = self.max_sent;
        self.nxt = self.una;
        self.timed = None;
        self.rto.back_off();
        self.rto_deadline_ps = now_ps + self.rto.timeout_ps();
    }
}
