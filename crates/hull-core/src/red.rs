//! RED with ECN: marks with a probability that grows with the average queue.
//!
//! Source: S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion Avoidance" (1993),
//! with the thesis's settings: figure 2.15 (max_p = 0.1, weight 2^-9, min_th = 50 and then 150 packets,
//! max_th = 150), figure 2.25 (20 and 60 packets), section 3.4.1 (probability 0 to 10% from 30 to 100
//! packets, weight 0.1). It marks and does not drop (thesis footnote 2 of chapter 2), unless
//! `hard_drop` is set.
//!
//! At each arrival, with the queue q that the packet finds:
//!
//! - The average: `avg <- avg + w (q - avg)`. After an idle period, first `avg <- (1 - w)^m avg`, where
//!   m is the number of typical packets that the link could have sent meanwhile.
//! - Below min_th no packet is marked. From min_th to max_th `p_b = max_p (avg - min_th) / (max_th -
//!   min_th)`. From max_th on every packet is marked; with `gentle`, p_b grows from max_p to 1 between
//!   max_th and 2 max_th instead.
//! - With `hard_drop`, packets are dropped when every packet would be marked (harddrop of Linux).
//! - With `by_size`, p_b is multiplied by the packet's size over the typical size.
//! - `p_a = p_b / (1 - count p_b)`, where `count` is the number of packets since the last mark: the
//!   distance between marks is then uniform on 1 .. 1 / p_b (the paper's method 2), and the share of
//!   marked packets `2 p_b / (1 + p_b)`. With `independent`, `p_a = p_b`: the distance is geometric
//!   (method 1), and the share p_b. This is the WRED of switches, and the marking of DCQCN with its
//!   Kmin, Kmax and Pmax.
//!
//! Units: thresholds and queue in bytes or in packets ([`QueueUnit`](crate::queue_estimate::QueueUnit));
//! probabilities and the weight are fixed point, 2^32 as 1.0, so that powers of two down to 2^-32 are
//! exact; the average has 24 fraction bits and each step of it is rounded down, so that it stays less
//! than `1 / w` units of 2^-24 below the exact one.

use crate::queue_estimate::{Link, QueueEstimate};

/// Fraction bits of the average.
const FRACTION_BITS: u32 = 24;
/// Weight or probability = 1, fixed point.
const ONE: u64 = 1 << 32;

/// Settings of a [`Red`] queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedConfig {
    /// Average from which packets may be marked (min_th), in the queue's unit.
    pub min_threshold: u32,
    /// Average from which every packet is marked (max_th), above `min_threshold`.
    pub max_threshold: u32,
    /// Probability at `max_threshold` (max_p), scaled by 2^32.
    pub max_probability: u32,
    /// Weight w of a new sample of the queue, scaled by 2^32, above zero and at most 1: 2^-9 is
    /// `1 << 23`, 1 is `1 << 32`.
    pub weight: u64,
    /// Whether the probability rises from max_p to 1 between `max_threshold` and twice that.
    pub gentle: bool,
    /// Whether the probability is proportional to the packet size.
    pub by_size: bool,
    /// Whether a packet that would certainly be marked is dropped instead.
    pub hard_drop: bool,
    /// Whether each packet is drawn with p_b alone, regardless of the packets since the last mark.
    pub independent: bool,
    /// Link behind the queue.
    pub link: Link,
}

/// RED state of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Red {
    config: RedConfig,
    /// Average queue, in 2^-24 units.
    average: u64,
    /// Packets since the last mark while the average is at least the lower threshold.
    count: u32,
    /// Slope of p_b per unit of the queue, scaled by 2^64: between the thresholds, and above them
    /// with `gentle`.
    slope: u64,
    gentle_slope: u64,
    typical_packet_ps: u64,
    queue: QueueEstimate,
}

/// Increase of a probability with `slope` over a distance `above` of the average, scaled by 2^32.
#[inline]
fn rise(above: u64, slope: u64) -> u64 {
    ((u128::from(above) * u128::from(slope)) >> (FRACTION_BITS + 32)) as u64
}

impl Red {
    /// Creates RED on an empty queue.
    ///
    /// # Panics
    /// Panics if the weight is zero or above 1, `max_threshold` is not above `min_threshold`, or
    /// the link's rate or packet size is zero.
    pub fn new(config: &RedConfig) -> Self {
        assert!(
            (1..=ONE).contains(&config.weight),
            "the weight must be above zero and at most 1"
        );
        assert!(
            config.max_threshold > config.min_threshold,
            "max_threshold must be above min_threshold"
        );
        let slope = |rise: u64, range: u32| {
            u64::try_from((u128::from(rise) << 32) / u128::from(range)).unwrap_or(u64::MAX)
        };
        let max_probability = u64::from(config.max_probability);
        let range = config.max_threshold - config.min_threshold;
        Self {
            config: *config,
            average: 0,
            count: 0,
            slope: slope(max_probability, range),
            gentle_slope: slope(ONE - max_probability, config.max_threshold),
            typical_packet_ps: config.link.typical_packet_ps(),
            queue: QueueEstimate::new(&config.link),
        }
    }

    /// Decides on a packet of `packet_bytes` that arrives at `now_ps` (not before the last call's
    /// time) and finds `queue` bytes or packets. `random` holds 32 uniform bits. Returns true if
    /// the packet must be marked CE; then call [`refuses`](Self::refuses) to learn whether it must
    /// be dropped.
    #[inline]
    pub fn on_arrival(&mut self, now_ps: u64, queue: u64, packet_bytes: u32, random: u32) -> bool {
        let empty_at_ps = self.queue.empty_at_ps();
        if queue == 0 && now_ps > empty_at_ps && self.average > 0 {
            self.idle((now_ps - empty_at_ps) / self.typical_packet_ps);
        }
        let weight = i128::from(self.config.weight);
        let sample = i128::from(queue.min(1 << 38)) << FRACTION_BITS;
        let average = i128::from(self.average);
        self.average = (average + (((sample - average) * weight) >> 32)) as u64;
        if self.refuses() {
            self.count = 0;
            return false;
        }
        self.queue.arrival(now_ps, queue, packet_bytes);
        let Some(probability) = self.probability(packet_bytes) else {
            self.count = 0;
            return false;
        };
        let count = if self.config.independent {
            0
        } else {
            self.count
        };
        // random / 2^32 < p_b / (1 - count p_b), without the division.
        let left = ONE.saturating_sub(u64::from(count).saturating_mul(probability));
        let marked = u128::from(random) * u128::from(left) < u128::from(probability) << 32;
        self.count = if marked {
            0
        } else {
            self.count.saturating_add(1)
        };
        marked
    }

    /// Whether the packet that has just arrived must be dropped.
    #[inline]
    pub fn refuses(&self) -> bool {
        let config = &self.config;
        let certain = u64::from(config.max_threshold) << u32::from(config.gentle);
        config.hard_drop && self.average >= certain << FRACTION_BITS
    }

    /// Average queue, rounded to nearest.
    pub fn average(&self) -> u64 {
        (self.average + (1 << (FRACTION_BITS - 1))) >> FRACTION_BITS
    }

    /// p_b, scaled by 2^32; `None` below the lower threshold.
    #[inline]
    fn probability(&self, packet_bytes: u32) -> Option<u64> {
        let config = &self.config;
        let min = u64::from(config.min_threshold) << FRACTION_BITS;
        let max = u64::from(config.max_threshold) << FRACTION_BITS;
        let probability = if self.average < min {
            return None;
        } else if self.average < max {
            rise(self.average - min, self.slope)
        } else if config.gentle && self.average < 2 * max {
            u64::from(config.max_probability) + rise(self.average - max, self.gentle_slope)
        } else {
            return Some(ONE);
        };
        if !config.by_size {
            return Some(probability);
        }
        let typical = u64::from(config.link.typical_packet_bytes);
        Some((probability * u64::from(packet_bytes) / typical).min(ONE))
    }

    /// Ages the average over an idle time of `packets` typical packets: average times (1 -
    /// w)^packets.
    fn idle(&mut self, packets: u64) {
        let (mut factor, mut left) = (ONE - self.config.weight, packets);
        let mut power = ONE;
        while left > 0 && power > 0 {
            if left & 1 == 1 {
                power = ((u128::from(power) * u128::from(factor)) >> 32) as u64;
            }
            factor = ((u128::from(factor) * u128::from(factor)) >> 32) as u64;
            left >>= 1;
        }
        self.average = ((u128::from(self.average) * u128::from(power)) >> 32) as u64;
    }
}
