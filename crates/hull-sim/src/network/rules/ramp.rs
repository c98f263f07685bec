//! Marking with a probability that rises linearly with the queue: 0 up to a first threshold (Kmin), a
//! largest probability (Pmax) at a second one (Kmax), 1 above it.
//!
//! Source: the marking of switches for DCQCN and Ultra Ethernet (`uet-nscc.md`, "Switch port"; RED
//! without an average). The queue is the one that a packet finds on arrival, or that remains behind it
//! at the start or end of its transmission; the reference of Ultra Ethernet uses the end. Sizes are
//! bytes.

use hull_core::ramp::RampMarker;

use super::{Arrival, Decision, Departure, Rule, Site};
use crate::network::options::OptionTable;
use crate::network::packet::Packet;
use crate::random::{Purpose, Stream};

/// Time at which the queue is compared with the thresholds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At the packet's arrival.
    Arrival,
    /// At the start of its transmission.
    Departure,
    /// At the end of its transmission.
    Sent,
}

/// Marking of one port.
#[derive(Debug)]
pub struct RampMarking {
    marker: RampMarker,
    when: When,
    random: Stream,
}

impl RampMarking {
    /// Creates the rule of a marker, whose thresholds may be equal.
    pub fn new(marker: RampMarker, when: When, site: &Site) -> Self {
        RampMarking {
            marker,
            when,
            random: site.random(Purpose::Marking),
        }
    }

    /// Whether a packet is marked at this queue. Draws a random number only between the thresholds.
    fn marks(&mut self, queue_bytes: u64) -> bool {
        let between = (self.marker.low_bytes + 1..=self.marker.high_bytes).contains(&queue_bytes);
        let random = if between { self.random.bits() } else { 0 };
        queue_bytes > self.marker.low_bytes && self.marker.marks(queue_bytes, random)
    }
}

impl Rule for RampMarking {
    fn decides_on_arrival(&self) -> bool {
        self.when == When::Arrival
    }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        _packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        Decision::mark_if(self.when == When::Arrival && self.marks(arrival.queue_bytes))
    }

    fn on_departure(
        &mut self,
        departure: &Departure,
        _packet: &Packet,
        _options: &mut OptionTable,
    ) -> Decision {
        Decision::mark_if(self.when == When::Departure && self.marks(departure.queue_bytes))
    }

    fn looks_at_sent(&self) -> bool {
        self.when == When::Sent
    }

    fn on_sent(&mut self, queue_bytes: u64) -> Decision {
        Decision::mark_if(self.when == When::Sent && self.marks(queue_bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;
    use hull_core::ramp;

    /// The fraction of packets marked at a given queue length lies on the straight line.
    #[test]
    fn marking_share_follows_the_ramp() {
        let site = Site {
            rate: Rate(100_000_000_000),
            mtu: 4150,
            seed: 1,
            port: 0,
        };
        for (max_probability, largest) in [(ramp::ONE, 1.0), (ramp::ONE / 5, 0.2)] {
            let marker = RampMarker {
                low_bytes: 1000,
                high_bytes: 5000,
                max_probability,
            };
            let mut rule = RampMarking::new(marker, When::Departure, &site);
            for (queue_bytes, share) in [(1000, 0.0), (2000, 0.25), (4000, 0.75), (5000, 1.0)] {
                let marked = (0..20_000).filter(|_| rule.marks(queue_bytes)).count();
                let share = share * largest;
                assert!(
                    (marked as f64 / 20_000.0 - share).abs() < 0.01,
                    "{queue_bytes}"
                );
            }
            assert!(rule.marks(5001));
        }
    }
}
