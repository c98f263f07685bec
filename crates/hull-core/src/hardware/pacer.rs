//! The pacer of `rtl/nic/pacer.sv`: paper 4.2, equation 4, and 5.1; thesis 4.4.1.
//!
//! A token is 1e-12 bit times the clock's period. A rate in bit/s therefore equals its tokens per
//! clock, and a byte costs 8e12 / `clock_ps`: the tokens of [`crate::pacer`] divided by `clock_ps`,
//! without rounding. If times are multiples of the hardware's step and `rate_delay` is 0, both pacers
//! agree bit for bit.
//!
//! Limits: packets and tokens are evaluated every second clock ([`STEP_CLOCKS`]); equation 4 takes
//! `rate_delay` clocks from the sampling of M_r and Q to the first step at the new rate; M_r saturates
//! at 32 bits; rates are below 2^40, the bucket below 2^20 bytes, the FIFO below 2^24 bytes.

use crate::pacer::{PacerConfig, WhenFifoFull};

/// Clocks between two steps.
pub const STEP_CLOCKS: u64 = 2;
/// Clocks from the sampling of M_r and Q to the first step at the new rate, in the hardware.
pub const RATE_DELAY: u64 = 158;
/// Shortest T_r, clocks.
pub const MIN_UPDATE_INTERVAL: u32 = 256;

/// Widths of the registers, bits.
const RATE_BITS: u32 = 40;
const BUCKET_BITS: u32 = 20;
const FIFO_BITS: u32 = 24;
const GAIN_BITS: u32 = 56;
const CLOCKS_BITS: u32 = 24;
/// Fraction bits of R and of `eta`, and of `beta`.
const FRACTION_BITS: u32 = 16;
const BETA_BITS: u32 = 8;
/// Tokens of a byte, in 1e-12 bit.
const BYTE: u64 = 8_000_000_000_000;

/// Treatment of a paced packet that exceeds the FIFO's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// Drop the packet.
    Drop,
    /// Let the packet pass at once, without tokens.
    Bypass,
    /// Do not accept the packet; the caller offers it again.
    Hold,
}

/// Contents of the hardware's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Largest rate, bit/s, below 2^40; takes precedence over the smallest.
    pub max_rate_bps: u64,
    /// Smallest rate, bit/s, above zero.
    pub min_rate_bps: u64,
    /// Initial rate, bit/s.
    pub initial_rate_bps: u64,
    /// Depth of the bucket, bytes, below 2^20.
    pub bucket_bytes: u32,
    /// Capacity of the FIFO, bytes, below 2^24.
    pub fifo_bytes: u32,
    /// T_r, clocks, [`MIN_UPDATE_INTERVAL`] to below 2^24.
    pub update_interval: u32,
    /// eta, scaled by 2^16: 0 to 65536.
    pub eta: u32,
    /// Increase of R per byte of M_r, in 2^-32 bit/s: `eta * 8e12 * 2^16 / T_r`, below 2^56.
    pub gain: u64,
    /// beta, 1/s, scaled by 2^8.
    pub beta: u32,
    /// Step to which the token rate is rounded, bit/s; 0: no rounding.
    pub rate_step_bps: u32,
    /// Clocks between token ticks, below 2^24; 0 and 1: tokens at each step.
    pub token_tick: u32,
    /// Treatment of a packet that exceeds the FIFO's capacity.
    pub when_full: WhenFull,
}

impl Settings {
    /// Converts settings of [`crate::pacer`] for a clock of `clock_ps`. Returns `None` if a
    /// register is too small, or if T_r or the tick is not a multiple of the clock.
    pub fn of(config: &PacerConfig, clock_ps: u32) -> Option<Self> {
        let clocks = |time_ps: u64| {
            let clocks = u32::try_from(time_ps / u64::from(clock_ps)).ok()?;
            (time_ps.is_multiple_of(u64::from(clock_ps)) && clocks < 1 << CLOCKS_BITS)
                .then_some(clocks)
        };
        let update_interval = clocks(config.update_interval_ps)?;
        let interval_ps = u128::from(config.update_interval_ps);
        let per_byte = (u128::from(config.eta) * u128::from(BYTE)) << FRACTION_BITS;
        let gain = u64::try_from((per_byte + interval_ps / 2) / interval_ps).ok()?;
        let fits = config.max_rate_bps < 1 << RATE_BITS
            && config.bucket_bytes < 1 << BUCKET_BITS
            && config.fifo_bytes < 1 << FIFO_BITS
            && update_interval >= MIN_UPDATE_INTERVAL
            && gain < 1 << GAIN_BITS;
        fits.then_some(Self {
            max_rate_bps: config.max_rate_bps,
            min_rate_bps: config.min_rate_bps,
            initial_rate_bps: config.initial_rate_bps.min((1 << RATE_BITS) - 1),
            bucket_bytes: config.bucket_bytes,
            fifo_bytes: config.fifo_bytes,
            update_interval,
            eta: config.eta,
            gain,
            beta: config.beta,
            rate_step_bps: u32::try_from(config.rate_step_bps).ok()?,
            token_tick: clocks(config.token_tick_ps)?,
            when_full: match config.when_full {
                WhenFifoFull::Drop => WhenFull::Drop,
                WhenFifoFull::Bypass => WhenFull::Bypass,
            },
        })
    }
}

/// Decision about a packet that the host hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The packet leaves at once.
    Pass,
    /// The packet joins the end of the FIFO.
    Queued,
    /// The packet is dropped.
    Dropped,
    /// The packet is not accepted and not counted; the caller offers it again.
    Held,
}

/// The hardware's counters, which saturate at 32 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets that passed, without those that bypassed a full FIFO.
    pub passed: u32,
    /// Packets that joined the FIFO.
    pub queued: u32,
    /// Packets dropped by a full FIFO.
    pub dropped: u32,
    /// Packets that bypassed a full FIFO.
    pub bypassed: u32,
}

/// Hardware's pacer of one NIC. Times are in clocks and must be steps: multiples of
/// [`STEP_CLOCKS`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pacer {
    settings: Settings,
    rate_delay: u64,
    byte_tokens: u64,
    bucket_tokens: u64,
    /// Bucket size minus tokens; 0 is a full bucket.
    deficit: u64,
    /// R, in 2^-16 bit/s.
    filtered_rate: u64,
    rate_bps: u64,
    /// Computed rate not yet in force: the step from which it makes tokens, and the rate, bit/s.
    next_rate: Option<(u64, u64)>,
    measured_bytes: u32,
    backlog_bytes: u32,
    /// Next multiple of T_r; the sampling takes place at the first step not before it.
    next_update: u64,
    now: u64,
    counts: Counts,
}

impl Pacer {
    /// Creates a pacer that starts at the step `now` with a full bucket and an empty FIFO.
    ///
    /// # Panics
    /// Panics if a setting is outside the range stated in [`Settings`], `clock_ps` does not divide
    /// 8e12, or T_r is not longer than `rate_delay` plus a step.
    pub fn new(settings: &Settings, clock_ps: u32, rate_delay: u64, now: u64) -> Self {
        assert!(
            BYTE.is_multiple_of(u64::from(clock_ps)),
            "clock_ps must divide 8e12"
        );
        assert!(
            settings.max_rate_bps < 1 << RATE_BITS,
            "max_rate_bps must be below 2^40"
        );
        assert!(settings.min_rate_bps > 0, "min_rate_bps must be above zero");
        assert!(
            settings.bucket_bytes < 1 << BUCKET_BITS,
            "bucket_bytes must be below 2^20"
        );
        assert!(
            settings.fifo_bytes < 1 << FIFO_BITS,
            "fifo_bytes must be below 2^24"
        );
        assert!(
            settings.eta <= 1 << FRACTION_BITS,
            "eta must be at most 2^16"
        );
        assert!(
            u64::from(settings.update_interval) > rate_delay + STEP_CLOCKS,
            "update_interval must be longer than the computation of the rate"
        );
        let byte_tokens = BYTE / u64::from(clock_ps);
        let interval = u64::from(settings.update_interval);
        let mut pacer = Self {
            settings: *settings,
            rate_delay,
            byte_tokens,
            bucket_tokens: u64::from(settings.bucket_bytes) * byte_tokens,
            deficit: 0,
            filtered_rate: 0,
            rate_bps: 0,
            next_rate: None,
            measured_bytes: 0,
            backlog_bytes: 0,
            next_update: (now / interval + 1) * interval,
            now,
            counts: Counts::default(),
        };
        pacer.filtered_rate = pacer.clamp(u128::from(settings.initial_rate_bps)) << FRACTION_BITS;
        pacer.rate_bps = pacer.token_rate();
        pacer
    }

    /// Changes the settings from the step `now` on (not before the last call's). The token deficit
    /// is kept, and a new T_r counts from the last sampling.
    ///
    /// # Panics
    /// Panics if `token_tick` changes, a rate is being computed, or the new T_r has already
    /// elapsed.
    pub fn change(&mut self, now: u64, settings: &Settings) {
        self.advance(now);
        assert!(
            settings.token_tick == self.settings.token_tick,
            "token_tick must not change"
        );
        assert!(self.next_rate.is_none(), "a rate is being computed");
        self.next_update -= u64::from(self.settings.update_interval);
        self.next_update += u64::from(settings.update_interval);
        assert!(self.next_update > now, "the new T_r is over");
        self.bucket_tokens = u64::from(settings.bucket_bytes) * self.byte_tokens;
        self.settings = *settings;
    }

    /// Decides on a packet of `bytes` that the host hands over at the step `now` (not before the
    /// last call's). `paced` is true if its flow is associated.
    pub fn admit(&mut self, now: u64, bytes: u32, paced: bool) -> Admission {
        self.advance(now);
        let free = !paced || (self.backlog_bytes == 0 && self.take_tokens(bytes));
        let admission = if free {
            self.counts.passed = self.counts.passed.saturating_add(1);
            Admission::Pass
        } else if self.backlog_bytes + bytes <= self.settings.fifo_bytes {
            self.backlog_bytes += bytes;
            self.counts.queued = self.counts.queued.saturating_add(1);
            Admission::Queued
        } else {
            match self.settings.when_full {
                WhenFull::Drop => {
                    self.counts.dropped = self.counts.dropped.saturating_add(1);
                    Admission::Dropped
                }
                WhenFull::Bypass => {
                    self.counts.bypassed = self.counts.bypassed.saturating_add(1);
                    Admission::Pass
                }
                WhenFull::Hold => return Admission::Held,
            }
        };
        self.measured_bytes = self.measured_bytes.saturating_add(bytes);
        admission
    }

    /// Next step at which to call [`Pacer::poll`] if a packet of `head_bytes` is at the head of the
    /// FIFO: the head's departure at the current rate, or an earlier rate change.
    pub fn next_wake(&self, head_bytes: u32) -> u64 {
        let Some(missing) = self
            .deficit
            .checked_sub(self.limit(head_bytes))
            .filter(|&missing| missing > 0)
        else {
            return self.now;
        };
        let rate = self.rate_bps.max(1);
        let departure = match u64::from(self.settings.token_tick) {
            0 | 1 => step_from(self.now.saturating_add(missing.div_ceil(rate))),
            tick => {
                let ticks = missing.div_ceil(rate.saturating_mul(tick));
                step_from((self.now / tick).saturating_add(ticks).saturating_mul(tick))
            }
        };
        let change = self.next_rate.map_or(u64::MAX, |(from, _)| from);
        departure.min(change).min(step_from(self.next_update))
    }

    /// Advances to the step `now`. Returns true if the head of the FIFO, of `head_bytes`, leaves
    /// now.
    pub fn poll(&mut self, now: u64, head_bytes: u32) -> bool {
        self.advance(now);
        if !self.take_tokens(head_bytes) {
            return false;
        }
        self.backlog_bytes = self.backlog_bytes.saturating_sub(head_bytes);
        true
    }

    /// Step of the last call.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Token rate, bit/s.
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Q: backlog of the FIFO, bytes.
    pub fn backlog_bytes(&self) -> u32 {
        self.backlog_bytes
    }

    /// Whether a packet larger than the bucket has taken the tokens below zero.
    pub fn tokens_negative(&self) -> bool {
        self.deficit > self.bucket_tokens
    }

    /// Counters so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Applies the tokens and rate changes up to and including the step `now`.
    pub fn advance(&mut self, now: u64) {
        debug_assert!(now.is_multiple_of(STEP_CLOCKS), "not a step");
        debug_assert!(now >= self.now, "time went backwards");
        loop {
            let change = self.next_rate.map_or(u64::MAX, |(from, _)| from);
            let sampling = step_from(self.next_update);
            let next = change.min(sampling);
            if next > now {
                break;
            }
            self.add_tokens(next);
            if let Some((from, rate_bps)) = self.next_rate
                && from == next
            {
                self.rate_bps = rate_bps;
                self.next_rate = None;
            }
            if sampling == next {
                self.sample(next);
            }
        }
        self.add_tokens(now);
    }

    /// Applies equation 4 with M_r and Q of this step. The new rate takes effect `rate_delay`
    /// clocks later.
    fn sample(&mut self, now: u64) {
        let settings = &self.settings;
        let kept = u128::from(self.filtered_rate) * u128::from((1 << FRACTION_BITS) - settings.eta);
        let sampled = u128::from(self.measured_bytes) * u128::from(settings.gain);
        let backlog = u128::from(settings.beta) * u128::from(self.backlog_bytes) * 8;
        let rate = ((kept + sampled + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS)
            + (backlog << (FRACTION_BITS - BETA_BITS));
        let clamped = self.clamp(rate >> FRACTION_BITS);
        self.filtered_rate = if u128::from(clamped) == rate >> FRACTION_BITS
            && clamped < self.settings.max_rate_bps
        {
            rate as u64
        } else {
            clamped << FRACTION_BITS
        };
        self.measured_bytes = 0;
        self.next_update += u64::from(self.settings.update_interval);
        match self.rate_delay {
            0 => self.rate_bps = self.token_rate(),
            delay => self.next_rate = Some((now + delay, self.token_rate())),
        }
    }

    /// Token rate: R, rounded to the nearest step and clamped.
    fn token_rate(&self) -> u64 {
        let rate_bps = (self.filtered_rate + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
        let stepped = match u64::from(self.settings.rate_step_bps) {
            0 => rate_bps,
            step => (rate_bps + step / 2) / step * step,
        };
        self.clamp(u128::from(stepped))
    }

    fn clamp(&self, rate_bps: u128) -> u64 {
        rate_bps
            .max(u128::from(self.settings.min_rate_bps))
            .min(u128::from(self.settings.max_rate_bps)) as u64
    }

    fn add_tokens(&mut self, until: u64) {
        let clocks = match u64::from(self.settings.token_tick) {
            0 | 1 => until - self.now,
            tick => (until / tick - self.now / tick) * tick,
        };
        let made = self.rate_bps.saturating_mul(clocks);
        self.deficit = self.deficit.saturating_sub(made);
        self.now = until;
    }

    /// Largest deficit at which a packet may leave. It needs its size in tokens, or a full bucket
    /// if that is less.
    fn limit(&self, bytes: u32) -> u64 {
        self.bucket_tokens
            .saturating_sub(u64::from(bytes) * self.byte_tokens)
    }

    fn take_tokens(&mut self, bytes: u32) -> bool {
        if self.deficit > self.limit(bytes) {
            return false;
        }
        self.deficit += u64::from(bytes) * self.byte_tokens;
        true
    }
}

/// First step not before `clock`.
fn step_from(clock: u64) -> u64 {
    clock.saturating_add(STEP_CLOCKS - 1) / STEP_CLOCKS * STEP_CLOCKS
}
