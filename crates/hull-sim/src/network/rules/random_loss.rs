//! Random loss: a link that loses a share of its packets, each with the same probability and without
//! memory, whatever the queue. No document has it; it is what the square-root law of TCP (Mathis et
//! al. 1997) is about, and what loss recovery is tested with.
//!
//! A packet is lost before it comes to the queue, so that what is lost takes no time on the link. The
//! probability is scaled by 2^32.

use super::{Arrival, Decision, Rule, Site};
use crate::network::Packet;
use crate::random::{Purpose, Stream};
use crate::units::Share;

/// The loss of one link.
#[derive(Debug)]
pub struct RandomLoss {
    probability: u32,
    random: Stream,
}

impl RandomLoss {
    /// Loses a share of the packets at one port.
    pub fn new(share: Share, site: &Site) -> Self {
        RandomLoss {
            probability: u32::try_from(share.scaled(1 << 32)).unwrap_or(u32::MAX),
            random: site.random(Purpose::LinkLoss),
        }
    }
}

impl Rule for RandomLoss {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_ingress(&mut self, _arrival: &Arrival, _packet: &Packet) -> Decision {
        if self.random.bits() < self.probability {
            Decision::Drop
        } else {
            Decision::Pass
        }
    }
}
