//! The congestion window and its bounds (RFC 5681), in bytes.
//!
//! A controller changes the window only through methods, and so cannot leave the bounds. Windows stay
//! below 2^30 bytes, which keeps 32-bit sequence numbers unambiguous and the state small.

/// Largest window, bytes: 1 GiB.
pub const MAX_WINDOW_BYTES: u64 = 1 << 30;

/// Congestion window, slow-start threshold and bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    cwnd: u32,
    /// Slow-start threshold, bytes; `u32::MAX` before the first reduction.
    ssthresh: u32,
    /// Growth not yet a whole byte or segment.
    credit: u32,
    min: u32,
    max: u32,
    mss: u16,
    byte_counting: bool,
}

/// Clamps a number of bytes to the largest window.
fn bytes(value: u64) -> u32 {
    value.min(MAX_WINDOW_BYTES) as u32
}

impl Window {
    /// Creates a window of `initial` bytes in slow start without a threshold. `min` is the smallest
    /// window after a reduction (not after a timeout), `max` the largest, both in bytes; `mss` is
    /// the maximum segment size, at most 65535. `byte_counting` selects growth by acknowledged
    /// bytes (RFC 3465) instead of acknowledgments (RFC 5681).
    pub fn new(initial: u64, mss: u32, min: u64, max: u64, byte_counting: bool) -> Self {
        Window {
            cwnd: bytes(initial.min(max)),
            ssthresh: u32::MAX,
            credit: 0,
            min: bytes(min),
            max: bytes(max),
            mss: mss.min(u32::from(u16::MAX)) as u16,
            byte_counting,
        }
    }

    /// Congestion window, bytes.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        u64::from(self.cwnd)
    }

    /// Slow-start threshold, bytes; above every window before the first reduction.
    #[inline]
    pub fn ssthresh(&self) -> u64 {
        u64::from(self.ssthresh)
    }

    /// Maximum segment size, bytes.
    #[inline]
    pub fn mss(&self) -> u64 {
        u64::from(self.mss)
    }

    /// Whether the window is below the slow-start threshold.
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows the window as in RFC 5681 for an ACK of `acked` bytes. Slow start: one segment per
    /// ACK. Congestion avoidance: one segment per window of acknowledged bytes; if ACKs are
    /// counted, one per as many ACKs as the window has segments, which is half as fast if every
    /// other packet is acknowledged.
    #[inline]
    pub fn grow(&mut self, acked: u64) {
        let acked = bytes(acked);
        let mss = u32::from(self.mss);
        if self.in_slow_start() {
            self.cwnd += acked.min(mss);
        } else {
            self.credit += if self.byte_counting {
                acked
            } else {
                acked.min(mss)
            };
            if self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += mss;
            }
        }
        self.cwnd = self.cwnd.min(self.max);
    }

    /// Grows the window by `room` times the share of the window that `acked` is: by `room` per
    /// window of acknowledgments. A fraction of a byte is carried over.
    #[inline]
    pub fn grow_towards(&mut self, room: u64, acked: u64) {
        let cwnd = self.cwnd().max(1);
        let due = room.min(MAX_WINDOW_BYTES) * acked.min(cwnd) + self.credit().min(cwnd - 1);
        self.credit = bytes(due % cwnd);
        self.set_cwnd(cwnd + due / cwnd);
    }

    fn credit(&self) -> u64 {
        u64::from(self.credit)
    }

    /// Sets the window, clamped to one segment and the largest window. The threshold is unchanged.
    #[inline]
    pub fn set_cwnd(&mut self, cwnd: u64) {
        self.cwnd = bytes(cwnd)
            .min(self.max)
            .max(u32::from(self.mss).min(self.max));
    }

    /// Sets the threshold. The window is unchanged.
    pub fn set_ssthresh(&mut self, ssthresh: u64) {
        self.ssthresh = bytes(ssthresh);
    }

    /// Sets window and threshold to `cwnd`, but at least the minimum, and leaves slow start.
    pub fn reduce_to(&mut self, cwnd: u64) {
        self.credit = 0;
        self.cwnd = bytes(cwnd).max(self.min);
        self.ssthresh = self.cwnd;
    }

    /// Reduces the window by `taken` bytes, but not below the minimum, and leaves slow start.
    /// Growth carried over is kept.
    #[inline]
    pub fn shrink_by(&mut self, taken: u64) {
        let least = self.min.min(self.cwnd);
        self.cwnd = self.cwnd.saturating_sub(bytes(taken)).max(least);
        self.ssthresh = self.cwnd;
    }

    /// Sets the window to the threshold at the end of loss recovery (RFC 6582).
    pub(super) fn recovered(&mut self) {
        self.cwnd = self.ssthresh.min(self.max).max(self.min);
    }
}
