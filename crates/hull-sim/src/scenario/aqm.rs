//! RED and PI with ECN (thesis 2.2.4, 2.3.1 and 3.4.1): the queue management that DCTCP is
//! compared with. Queues in packets (`"50pkts"`) or bytes (`"75KB"`).

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::check::{Problem, quoted, require};
use crate::quote;
use crate::units::{Buffer, Share, Time};

/// RED with ECN: packets are marked, not dropped early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Red {
    /// Average queue above which packets begin to be marked (min_th).
    pub min: Buffer,
    /// Average queue from which on every packet is marked (max_th), in the unit of `min`.
    pub max: Buffer,
    /// Probability at `max` (max_p).
    #[serde(default = "tenth")]
    pub max_probability: Share,
    /// Weight of the queue that a packet finds in the average: a share such as `"10%"` or `0.1`, or a whole
    /// number n from 1 to 24 for 2 to the power of minus n, as switches have it.
    #[serde(default = "nine")]
    pub weight: AverageWeight,
    /// Whether the probability goes on growing, up to 1 at twice `max`.
    #[serde(default)]
    pub gentle: bool,
    /// Whether the probability is proportional to the packet's size.
    #[serde(default)]
    pub by_size: bool,
    /// Whether packets are dropped, instead of marked, from `max` on, with `gentle` from twice `max`
    /// (harddrop of Linux).
    #[serde(default)]
    pub hard_drop: bool,
}

/// PI with ECN (Hollot et al., "On Designing Improved Controllers for AQM Routers"), designed for a
/// number of flows and a round trip by that paper's Proposition 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pi {
    /// Queue that is to be kept (q_ref).
    pub reference: Buffer,
    /// Time between two samples of the queue (T).
    pub interval: Time,
    /// Fewest flows that it has to be stable with (N).
    pub flows: u32,
    /// Longest round trip that it has to be stable with (R).
    pub round_trip: Time,
}

const fn tenth() -> Share {
    Share(Share::ONE / 10)
}
const fn nine() -> AverageWeight {
    AverageWeight::Halvings(9)
}

/// Weight of a new sample in an average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AverageWeight {
    /// 2 to the power of minus this.
    Halvings(u32),
    /// Itself.
    Share(Share),
}

impl AverageWeight {
    const ALLOWED: &str = "1 to 24, for 2^-1 to 2^-24, or a share such as \"10%\"";

    /// In fixed point, 2^32 as 1.0: a power of two exactly, a share to the nearest.
    pub fn fixed_point(self) -> u64 {
        match self {
            AverageWeight::Halvings(halvings) => 1 << (32 - halvings),
            AverageWeight::Share(share) => share.scaled(1 << 33).div_ceil(2),
        }
    }

    /// A whole number is one of halvings, however it is written.
    fn parse(text: &str) -> Result<Self, String> {
        if let Ok(halvings) = text.trim().parse() {
            return Ok(AverageWeight::Halvings(halvings));
        }
        Share::parse(text).map(AverageWeight::Share).map_err(|_| {
            format!(
                "{} is invalid; expected {}",
                quote::text(text),
                Self::ALLOWED
            )
        })
    }

    /// No share below 2^-24, which is the least of the powers of two and leaves a share of 2^-32 units some
    /// digits.
    fn is_allowed(self) -> bool {
        match self {
            AverageWeight::Halvings(halvings) => (1..=24).contains(&halvings),
            AverageWeight::Share(share) => share.0 <= Share::ONE && share.0 << 24 >= Share::ONE,
        }
    }
}

impl fmt::Display for AverageWeight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AverageWeight::Halvings(halvings) => halvings.fmt(f),
            AverageWeight::Share(share) => quoted(share).fmt(f),
        }
    }
}

impl Serialize for AverageWeight {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            AverageWeight::Halvings(halvings) => serializer.serialize_u32(*halvings),
            AverageWeight::Share(share) => share.serialize(serializer),
        }
    }
}

struct AverageWeightVisitor;

impl serde::de::Visitor<'_> for AverageWeightVisitor {
    type Value = AverageWeight;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(AverageWeight::ALLOWED)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<AverageWeight, E> {
        AverageWeight::parse(text).map_err(E::custom)
    }

    /// 1.0 would be 1 in some formats and the whole in others.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<AverageWeight, E> {
        let refused = || {
            E::custom(format!(
                "{value} is invalid; expected {}",
                AverageWeight::ALLOWED
            ))
        };
        if value >= 1.0 {
            return Err(refused());
        }
        AverageWeight::parse(&value.to_string()).map_err(|_| refused())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<AverageWeight, E> {
        AverageWeight::parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<AverageWeight, E> {
        AverageWeight::parse(&value.to_string()).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for AverageWeight {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AverageWeightVisitor)
    }
}

impl JsonSchema for AverageWeight {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AverageWeight".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["integer", "string", "number"], "examples": [9, "10%"] })
    }
}

/// A queue length in its unit, of at most 2^31.
fn length(key: &str, queue: Buffer) -> Result<(u64, bool), Problem> {
    let (length, packets) = match queue {
        Buffer::Unlimited => (0, false),
        Buffer::Bytes(bytes) => (bytes, false),
        Buffer::Packets(packets) => (packets, true),
    };
    let allowed = "a queue such as \"50pkts\" or \"75KB\", above 0";
    require((1..1 << 31).contains(&length), key, quoted(queue), allowed)?;
    Ok((length, packets))
}

/// Checks RED's settings.
pub(super) fn check_red(red: &Red) -> Result<(), Problem> {
    let (min, unit) = length("switch.red.min", red.min)?;
    let (max, unit_of_max) = length("switch.red.max", red.max)?;
    require(
        max > min && unit == unit_of_max,
        "switch.red.max",
        quoted(red.max),
        &format!(
            "more than switch.red.min, \"{}\", in the same unit",
            red.min
        ),
    )?;
    let probability = red.max_probability;
    require(
        (1..=Share::ONE).contains(&probability.0),
        "switch.red.max_probability",
        quoted(probability),
        "above 0 and at most 1",
    )?;
    require(
        red.weight.is_allowed(),
        "switch.red.weight",
        red.weight,
        AverageWeight::ALLOWED,
    )
}

/// Checks PI's settings.
pub(super) fn check_pi(pi: &Pi) -> Result<(), Problem> {
    length("switch.pi.reference", pi.reference)?;
    for (key, time) in [
        ("switch.pi.interval", pi.interval),
        ("switch.pi.round_trip", pi.round_trip),
    ] {
        let fits = (100_000..=1_000_000_000_000).contains(&time.0);
        require(fits, key, quoted(time), "100ns to 1s")?;
    }
    require(
        (1..=1_000_000).contains(&pi.flows),
        "switch.pi.flows",
        pi.flows,
        "1 to 1000000",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weight(json: &str) -> Result<AverageWeight, String> {
        let weight: AverageWeight =
            serde_json::from_str(json).map_err(|error| error.to_string())?;
        match weight.is_allowed() {
            true => Ok(weight),
            false => Err(weight.to_string()),
        }
    }

    /// 0.1 of 2^32 is 429496729.6; 2^-9 is the same either way; 2^-24 is 59.6 parts of 10^9.
    #[test]
    fn a_weight_is_a_share_or_a_number_of_halvings() {
        for (json, expected) in [
            ("9", 1 << 23),
            ("1", 1 << 31),
            ("24", 1 << 8),
            ("\"9\"", 1 << 23),
            ("0.1", 429_496_730),
            ("\"10%\"", 429_496_730),
            ("0.001953125", 1 << 23),
            ("\"100%\"", 1 << 32),
            ("\"0.000006%\"", 258),
        ] {
            let fixed_point = weight(json).map(AverageWeight::fixed_point);
            assert_eq!(fixed_point, Ok(expected), "{json}");
        }
    }

    #[test]
    fn other_weights_are_refused() {
        for json in [
            "0",
            "25",
            "-1",
            "1.0",
            "1.5",
            "0.0",
            "-0.1",
            "\"101%\"",
            "\"0%\"",
            "\"x\"",
            "\"0.0000059%\"",
            "true",
        ] {
            assert!(weight(json).is_err(), "{json}");
        }
    }

    #[test]
    fn a_weight_is_written_as_it_is_read() {
        for json in ["9", "\"10%\"", "\"100%\"", "\"0.000006%\""] {
            let weight = weight(json).expect("allowed");
            assert_eq!(serde_json::to_string(&weight).expect("plain"), json);
        }
    }
}
