//! Pacer by departure times: the token bucket and rate filter of [`crate::pacer`] for a host whose
//! queue obeys a departure time on each packet (Linux: `sch_fq`).
//!
//! Source: paper 4.2, equation 4 (thesis 4.3.2, equation 4.4). This pacer holds no packets and needs no
//! timer: a packet gets its departure time when it is handed over, which allows an implementation in
//! eBPF. This has three consequences that differ from the hardware:
//!
//! - A departure time is final: a rate update affects later packets only. After a silence a burst must
//!   not leave at the silence's low rate. So the tokens after the next update count at the rate that
//!   this update would set with the current bytes and backlog, if it is above R. (The hardware's pacer
//!   gets this rate at the update and applies it to the waiting packet too.)
//! - Rate updates are computed when the next packet arrives, one for each T_r that has passed.
//! - The backlog Q is the time until the last departure, divided by the mean cost of the waiting bytes.
//!
//! Let e be the time at which the bucket was or will be empty, but not longer ago than it takes to
//! fill. A paced packet of s bytes leaves when min(s, B) bytes of tokens have accumulated since e, and
//! not before the current time; then e advances by s bytes. A packet thus leaves when its tokens are
//! complete, departures never reorder, and a packet larger than the bucket of B bytes leaves when the
//! bucket is full.
//!
//! A burst waits up to 1.5 times as long as in the hardware: 10 packets of 1500 bytes, one every 400 us
//! at 1 Gbps, wait 130 us on average instead of 88; 4 packets 55 instead of 54
//! (`tests/algorithms/departure_pacer.rs`).
//!
//! Equation 4 is computed as in [`crate::pacer`]. After [`MOST_UPDATES`] consecutive updates
//! without a packet, the remaining ones are applied at once as if nothing waited: `R <- max(R (1 -
//! eta)^n, smallest rate)`.
//!
//! Units: times are in nanoseconds like the kernel's clock, internally in 2^-8 ns; R in 2^-6 bit/s; a
//! byte costs `round(8e9 2^20 / R)` in 2^-20 ns. Tokens carried over to a new rate are rounded down to
//! 1/16 byte. All arithmetic has 64 bits, the limit of eBPF; only settings are converted with 128 bits
//! ([`DeparturePacerUnits`]).

pub use crate::pacer::WhenFifoFull;

/// Largest number of rate updates computed one by one when a packet arrives.
pub const MOST_UPDATES: u64 = 64;
/// Smallest allowed rate, bit/s.
pub const MIN_RATE_BPS: u64 = 64_000;
/// Exclusive upper limit of the rates, bit/s.
pub const RATE_LIMIT_BPS: u64 = 1 << 40;
/// Largest allowed bucket, bytes.
pub const MAX_BUCKET_BYTES: u32 = 1_000_000;
/// Largest allowed backlog, bytes.
pub const MAX_FIFO_BYTES: u32 = 1 << 26;
/// Largest number of bytes counted for one packet. (A segmented packet of Linux has at most 512
/// KB.)
pub const MAX_PACKET_BYTES: u32 = 1 << 20;

/// Fraction bits of R, bit/s.
const RATE_BITS: u32 = 6;
/// Fraction bits of times, ns.
const TIME_BITS: u32 = 8;
/// Fraction bits of the cost of a byte, ns.
const COST_BITS: u32 = 20;
/// eta = 1, scaled by 2^16.
const ETA_ONE: u64 = 1 << 16;
/// Longest time that is converted to bytes, in 2^-8 ns: 2.4 hours.
const LONGEST: u64 = (1 << 43) << TIME_BITS;
/// Internal time of time 0, in 2^-8 ns. It exceeds the longest fill time of a bucket (125 s).
const ORIGIN: u64 = 1 << 46;

/// Settings of a [`DeparturePacer`], in the units of the paper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeparturePacerConfig {
    /// Largest rate, bit/s, below [`RATE_LIMIT_BPS`]: the line rate.
    pub max_rate_bps: u64,
    /// Smallest rate, bit/s, at least [`MIN_RATE_BPS`].
    pub min_rate_bps: u64,
    /// Initial rate, bit/s; clamped to the two limits above.
    pub initial_rate_bps: u64,
    /// Depth of the bucket, bytes, 1 to [`MAX_BUCKET_BYTES`]; full at the start.
    pub bucket_bytes: u32,
    /// Largest backlog, bytes, at most [`MAX_FIFO_BYTES`].
    pub fifo_bytes: u32,
    /// T_r, ns, 1 to 1e9.
    pub update_interval_ns: u64,
    /// eta, scaled by 2^16: 0 to 65536.
    pub eta: u32,
    /// beta, 1/s, scaled by 2^8.
    pub beta: u32,
    /// Treatment of a packet that exceeds the backlog limit.
    pub when_full: WhenFifoFull,
}

/// Settings converted to the units of the arithmetic, as a loader writes them into an eBPF map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeparturePacerUnits {
    /// Largest rate, in 2^-6 bit/s.
    pub max_rate: u64,
    /// Smallest rate, in 2^-6 bit/s.
    pub min_rate: u64,
    /// Initial rate, in 2^-6 bit/s.
    pub initial_rate: u64,
    /// Gain of the measured bytes, `eta 8e9 / T_r`, in 2^-22 bit/s per byte.
    pub gain: u64,
    /// Number of bytes in one T_r from which equation 4 yields the largest rate regardless of its
    /// other terms.
    pub most_measured_bytes: u64,
    /// T_r, ns.
    pub update_interval_ns: u64,
    /// 1 - eta, scaled by 2^16.
    pub kept: u32,
    /// beta, 1/s, scaled by 2^8.
    pub beta: u32,
    /// Depth of the bucket, bytes.
    pub bucket_bytes: u32,
    /// Largest backlog, bytes.
    pub fifo_bytes: u32,
    /// Treatment of a packet that exceeds the backlog limit: 1 drops it, 0 lets it pass unpaced.
    pub drop_when_full: u32,
}

impl DeparturePacerConfig {
    /// Converts the settings to the units of the arithmetic.
    ///
    /// # Panics
    /// Panics if a setting is outside the range stated at its field.
    pub fn units(&self) -> DeparturePacerUnits {
        assert!(
            self.min_rate_bps >= MIN_RATE_BPS,
            "min_rate_bps must be at least 64000"
        );
        assert!(
            (self.min_rate_bps..RATE_LIMIT_BPS).contains(&self.max_rate_bps),
            "max_rate_bps must be at least min_rate_bps and below 2^40"
        );
        assert!(
            (1..=MAX_BUCKET_BYTES).contains(&self.bucket_bytes),
            "bucket_bytes must be 1 to 1000000"
        );
        assert!(
            self.fifo_bytes <= MAX_FIFO_BYTES,
            "fifo_bytes must be at most 2^26"
        );
        assert!(
            (1..=1_000_000_000).contains(&self.update_interval_ns),
            "update_interval_ns must be 1 to 1e9"
        );
        assert!(
            u64::from(self.eta) <= ETA_ONE,
            "eta must be at most 65536 (1.0)"
        );
        let interval_ns = u128::from(self.update_interval_ns);
        let per_byte = (u128::from(self.eta) * 8_000_000_000) << RATE_BITS;
        let max_rate = self.max_rate_bps << RATE_BITS;
        // Rounded, and capped so that one byte cannot overflow: the cap already yields the largest
        // rate.
        let gain = ((per_byte + interval_ns / 2) / interval_ns).min(u128::from(max_rate << 16));
        let gain = gain as u64;
        DeparturePacerUnits {
            max_rate,
            min_rate: self.min_rate_bps << RATE_BITS,
            initial_rate: self
                .initial_rate_bps
                .clamp(self.min_rate_bps, self.max_rate_bps)
                << RATE_BITS,
            gain,
            most_measured_bytes: (max_rate << 16).checked_div(gain).map_or(0, |n| n + 1),
            update_interval_ns: self.update_interval_ns,
            kept: (ETA_ONE - u64::from(self.eta)) as u32,
            beta: self.beta,
            bucket_bytes: self.bucket_bytes,
            fifo_bytes: self.fifo_bytes,
            drop_when_full: u32::from(self.when_full == WhenFifoFull::Drop),
        }
    }
}

/// Decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Departure {
    /// The packet leaves at once.
    Now,
    /// The packet leaves at this time, ns, later than now.
    At(u64),
    /// The packet is dropped.
    Dropped,
}

/// The pacer of one host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeparturePacer {
    units: DeparturePacerUnits,
    /// R, in 2^-6 bit/s.
    rate: u64,
    /// Cost of a byte at R, in 2^-20 ns.
    byte_cost: u64,
    /// Time at which the bucket is or was empty, in 2^-8 ns.
    empty_at: u64,
    /// Mean cost of a waiting byte, in 2^-20 ns.
    waiting_cost: u64,
    /// M_r: bytes handed over since the last update.
    measured_bytes: u64,
    next_update_ns: u64,
}

impl DeparturePacer {
    /// Creates a pacer at time 0 with a full bucket; the first update occurs at T_r.
    ///
    /// # Panics
    /// Panics as [`DeparturePacerConfig::units`] does.
    pub fn new(config: &DeparturePacerConfig) -> Self {
        let units = config.units();
        Self {
            units,
            rate: units.initial_rate,
            byte_cost: byte_cost(units.initial_rate),
            empty_at: 0,
            waiting_cost: byte_cost(units.initial_rate),
            measured_bytes: 0,
            next_update_ns: units.update_interval_ns,
        }
    }

    /// Decides on a packet of `bytes` that the host hands over at `now_ns` (not before the last
    /// call's time). `paced` is true if its flow is associated. The bytes count for M_r in every
    /// case.
    pub fn on_packet(&mut self, now_ns: u64, bytes: u32, paced: bool) -> Departure {
        let bytes = bytes.min(MAX_PACKET_BYTES);
        self.advance(now_ns);
        self.measured_bytes =
            (self.measured_bytes + u64::from(bytes)).min(self.units.most_measured_bytes);
        if !paced {
            return Departure::Now;
        }
        let now = instant(now_ns);
        let full_since = now - cost(self.units.bucket_bytes, self.byte_cost);
        let empty_at = self.empty_at.max(full_since);
        let at_once = empty_at + cost(bytes, self.byte_cost);
        if at_once <= now {
            self.empty_at = at_once;
            return Departure::Now;
        }
        let waiting_bytes = self.waiting_bytes(now);
        let next_cost = byte_cost(self.next_rate(waiting_bytes).max(self.rate));
        let departs_at = self.made_after(empty_at, bytes.min(self.units.bucket_bytes), next_cost);
        let room = u64::from(self.units.fifo_bytes);
        if departs_at > now && waiting_bytes + u64::from(bytes) > room {
            return match self.units.drop_when_full {
                0 => Departure::Now,
                _ => Departure::Dropped,
            };
        }
        self.empty_at = self.made_after(empty_at, bytes, next_cost);
        if self.empty_at > now {
            let tokens = bytes_in(now.saturating_sub(empty_at), self.byte_cost);
            let waiting_bytes = (waiting_bytes + u64::from(bytes)).saturating_sub(tokens);
            let wait = (self.empty_at - now).min(LONGEST);
            self.waiting_cost = (wait << (COST_BITS - TIME_BITS)) / waiting_bytes.max(1);
            self.waiting_cost = self.waiting_cost.max(1);
        }
        if departs_at > now {
            Departure::At((departs_at - ORIGIN + (1 << TIME_BITS) - 1) >> TIME_BITS)
        } else {
            Departure::Now
        }
    }

    /// R since the last update, bit/s, rounded to nearest.
    pub fn rate_bps(&self) -> u64 {
        (self.rate + (1 << (RATE_BITS - 1))) >> RATE_BITS
    }

    /// Backlog Q at `now_ns`, bytes, rounded down.
    pub fn backlog_bytes(&self, now_ns: u64) -> u64 {
        self.waiting_bytes(instant(now_ns))
    }

    /// Backlog Q, bytes, at a time in 2^-8 ns.
    fn waiting_bytes(&self, now: u64) -> u64 {
        bytes_in(self.empty_at.saturating_sub(now), self.waiting_cost)
    }

    /// Time, in 2^-8 ns, at which `bytes` of tokens have accumulated since `from`: at the cost of R
    /// until the next update, then at `next_cost`.
    fn made_after(&self, from: u64, bytes: u32, next_cost: u64) -> u64 {
        let at_rate = from + cost(bytes, self.byte_cost);
        let update_at = instant(self.next_update_ns);
        if at_rate <= update_at || next_cost >= self.byte_cost {
            return at_rate;
        }
        if from >= update_at {
            return from + cost(bytes, next_cost);
        }
        let sixteenths = ((update_at - from) << 16) / self.byte_cost;
        update_at + (((u64::from(bytes) * 16).saturating_sub(sixteenths) * next_cost) >> 16)
    }

    /// Applies the rate updates due by `now_ns`.
    fn advance(&mut self, now_ns: u64) {
        if now_ns < self.next_update_ns {
            return;
        }
        let due = (now_ns - self.next_update_ns) / self.units.update_interval_ns + 1;
        for _ in 0..due.min(MOST_UPDATES) {
            self.update(self.next_update_ns);
            self.next_update_ns += self.units.update_interval_ns;
        }
        if due > MOST_UPDATES {
            let left = due - MOST_UPDATES;
            let rate = (self.rate * power(u64::from(self.units.kept), left)) >> 16;
            self.set_rate(rate.max(self.units.min_rate), self.next_update_ns);
            self.next_update_ns += left * self.units.update_interval_ns;
        }
    }

    /// Applies the rate update at `at_ns`.
    fn update(&mut self, at_ns: u64) {
        let rate = self.next_rate(self.waiting_bytes(instant(at_ns)));
        self.measured_bytes = 0;
        self.set_rate(rate, at_ns);
    }

    /// Rate by equation 4, in 2^-6 bit/s, with `waiting_bytes` as Q.
    fn next_rate(&self, waiting_bytes: u64) -> u64 {
        let filtered = (self.rate * u64::from(self.units.kept)
            + self.measured_bytes * self.units.gain
            + (1 << 15))
            >> 16;
        // beta Q is in 2^-8 bytes/s; times 8 bits and >> 2 gives 2^-6 bit/s.
        let waiting_bytes = waiting_bytes.min(u64::from(MAX_FIFO_BYTES));
        let rate = filtered + ((u64::from(self.units.beta) * waiting_bytes * 8) >> 2);
        rate.min(self.units.max_rate).max(self.units.min_rate)
    }

    /// Sets the rate at `at_ns`; the tokens in the bucket keep their number of bytes.
    fn set_rate(&mut self, rate: u64, at_ns: u64) {
        if rate == self.rate {
            return;
        }
        let at = instant(at_ns);
        let new_cost = byte_cost(rate);
        if self.empty_at < at {
            let full = cost(self.units.bucket_bytes, self.byte_cost);
            let sixteenths = ((at - self.empty_at).min(full) << 16) / self.byte_cost;
            self.empty_at = at - ((sixteenths * new_cost) >> 16);
        }
        self.rate = rate;
        self.byte_cost = new_cost;
    }
}

/// Cost of `bytes`, in 2^-8 ns, at `byte_cost` each (2^-20 ns).
fn cost(bytes: u32, byte_cost: u64) -> u64 {
    (u64::from(bytes) * byte_cost) >> (COST_BITS - TIME_BITS)
}

/// Number of bytes that `time` (2^-8 ns) pays for at `byte_cost` each (2^-20 ns), rounded down.
fn bytes_in(time: u64, byte_cost: u64) -> u64 {
    (time.min(LONGEST) << (COST_BITS - TIME_BITS)) / byte_cost
}

/// Converts a time in nanoseconds to internal time, in 2^-8 ns.
fn instant(ns: u64) -> u64 {
    (ns << TIME_BITS) + ORIGIN
}

/// Cost of a byte, in 2^-20 ns, at a rate in 2^-6 bit/s, rounded to nearest.
fn byte_cost(rate: u64) -> u64 {
    const NUMERATOR: u64 = (8_000_000_000 << COST_BITS) << RATE_BITS;
    (NUMERATOR + rate / 2) / rate
}

/// Power `base^n`, scaled by 2^16, by repeated squaring; each product is rounded down.
fn power(mut base: u64, mut n: u64) -> u64 {
    let mut result = ETA_ONE;
    while n > 0 {
        if n & 1 == 1 {
            result = (result * base) >> 16;
        }
        base = (base * base) >> 16;
        n >>= 1;
    }
    result
}
