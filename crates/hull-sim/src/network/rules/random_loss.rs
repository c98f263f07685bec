//! Random loss: a link drops packets independently with a fixed probability (Bernoulli), regardless
//! of the queue. No document uses it; it is the model of TCP's square-root law (Mathis et al.
//! 1997), and tests loss recovery.
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
    lost: u64,
}

impl RandomLoss {
    /// Creates the loss of a share of the packets at one port, if it is above 0.
    pub fn rule(share: Share, site: &Site) -> Option<Box<dyn Rule>> {
        let probability = u32::try_from(share.scaled(1 << 32)).unwrap_or(u32::MAX);
        (probability > 0).then(|| {
            Box::new(RandomLoss {
                probability,
                random: site.random(Purpose::LinkLoss),
                lost: 0,
            }) as Box<dyn Rule>
        })
    }
}

impl Rule for RandomLoss {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_ingress(&mut self, _arrival: &Arrival, _packet: &Packet) -> Decision {
        if self.random.bits() < self.probability {
            self.lost += 1;
            Decision::Drop
        } else {
            Decision::Pass
        }
    }

    fn lost(&self) -> Option<u64> {
        Some(self.lost)
    }
}
