//! The sending half of a TCP flow: a byte stream, its window, loss recovery with SACK (RFC 6675), the
//! retransmission timer (RFC 6298), the restart after idle (RFC 5681, 4.1; RFC 2861) and the handshake
//! (RFC 9293, 3.5). This file has the path without loss.
//!
//! Positions are bytes of the stream, times ps. The sender is polled for segments; it puts
//! nothing on a wire itself. Nagle's algorithm is off: a short segment goes out at once.
//!
//! Each active flow has one, and most see no loss. It therefore fits three cache lines of 64 bytes;
//! state common to many flows is shared, and state of loss recovery is allocated at the first loss.

use std::sync::Arc;

use hull_core::accecn::Codepoint;

use super::control::{CongestionControl, Controller, Echo, Feedback, Start};
use super::rto::RtoEstimator;
use super::send_times::SendTimes;
use super::window::Window;
use crate::network::Answer;

mod config;
mod delivery;
mod handshake;
mod pace;
mod rack;
mod recovery;

pub use config::SenderConfig;
use handshake::Handshake;
use recovery::Recovery;

/// Absent time or position.
pub const NEVER: u64 = u64::MAX;

/// Segment to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Position of the first byte.
    pub start: u64,
    /// Payload bytes.
    pub bytes: u16,
    /// ECN codepoint. New data may be ECN-capable, retransmissions are not (RFC 3168, 6.1.5).
    pub ect: Codepoint,
    /// Whether the sender reports a reduced window to the receiver (CWR).
    pub cwr: bool,
    /// Whether this is a SYN, which has no payload and no position in the stream.
    pub syn: bool,
}

/// Sending half of a flow.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Sender {
    una: u64,
    nxt: u64,
    /// End of the data written by the application.
    written: u64,
    window: Window,
    controller: Controller,
    rto: RtoEstimator,
    /// Current round-trip measurement: position ([`NEVER`] if there is none) and send time.
    timed_position: u64,
    timed_ps: u64,
    last_sent_ps: u64,
    recovery: Option<Box<Recovery>>,
    config: Arc<SenderConfig>,
    handshake: Handshake,
    /// Whether the window has stopped the sender since the last acknowledgment.
    window_limited: bool,
    /// Whether the host's queue has.
    host_limited: bool,
    cwr: bool,
    /// Bytes to be acknowledged before all data outstanding at the last ECN reduction is.
    cut_bytes: u32,
    /// Deadline of the retransmission timer, ps; [`NEVER`] if it is off.
    pub rto_deadline_ps: u64,
    /// Time of the timer's event in the event queue, ps; maintained by the simulation.
    pub rto_event_ps: u64,
    /// Number of retransmitted segments.
    pub retransmissions: u32,
    /// Number of timeouts.
    pub timeouts: u32,
}

impl Sender {
    /// Creates an idle sender.
    pub fn new(config: &SenderConfig) -> Self {
        let config = Arc::new(config.clone());
        Sender {
            una: 0,
            nxt: 0,
            written: 0,
            window: config.window.clone(),
            controller: config.controller.clone(),
            rto: RtoEstimator::default(),
            timed_position: NEVER,
            timed_ps: 0,
            last_sent_ps: 0,
            recovery: config.rack.map(Recovery::with_rack),
            handshake: if config.handshake {
                Handshake::Closed
            } else {
                Handshake::Done
            },
            window_limited: false,
            host_limited: false,
            cwr: false,
            cut_bytes: 0,
            rto_deadline_ps: NEVER,
            rto_event_ps: NEVER,
            retransmissions: 0,
            timeouts: 0,
            config,
        }
    }

    /// Resets to a new flow like `template`, an unused sender. `rto_event_ps` is kept, because the
    /// event stays in the queue.
    pub fn reset(&mut self, template: &Sender) {
        let rto_event_ps = self.rto_event_ps;
        self.clone_from(template);
        self.rto_event_ps = rto_event_ps;
    }

    /// Adds `bytes` that the application writes.
    pub fn write(&mut self, bytes: u64) {
        if self.config.samples_delivery {
            self.note_application_limit();
        }
        self.written += bytes;
    }

    /// Discards all data not yet sent. Returns the new end of the stream.
    pub fn stop(&mut self) -> u64 {
        self.written = self.max_sent();
        self.written
    }

    /// First unacknowledged byte.
    #[inline]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Whether everything written has been acknowledged.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.una == self.written
    }

    /// Congestion window and its bounds.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// State of the congestion control.
    pub fn controller(&self) -> &Controller {
        &self.controller
    }

    /// Send times, if the control requests a sample of every acknowledgment.
    #[inline]
    fn send_times(&mut self) -> Option<&mut SendTimes> {
        if self.config.samples_every_ack {
            self.controller.send_times()
        } else {
            None
        }
    }

    /// Starts the flow.
    pub fn start(&mut self, start: &Start) {
        self.controller.on_start(start);
    }

    /// Smoothed round-trip time of RFC 6298, ps; 0 before the first sample.
    pub fn srtt_ps(&self) -> u64 {
        self.rto.srtt_ps()
    }

    /// End of the data ever sent.
    #[inline]
    fn max_sent(&self) -> u64 {
        match &self.recovery {
            None => self.nxt,
            Some(recovery) => recovery.max_sent,
        }
    }

    /// Largest number of outstanding bytes that window and receiver allow.
    #[inline]
    fn limit(&self) -> u64 {
        self.window.cwnd().min(self.config.receive_window)
    }

    /// Estimated bytes in the network. Without limited transmit, bytes reported as received count
    /// until a loss is detected.
    #[inline]
    pub fn pipe(&self) -> u64 {
        let outstanding = self.nxt - self.una;
        match &self.recovery {
            None => outstanding,
            Some(recovery) if recovery.rack.is_some() => recovery.in_flight(),
            Some(recovery) if recovery.is_fast => recovery.scoreboard.pipe(
                self.una,
                self.nxt,
                recovery.retransmitted_below,
                self.config.tolerated_bytes(),
            ),
            Some(recovery) if self.config.limited_transmit => {
                outstanding.saturating_sub(recovery.scoreboard.sacked_bytes())
            }
            Some(_) => outstanding,
        }
    }

    /// Takes the next segment that may be sent at `now_ps`; call until it returns `None`.
    #[inline]
    pub fn poll(&mut self, now_ps: u64) -> Option<Segment> {
        self.poll_burst(now_ps, 0)
    }

    /// Does the same as [`Sender::poll`], but returns new data in pieces of up to `max_bytes`, in
    /// whole segments, which the NIC splits (segmentation offload). A piece ends with the last
    /// segment that the window allows.
    #[inline]
    pub fn poll_burst(&mut self, now_ps: u64, max_bytes: u16) -> Option<Segment> {
        if self.handshake != Handshake::Done {
            return self.poll_syn(now_ps);
        }
        match &self.recovery {
            Some(recovery) if recovery.rack.is_some() => self.poll_rack(now_ps, max_bytes),
            Some(recovery) if recovery.is_fast => self.poll_recovery(now_ps),
            Some(recovery) if self.nxt < recovery.max_sent => self.poll_after_timeout(now_ps),
            _ => self.poll_new(now_ps, max_bytes),
        }
    }

    #[inline]
    fn poll_new(&mut self, now_ps: u64, max_bytes: u16) -> Option<Segment> {
        let unsent = self.written - self.nxt;
        if unsent == 0 {
            return None;
        }
        if self.nxt == self.una {
            self.restart(now_ps);
        }
        let (pipe, mss) = (self.pipe(), self.window.mss());
        let room = self.limit().saturating_sub(pipe);
        let most = unsent.min(u64::from(max_bytes).max(mss));
        if max_bytes > 0 && room < most && pipe > 0 && self.defers(room) {
            self.window_limited = true;
            return None;
        }
        let bytes = if most <= room && (most == unsent || most == mss) {
            most
        } else if room >= mss {
            room.min(most) / mss * mss
        } else if pipe == 0 {
            unsent.min(mss)
        } else {
            self.window_limited = true;
            return None;
        };
        if self.timed_position == NEVER {
            self.timed_position = self.nxt;
            self.timed_ps = now_ps;
        }
        Some(self.new_segment(bytes, now_ps))
    }

    /// Whether a small amount waits so that the NIC gets a larger piece. Nothing waits after a
    /// loss, or before all data from before an ECN reduction is acknowledged (Linux: only in the
    /// state open).
    #[inline]
    fn defers(&self, room: u64) -> bool {
        let divisor = u64::from(self.config.tso_win_divisor);
        divisor > 0
            && self
                .recovery
                .as_ref()
                .is_none_or(|of| of.is_waiting(self.una))
            && self.cut_bytes == 0
            && room < self.limit() / divisor
    }

    /// Restarts after an idle time: nothing was outstanding.
    #[inline]
    fn restart(&mut self, now_ps: u64) {
        let idle_ps = now_ps.saturating_sub(self.last_sent_ps);
        self.controller.on_restart(idle_ps);
        let rto = &self.config.rto;
        if !self.config.idle_restart || !self.rto.is_over(rto, self.last_sent_ps, now_ps) {
            return;
        }
        let cwnd = self.window.cwnd();
        let initial = self.config.window.cwnd().min(cwnd);
        if self.config.idle_decay {
            let rto_ps = self.rto.timeout_ps(rto);
            let halvings = (idle_ps.saturating_sub(1) / rto_ps).min(63);
            let ssthresh = self.window.ssthresh().max(cwnd * 3 / 4);
            self.window.set_ssthresh(ssthresh);
            self.window.set_cwnd((cwnd >> halvings).max(initial));
        } else {
            self.window.set_cwnd(initial);
        }
    }

    /// Creates a segment of new data. The first one after a window reduction carries CWR (RFC 3168,
    /// 6.1.2).
    #[inline]
    fn new_segment(&mut self, bytes: u64, now_ps: u64) -> Segment {
        let start = self.nxt;
        self.nxt += bytes;
        if let Some(times) = self.send_times() {
            times.sent(now_ps, start + bytes);
        }
        if let Some(recovery) = &mut self.recovery {
            recovery.sent(now_ps, self.nxt, self.window.mss());
        }
        Segment {
            ect: match (self.config.ecn, self.config.accurate_ecn) {
                (false, _) => Codepoint::NotEct,
                (true, false) => Codepoint::Ect0,
                (true, true) => Codepoint::Ect1,
            },
            cwr: std::mem::take(&mut self.cwr) && !self.config.accurate_ecn,
            ..self.segment(start, bytes, now_ps)
        }
    }

    #[inline]
    fn segment(&mut self, start: u64, bytes: u64, now_ps: u64) -> Segment {
        self.last_sent_ps = now_ps;
        if self.config.samples_delivery {
            self.note_sent(now_ps, start, bytes);
        }
        if self.rto_deadline_ps == NEVER {
            if self.config.acknowledged {
                self.rto_deadline_ps = self.rto.deadline_ps(&self.config.rto, now_ps);
            } else {
                self.una = self.nxt;
            }
        }
        Segment {
            start,
            bytes: bytes as u16,
            ect: Codepoint::NotEct,
            cwr: false,
            syn: false,
        }
    }

    /// Processes an acknowledgment up to position `ack` with an echo and SACK blocks, given by
    /// their sequence numbers. It is a duplicate if it acknowledges only new blocks (RFC 6675); the
    /// answer to a segment received twice is not. ECN-Echo counts on any acknowledgment not older
    /// than the last (RFC 3168, 6.1.2; RFC 8257, 3.4); other echoes count on any.
    #[inline]
    pub fn on_ack(&mut self, now_ps: u64, ack: u64, echo: Echo, blocks: &[(u32, u32)]) {
        let max_sent = self.max_sent();
        if ack > max_sent {
            return;
        }
        if self.config.samples_delivery {
            self.begin_sample(now_ps);
        }
        let newly_sacked = !blocks.is_empty() && self.report(now_ps, ack, max_sent, blocks);
        if ack > self.una {
            self.on_progress(now_ps, ack, echo);
            return;
        }
        let is_last = ack == self.una;
        if is_last && newly_sacked {
            self.on_duplicate(now_ps);
        }
        let marked = is_last && echo.marked;
        let is_counted = is_last && self.config.accurate_ecn || self.config.samples_delivery;
        if marked || echo.answer != Answer::Nothing || is_counted {
            self.on_echo_without_progress(now_ps, Echo { marked, ..echo });
        }
    }

    #[inline]
    fn on_progress(&mut self, now_ps: u64, ack: u64, echo: Echo) {
        let acked = ack - self.una;
        let in_use = match self.host_limited {
            false => self.window_limited || !self.config.cwnd_validation,
            // Linux: in slow start a window of up to twice the data in the network is in use.
            true => self.window.in_slow_start() && self.window.cwnd() < 2 * self.pipe(),
        };
        (self.window_limited, self.host_limited) = (false, false);
        let (after_loss, in_recovery) = match &self.recovery {
            None => (false, false),
            Some(recovery) => (self.una < recovery.until, recovery.is_fast),
        };
        self.una = ack;
        self.nxt = self.nxt.max(ack);
        self.cut_bytes = self.cut_bytes.saturating_sub(acked as u32);
        let mut rtt_ps = None;
        if ack > self.timed_position {
            // Never true for `NEVER`, which no position exceeds.
            let sample_ps = now_ps - self.timed_ps;
            self.rto.sample(sample_ps);
            self.timed_position = NEVER;
            rtt_ps = Some(sample_ps);
        }
        if let Some(times) = self.send_times() {
            rtt_ps = times.sample(now_ps, ack);
        }
        self.rto_deadline_ps = if ack == self.max_sent() {
            NEVER
        } else {
            self.rto.deadline_ps(&self.config.rto, now_ps)
        };
        if self.recovery.is_some() {
            self.progress_in_recovery(now_ps, ack);
        }
        let event = Feedback {
            now_ps,
            una: ack,
            nxt: self.max_sent(),
            acked,
            echo,
            after_loss,
            may_grow: in_use && !in_recovery,
            rtt_ps,
            srtt_ps: self.rto.srtt_ps(),
            sent_ps: None,
        };
        self.tell(&event);
    }

    /// Processes an echo on an acknowledgment without new data, which counts no bytes and permits
    /// no growth. If the same acknowledgment started fast recovery, that was the one reduction of
    /// this window of data.
    #[cold]
    fn on_echo_without_progress(&mut self, now_ps: u64, echo: Echo) {
        let until = self.recovery.as_ref().map_or(0, |recovery| recovery.until);
        let event = Feedback {
            now_ps,
            una: self.una,
            nxt: self.max_sent(),
            acked: 0,
            echo,
            after_loss: self.una < until,
            may_grow: false,
            rtt_ps: None,
            srtt_ps: self.rto.srtt_ps(),
            sent_ps: None,
        };
        self.tell(&event);
    }

    #[inline]
    fn tell(&mut self, event: &Feedback) {
        if self.config.samples_delivery {
            self.finish_sample(event.una);
        }
        if self.controller.on_ack(&mut self.window, event) {
            self.cwr = true;
            self.cut_bytes = (event.nxt - event.una) as u32;
        }
    }
}

#[cfg(test)]
mod tests;
