//! RACK: a stream's sender decides by time that a segment is lost.
//!
//! Source: RFC 8985, sections 5 (state), 6.1 (transmission), 6.2 (acknowledgment, steps 1 to 5) and 6.3
//! (timeout). A segment is lost if one that was sent later has arrived and the segment itself has not
//! within the round trip of that one and a reordering window. The window is a quarter of the smallest
//! round trip, times a multiplier that each round with a duplicate at the receiver (DSACK, RFC 2883)
//! increases by one, at most the smoothed round trip. Until reordering has been seen it is zero once
//! `duplicate_threshold` segments have arrived above a hole, and during recovery.
//!
//! Differences: a sender that spreads its packets over several paths expects reordering from the start
//! ([`RackConfig::expects_reordering`]). The smallest round trip is measured over the whole connection;
//! the RFC leaves its window to the implementation. There are no timestamps, so a retransmission counts as
//! delivered only if its round trip is not below the smallest one, as the RFC does without them. Tail
//! loss probes (section 7) are not part of it.
//!
//! Positions are bytes of the stream, times ps. Blocks of acknowledgments end where segments end.

use alloc::collections::VecDeque;

/// Number of recoveries without a duplicate after which the window has its first size again.
const PERSISTENCE: u32 = 16;

/// Settings of [`Rack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RackConfig {
    /// Segments above a hole that prove a loss while no reordering has been seen (RFC: 3).
    pub duplicate_threshold: u32,
    /// Whether reordering counts as seen from the start.
    pub expects_reordering: bool,
}

/// What the sender knows of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    InFlight,
    Lost,
    Received,
}

/// Segment that is not cumulatively acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Segment {
    start: u64,
    end: u64,
    sent_ps: u64,
    state: State,
    retransmitted: bool,
}

/// Time and end of a segment: the order of transmission. Equal times are in the order of the stream.
type Sent = (u64, u64);

/// Segments of a connection, and which of them are lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rack {
    config: RackConfig,
    /// Segments by position.
    segments: VecDeque<Segment>,
    /// Transmissions in their order, after the most recent one that arrived. Entries of segments that are
    /// no longer in flight stay until then.
    later: VecDeque<Sent>,
    /// Transmissions before it, whose segments may be lost.
    overtaken: VecDeque<Sent>,
    /// Most recently sent segment that has arrived (`RACK.xmit_ts`, `RACK.end_seq`).
    newest: Sent,
    /// The same of the current acknowledgment, with its round trip.
    of_ack: Option<(Sent, u64)>,
    /// Round trip of the most recently delivered segment (`RACK.rtt`).
    rtt_ps: u64,
    min_rtt_ps: u64,
    /// Reordering window (`RACK.reo_wnd`), as last computed.
    window_ps: u64,
    /// Highest position that has arrived (`RACK.fack`).
    highest: u64,
    has_seen_reordering: bool,
    multiplier: u32,
    persistence: u32,
    /// End of the round in which a duplicate has widened the window.
    widened_until: Option<u64>,
    /// First byte that is not cumulatively acknowledged, and end of the data sent.
    una: u64,
    nxt: u64,
    received_bytes: u64,
    received_segments: u32,
    lost_bytes: u64,
}

impl Rack {
    /// Creates the state of a connection that has sent nothing.
    pub fn new(config: &RackConfig) -> Self {
        Self {
            config: *config,
            segments: VecDeque::new(),
            later: VecDeque::new(),
            overtaken: VecDeque::new(),
            newest: (0, 0),
            of_ack: None,
            rtt_ps: 0,
            min_rtt_ps: u64::MAX,
            window_ps: 0,
            highest: 0,
            has_seen_reordering: config.expects_reordering,
            multiplier: 1,
            persistence: PERSISTENCE,
            widened_until: None,
            una: 0,
            nxt: 0,
            received_bytes: 0,
            received_segments: 0,
            lost_bytes: 0,
        }
    }

    /// Records a segment of new data up to `end`.
    pub fn sent(&mut self, now_ps: u64, end: u64) {
        self.segments.push_back(Segment {
            start: self.nxt,
            end,
            sent_ps: now_ps,
            state: State::InFlight,
            retransmitted: false,
        });
        self.nxt = end;
        self.later.push_back((now_ps, end));
    }

    /// Takes the first lost segment, which is sent again now: its start and end.
    pub fn resend(&mut self, now_ps: u64) -> Option<(u64, u64)> {
        let mut segments = self.segments.iter_mut();
        let segment = segments.find(|segment| segment.state == State::Lost)?;
        segment.state = State::InFlight;
        segment.retransmitted = true;
        segment.sent_ps = now_ps;
        self.lost_bytes -= segment.end - segment.start;
        let (start, end) = (segment.start, segment.end);
        let at = self.later.partition_point(|&sent| sent < (now_ps, end));
        self.later.insert(at, (now_ps, end));
        Some((start, end))
    }

    /// Whether lost segments have not been sent again.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.lost_bytes > 0
    }

    /// Bytes in the network: neither received nor lost.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        self.nxt - self.una - self.received_bytes - self.lost_bytes
    }

    /// Reordering window, ps, as last computed.
    pub fn window_ps(&self) -> u64 {
        self.window_ps
    }

    /// Processes a cumulative acknowledgment up to `una`. Selective ones of the same packet come after it.
    pub fn acknowledge(&mut self, now_ps: u64, una: u64) {
        while let Some(&segment) = self.segments.front()
            && segment.end <= una
        {
            self.deliver(now_ps, 0);
            self.segments.pop_front();
            self.una = segment.end;
            let bytes = segment.end - segment.start;
            self.received_bytes -= bytes;
            self.received_segments -= 1;
        }
    }

    /// Processes a block [start, end) of received data, of which lower ones come first. Returns whether
    /// any of it is new.
    pub fn acknowledge_block(&mut self, now_ps: u64, start: u64, end: u64) -> bool {
        let first = (self.segments).partition_point(|segment| segment.start < start);
        let mut is_new = false;
        for at in first..self.segments.len() {
            if self.segments[at].end > end {
                break;
            }
            is_new |= self.deliver(now_ps, at);
        }
        is_new
    }

    /// Marks a segment as received. Returns whether it was not.
    fn deliver(&mut self, now_ps: u64, at: usize) -> bool {
        let segment = self.segments[at];
        let bytes = segment.end - segment.start;
        match segment.state {
            State::Received => return false,
            State::Lost => self.lost_bytes -= bytes,
            State::InFlight => {}
        }
        self.segments[at].state = State::Received;
        self.received_bytes += bytes;
        self.received_segments += 1;
        let rtt_ps = now_ps - segment.sent_ps;
        if !segment.retransmitted {
            self.min_rtt_ps = self.min_rtt_ps.min(rtt_ps);
            self.has_seen_reordering |= segment.end < self.highest;
        }
        self.highest = self.highest.max(segment.end);
        // Otherwise the acknowledgment answers the first transmission.
        if !segment.retransmitted || rtt_ps >= self.min_rtt_ps {
            let sent = (segment.sent_ps, segment.end);
            if self.of_ack.is_none_or(|(newest, _)| sent > newest) {
                self.of_ack = Some((sent, rtt_ps));
            }
        }
        true
    }

    /// Processes the report that data has arrived twice. The window grows once per round.
    pub fn on_duplicate(&mut self) {
        if self.widened_until.is_none_or(|until| self.una >= until) {
            self.widened_until = Some(self.nxt);
            self.multiplier += 1;
            self.persistence = PERSISTENCE;
        }
    }

    /// Processes the end of a recovery, fast or after a timeout.
    pub fn recovered(&mut self) {
        self.persistence = self.persistence.saturating_sub(1);
        if self.persistence == 0 {
            self.multiplier = 1;
        }
    }

    /// Finds the lost segments, after an acknowledgment or at the time returned by the last call. Returns
    /// the time until which overtaken segments may still arrive, if there are any.
    pub fn detect(&mut self, now_ps: u64, in_recovery: bool, srtt_ps: u64) -> Option<u64> {
        if let Some((sent, rtt_ps)) = self.of_ack.take() {
            self.rtt_ps = rtt_ps;
            self.newest = self.newest.max(sent);
        }
        while let Some(&sent) = self.later.front()
            && sent < self.newest
        {
            self.later.pop_front();
            self.overtaken.push_back(sent);
        }
        self.window_ps = self.reordering_window_ps(in_recovery, srtt_ps);
        let allowed_ps = self.rtt_ps + self.window_ps;
        let mut deadline_ps = None;
        let mut overtaken = core::mem::take(&mut self.overtaken);
        overtaken.retain(|&(sent_ps, end)| {
            let due_ps = sent_ps + allowed_ps;
            let Some(at) = self.in_flight_at(sent_ps, end) else {
                return false;
            };
            let is_lost = due_ps <= now_ps;
            match is_lost {
                true => self.lose(at),
                false => deadline_ps = Some(due_ps), // the last one's is the latest
            }
            !is_lost
        });
        self.overtaken = overtaken;
        deadline_ps
    }

    /// Processes the expiry of the retransmission timer: the first segment is lost, and all that have been
    /// in flight for the round trip and the window.
    pub fn on_timeout(&mut self, now_ps: u64) {
        for at in 0..self.segments.len() {
            let segment = self.segments[at];
            let is_due = segment.sent_ps + self.rtt_ps + self.window_ps <= now_ps;
            if segment.state == State::InFlight && (at == 0 || is_due) {
                self.lose(at);
            }
        }
    }

    fn reordering_window_ps(&self, in_recovery: bool, srtt_ps: u64) -> u64 {
        let proves_loss = self.received_segments >= self.config.duplicate_threshold;
        if !self.has_seen_reordering && (in_recovery || proves_loss) {
            return 0;
        }
        let quarters_ps = u64::from(self.multiplier).saturating_mul(self.min_rtt_ps / 4);
        quarters_ps.min(match srtt_ps {
            0 => self.rtt_ps, // no sample yet
            _ => srtt_ps,
        })
    }

    /// Place of the segment of a transmission, if it is the last one and the segment is in flight.
    fn in_flight_at(&self, sent_ps: u64, end: u64) -> Option<usize> {
        let found = self.segments.binary_search_by_key(&end, |one| one.end);
        found.ok().filter(|&at| {
            let segment = &self.segments[at];
            segment.state == State::InFlight && segment.sent_ps == sent_ps
        })
    }

    fn lose(&mut self, at: usize) {
        let segment = &mut self.segments[at];
        segment.state = State::Lost;
        self.lost_bytes += segment.end - segment.start;
    }
}
