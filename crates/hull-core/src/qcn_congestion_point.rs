//! QCN's congestion point: a switch queue that samples packets and reports its congestion to their
//! sources.
//!
//! Source: thesis 5.2.1 (IEEE 802.1Qau in the simplified form that the thesis analyses). Each arriving
//! packet is sampled with probability p_s, 1% in the thesis. The standard samples a packet every 150
//! KB, randomized by 15%, which gives as many samples at more even distances. With Q the queue that a
//! sampled packet finds and Q_old the queue at the previous sample,
//!
//! ```text
//! F_b = Q_off + w Q_delta,  Q_off = Q - Q_eq,  Q_delta = Q - Q_old
//! ```
//!
//! F_b > 0 is sent, in 6 bits, to the source of the sampled packet. The standard samples more often
//! under more congestion (footnote 1): once as often for feedback of 0 to 7 steps, twice for 8 to 15,
//! eight times for 56 to 63. Here this is an option.
//!
//! The thesis specifies the quantization of F_b to 6 bits only by G_d F_bmax = 1/2 with G_d = 1/128, so
//! F_b has 64 steps. Here a step is `step_bytes` and feedback is at most 63 steps. If F_b is rounded
//! up, every F_b above 0 is sent; rounded down, as the standard keeps the most significant bits, only
//! an F_b of at least a step. With a step of one packet, G_d F_b is as in the fluid model, which counts
//! the queue in packets.
//!
//! Units: queues and F_b in bytes, probabilities and w fixed point (2^32 and 2^16 as 1.0).

/// Largest value of the feedback: 6 bits.
pub const MAX_FEEDBACK: u8 = 63;

/// Selection of the packets to sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Each packet with this probability (p_s), scaled by 2^32: thesis 5.2.1.
    Random(u32),
    /// One packet per this number of bytes times a uniform factor between 0.85 and 1.15: IEEE
    /// 802.1Qau.
    Every(u32),
}

/// Settings of a [`CongestionPoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionPointConfig {
    /// Equilibrium queue (Q_eq), bytes.
    pub equilibrium_bytes: u32,
    /// Weight w of the queue's change, scaled by 2^16.
    pub weight: u32,
    /// Selection of the packets to sample.
    pub sampling: Sampling,
    /// F_b per step of the feedback, bytes, above zero.
    pub step_bytes: u32,
    /// Rounding of a partial step.
    pub rounding: Rounding,
    /// Whether feedback of q steps divides the distance to the next sample, or multiplies p_s, by 1
    /// + q/8 (q/8 rounded down).
    pub adaptive: bool,
}

/// Rounding of a partial step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// Round up: every F_b above 0 is sent.
    Up,
    /// Round down: F_b below one step is not sent (IEEE 802.1Qau).
    Down,
}

/// QCN congestion point of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionPoint {
    config: CongestionPointConfig,
    /// Queue at the last sample (Q_old), bytes.
    last_sample: u64,
    /// Bytes until the next sample ([`Sampling::Every`] only).
    left_bytes: i64,
    /// Current multiple of the base sampling rate, 1 to 8.
    pace: u32,
}

impl CongestionPoint {
    /// Creates a congestion point with an empty queue.
    ///
    /// # Panics
    /// Panics if the step is zero.
    pub fn new(config: &CongestionPointConfig) -> Self {
        assert!(config.step_bytes > 0, "step_bytes must be above zero");
        Self {
            config: *config,
            last_sample: 0,
            left_bytes: 0,
            pace: 1,
        }
    }

    /// Processes a packet of `packet_bytes` that finds `queue_bytes`; `random` holds 32 uniform
    /// bits. Returns the feedback for its source, 1 to [`MAX_FEEDBACK`], if the packet is sampled
    /// and the queue is congested.
    #[inline]
    pub fn on_arrival(&mut self, queue_bytes: u64, packet_bytes: u32, random: u32) -> Option<u8> {
        match self.config.sampling {
            Sampling::Random(probability) => {
                if random >= probability.saturating_mul(self.pace) {
                    return None;
                }
                self.sample(queue_bytes)
            }
            Sampling::Every(bytes) => {
                self.left_bytes -= i64::from(packet_bytes);
                if self.left_bytes > 0 {
                    return None;
                }
                let feedback = self.sample(queue_bytes);
                // 85 to 115 hundredths.
                let spread = (30 * u64::from(random)) >> 32;
                let usual = u64::from(bytes) * (85 + spread) / 100;
                self.left_bytes = (usual / u64::from(self.pace)) as i64;
                feedback
            }
        }
    }

    /// Computes the feedback of a sampled packet that finds `queue_bytes`.
    fn sample(&mut self, queue_bytes: u64) -> Option<u8> {
        let queue = queue_bytes.min(1 << 40) as i64;
        let change = queue - self.last_sample as i64;
        self.last_sample = queue as u64;
        let excess = queue - i64::from(self.config.equilibrium_bytes);
        // In 2^-16 bytes.
        let congestion =
            (i128::from(excess) << 16) + i128::from(self.config.weight) * i128::from(change);
        let step = u128::from(self.config.step_bytes) << 16;
        let congestion = congestion.max(0).unsigned_abs();
        let steps = match self.config.rounding {
            Rounding::Up => congestion.div_ceil(step),
            Rounding::Down => congestion / step,
        };
        let feedback = steps.min(u128::from(MAX_FEEDBACK)) as u8;
        if self.config.adaptive {
            self.pace = 1 + u32::from(feedback / 8);
        }
        (feedback > 0).then_some(feedback)
    }
}
