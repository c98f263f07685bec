//! PI: an integral controller that marks so that the queue settles at a reference.
//!
//! Source: C. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM
//! Routers Supporting TCP Flows" (2001), as the thesis uses it in section 2.2.4 and figure 2.13: q_ref
//! = 40 packets at 10 Gbps, "the rest of the parameters based on Proposition 2".
//!
//! Every T, with q the current queue and q_old the queue one interval ago, the marking probability is
//!
//! ```text
//! p <- p + a (q - q_ref) - b (q_old - q_ref), kept within 0 and 1
//! ```
//!
//! with a > b > 0. Its only fixed point is q = q_old = q_ref: a and b do not move the operating point,
//! only the way to it. Proposition 2 for a link of C packets/s, at least N flows and round trips of at
//! most R seconds:
//!
//! ```text
//! z = 2 N / (R^2 C),  K = z sqrt((z R)^2 + 1) (2 N)^2 / (R C)^3,
//! a = K (1 / z + T / 2),  b = K (1 / z - T / 2)
//! ```
//!
//! Samples are due at multiples of T. They are computed when a packet arrives, for all instants since
//! the last arrival, from the queue of a link of constant rate at these instants
//! ([`QueueEstimate`](crate::queue_estimate)). A sample at the instant of an arrival precedes it.
//!
//! Units: queue in bytes or packets, a and b per that unit; p, a and b are fixed point, 2^64 as 1.0. a
//! - b is of the order of 1e-8 per packet, which requires this many bits; nothing is rounded.

use crate::queue_estimate::{Link, QueueEstimate};

/// Settings of a [`Pi`] queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PiConfig {
    /// Reference queue (q_ref), in the queue's unit.
    pub reference: u32,
    /// Coefficient a of the current queue, per unit of the queue, scaled by 2^64.
    pub a: u64,
    /// Coefficient b of the queue one interval ago, per unit of the queue, scaled by 2^64; below
    /// `a`.
    pub b: u64,
    /// Time T between two samples, ps, above zero.
    pub interval_ps: u64,
    /// Link behind the queue.
    pub link: Link,
}

/// PI controller of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pi {
    config: PiConfig,
    /// p, scaled by 2^64.
    probability: u64,
    /// Queue at the last sample, in the queue's unit.
    last_sample: u64,
    /// Time of the next sample, ps.
    next_sample_ps: u64,
    queue: QueueEstimate,
}

impl Pi {
    /// Creates a controller with p = 0 on an empty queue.
    ///
    /// # Panics
    /// Panics if `a` is not above `b`, or the interval, the link's rate or its packet size is zero.
    pub fn new(config: &PiConfig) -> Self {
        assert!(config.a > config.b, "a must be above b");
        assert!(config.interval_ps > 0, "interval_ps must be above zero");
        Self {
            config: *config,
            probability: 0,
            last_sample: 0,
            next_sample_ps: config.interval_ps,
            queue: QueueEstimate::new(&config.link),
        }
    }

    /// Decides on a packet of `packet_bytes` that arrives at `now_ps` (not before the last call's
    /// time) and finds `queue` bytes or packets. `random` holds 32 uniform bits. Returns true if
    /// the packet must be marked CE.
    #[inline]
    pub fn on_arrival(&mut self, now_ps: u64, queue: u64, packet_bytes: u32, random: u32) -> bool {
        if now_ps >= self.next_sample_ps {
            self.advance(now_ps);
        }
        self.queue.arrival(now_ps, queue, packet_bytes);
        u64::from(random) < self.probability >> 32
    }

    /// Marking probability after the last sample, scaled by 2^64.
    pub fn probability(&self) -> u64 {
        self.probability
    }

    /// Takes the samples due by `now_ps`.
    fn advance(&mut self, now_ps: u64) {
        let interval_ps = self.config.interval_ps;
        while self.next_sample_ps <= now_ps {
            let queue = self.queue.at(self.next_sample_ps);
            if queue == 0 && self.last_sample == 0 {
                // Each sample of an empty queue reduces p by (a - b) q_ref.
                let samples = (now_ps - self.next_sample_ps) / interval_ps + 1;
                let step =
                    u128::from(self.config.a - self.config.b) * u128::from(self.config.reference);
                let fall = step.saturating_mul(u128::from(samples));
                let left = u128::from(self.probability).saturating_sub(fall);
                self.probability = left as u64;
                self.next_sample_ps += samples * interval_ps;
                return;
            }
            self.sample(queue);
            self.next_sample_ps += interval_ps;
        }
    }

    fn sample(&mut self, queue: u64) {
        let excess =
            |queue: u64| i128::from(queue.min(1 << 40)) - i128::from(self.config.reference);
        let change = i128::from(self.config.a) * excess(queue)
            - i128::from(self.config.b) * excess(self.last_sample);
        let probability = i128::from(self.probability) + change;
        self.probability = probability.clamp(0, i128::from(u64::MAX)) as u64;
        self.last_sample = queue;
    }
}
