//! Prague: the sender of L4S traffic. It is [`dctcp`](crate::dctcp) with fractional packets, an
//! increase with every unmarked packet, and a smaller increase at short round trips.
//!
//! Source: L4STeam's tcp_prague (L4STeam/linux at 02573a2, version 0.6), mode "rate". RFC 9331 was
//! not read.
//!
//! - Alpha, once per round: `alpha <- alpha - alpha / 16 + F / 16`, F the share of marked packets. It
//!   starts at 1 and stays there until the first mark.
//! - Increase: each unmarked packet that an ACK reports adds s / W packets, W rounded up. s is 1. For
//!   round trips below the target (25 ms), s becomes `(round trip / target)^2` after 500 rounds beyond
//!   slow start. Nothing is added during loss recovery.
//! - Decrease: the first mark of a round reduces W by `W alpha / 2`. A flow with a scaled increase does
//!   so, and updates alpha, at most once per target.
//! - A loss halves W.
//! - Pacing at W per round trip, twice that below half of the slow-start threshold, in bursts of at
//!   most 2^-12 s.
//!
//! Differences: the factor s is computed only at the start of a round. W does not fall below two
//! packets. In tcp_prague a kernel window of whole packets follows W by one packet per ACK. In slow
//! start W grows by one packet per unmarked packet.
//!
//! Units: W in 2^-20 packets, alpha in 2^-24, sequences as in [`dctcp`](crate::dctcp), picoseconds.

/// One packet in the fixed point of the window: 2^20.
pub const PACKET: u64 = 1 << 20;
/// Alpha = 1, fixed point: 2^24.
pub const ALPHA_ONE: u64 = 1 << 24;
/// Gain of alpha, as a shift: 2^-4.
const GAIN_SHIFT: u32 = 4;
/// Smallest window, in 2^-20 packets: two packets.
const MIN_WINDOW: u64 = 2 * PACKET;
/// Longest round trip for which the increase is scaled, ps: 100 ms.
const MAX_SCALED_RTT_PS: u64 = 100_000_000_000;
/// Reciprocal of the longest burst, 1/s.
const BURSTS_PER_SECOND: u128 = 1 << 12;

/// Settings of a [`Prague`] sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PragueConfig {
    /// Round trip below which the increase is scaled, ps. Published: 25 ms; 0 disables scaling.
    pub rtt_target_ps: u64,
    /// Number of rounds after slow start before scaling begins. Published: 500.
    pub transition_rounds: u32,
}

/// Contents of an ACK, as decoded by [`accecn`](crate::accecn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PragueAck {
    /// Arrival time at the sender, ps.
    pub now_ps: u64,
    /// First byte not acknowledged after this ACK.
    pub una: u64,
    /// Highest byte sent before this ACK arrived.
    pub nxt: u64,
    /// Packets newly acknowledged, including selective acknowledgements.
    pub acked_packets: u32,
    /// Newly acknowledged packets that were marked.
    pub marked_packets: u32,
    /// Smoothed round trip, ps.
    pub rtt_ps: u64,
    /// Whether the window is below the slow-start threshold.
    pub slow_start: bool,
    /// Whether the window limits transmission; otherwise it does not grow.
    pub window_limited: bool,
}

/// Prague congestion window of one connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prague {
    config: PragueConfig,
    window: u64,
    alpha: u64,
    alpha_at_ps: u64,
    saw_mark: bool,
    in_loss: bool,
    /// Scaled increase s, in 2^-20.
    increase: u64,
    /// Rounds since the end of slow start.
    rounds: u32,
    round_end: u64,
    round_acked: u64,
    round_marked: u64,
    /// Value that `una` must exceed before the next cut.
    cut_until: Option<u64>,
    cut_at_ps: u64,
}

impl Prague {
    /// Creates a sender at `now_ps` with a window of `packets`.
    pub fn new(config: &PragueConfig, packets: u32, now_ps: u64) -> Self {
        Self {
            config: *config,
            window: u64::from(packets) * PACKET,
            alpha: ALPHA_ONE,
            alpha_at_ps: now_ps,
            saw_mark: false,
            in_loss: false,
            increase: PACKET,
            rounds: 0,
            round_end: 0,
            round_acked: 0,
            round_marked: 0,
            cut_until: None,
            cut_at_ps: 0,
        }
    }

    /// W, in 2^-20 packets.
    pub fn window(&self) -> u64 {
        self.window
    }

    /// W, packets, rounded up.
    pub fn window_packets(&self) -> u64 {
        self.window.div_ceil(PACKET)
    }

    /// Alpha, in 2^-24.
    pub fn alpha(&self) -> u64 {
        self.alpha
    }

    /// Processes an ACK; call it before new data is sent. Returns true if W was cut.
    pub fn on_ack(&mut self, ack: &PragueAck) -> bool {
        let scaled = self.config.rtt_target_ps > 0
            && !ack.slow_start
            && self.rounds >= self.config.transition_rounds;
        let mut cut = false;
        if ack.marked_packets > 0 {
            self.saw_mark = true;
            let first = self.cut_until.is_none_or(|until| ack.una > until);
            if first && !self.in_loss {
                self.cut_until = Some(ack.nxt);
                cut = !scaled || ack.now_ps - self.cut_at_ps >= self.config.rtt_target_ps;
            }
        }
        if cut {
            self.cut(ack.now_ps);
        }
        let unmarked = u64::from(ack.acked_packets.saturating_sub(ack.marked_packets));
        if unmarked > 0 && !self.in_loss && ack.window_limited {
            self.window += if ack.slow_start {
                unmarked * PACKET
            } else {
                let packets = self.window_packets();
                ((unmarked * self.increase + packets / 2) / packets).max(unmarked)
            };
        }
        self.round_acked += u64::from(ack.acked_packets);
        self.round_marked += u64::from(ack.marked_packets);
        let waited = ack.now_ps - self.alpha_at_ps >= self.config.rtt_target_ps;
        if ack.una >= self.round_end && (!scaled || waited) {
            self.end_round(ack);
        }
        cut
    }

    /// Reacts to a detected loss by halving W.
    pub fn on_loss(&mut self) {
        self.window = (self.window - self.window / 2).max(MIN_WINDOW);
        self.in_loss = true;
    }

    /// Reacts to the expiry of the retransmission timer: W becomes two packets, and may grow again.
    pub fn on_timeout(&mut self) {
        self.window = MIN_WINDOW;
        self.in_loss = false;
    }

    /// Ends loss recovery: all lost packets have been acknowledged.
    pub fn on_recovered(&mut self) {
        self.in_loss = false;
    }

    /// Pacing rate, bit/s, for packets of `packet_bytes` and a slow-start threshold of
    /// `threshold_packets`.
    pub fn pacing_bps(&self, packet_bytes: u32, rtt_ps: u64, threshold_packets: u64) -> u64 {
        let faster = if self.window_packets() < threshold_packets / 2 {
            2
        } else {
            1
        };
        let bits = u128::from(self.window) * u128::from(packet_bytes) * 8 * faster;
        let per_rtt = bits * 1_000_000_000_000 / u128::from(rtt_ps.max(1));
        u64::try_from(per_rtt / u128::from(PACKET)).unwrap_or(u64::MAX)
    }

    /// Longest burst at `pacing_bps`, packets, at least 1.
    pub fn burst_packets(pacing_bps: u64, packet_bytes: u32) -> u64 {
        let bits = u128::from(packet_bytes) * 8 * BURSTS_PER_SECOND;
        ((u128::from(pacing_bps) / bits) as u64).max(1)
    }

    fn cut(&mut self, now_ps: u64) {
        self.cut_at_ps = now_ps;
        let taken = u128::from(self.alpha) * u128::from(self.window) + u128::from(ALPHA_ONE);
        let taken = (taken / u128::from(2 * ALPHA_ONE)) as u64;
        self.window = (self.window - taken).max(MIN_WINDOW);
    }

    fn end_round(&mut self, ack: &PragueAck) {
        if self.saw_mark {
            let share = self.round_marked * ALPHA_ONE / self.round_acked.max(1);
            self.alpha = self.alpha - (self.alpha >> GAIN_SHIFT) + (share >> GAIN_SHIFT);
            self.alpha = self.alpha.min(ALPHA_ONE);
            self.alpha_at_ps = ack.now_ps;
        }
        (self.round_acked, self.round_marked) = (0, 0);
        self.round_end = ack.nxt;
        if !ack.slow_start {
            self.rounds = self.rounds.saturating_add(1);
        }
        self.increase = self.scale(ack.rtt_ps);
    }

    /// Scaled increase s for this round trip, in 2^-20.
    fn scale(&self, rtt_ps: u64) -> u64 {
        let target_ps = self.config.rtt_target_ps;
        let scales = self.rounds >= self.config.transition_rounds
            && (1..=MAX_SCALED_RTT_PS).contains(&rtt_ps)
            && rtt_ps < target_ps;
        if !scales {
            return PACKET;
        }
        let (rtt, target) = (u128::from(rtt_ps), u128::from(target_ps));
        let square = target * target;
        ((rtt * rtt * u128::from(PACKET) + square / 2) / square) as u64
    }
}
