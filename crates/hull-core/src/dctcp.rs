//! DCTCP sender: the estimate alpha of the marked fraction, and the window cut by alpha / 2.
//!
//! Source: thesis 2.2.1 part 3, equations 2.1 and 2.2; the observation window as in RFC 8257 section
//! 3.3. Published g: 1/16 (thesis 2.2.4, report Table I). No document specifies alpha's initial value.
//!
//! Equation 2.1, once per window of data: `alpha <- (1 - g) alpha + g F`, where F is the marked share
//! of the bytes acknowledged in the window. Equation 2.2, on an ACK with ECN-Echo, at most once per
//! window of data: `cwnd <- cwnd (1 - alpha / 2)`. A window without marks leaves the congestion window
//! unchanged, even if alpha is above zero.
//!
//! Equation 3.35 (thesis 3.4.2) is an alternative that is fairer between round-trip times: each marked
//! ACK reduces the window by alpha / 2 packets per acknowledged packet, so a fully marked window
//! reduces it by `cwnd alpha / 2` in total ([`Dctcp::on_ece_per_ack`]). A sender uses one of the two.
//!
//! Both windows are delimited by sequence numbers: a window ends with the first ACK above the highest
//! byte sent when it began. `nxt` must be the value before this ACK releases new data; then a window
//! covers exactly the ACKs of one flight. Sequence numbers are byte offsets from the start of the
//! connection.
//!
//! Units: alpha, g and F are fixed point with [`ONE`] = 2^30 as 1.0; results are rounded to nearest.
//! Alpha therefore converges to within `1 / (2 g)` units of a constant F (8 * 2^-30 for g = 1/16). The
//! per-ACK reaction carries fractions of a byte over to the next ACK. A window of data holds less than
//! 2^32 bytes.

/// Fixed-point 1.0: 2^30.
pub const ONE: u32 = 1 << FRACTION_BITS;
const FRACTION_BITS: u32 = 30;

/// Settings of a [`Dctcp`] sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DctcpConfig {
    /// g, the weight of a new sample: 0 to [`ONE`].
    pub g: u32,
    /// Alpha before the first window: 0 to [`ONE`].
    pub initial_alpha: u32,
}

/// DCTCP congestion estimate of one connection's sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dctcp {
    g: u32,
    alpha: u32,
    acked_bytes: u32,
    marked_bytes: u32,
    /// Reduction of equation 3.35 not yet applied, in 2^-31 bytes.
    owed: u32,
    /// End of the observation window: it ends when `una` exceeds this.
    window_end: u64,
    /// First `una` at which the window may be cut again: one above the highest byte sent at the
    /// last cut.
    cuts_from: u64,
}

impl Dctcp {
    /// Creates the estimate of a sender that has sent nothing.
    ///
    /// # Panics
    /// Panics if `g` or `initial_alpha` is above [`ONE`].
    pub fn new(config: &DctcpConfig) -> Self {
        assert!(config.g <= ONE, "g must be at most ONE");
        assert!(
            config.initial_alpha <= ONE,
            "initial_alpha must be at most ONE"
        );
        Self {
            g: config.g,
            alpha: config.initial_alpha,
            acked_bytes: 0,
            marked_bytes: 0,
            owed: 0,
            window_end: 0,
            cuts_from: 0,
        }
    }

    /// Processes an ACK; call it before the ACK releases new data. `una` is the first byte not
    /// acknowledged after this ACK, `nxt` the highest byte sent, `acked_bytes` the number of newly
    /// acknowledged bytes, and `ece` the ECN-Echo bit. Returns true if alpha was updated. The first
    /// ACK ends the window that began with the connection. A window without acknowledged bytes
    /// leaves alpha unchanged.
    #[inline]
    pub fn on_ack(&mut self, una: u64, nxt: u64, acked_bytes: u64, ece: bool) -> bool {
        let acked_bytes = u32::try_from(acked_bytes).unwrap_or(u32::MAX);
        self.acked_bytes = self.acked_bytes.saturating_add(acked_bytes);
        if ece {
            self.marked_bytes = self.marked_bytes.saturating_add(acked_bytes);
        }
        if una <= self.window_end {
            return false;
        }
        self.window_end = nxt;
        self.end_window()
    }

    /// Reacts to an ACK with ECN-Echo; call it after [`Dctcp::on_ack`] for the same ACK. Returns
    /// the reduced congestion window, bytes, or `None` if this window of data has already reduced
    /// it. A duplicate ACK counts: it echoes congestion in this window, although it acknowledges no
    /// new byte for alpha (RFC 8257, 3.3).
    #[inline]
    pub fn on_ece(&mut self, una: u64, nxt: u64, cwnd_bytes: u64) -> Option<u64> {
        if self.cut_covers(una) {
            return None;
        }
        self.cuts_from = nxt + 1;
        let kept = u128::from(2 * ONE - self.alpha);
        Some(((u128::from(cwnd_bytes) * kept + u128::from(ONE)) >> (FRACTION_BITS + 1)) as u64)
    }

    /// Whether an ACK up to `una` acknowledges only data sent before the last cut, so that it must
    /// not cut again.
    #[inline]
    pub fn cut_covers(&self, una: u64) -> bool {
        una < self.cuts_from
    }

    /// Reacts by equation 3.35 to an ACK with ECN-Echo that newly acknowledges `acked_bytes`; call
    /// it after [`Dctcp::on_ack`] for the same ACK. Returns the number of bytes by which to reduce
    /// the window.
    #[inline]
    pub fn on_ece_per_ack(&mut self, acked_bytes: u64) -> u64 {
        let fraction_bits = FRACTION_BITS + 1;
        let due = u128::from(acked_bytes) * u128::from(self.alpha) + u128::from(self.owed);
        self.owed = (due & ((1 << fraction_bits) - 1)) as u32;
        (due >> fraction_bits) as u64
    }

    /// Alpha, scaled by [`ONE`].
    pub fn alpha(&self) -> u32 {
        self.alpha
    }

    /// Applies equation 2.1 to the bytes counted in the window. Returns false if there were none.
    fn end_window(&mut self) -> bool {
        let (acked, marked) = (self.acked_bytes, self.marked_bytes);
        self.acked_bytes = 0;
        self.marked_bytes = 0;
        if acked == 0 {
            return false;
        }
        let (acked, marked) = (u64::from(acked), u64::from(marked));
        let fraction = ((marked << FRACTION_BITS) + acked / 2) / acked;
        let mixed = u64::from(ONE - self.g) * u64::from(self.alpha) + u64::from(self.g) * fraction;
        self.alpha = ((mixed + u64::from(ONE / 2)) >> FRACTION_BITS) as u32;
        true
    }
}
