//! NSCC: the sender's congestion control in Ultra Ethernet's transport, a window driven by ECN echoes
//! and queueing delay.
//!
//! Source: the Ultra Ethernet consortium's simulator uet-htsim (commit 40ccb05), file `uec.cpp`. The
//! consortium's specification is normative and was not read.
//!
//! With T the round trip of the unloaded network, C the link's rate, D the target of the queueing delay,
//! `a = C T / 150,000 B` and `b = D / 12 us` (the reference network has 100 Gbps and 12 us):
//!
//! - An ACK without mark and with delay below D adds `alpha n (D - delay)` to the pending increase
//!   (proportional increase), alpha = 4 MSS a b / D; from D on it adds `5 MSS a n` (fair increase). n
//!   is the number of newly received bytes that the ACK reports.
//! - Once per T, or after more than 8 MTU were received, the window W grows by the pending increase
//!   over W; once per T also by 0.15 MSS a.
//! - After more than W bytes with delay below 1 us, each such ACK adds 0.25 a n at once (fast
//!   increase).
//! - An ACK with mark and delay of at least D multiplies W by `max(1 - 0.8 (avg - D) / avg, 1/2)`, at
//!   most once per base round trip, where avg is the moving average of the delay.
//! - A trimmed packet reduces W by its size, as does a timeout.
//! - Quick adapt: if a period of base round trip + D has a trimmed packet or a delay above 4 D, and
//!   less than 1/8 of the largest window arrived in it, W becomes the bytes that arrived. Marked ACKs
//!   and NACKs of the packets then in flight are ignored.
//!
//! Behaviour of the reference that its description does not mention, reproduced here: a NACK's request
//! for quick adapt persists until one acts, over any number of periods. A sample between 1 us and D
//! ends the fast increase; a sample above D without a mark does not. Time 0 counts as the last decrease
//! and the last adjustment.
//!
//! Differences: the pending increase has 64 bits. The reference has 32, which wrap at 800 Gbps and make
//! its windows smaller there; [`NsccNetwork::due_in_32_bits`] reproduces this. The reference computes
//! its largest window in floating point, up to 2 bytes below the exact one.
//!
//! Units: bytes, picoseconds; the pending increase is in bytes squared. W and the average are integers,
//! rounded towards zero at each step as in the reference; factors are `f64` with the four basic
//! operations only, so every machine computes the same bits.

/// BDP of the reference network: 100 Gbps times 12 us, in bytes.
const REFERENCE_BDP_BYTES: u64 = 150_000;
/// Round trip of the reference network, ps: 12 us.
const REFERENCE_RTT_PS: u64 = 12_000_000;
/// Weight of a new delay sample in the moving average.
const DELAY_GAIN: f64 = 0.0125;
/// gamma: gain of the multiplicative decrease.
const DECREASE_GAIN: f64 = 0.8;
/// Smallest share of the window that one decrease leaves.
const LEAST_LEFT: f64 = 0.5;
/// Delay below which a sample counts for the fast increase, ps.
const FAST_INCREASE_DELAY_PS: u64 = 1_000_000;
/// Quick adapt acts if the bytes of a period are below the largest window shifted right by this.
const QUICK_ADAPT_GATE: u32 = 3;

/// Network from which the constants are derived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NsccNetwork {
    /// Rate of the host's link (C), bit/s.
    pub link_bps: u64,
    /// Longest round trip of the unloaded network (T), ps.
    pub rtt_ps: u64,
    /// Payload of a full packet, bytes.
    pub mss_bytes: u32,
    /// Size of a full packet, bytes.
    pub mtu_bytes: u32,
    /// Whether switches trim packets. The target of the queueing delay is then 0.75 T, otherwise T.
    pub trimming: bool,
    /// Whether the pending increase wraps at 32 bits, as in the reference.
    pub due_in_32_bits: bool,
}

/// Constants shared by all flows of a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NsccConstants {
    /// Network from which the constants were derived.
    pub network: NsccNetwork,
    /// a: the network's BDP divided by the reference network's BDP.
    pub bdp_scale: f64,
    /// b: target of the queueing delay divided by the round trip of the reference network.
    pub delay_scale: f64,
    /// Target of the queueing delay (D), ps.
    pub target_delay_ps: u64,
    /// Proportional increase (alpha), bytes per ps.
    pub proportional: f64,
    /// Fair increase, bytes.
    pub fair_bytes: f64,
    /// Additive increase once per T (eta), bytes.
    pub floor_bytes: f64,
    /// Fast increase, bytes of window per received byte.
    pub fast_scale: f64,
    /// Delay above which quick adapt may act, ps.
    pub quick_adapt_delay_ps: u64,
    /// Number of received bytes above which the window is adjusted before T has passed.
    pub adjust_bytes: u64,
}

impl NsccNetwork {
    /// Derives the constants for this network.
    ///
    /// # Panics
    /// Panics if the rate, the round trip or a size is zero.
    pub fn constants(&self) -> NsccConstants {
        assert!(self.mss_bytes > 0, "mss_bytes must be above zero");
        assert!(self.mtu_bytes > 0, "mtu_bytes must be above zero");
        let bdp_bytes = bdp_bytes(self.link_bps, self.rtt_ps);
        assert!(
            bdp_bytes > 0,
            "link_bps times rtt_ps must be a byte or more"
        );
        let target_delay_ps = if self.trimming {
            self.rtt_ps * 3 / 4
        } else {
            self.rtt_ps
        };
        let mss = f64::from(self.mss_bytes);
        let bdp_scale = bdp_bytes as f64 / REFERENCE_BDP_BYTES as f64;
        let delay_scale = target_delay_ps as f64 / REFERENCE_RTT_PS as f64;
        NsccConstants {
            network: *self,
            bdp_scale,
            delay_scale,
            target_delay_ps,
            proportional: 4.0 * mss * bdp_scale * delay_scale / target_delay_ps as f64,
            fair_bytes: 5.0 * mss * bdp_scale,
            floor_bytes: 0.15 * mss * bdp_scale,
            fast_scale: 0.25 * bdp_scale,
            quick_adapt_delay_ps: 4 * target_delay_ps,
            adjust_bytes: 8 * u64::from(self.mtu_bytes),
        }
    }
}

/// Bytes that a link of `link_bps` carries in `rtt_ps` (BDP), rounded down.
fn bdp_bytes(link_bps: u64, rtt_ps: u64) -> u64 {
    (u128::from(link_bps) * u128::from(rtt_ps) / 8_000_000_000_000) as u64
}

/// Contents of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NsccAck {
    /// Arrival time at the sender, ps.
    pub now_ps: u64,
    /// Bytes received that no earlier ACK reported.
    pub received_bytes: u64,
    /// ECN echo.
    pub ecn: bool,
    /// Round trip of the acknowledged packet, ps; `None` if unknown (its record is gone, or it was
    /// retransmitted).
    pub rtt_ps: Option<u64>,
    /// Bytes in flight, without those that this ACK reports.
    pub in_flight_bytes: u64,
}

/// Contents of a NACK: the receiver got the header of a trimmed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NsccNack {
    /// Arrival time at the sender, ps.
    pub now_ps: u64,
    /// Size of the packet before it was trimmed, bytes.
    pub packet_bytes: u32,
    /// Round trip of that packet, ps; `None` if NACKs do not lower the base round trip.
    pub rtt_ps: Option<u64>,
    /// Bytes in flight, including the trimmed packet.
    pub in_flight_bytes: u64,
    /// Whether the window ignores the NACK: with receiver credit on, a trim at the last hop is left
    /// to the receiver's credit.
    pub left_to_receiver: bool,
}

/// NSCC state of one flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nscc {
    window_bytes: u64,
    max_window_bytes: u64,
    base_rtt_ps: u64,
    average_delay_ps: u64,
    /// Pending increase, bytes squared.
    due: u64,
    /// Bytes received since the last adjustment.
    received_bytes: u64,
    adjusted_at_ps: u64,
    decreased_at_ps: u64,
    /// Consecutive bytes received with a delay below [`FAST_INCREASE_DELAY_PS`].
    fast_bytes: u64,
    fast: bool,
    /// Bytes received in the current quick-adapt period.
    period_bytes: u64,
    /// End of the quick-adapt period, ps; 0 before the first.
    period_end_ps: u64,
    /// Whether a NACK has requested quick adapt.
    adapt: bool,
    /// Bytes in flight when quick adapt last acted; `ignored_bytes` of them are accounted for.
    ignore_bytes: u64,
    ignored_bytes: u64,
}

impl Nscc {
    /// Creates a flow whose path has an unloaded round trip of `base_rtt_ps`. The initial window is
    /// `initial_window_bytes`, or by default the largest window: 1.5 C times the base round trip.
    pub fn new(
        constants: &NsccConstants,
        base_rtt_ps: u64,
        initial_window_bytes: Option<u64>,
    ) -> Self {
        let max_window_bytes = max_window_bytes(constants, base_rtt_ps);
        Self {
            window_bytes: initial_window_bytes.unwrap_or(max_window_bytes),
            max_window_bytes,
            base_rtt_ps,
            average_delay_ps: 0,
            due: 0,
            received_bytes: 0,
            adjusted_at_ps: 0,
            decreased_at_ps: 0,
            fast_bytes: 0,
            fast: false,
            period_bytes: 0,
            period_end_ps: 0,
            adapt: false,
            ignore_bytes: 0,
            ignored_bytes: 0,
        }
    }

    /// Congestion window, bytes.
    pub fn window_bytes(&self) -> u64 {
        self.window_bytes
    }

    /// Largest window, bytes.
    pub fn max_window_bytes(&self) -> u64 {
        self.max_window_bytes
    }

    /// Smallest round trip so far, ps.
    pub fn base_rtt_ps(&self) -> u64 {
        self.base_rtt_ps
    }

    /// Moving average of the queueing delay, ps.
    pub fn average_delay_ps(&self) -> u64 {
        self.average_delay_ps
    }

    /// Processes an ACK.
    pub fn on_ack(&mut self, constants: &NsccConstants, ack: &NsccAck) {
        let received = ack.received_bytes;
        self.period_bytes += received;
        self.received_bytes += received;
        self.ignored_bytes += received;
        let delay_ps = match ack.rtt_ps {
            Some(rtt_ps) => {
                self.lower_base(constants, rtt_ps);
                let delay_ps = rtt_ps - self.base_rtt_ps;
                self.average(constants, delay_ps, ack.ecn);
                delay_ps
            }
            None => self.average_delay_ps,
        };
        if self.quick_adapt(
            constants,
            ack.now_ps,
            ack.ecn,
            delay_ps,
            ack.in_flight_bytes,
        ) {
            return;
        }
        match (ack.ecn, delay_ps < constants.target_delay_ps) {
            (false, true) => self.proportional_increase(constants, received, delay_ps),
            (false, false) => {
                self.owe(constants, constants.fair_bytes * received as f64);
            }
            // A mark without delay changes only the path, not the window.
            (true, true) => {}
            (true, false) => self.decrease(constants, ack.now_ps),
        }
        self.clamp(constants);
        let since_ps = ack.now_ps - self.adjusted_at_ps;
        let period_ps = constants.network.rtt_ps;
        if self.received_bytes > constants.adjust_bytes || since_ps > period_ps {
            self.window_bytes += self.due / self.window_bytes;
            if since_ps >= period_ps {
                self.window_bytes = (self.window_bytes as f64 + constants.floor_bytes) as u64;
                self.adjusted_at_ps = ack.now_ps;
            }
            self.due = 0;
            self.received_bytes = 0;
            self.clamp(constants);
        }
    }

    /// Processes a NACK.
    pub fn on_nack(&mut self, constants: &NsccConstants, nack: &NsccNack) {
        if let Some(rtt_ps) = nack.rtt_ps {
            self.lower_base(constants, rtt_ps);
        }
        let packet_bytes = u64::from(nack.packet_bytes);
        self.ignored_bytes += packet_bytes;
        // A full queue delays by about T.
        self.average(constants, constants.network.rtt_ps, true);
        self.adapt = true;
        let adapted = self.quick_adapt(constants, nack.now_ps, true, 0, nack.in_flight_bytes);
        if !adapted && !nack.left_to_receiver {
            self.window_bytes = self.window_bytes.saturating_sub(packet_bytes);
            self.clamp(constants);
        }
    }

    /// Processes the expiry of the retransmission timer of a packet of `packet_bytes`.
    pub fn on_timeout(&mut self, constants: &NsccConstants, packet_bytes: u32) {
        let left = self.window_bytes.saturating_sub(u64::from(packet_bytes));
        self.window_bytes = left.max(u64::from(constants.network.mtu_bytes));
    }

    fn lower_base(&mut self, constants: &NsccConstants, rtt_ps: u64) {
        if rtt_ps < self.base_rtt_ps {
            self.base_rtt_ps = rtt_ps;
            self.max_window_bytes = max_window_bytes(constants, rtt_ps);
        }
    }

    /// Updates the moving average of the queueing delay. A delay above the target without a mark is
    /// not caused by this network's queues: the average then moves towards a quarter of the base
    /// round trip.
    fn average(&mut self, constants: &NsccConstants, delay_ps: u64, ecn: bool) {
        let sample = if !ecn && delay_ps > constants.target_delay_ps {
            DELAY_GAIN * self.base_rtt_ps as f64 * 0.25
        } else {
            DELAY_GAIN * delay_ps as f64
        };
        self.average_delay_ps = (sample + (1.0 - DELAY_GAIN) * self.average_delay_ps as f64) as u64;
    }

    /// Runs quick adapt. Returns true if it acted, or if this ACK or NACK is ignored because it
    /// acted before.
    fn quick_adapt(
        &mut self,
        constants: &NsccConstants,
        now_ps: u64,
        congested: bool,
        delay_ps: u64,
        in_flight_bytes: u64,
    ) -> bool {
        let mut handled = false;
        if congested && self.ignored_bytes < self.ignore_bytes {
            handled = true;
        } else if now_ps > self.period_end_ps {
            let called = self.adapt || delay_ps > constants.quick_adapt_delay_ps;
            let few = self.period_bytes < self.max_window_bytes >> QUICK_ADAPT_GATE;
            if self.period_end_ps != 0 && called && few {
                let least = u64::from(constants.network.mtu_bytes);
                self.window_bytes = self.period_bytes.max(least);
                self.ignore_bytes = in_flight_bytes;
                self.ignored_bytes = 0;
                self.adapt = false;
                handled = true;
            }
            self.period_bytes = 0;
            self.period_end_ps = now_ps + self.base_rtt_ps + constants.target_delay_ps;
        }
        if handled {
            self.due = 0;
            self.received_bytes = 0;
        }
        handled
    }

    fn proportional_increase(&mut self, constants: &NsccConstants, received: u64, delay_ps: u64) {
        if delay_ps < FAST_INCREASE_DELAY_PS {
            self.fast_bytes += received;
            self.fast |= self.fast_bytes > self.window_bytes;
            if self.fast {
                let grown = self.window_bytes as f64 + received as f64 * constants.fast_scale;
                self.window_bytes = grown as u64;
                return;
            }
        } else {
            self.fast_bytes = 0;
            self.fast = false;
        }
        let below_ps = (constants.target_delay_ps - delay_ps) as f64;
        self.owe(
            constants,
            constants.proportional * received as f64 * below_ps,
        );
    }

    fn owe(&mut self, constants: &NsccConstants, step: f64) {
        self.due = (self.due as f64 + step) as u64;
        if constants.network.due_in_32_bits {
            self.due = u64::from(self.due as u32);
        }
    }

    fn decrease(&mut self, constants: &NsccConstants, now_ps: u64) {
        self.fast = false;
        self.fast_bytes = 0;
        let average_ps = self.average_delay_ps;
        let target_ps = constants.target_delay_ps;
        if average_ps <= target_ps || now_ps - self.decreased_at_ps <= self.base_rtt_ps {
            return;
        }
        let excess = DECREASE_GAIN * (average_ps - target_ps) as f64 / average_ps as f64;
        let left = (1.0 - excess).max(LEAST_LEFT);
        self.window_bytes = (self.window_bytes as f64 * left) as u64;
        self.decreased_at_ps = now_ps;
    }

    fn clamp(&mut self, constants: &NsccConstants) {
        let least = u64::from(constants.network.mtu_bytes);
        self.window_bytes = self.window_bytes.max(least).min(self.max_window_bytes);
    }
}

/// Largest window: 1.5 times the BDP, at least a packet, bytes.
fn max_window_bytes(constants: &NsccConstants, rtt_ps: u64) -> u64 {
    let network = &constants.network;
    (bdp_bytes(network.link_bps, rtt_ps) * 3 / 2).max(u64::from(network.mtu_bytes))
}
