//! Rate-based DCTCP: DCTCP's estimate of the marked share, applied to the rate of a RoCE flow.
//!
//! Source: the simulator of HPCC (alibaba-edu/High-Precision-Congestion-Control at 9f4be2a, `rdma-hw.cc`,
//! mode 8), with which HPCC (SIGCOMM'19) compares. A flow starts at line rate, with alpha = 1.
//!
//! - A window of data ends with the first ACK above the highest byte sent when it began. At its end
//!   `alpha <- (1 - g) alpha + g min(1, F)`, where F is the marked part of the bytes in flight when the
//!   window began plus one packet. The first ACK only begins a window.
//! - The first marked ACK cuts at once, `R <- R (1 - alpha / 2)`, not below the smallest rate. Further
//!   marks cut nothing until an ACK is above the highest byte sent at the cut.
//! - A window that ends outside that time adds a constant to R, up to line rate.
//!
//! Differences from [`dctcp`](crate::dctcp): the rate is cut at a window's first mark with the alpha of
//! earlier windows, and the increase is not one packet for every window, because R is not a window.
//! Differences from the source: it counts marked ACKs, one for a packet, and hull marked bytes.
//!
//! Published: g 1/16, increase 615 Mbps (a packet of 1000 bytes in 13 us). Units: bit/s, bytes; R is
//! rounded down, alpha and g are `f64`.

/// Settings of rate-based DCTCP, shared by flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpRateConfig {
    /// Largest and initial rate, bit/s.
    pub line_rate_bps: u64,
    /// Smallest rate, bit/s.
    pub min_rate_bps: u64,
    /// Increase after a window without a cut, bit/s.
    pub additive_bps: u64,
    /// g: weight of a new sample of alpha, 0 to 1.
    pub gain: f64,
    /// Size of a full packet, bytes, above zero.
    pub packet_bytes: u64,
}

/// Rate-based DCTCP state of one flow.
#[derive(Clone, Debug, PartialEq)]
pub struct DctcpRate {
    rate_bps: u64,
    alpha: f64,
    /// Highest byte sent when the window began; `None` before the first ACK.
    window_end: Option<u64>,
    /// Bytes in flight when the window began, plus a packet.
    window_bytes: u64,
    /// Marked bytes of the window.
    marked_bytes: u64,
    /// Highest byte sent at the last cut, while further marks cut nothing.
    cut_end: Option<u64>,
}

impl DctcpRate {
    /// Creates a flow that has received no ACK.
    pub fn new(config: &DctcpRateConfig) -> Self {
        Self {
            rate_bps: config.line_rate_bps,
            alpha: 1.0,
            window_end: None,
            window_bytes: 0,
            marked_bytes: 0,
            cut_end: None,
        }
    }

    /// Sending rate, bit/s.
    #[inline]
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Alpha: estimated share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Processes an ACK of `acked_bytes` up to byte `una`, with `nxt` the highest byte sent.
    #[inline]
    pub fn on_ack(
        &mut self,
        config: &DctcpRateConfig,
        (una, nxt): (u64, u64),
        acked_bytes: u64,
        marked: bool,
    ) {
        if marked {
            self.marked_bytes += acked_bytes;
        }
        let ends = self.window_end.is_none_or(|end| una > end);
        if ends {
            self.end_window(config, una, nxt);
        }
        if self.cut_end.is_some_and(|end| una > end) {
            self.cut_end = None;
        }
        if marked && self.cut_end.is_none() {
            let rate_bps = self.rate_bps as f64 * (1.0 - self.alpha / 2.0);
            self.rate_bps = (rate_bps as u64).max(config.min_rate_bps);
            self.cut_end = Some(nxt);
        }
        if ends && self.cut_end.is_none() {
            let rate_bps = self.rate_bps.saturating_add(config.additive_bps);
            self.rate_bps = rate_bps.min(config.line_rate_bps);
        }
    }

    fn end_window(&mut self, config: &DctcpRateConfig, una: u64, nxt: u64) {
        if self.window_end.is_some() {
            let share = self.marked_bytes as f64 / self.window_bytes as f64;
            self.alpha = (1.0 - config.gain) * self.alpha + config.gain * share.min(1.0);
            self.marked_bytes = 0;
            self.window_bytes = nxt - una + config.packet_bytes;
        } else {
            // The bytes before the first ACK belong to the first window.
            self.window_bytes = nxt + config.packet_bytes;
        }
        self.window_end = Some(nxt);
    }
}
