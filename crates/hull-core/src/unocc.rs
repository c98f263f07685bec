//! UnoCC: Uno's congestion control, a window whose epochs are round trips inside a data centre for
//! every flow.
//!
//! Source: T. Bonato et al., "Uno" (SC'25, arXiv 2510.15802), as in the authors' simulator (Uno_SC25,
//! commit 68d164e, `lcp.cpp`, type `aimd_phantom`), without fast increase and without the round-trip
//! signal, as in all figures. BDP is the flow's: rate times round trip without load.
//!
//! - An unmarked ACK of n bytes: `W += 0.001 BDP n / W`.
//! - An epoch ends with the first ACK of a packet sent at or after its end mark. The next mark is the
//!   old one plus that ACK's round trip times `BDP inside a data centre / BDP`. F is the marked share
//!   of the bytes acknowledged in the epoch, and `E <- (1 - g) E + g F`.
//! - With F above 0: `W *= 1 - E beta`, beta = `4 K / (K + BDP)`, or 0.35 of that if the round trip is
//!   at most 1.055 times the unloaded one, because then only a phantom queue is congested. If E fell,
//!   was above 0 and is at most 0.9, the epoch's bytes increase W as if unmarked, and W is not cut.
//! - Quick adapt: if less than W / 2 was acknowledged in a period of 1.05 base round trips, W becomes
//!   0.96 of the acknowledged bytes. Epochs stop until as many bytes have been sent, and the next
//!   period begins with the first ACK of a packet sent after that. The first epoch and period begin
//!   likewise. An ACK that begins a period does not count in it.
//! - Loss does not change W.
//! - Packets are paced at W per base round trip; the gap is recomputed at most every 1/20 of that.
//!
//! W stays between a packet and the BDP. Published: K 24,576 bytes, g 0.65 (0.5 in figures 10 to 12).
//!
//! Difference: E has 32 bits in the reference.
//!
//! Units: bytes, picoseconds; W and factors are `f64` with the four basic operations only.

/// Additive increase, share of the BDP.
const INCREASE: f64 = 0.001;
/// Factor of the decrease if only a phantom queue is congested.
const PHANTOM_SHARE: f64 = 0.35;
/// Ratio to the base round trip up to which a round trip has met no queue.
const NEAR_BASE: f64 = 1.055;
/// E above which a falling E does not prevent the decrease.
const HIGH_MARKS: f64 = 0.9;
/// Length of a quick-adapt period, percent of the base round trip.
const PERIOD_PCT: u64 = 105;
/// Share of the window below which the acknowledged bytes trigger quick adapt.
const PERIOD_SHARE: f64 = 0.5;
/// New window after quick adapt, share of the acknowledged bytes.
const PERIOD_LEFT: f64 = 0.96;
/// Largest number of updates of the pacing gap per base round trip.
const GAP_UPDATES: u64 = 20;

/// Settings of one UnoCC flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UnoCcConfig {
    /// BDP of the flow: rate times unloaded round trip, bytes.
    pub bdp_bytes: u64,
    /// BDP of a flow inside a data centre, bytes.
    pub intra_bdp_bytes: u64,
    /// Unloaded round trip of the flow, ps.
    pub base_rtt_ps: u64,
    /// Payload of a packet, bytes.
    pub mss_bytes: u32,
    /// Size of a packet on the wire, bytes.
    pub packet_bytes: u32,
    /// K of the decrease, bytes.
    pub k_bytes: u64,
    /// Gain g of the moving average of the marked share.
    pub mark_gain: f64,
}

/// Contents of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnoCcAck {
    /// Arrival time at the sender, ps.
    pub now_ps: u64,
    /// Newly acknowledged bytes.
    pub acked_bytes: u64,
    /// ECN echo.
    pub ecn: bool,
    /// Round trip of the acknowledged packet, ps.
    pub rtt_ps: u64,
    /// Sending time of the latest packet that this ACK newly acknowledges, ps; `None` without such
    /// a packet.
    pub sent_at_ps: Option<u64>,
}

/// UnoCC state of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct UnoCc {
    config: UnoCcConfig,
    window_bytes: f64,
    /// E: moving average of the marked share.
    mark_share: f64,
    /// Acknowledged and marked bytes of the current epoch.
    acked_bytes: u64,
    marked_bytes: u64,
    epoch_end_ps: u64,
    /// Bytes to be sent before epochs begin; `None` once they have begun.
    to_epochs_bytes: Option<f64>,
    /// End of the quick-adapt period, ps. Between periods: earliest sending time of a packet whose
    /// ACK begins the next period.
    period_end_ps: u64,
    /// Bytes acknowledged in the period; `None` between periods.
    period_bytes: Option<u64>,
    gap_ps: u64,
    gap_at_ps: Option<u64>,
}

impl UnoCc {
    /// Creates a flow that starts at `now_ps` with a window of its BDP.
    ///
    /// # Panics
    /// Panics if `mss_bytes` is zero or the BDP is below it.
    pub fn new(config: &UnoCcConfig, now_ps: u64) -> Self {
        assert!(config.mss_bytes > 0, "mss_bytes must be above zero");
        assert!(
            config.bdp_bytes >= u64::from(config.mss_bytes),
            "bdp_bytes must be a packet or more"
        );
        let window_bytes = config.bdp_bytes as f64;
        let mut flow = Self {
            config: *config,
            window_bytes,
            mark_share: 0.0,
            acked_bytes: 0,
            marked_bytes: 0,
            epoch_end_ps: 0,
            to_epochs_bytes: Some(window_bytes),
            period_end_ps: now_ps,
            period_bytes: None,
            gap_ps: 0,
            gap_at_ps: None,
        };
        flow.update_gap(now_ps);
        flow
    }

    /// Congestion window, bytes.
    pub fn window_bytes(&self) -> f64 {
        self.window_bytes
    }

    /// E: moving average of the marked share.
    pub fn mark_share(&self) -> f64 {
        self.mark_share
    }

    /// Time between two packets, ps.
    pub fn gap_ps(&self) -> u64 {
        self.gap_ps
    }

    /// beta: largest share of W that one epoch removes.
    pub fn decrease(&self) -> f64 {
        let k = self.config.k_bytes as f64;
        4.0 * k / (k + self.config.bdp_bytes as f64)
    }

    /// Records a packet with `payload_bytes` sent at `now_ps`, including retransmissions.
    pub fn on_send(&mut self, now_ps: u64, payload_bytes: u32) {
        if let Some(left) = self.to_epochs_bytes {
            let left = left - f64::from(payload_bytes);
            self.to_epochs_bytes = Some(left);
            if left <= 0.0 {
                self.to_epochs_bytes = None;
                self.begin_epoch(now_ps);
            }
        }
    }

    /// Processes an ACK.
    pub fn on_ack(&mut self, ack: &UnoCcAck) {
        if self.to_epochs_bytes.is_none() {
            self.acked_bytes += ack.acked_bytes;
            if ack.ecn {
                self.marked_bytes += ack.acked_bytes;
            }
        }
        self.quick_adapt(ack);
        if !ack.ecn {
            self.increase(ack.acked_bytes);
        }
        let ends = ack
            .sent_at_ps
            .is_some_and(|sent_at_ps| sent_at_ps >= self.epoch_end_ps);
        if ends && self.to_epochs_bytes.is_none() {
            self.end_epoch(ack.rtt_ps);
        }
        self.clamp();
        self.update_gap(ack.now_ps);
    }

    fn quick_adapt(&mut self, ack: &UnoCcAck) {
        let period_ps = self.config.base_rtt_ps * PERIOD_PCT / 100;
        let Some(period_bytes) = self.period_bytes else {
            if ack
                .sent_at_ps
                .is_some_and(|sent_at_ps| sent_at_ps >= self.period_end_ps)
            {
                self.period_bytes = Some(0);
                self.period_end_ps = ack.now_ps + period_ps;
            }
            return;
        };
        let period_bytes = period_bytes + ack.acked_bytes;
        self.period_bytes = Some(period_bytes);
        if ack.now_ps < self.period_end_ps {
            return;
        }
        if (period_bytes as f64) < self.window_bytes * PERIOD_SHARE {
            self.window_bytes = period_bytes as f64 * PERIOD_LEFT;
            self.to_epochs_bytes = Some(self.window_bytes);
            self.period_bytes = None;
            self.period_end_ps = ack.now_ps;
            self.clamp();
        } else {
            self.period_bytes = Some(0);
            self.period_end_ps = ack.now_ps + period_ps;
        }
    }

    fn increase(&mut self, bytes: u64) {
        let step = INCREASE * self.config.bdp_bytes as f64;
        self.window_bytes += step * bytes as f64 / self.window_bytes;
    }

    fn begin_epoch(&mut self, end_ps: u64) {
        (self.acked_bytes, self.marked_bytes) = (0, 0);
        self.epoch_end_ps = end_ps;
    }

    fn end_epoch(&mut self, rtt_ps: u64) {
        let share = self.marked_bytes as f64 / self.acked_bytes.max(1) as f64;
        let gain = self.config.mark_gain;
        let before = self.mark_share;
        self.mark_share = before * (1.0 - gain) + share * gain;
        if share > 0.0 {
            let falls = before > 0.0 && self.mark_share <= HIGH_MARKS && self.mark_share < before;
            if falls {
                self.increase(self.acked_bytes);
            } else {
                let congested = rtt_ps as f64 > self.config.base_rtt_ps as f64 * NEAR_BASE;
                let scale = if congested { 1.0 } else { PHANTOM_SHARE };
                self.window_bytes *= 1.0 - self.mark_share * self.decrease() * scale;
            }
        }
        let config = &self.config;
        let intra = config.intra_bdp_bytes as f64 / config.bdp_bytes as f64;
        let end_ps = self.epoch_end_ps + (rtt_ps as f64 * intra) as u64;
        self.begin_epoch(end_ps);
    }

    fn clamp(&mut self) {
        let least = f64::from(self.config.mss_bytes);
        let most = self.config.bdp_bytes as f64;
        self.window_bytes = self.window_bytes.min(most).max(least);
    }

    fn update_gap(&mut self, now_ps: u64) {
        let base_rtt_ps = self.config.base_rtt_ps;
        let due = self
            .gap_at_ps
            .is_none_or(|at_ps| now_ps - at_ps > base_rtt_ps / GAP_UPDATES);
        if due {
            let round_bytes = f64::from(self.config.packet_bytes) * base_rtt_ps as f64;
            self.gap_ps = (round_bytes / self.window_bytes) as u64;
            self.gap_at_ps = Some(now_ps);
        }
    }
}
