//! The weight of RED's average in settings: a share, or a number of halvings as on switches.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::problem::quoted;
use crate::quote;
use crate::units::Share;

/// Weight of a new sample in an average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AverageWeight {
    /// Exponent n of a weight of 2^-n.
    Halvings(u32),
    /// The weight as a share.
    Share(Share),
}

impl AverageWeight {
    pub(super) const ALLOWED: &str = "2 to 24, for 2^-2 to 2^-24, or a share such as \"10%\"";
    /// Both readings of 1, which some formats and programs write for 1.0.
    const INSTEAD_OF_ONE: &str =
        "\"50%\" for 2^-1, or \"100%\" for the queue itself: 1 could mean either";

    /// Weight in fixed point with 1.0 = 2^32: exact for a power of two, otherwise rounded to
    /// nearest.
    pub fn fixed_point(self) -> u64 {
        match self {
            AverageWeight::Halvings(halvings) => 1 << (32 - halvings),
            AverageWeight::Share(share) => share.scaled(1 << 33).div_ceil(2),
        }
    }

    /// Parses a weight; an integer from 2 on is a number of halvings in every notation.
    fn parse(text: &str) -> Result<Self, String> {
        if text.trim().parse() == Ok(1.0) {
            return Err(format!(
                "{} is invalid; expected {}",
                quote::text(text),
                Self::INSTEAD_OF_ONE
            ));
        }
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

    /// Whether the weight is allowed. Shares below 2^-24, the smallest power of two, are not: in
    /// units of 2^-32 they would have too few digits.
    pub(super) fn is_allowed(self) -> bool {
        match self {
            AverageWeight::Halvings(halvings) => (2..=24).contains(&halvings),
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

    /// Rejects values above 1: whole numbers of halvings have no fraction.
    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<AverageWeight, E> {
        if value > 1.0 {
            return Err(E::custom(format!(
                "{} is invalid; expected {}",
                quote::value(&toml::Value::Float(value)),
                AverageWeight::ALLOWED
            )));
        }
        AverageWeight::parse(&value.to_string()).map_err(E::custom)
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
    fn weight_is_a_share_or_an_exponent() {
        for (json, expected) in [
            ("9", 1 << 23),
            ("2", 1 << 30),
            ("\"50%\"", 1 << 31),
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
            "1.5",
            "9.0",
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

    /// One is a share in one notation and 2^-1 in another: every notation of it is rejected.
    #[test]
    fn one_is_refused_with_both_readings() {
        for json in ["1", "1.0", "\"1\"", "\"1.0\"", "1e0"] {
            let told = weight(json).expect_err(json);
            assert!(
                told.contains("\"50%\" for 2^-1") && told.contains("\"100%\""),
                "{json}: {told}"
            );
        }
    }

    #[test]
    fn weight_serializes_as_read() {
        for json in ["9", "\"10%\"", "\"100%\"", "\"0.000006%\""] {
            let weight = weight(json).expect("allowed");
            assert_eq!(serde_json::to_string(&weight).expect("plain"), json);
        }
    }
}
