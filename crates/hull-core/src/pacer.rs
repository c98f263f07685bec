//! Pacer: a token bucket at the NIC whose rate follows the host's sending rate.
//!
//! Source: paper 4.2, equation 4, and 5.1 (thesis 4.3.2, equation 4.4, and 4.4.1); report II-C.
//! Published settings: T_r = 64 us, eta = 0.125, beta = 16 /s, bucket 3 KB, FIFO 128 KB, tokens every
//! 16 us, rate in steps of 0.5 Mbps (1 byte per 16 us). The paper's 10 Gbps simulations: T_r = 7.2 us,
//! beta = 375 /s. The report specifies no T_r.
//!
//! Packets of unassociated flows bypass the pacer. Other packets pass while the FIFO is empty and the
//! bucket holds their size, and otherwise wait in the FIFO. The caller keeps the packets; the pacer
//! keeps their sizes, the tokens and the rate.
//!
//! Every T_r: `R <- (1 - eta) R + eta M_r / T_r + beta Q`, clamped to the smallest and the largest
//! rate. M_r counts the bytes that the host handed over since the last update, whether paced or dropped
//! or neither. Here R and M_r / T_r are in bit/s and Q in bytes, so the last term is `8 beta Q`; the
//! paper has R in bytes/s.
//!
//! Order at one instant: first the tokens for the time before it, at the rate until then; then the rate
//! update; then the packet. A packet that arrives with an update therefore counts in the next interval.
//! Updates occur at multiples of T_r, token ticks at multiples of `token_tick_ps`; a tick adds the
//! current rate times the tick. The number of calls that advance time does not change the result.
//!
//! Hardware: the NetFPGA's rate is a number of bytes per tick. Here the filter keeps R with a fraction
//! of 2^-16 bit/s, and only the token rate is rounded to `rate_step_bps`: a rounded R would lose
//! changes smaller than half a step, and the filter would stop short of its fixed point. The documents
//! do not specify the behaviour of a full FIFO: [`WhenFifoFull`].
//!
//! Tick and bucket together bound the paced rate: at most as many packets as fit into the bucket leave
//! between two ticks. With 16 us and 3000 bytes these are two packets of 1500 bytes, but only one of
//! 1514: at most 757 Mbps. Tokens beyond a full bucket are lost, which costs throughput from one packet
//! per tick on (750 Mbps with 1500 bytes).
//!
//! A packet larger than the bucket leaves when the bucket is full and takes the tokens below zero. It
//! therefore cannot block the FIFO, and the average rate holds.
//!
//! Before segmentation (thesis 4.3.2 and 4.6: a software pacer cannot undo what segmentation offload does
//! behind it) the pacer decides on a piece by its first packet, and all packets of a piece leave together.
//!
//! Units: rates in bit/s, times in picoseconds; tokens in 1e-12 bit, so that a rate times a time is an
//! exact integer.

/// Largest allowed bucket, bytes. Its tokens, in 1e-12 bit, fit a signed 64-bit number.
pub const MAX_BUCKET_BYTES: u32 = 1_000_000;

/// Tokens (1e-12 bit) of one byte.
const TOKENS_PER_BYTE: i64 = 8_000_000_000_000;
/// Fraction bits of the filtered rate and of `eta`.
const FRACTION_BITS: u32 = 16;
/// eta = 1, scaled by 2^16.
const ETA_ONE: u32 = 1 << FRACTION_BITS;
/// Fraction bits of `beta`.
const BETA_BITS: u32 = 8;

/// Treatment of a paced packet that exceeds the FIFO's capacity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFifoFull {
    /// Drop the packet.
    Drop,
    /// Let the packet pass at once, without tokens; it overtakes the waiting packets.
    Bypass,
}

/// Settings of a [`Pacer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacerConfig {
    /// Largest rate, bit/s, below 2^48: the line rate.
    pub max_rate_bps: u64,
    /// Smallest rate, bit/s, above zero. NetFPGA: 0.5 Mbps.
    pub min_rate_bps: u64,
    /// Initial rate, bit/s; clamped to the two limits above.
    pub initial_rate_bps: u64,
    /// Depth of the bucket, bytes, 1 to [`MAX_BUCKET_BYTES`]; full at the start. NetFPGA: 3 KB.
    pub bucket_bytes: u32,
    /// Capacity of the FIFO, bytes. NetFPGA: 128 KB.
    pub fifo_bytes: u32,
    /// T_r, ps, above zero.
    pub update_interval_ps: u64,
    /// eta, scaled by 2^16: 0 to 65536.
    pub eta: u32,
    /// beta, 1/s, scaled by 2^8.
    pub beta: u32,
    /// Step to which the token rate is rounded, bit/s; 0: no rounding. NetFPGA: 0.5 Mbps.
    pub rate_step_bps: u64,
    /// Time between token ticks, ps; 0: continuous. NetFPGA: 16 us.
    pub token_tick_ps: u64,
    /// Treatment of a packet that exceeds the FIFO's capacity.
    pub when_full: WhenFifoFull,
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
}

/// Pacer of one NIC: one token bucket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pacer {
    config: PacerConfig,
    /// Gain of M_r, `eta * 8e12 / T_r`, in 2^-32 bit/s per byte.
    gain: u128,
    bucket_tokens: i64,
    /// R, in 2^-16 bit/s.
    filtered_rate: u64,
    /// Token rate, bit/s.
    rate_bps: u64,
    tokens: i64,
    /// Time up to which tokens have been added, ps; with ticks, a multiple of the tick.
    tokens_to_ps: u64,
    /// M_r: bytes handed over since the last update.
    measured_bytes: u64,
    backlog_bytes: u32,
    next_update_ps: u64,
    now_ps: u64,
}

impl Pacer {
    /// Creates a pacer at `now_ps` with a full bucket and an empty FIFO.
    ///
    /// # Panics
    /// Panics if a setting is outside the range stated in [`PacerConfig`], or `max_rate_bps` is
    /// below `min_rate_bps`.
    pub fn new(config: &PacerConfig, now_ps: u64) -> Self {
        assert!(
            config.min_rate_bps > 0,
            "min_rate_bps must be above zero, or a waiting packet would never leave"
        );
        assert!(
            config.min_rate_bps <= config.max_rate_bps,
            "max_rate_bps must be at least min_rate_bps"
        );
        assert!(
            config.max_rate_bps < 1 << (u64::BITS - FRACTION_BITS),
            "max_rate_bps must be below 2^48"
        );
        assert!(
            (1..=MAX_BUCKET_BYTES).contains(&config.bucket_bytes),
            "bucket_bytes must be 1 to MAX_BUCKET_BYTES"
        );
        assert!(
            config.update_interval_ps > 0,
            "update_interval_ps must be above zero"
        );
        assert!(config.eta <= ETA_ONE, "eta must be at most 2^16");

        let interval_ps = u128::from(config.update_interval_ps);
        let per_byte = (u128::from(config.eta) * TOKENS_PER_BYTE as u128) << FRACTION_BITS;
        let bucket_tokens = i64::from(config.bucket_bytes) * TOKENS_PER_BYTE;
        let initial_bps = config
            .initial_rate_bps
            .clamp(config.min_rate_bps, config.max_rate_bps);
        let mut pacer = Self {
            config: *config,
            gain: (per_byte + interval_ps / 2) / interval_ps,
            bucket_tokens,
            filtered_rate: initial_bps << FRACTION_BITS,
            rate_bps: initial_bps,
            tokens: bucket_tokens,
            tokens_to_ps: match config.token_tick_ps {
                0 => now_ps,
                tick_ps => now_ps - now_ps % tick_ps,
            },
            measured_bytes: 0,
            backlog_bytes: 0,
            next_update_ps: 0,
            now_ps,
        };
        pacer.set_token_rate();
        pacer.next_update_ps = pacer.update_after(now_ps);
        pacer
    }

    /// Decides on a packet of `bytes` that the host hands over at `now_ps` (not before the last
    /// call's time). `paced` is true if its flow is associated. The bytes count for M_r in every
    /// case.
    #[inline]
    pub fn admit(&mut self, now_ps: u64, bytes: u32, paced: bool) -> Admission {
        self.update_until(now_ps);
        self.measured_bytes += u64::from(bytes);
        if !paced {
            return Admission::Pass;
        }
        self.add_tokens(now_ps);
        if self.backlog_bytes == 0 && self.take_tokens(bytes) {
            return Admission::Pass;
        }
        match self.backlog_bytes.checked_add(bytes) {
            Some(backlog_bytes) if backlog_bytes <= self.config.fifo_bytes => {
                self.backlog_bytes = backlog_bytes;
                Admission::Queued
            }
            _ => match self.config.when_full {
                WhenFifoFull::Drop => Admission::Dropped,
                WhenFifoFull::Bypass => Admission::Pass,
            },
        }
    }

    /// Takes a further packet, of `bytes`, of the piece of which [`Pacer::admit`] has just decided on the
    /// first (pacing before segmentation). It shares the fate of that packet; one that passes takes
    /// its tokens below zero.
    #[inline]
    pub fn admit_behind(&mut self, bytes: u32, first: Admission, paced: bool) {
        self.measured_bytes += u64::from(bytes);
        match first {
            Admission::Queued => self.backlog_bytes = self.backlog_bytes.saturating_add(bytes),
            Admission::Pass if paced && self.backlog_bytes == 0 => self.spend(bytes),
            Admission::Pass | Admission::Dropped => {}
        }
    }

    /// Removes a further packet, of `bytes`, of a piece whose first packet has just left.
    #[inline]
    pub fn release_behind(&mut self, bytes: u32) {
        debug_assert!(bytes <= self.backlog_bytes, "no such packet waits");
        self.backlog_bytes = self.backlog_bytes.saturating_sub(bytes);
        self.spend(bytes);
    }

    /// Next time at which to call [`Pacer::poll`] if a packet of `head_bytes` is at the head of the
    /// FIFO, ps: the head's departure at the current rate, or an earlier rate update, which may
    /// change that departure. Not before the last call's time.
    pub fn next_wake_ps(&self, head_bytes: u32) -> u64 {
        let missing = self.needed_tokens(head_bytes) - self.tokens;
        if missing <= 0 {
            return self.now_ps;
        }
        let missing = missing.unsigned_abs();
        let departure_ps = match self.config.token_tick_ps {
            0 => self
                .tokens_to_ps
                .saturating_add(missing.div_ceil(self.rate_bps)),
            tick_ps => {
                let ticks = missing.div_ceil(self.rate_bps.saturating_mul(tick_ps));
                self.tokens_to_ps
                    .saturating_add(ticks.saturating_mul(tick_ps))
            }
        };
        departure_ps.min(self.next_update_ps).max(self.now_ps)
    }

    /// Advances to `now_ps`. Returns true if the head of the FIFO, of `head_bytes`, leaves now. The
    /// caller then removes it, and may poll at once for the next packet.
    #[inline]
    pub fn poll(&mut self, now_ps: u64, head_bytes: u32) -> bool {
        self.advance(now_ps);
        debug_assert!(head_bytes <= self.backlog_bytes, "no such packet waits");
        if !self.take_tokens(head_bytes) {
            return false;
        }
        self.backlog_bytes = self.backlog_bytes.saturating_sub(head_bytes);
        true
    }

    /// Token rate, bit/s.
    pub fn rate_bps(&self) -> u64 {
        self.rate_bps
    }

    /// Q: backlog of the FIFO, bytes.
    pub fn backlog_bytes(&self) -> u32 {
        self.backlog_bytes
    }

    /// Applies the rate updates and token ticks up to and including `now_ps`.
    #[inline]
    pub fn advance(&mut self, now_ps: u64) {
        self.update_until(now_ps);
        self.add_tokens(now_ps);
    }

    /// Applies the rate updates up to and including `now_ps`. Tokens are added when a packet needs
    /// them, or the rate changes.
    #[inline]
    fn update_until(&mut self, now_ps: u64) {
        debug_assert!(now_ps >= self.now_ps, "time went backwards");
        if self.next_update_ps <= now_ps {
            self.apply_updates(now_ps);
        }
        self.now_ps = now_ps;
    }

    /// Applies the rate updates up to and including `now_ps`, and the token ticks before each, which
    /// a full bucket does not need.
    #[inline(never)]
    fn apply_updates(&mut self, now_ps: u64) {
        while self.next_update_ps <= now_ps {
            if self.tokens < self.bucket_tokens {
                self.set_token_rate();
                self.add_tokens(self.next_update_ps);
            }
            let before = self.filtered_rate;
            let idle = self.measured_bytes == 0 && self.backlog_bytes == 0;
            self.update_rate();
            self.next_update_ps = if idle && self.filtered_rate == before {
                // Without input and backlog no later update can change the rate.
                self.update_after(now_ps)
            } else {
                self.next_update_ps
                    .saturating_add(self.config.update_interval_ps)
            };
        }
        self.set_token_rate();
    }

    /// Time of the first update strictly after `now_ps`, ps.
    fn update_after(&self, now_ps: u64) -> u64 {
        let interval_ps = self.config.update_interval_ps;
        (now_ps - now_ps % interval_ps).saturating_add(interval_ps)
    }

    /// Updates the rate by equation 4; the token rate is set afterwards.
    #[inline]
    fn update_rate(&mut self) {
        let config = &self.config;
        let kept = u128::from(self.filtered_rate) * u128::from(ETA_ONE - config.eta);
        let sampled = u128::from(self.measured_bytes) * self.gain;
        let backlog = u128::from(config.beta) * u128::from(self.backlog_bytes) * 8;
        let rate = ((kept + sampled + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS)
            + (backlog << (FRACTION_BITS - BETA_BITS));
        let lowest = u128::from(config.min_rate_bps) << FRACTION_BITS;
        let highest = u128::from(config.max_rate_bps) << FRACTION_BITS;
        self.filtered_rate = rate.clamp(lowest, highest) as u64;
        self.measured_bytes = 0;
    }

    /// Sets the token rate: the filtered rate, rounded to the nearest step and clamped.
    #[inline]
    fn set_token_rate(&mut self) {
        let rate_bps = (self.filtered_rate + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS;
        let stepped_bps = match self.config.rate_step_bps {
            0 => rate_bps,
            step_bps => (rate_bps + step_bps / 2) / step_bps * step_bps,
        };
        self.rate_bps = stepped_bps.clamp(self.config.min_rate_bps, self.config.max_rate_bps);
    }

    /// Adds the tokens due by `until_ps`.
    #[inline]
    fn add_tokens(&mut self, until_ps: u64) {
        let elapsed_ps = until_ps - self.tokens_to_ps;
        let credit_ps = match self.config.token_tick_ps {
            0 => elapsed_ps,
            tick_ps => elapsed_ps - elapsed_ps % tick_ps,
        };
        self.tokens_to_ps += credit_ps;
        let room = (self.bucket_tokens - self.tokens).unsigned_abs();
        let made = self.rate_bps.saturating_mul(credit_ps).min(room);
        self.tokens = self.tokens.saturating_add_unsigned(made);
    }

    /// Tokens required for a packet to leave: its size, or a full bucket if that is less.
    #[inline]
    fn needed_tokens(&self, bytes: u32) -> i64 {
        size_tokens(bytes).min(self.bucket_tokens)
    }

    /// Takes the tokens of a packet of `bytes` if there are enough. Returns whether it did.
    #[inline]
    fn take_tokens(&mut self, bytes: u32) -> bool {
        if self.tokens < self.needed_tokens(bytes) {
            return false;
        }
        self.spend(bytes);
        true
    }

    #[inline]
    fn spend(&mut self, bytes: u32) {
        self.tokens = self.tokens.saturating_sub(size_tokens(bytes));
    }
}

/// Tokens of a packet of `bytes`.
#[inline]
fn size_tokens(bytes: u32) -> i64 {
    i64::from(bytes).saturating_mul(TOKENS_PER_BYTE)
}
