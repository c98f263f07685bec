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
//! an F_b of at least a step. With a step of one packet, G_d F_b is that of the fluid model, which
//! counts the queue in packets.
//!
//! Units: queues and F_b in bytes, probabilities and w fixed point (2^32 and 2^16 as 1.0).

/// Largest value of the feedback: 6 bits.
pub const MAX_FEEDBACK: u8 = 63;

/// Which packets are sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sampling {
    /// Each with this probability (p_s), scaled by 2^32: thesis 5.2.1.
    Random(u32),
    /// One every so many bytes, times a number between 0.85 and 1.15: IEEE 802.1Qau.
    Every(u32),
}

/// Settings of a [`CongestionPoint`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CongestionPointConfig {
    /// The queue that it aims at (Q_eq), bytes.
    pub equilibrium_bytes: u32,
    /// Weight w of the queue's change, scaled by 2^16.
    pub weight: u32,
    /// Which packets are sampled.
    pub sampling: Sampling,
    /// F_b of one step of the feedback, bytes, above zero.
    pub step_bytes: u32,
    /// Rounding of a partial step.
    pub rounding: Rounding,
    /// Whether feedback of q steps makes the distance to the next sample 1 + q/8 (whole eighths) times
    /// shorter, and p_s as much larger.
    pub adaptive: bool,
}

/// Rounding of a partial step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// It counts as one: every F_b above 0 is sent.
    Up,
    /// It is dropped, and F_b of less than one step is not sent: IEEE 802.1Qau.
    Down,
}

/// The congestion point of one queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CongestionPoint {
    config: CongestionPointConfig,
    /// Queue at the last sample (Q_old), bytes.
    last_sample: u64,
    /// Bytes up to the next sample, where they are counted.
    left_bytes: i64,
    /// By how much more than usual is sampled now.
    pace: u32,
}

impl CongestionPoint {
    /// On an empty queue.
    ///
    /// # Panics
    /// When the step is zero.
    pub fn new(config: &CongestionPointConfig) -> Self {
        assert!(config.step_bytes > 0, "step_bytes must be above zero");
        Self {
            config: *config,
            last_sample: 0,
            left_bytes: 0,
            pace: 1,
        }
    }

    /// A packet of `packet_bytes` finds `queue_bytes`; `random` is 32 uniform bits. Returns the feedback
    /// for its source, 1 to [`MAX_FEEDBACK`], when it was sampled and the queue is congested.
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
                // 85 hundredths, and up to 30 more.
                let spread = (30 * u64::from(random)) >> 32;
                let usual = u64::from(bytes) * (85 + spread) / 100;
                self.left_bytes = (usual / u64::from(self.pace)) as i64;
                feedback
            }
        }
    }

    /// A sampled packet finds `queue_bytes`.
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
