//! PI with a reference queue (thesis 2.2.4): processes every arrival and marks at random. It ignores
//! packets that cannot be marked. The queue is in the unit of its reference, bytes or packets.

use hull_core::pi::{self, PiConfig};
use hull_core::queue_estimate::QueueUnit;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::queue_length::{check_length, length};
use super::{Arrival, Decision, Rule, Site};
use crate::network::{OptionTable, Packet};
use crate::problem::{Problem, quoted, require};
use crate::random::{Purpose, Stream};
use crate::units::{QueueLength, Rate, Time};

/// PI with ECN (Hollot et al., "On Designing Improved Controllers for AQM Routers"), designed for a
/// number of flows and a round trip by that paper's Proposition 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pi {
    /// Target queue (q_ref).
    pub reference: QueueLength,
    /// Time between two samples of the queue (T).
    pub interval: Time,
    /// Smallest number of flows for which PI must be stable (N).
    pub flows: u32,
    /// Longest round trip for which PI must be stable (R).
    pub round_trip: Time,
}

impl Pi {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        check_length("switch.pi.reference", self.reference)?;
        for (key, time) in [
            ("switch.pi.interval", self.interval),
            ("switch.pi.round_trip", self.round_trip),
        ] {
            let fits = (100_000..=1_000_000_000_000).contains(&time.0);
            require(fits, key, quoted(time), "100ns to 1s")?;
        }
        require(
            (1..=1_000_000).contains(&self.flows),
            "switch.pi.flows",
            self.flows,
            "1 to 1000000",
        )
    }
}

/// PI at one port.
#[derive(Debug)]
pub struct PiMarking {
    pi: pi::Pi,
    unit: QueueUnit,
    random: Stream,
}

impl PiMarking {
    /// Creates the rule with these settings at one port.
    pub fn new(settings: &Pi, site: &Site) -> Self {
        let (reference, unit) = length(settings.reference);
        let (a, b) = proposition_2(settings, site.rate, site.mtu, unit);
        let pi = pi::Pi::new(&PiConfig {
            reference,
            a,
            b,
            interval_ps: settings.interval.0,
            link: site.link(unit),
        });
        let random = site.random(Purpose::Marking);
        PiMarking { pi, unit, random }
    }
}

impl Rule for PiMarking {
    fn decides_on_arrival(&self) -> bool {
        true
    }

    fn on_arrival(
        &mut self,
        arrival: &Arrival,
        packet: &Packet,
        _options: &OptionTable,
    ) -> Decision {
        let queue = arrival.queue(self.unit);
        let (bytes, random) = (u32::from(packet.wire_bytes), self.random.bits());
        let marks = self.pi.on_arrival(arrival.now_ps, queue, bytes, random);
        Decision::mark_if(marks)
    }
}

/// PI's coefficients a and b, scaled by 2^64, by Proposition 2 of Hollot et al. (see
/// `hull_core::pi`). It uses only operations that IEEE 754 rounds exactly, so the result is the
/// same on every machine.
fn proposition_2(pi: &Pi, rate: Rate, mtu: u32, unit: QueueUnit) -> (u64, u64) {
    let (flows, round_trip) = (f64::from(pi.flows), pi.round_trip.seconds());
    let capacity = rate.0 as f64 / 8.0 / f64::from(mtu);
    let zero = 2.0 * flows / (round_trip * round_trip * capacity);
    let bandwidth_delay = round_trip * capacity;
    let plant_gain = bandwidth_delay * bandwidth_delay * bandwidth_delay / (4.0 * flows * flows);
    let turn = zero * round_trip;
    let gain = zero * (turn * turn + 1.0).sqrt() / plant_gain;
    let half = pi.interval.seconds() / 2.0;
    let per_unit = match unit {
        QueueUnit::Bytes => f64::from(mtu),
        QueueUnit::Packets => 1.0,
    };
    let scaled = |coefficient: f64| (coefficient / per_unit * 18_446_744_073_709_551_616.0) as u64;
    let b = scaled((gain * (1.0 / zero - half)).max(0.0)).min(u64::MAX - 1);
    (scaled(gain * (1.0 / zero + half)).max(b + 1), b)
}
