//! RED on the average queue (thesis 2.2.4): processes every arrival and marks at random. It ignores
//! packets that cannot be marked (ECN always, early drop never), unless RED is set to drop. The queue
//! is in the unit of its thresholds, bytes or packets. With `early_drop`, the estimate of when the
//! queue is empty still includes a dropped packet until the next one arrives.

use hull_core::queue_estimate::QueueUnit;
use hull_core::red::{self, RedConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::average_weight::AverageWeight;
use super::queue_length::{check_length, length};
use super::{Arrival, Decision, Rule, Site};
use crate::network::{OptionTable, Packet};
use crate::problem::{Problem, quoted, require};
use crate::random::{Purpose, Stream};
use crate::units::{QueueLength, Share};

/// RED with ECN: packets are marked and, by default, none is dropped early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Average queue above which packets begin to be marked (min_th).
    pub min: QueueLength,
    /// Average queue from which on every packet is marked (max_th), in the unit of `min`.
    pub max: QueueLength,
    /// Probability at `max` (max_p).
    #[serde(default = "tenth")]
    pub max_probability: Share,
    /// Weight in the average of the queue that a packet finds: a share such as `"10%"` or `0.1`, or
    /// a whole number n from 2 to 24 for 2 to the power of minus n, as on switches. `"100%"` is the
    /// queue itself; 1 is rejected because it could mean `"50%"` or `"100%"`.
    #[serde(default = "nine")]
    pub weight: AverageWeight,
    /// Whether the probability continues to grow, up to 1 at twice `max`.
    #[serde(default)]
    pub gentle: bool,
    /// Whether the probability is proportional to the packet's size.
    #[serde(default)]
    pub by_size: bool,
    /// Whether packets are dropped, instead of marked, from `max` on, with `gentle` from twice `max`
    /// (harddrop of Linux).
    #[serde(default)]
    pub hard_drop: bool,
    /// Whether a packet without ECN is dropped where one with ECN would be marked.
    #[serde(default)]
    pub early_drop: bool,
    /// How packets are drawn: `"spaced"` by the packets since the last mark, as Floyd and Jacobson
    /// and Linux do, or `"independent"`, each with the probability of its average alone, as the WRED
    /// of switches does. Spaced marks are up to twice as frequent.
    #[serde(default, skip_serializing_if = "RedDraw::is_spaced")]
    pub draw: RedDraw,
}

/// Dependence of RED's draws on the packets since the last mark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RedDraw {
    /// The probability rises with the packets since the last mark: p / (1 - count p).
    #[default]
    Spaced,
    /// Each packet is marked with the probability p.
    Independent,
}

impl RedDraw {
    fn is_spaced(&self) -> bool {
        *self == RedDraw::Spaced
    }
}

const fn tenth() -> Share {
    Share(Share::ONE / 10)
}
const fn nine() -> AverageWeight {
    AverageWeight::Halvings(9)
}

impl Red {
    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let (min, unit) = check_length("switch.red.min", self.min)?;
        let (max, unit_of_max) = check_length("switch.red.max", self.max)?;
        require(
            max > min && unit == unit_of_max,
            "switch.red.max",
            quoted(self.max),
            &format!(
                "more than switch.red.min, \"{}\", in the same unit",
                self.min
            ),
        )?;
        let probability = self.max_probability;
        require(
            (1..=Share::ONE).contains(&probability.0),
            "switch.red.max_probability",
            quoted(probability),
            "above 0 and at most 1",
        )?;
        require(
            self.weight.is_allowed(),
            "switch.red.weight",
            self.weight,
            AverageWeight::ALLOWED,
        )
    }
}

/// RED at one port.
#[derive(Debug)]
pub struct RedMarking {
    red: red::Red,
    unit: QueueUnit,
    early_drop: bool,
    random: Stream,
}

impl RedMarking {
    /// Creates the rule with these settings at one port.
    pub fn new(settings: &Red, site: &Site) -> Self {
        let (min_threshold, unit) = length(settings.min);
        let (max_threshold, _) = length(settings.max);
        let max_probability = settings.max_probability.scaled(1 << 32);
        let red = red::Red::new(&RedConfig {
            min_threshold,
            max_threshold,
            max_probability: u32::try_from(max_probability).unwrap_or(u32::MAX),
            weight: settings.weight.fixed_point(),
            gentle: settings.gentle,
            by_size: settings.by_size,
            hard_drop: settings.hard_drop,
            independent: settings.draw == RedDraw::Independent,
            link: site.link(unit),
        });
        let random = site.random(Purpose::Marking);
        RedMarking {
            red,
            unit,
            early_drop: settings.early_drop,
            random,
        }
    }
}

impl Rule for RedMarking {
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
        let marks = self.red.on_arrival(arrival.now_ps, queue, bytes, random);
        if self.red.refuses() || (marks && self.early_drop && !packet.is_ecn_capable()) {
            return Decision::Drop;
        }
        Decision::mark_if(marks)
    }
}
