//! Random loss: a link that loses a share of its packets, each with the same probability and without
//! memory, whatever the queue. No document has it; it is what the square-root law of TCP (Mathis et
//! al. 1997) is about, and what loss recovery is tested with.
//!
//! A packet is lost before it comes to the queue, so that what is lost takes no time on the link. The
//! probability is scaled by 2^32.

use crate::random::Stream;

/// The loss of one link.
#[derive(Clone, Debug)]
pub struct RandomLoss {
    probability: u32,
    random: Stream,
}

impl RandomLoss {
    /// Loses a packet with `probability` / 2^32.
    pub fn new(probability: u32, random: Stream) -> Self {
        RandomLoss {
            probability,
            random,
        }
    }

    /// Whether the next packet is lost.
    pub fn takes(&mut self) -> bool {
        self.random.bits() < self.probability
    }
}
