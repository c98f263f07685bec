//! Random loss: a link drops packets independently with a fixed probability (Bernoulli), whatever the
//! queue. No document uses it; it is the model of TCP's square-root law (Mathis et al. 1997), and tests
//! loss recovery.
//!
//! A packet is lost before it joins the queue, so lost packets take no time on the link. The
//! probability is scaled by 2^32.

use super::{Arrival, Decision, Rule, Site};
use crate::network::Packet;
use crate::random::{Purpose, Stream};
use crate::units::Share;

/// Random loss of one link.
#[derive(Debug)]
pub struct RandomLoss {
    probability: u32,
    random: Stream,
}

impl RandomLoss {
    /// Creates the loss of a share of the packets at one port.
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
