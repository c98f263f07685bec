//! RCP: the rate that a router offers to each flow through one of its links.
//!
//! Source: thesis 5.5.3, after N. Dukkipati et al., "Processor Sharing Flows in the Internet" (2005).
//! Every T, with y the arrival rate of the last T, q the queue and C the link's rate,
//!
//! ```text
//! R <- R (1 + T / d0 F),  F = (alpha (C - y) - beta q / d0) / C        (5.37, 5.38)
//! ```
//!
//! d0 is a moving average of the round trips that packets carry, so that the gain fits the delay: each
//! update moves it by a share of the way to the mean round trip of the packets since the last update.
//! With a share of 0 it keeps its initial value; the thesis fixes it to study the averaging principle
//! without RCP's own adjustment. AP-RCP moves R halfway back once within each T (or by another factor,
//! remark 5.4), AP2-RCP twice ([`crate::averaging`]), and PD-RCP replaces F by F / 2 + (F - F(t - T)) /
//! 4. R is bounded to C / 2^16 and C, which the thesis does not mention.
//!
//! Updates are due at multiples of T. They are computed when the rate is read or a packet arrives, for
//! all instants since, from the queue of a link of constant rate at these instants
//! ([`QueueEstimate`](crate::queue_estimate)). An update at the instant of an arrival precedes it.
//!
//! Units: bit/s, bytes, picoseconds; alpha and beta scaled by 2^24. F is rounded to 2^-32, R to 1 bit/s.

use crate::averaging::{Averaging, ProportionalDerivative};
use crate::queue_estimate::{Link, QueueEstimate, QueueUnit};

/// alpha or beta = 1, fixed point.
pub const ONE: u32 = 1 << 24;
/// Ratio of the link's rate to the smallest offered rate.
pub const RANGE: u64 = 1 << 16;

const FRACTION_BITS: u32 = 32;
/// Bound of the magnitude of F, so that products with it fit 128 bits.
const MOST: i128 = 1 << 40;
/// Bits per byte times picoseconds per second.
const BIT_PS: i128 = 8_000_000_000_000;

/// Variant of the control law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// RCP with this number of averaging steps between two updates: 0 RCP, 1 AP-RCP, 2 AP2-RCP.
    Averages(u8),
    /// PD-RCP: F is replaced by a proportional-derivative term.
    ProportionalDerivative,
}

/// Settings of a link's [`Rcp`]. The ranges keep products within 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RcpConfig {
    /// Rate of the link (C), bit/s, [`RANGE`] to 2^43.
    pub link_bps: u64,
    /// Time between two updates (T), ps, 256 to 2^40.
    pub interval_ps: u64,
    /// Initial round trip (d0), ps, 1 to 2^40.
    pub round_trip_ps: u64,
    /// Share of the way that d0 moves towards the packets' mean round trip at each update, scaled
    /// by 2^24; 0 keeps d0 constant.
    pub round_trip_gain: u32,
    /// Weight of the spare capacity, scaled by 2^24.
    pub alpha: u32,
    /// Weight of the queue, scaled by 2^24.
    pub beta: u32,
    /// Share of the way back that an averaging step takes, scaled by [`crate::averaging::ONE`].
    pub averaging: u32,
    /// Initial offered rate, bit/s.
    pub initial_bps: u64,
    /// Variant of the control law.
    pub control: Control,
}

/// RCP rate of one link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rcp {
    config: RcpConfig,
    rate: Averaging,
    derivative: ProportionalDerivative,
    queue: QueueEstimate,
    /// Bytes arrived since the last update.
    arrived_bytes: u64,
    round_trip: RoundTrip,
}

/// d0: moving average of the packets' round trips, ps.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RoundTrip {
    average_ps: u64,
    /// Sum and number of the round trips reported since the last update.
    sum_ps: u64,
    packets: u64,
}

impl RoundTrip {
    /// Moves the average by a share of the way towards the mean since the last update.
    fn update(&mut self, gain: u32) {
        if self.packets == 0 {
            return;
        }
        let mean_ps = i128::from(self.sum_ps / self.packets);
        let way = (mean_ps - i128::from(self.average_ps)) * i128::from(gain) / i128::from(ONE);
        let average_ps = i128::from(self.average_ps) + way;
        self.average_ps = average_ps.clamp(1, 1 << 40) as u64;
        (self.sum_ps, self.packets) = (0, 0);
    }
}

impl Rcp {
    /// Creates the state of an idle link.
    ///
    /// # Panics
    /// Panics if a setting is out of its range.
    pub fn new(config: &RcpConfig) -> Self {
        let fits = (RANGE..=1 << 43).contains(&config.link_bps);
        assert!(fits, "link_bps must be from 2^16 to 2^43");
        let fits = (256..=1 << 40).contains(&config.interval_ps);
        assert!(fits, "interval_ps must be from 256 to 2^40");
        let fits = (1..=1 << 40).contains(&config.round_trip_ps);
        assert!(fits, "round_trip_ps must be from 1 to 2^40");
        let averages = match config.control {
            Control::Averages(averages) => averages,
            Control::ProportionalDerivative => 0,
        };
        let initial = clamp(config, i128::from(config.initial_bps));
        Self {
            config: *config,
            rate: Averaging::new(initial, config.interval_ps, averages, config.averaging),
            derivative: ProportionalDerivative::default(),
            queue: QueueEstimate::new(&Link {
                rate_bps: config.link_bps,
                typical_packet_bytes: 1,
                unit: QueueUnit::Bytes,
            }),
            arrived_bytes: 0,
            round_trip: RoundTrip {
                average_ps: config.round_trip_ps,
                sum_ps: 0,
                packets: 0,
            },
        }
    }

    /// Records the round trip that a packet carries, ps.
    #[inline]
    pub fn on_round_trip(&mut self, round_trip_ps: u64) {
        self.round_trip.sum_ps += round_trip_ps;
        self.round_trip.packets += 1;
    }

    /// Round trip used in the gain (d0), ps.
    pub fn round_trip_ps(&self) -> u64 {
        self.round_trip.average_ps
    }

    /// Counts a packet of `packet_bytes` that arrives at `now_ps` (not before the last call's
    /// time). `queue_bytes` is the queue after the packet was sent, queued or dropped.
    #[inline]
    pub fn on_arrival(&mut self, now_ps: u64, packet_bytes: u32, queue_bytes: u64) {
        self.advance(now_ps);
        self.arrived_bytes += u64::from(packet_bytes);
        self.queue.arrival(now_ps, queue_bytes, 0);
    }

    /// Rate offered at `now_ps` (not before the last call's time), bit/s.
    #[inline]
    pub fn rate_bps(&mut self, now_ps: u64) -> u64 {
        self.advance(now_ps);
        self.rate.current() as u64
    }

    /// Applies the updates and averaging steps due by `now_ps`.
    #[inline]
    fn advance(&mut self, now_ps: u64) {
        while self.rate.next_ps() <= now_ps {
            self.change(now_ps);
        }
    }

    fn change(&mut self, now_ps: u64) {
        if !self.rate.is_feedback_next() {
            self.rate.change(|rate| rate);
            return;
        }
        let queue_bytes = self.queue.at(self.rate.next_ps());
        let idle = self.arrived_bytes == 0 && queue_bytes == 0;
        let before = (self.rate.clone(), self.derivative.clone());
        self.round_trip.update(self.config.round_trip_gain);
        let feedback = self.feedback(queue_bytes);
        self.arrived_bytes = 0;
        let (config, round_trip_ps) = (&self.config, self.round_trip_ps());
        self.rate.change(|rate| {
            let step = i128::from(rate) * feedback * i128::from(config.interval_ps);
            let change = (step / i128::from(round_trip_ps)) >> FRACTION_BITS;
            clamp(config, i128::from(rate) + change)
        });
        let still = |rate: &Averaging| (rate.current(), rate.target());
        if idle && (still(&before.0), &before.1) == (still(&self.rate), &self.derivative) {
            self.rate.skip(now_ps);
        }
    }

    /// F, or its replacement in PD-RCP, scaled by 2^32.
    fn feedback(&mut self, queue_bytes: u64) -> i128 {
        let config = &self.config;
        // Share of the bytes that the link sends in `time_ps`, scaled by 2^32.
        let share = |bytes: u64, time_ps: u64| {
            let of = i128::from(config.link_bps) * i128::from(time_ps);
            let bits = i128::from(bytes) * BIT_PS;
            ((bits / of).min(MOST) << FRACTION_BITS) + ((bits % of) << FRACTION_BITS) / of
        };
        let arrived = share(self.arrived_bytes, config.interval_ps);
        let queue = share(queue_bytes, self.round_trip_ps());
        let spare = (1 << FRACTION_BITS) - arrived;
        let error = i128::from(config.alpha) * spare - i128::from(config.beta) * queue;
        let error = (error / i128::from(ONE)).clamp(-MOST, MOST);
        match config.control {
            Control::Averages(_) => error,
            Control::ProportionalDerivative => {
                i128::from(self.derivative.four_times_feedback(error as i64)) / 4
            }
        }
    }
}

/// Clamps a rate to its range.
fn clamp(config: &RcpConfig, rate_bps: i128) -> i64 {
    let most = i128::from(config.link_bps);
    rate_bps.clamp(most / i128::from(RANGE), most) as i64
}
