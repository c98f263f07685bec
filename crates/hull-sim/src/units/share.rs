//! Shares of a whole.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Literal, Quantity, deserialize};

/// Share of a whole, 0 to 1, such as `0.2` or `"20%"`, stored in units of 10^-9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Share(pub u64);

impl Share {
    /// Fixed-point 1.0: the whole.
    pub const ONE: u64 = 1_000_000_000;

    /// Parses a share such as `"20%"`.
    pub fn parse(text: &str) -> Result<Self, String> {
        Self::read(Literal::Text(text))
    }

    /// Share as a float, 0 to 1.
    pub fn value(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }

    /// Share in fixed point, scaled by `one`.
    pub fn scaled(self, one: u64) -> u64 {
        (u128::from(self.0) * u128::from(one) / u128::from(Self::ONE)) as u64
    }
}

impl Quantity for Share {
    const EXAMPLE: &'static str = "20%";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        let found = literal.parts().and_then(|(mut number, unit)| {
            let factor = match unit.as_str() {
                "%" => Self::ONE / 100,
                "" => Self::ONE,
                _ => return None,
            };
            number.may_round = true;
            number.times(factor, u64::MAX)
        });
        found.map(Share).ok_or_else(|| Self::refused(literal))
    }

    fn allowed() -> String {
        "a share such as \"20%\" or 0.2, to 9 decimals".to_owned()
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = Self::ONE / 100;
        let (whole, rest) = (self.0 / percent, self.0 % percent);
        if rest == 0 {
            return write!(f, "{whole}%");
        }
        let decimals = format!("{rest:07}");
        write!(f, "{whole}.{}%", decimals.trim_end_matches('0'))
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserialize(deserializer)
    }
}

impl JsonSchema for Share {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["string", "number"],
            "examples": ["20%", 0.2],
            "x-quantity": "Share",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_common_notations() {
        for (text, parts) in [
            ("12.5%", 125_000_000),
            ("0.2", 200_000_000),
            ("0.3333333333333333", 333_333_333),
            ("0.30000000000000004", 300_000_000),
            ("33.333333333333336%", 333_333_333),
        ] {
            assert_eq!(Share::parse(text), Ok(Share(parts)), "{text}");
        }
        assert_eq!(Share::read(Literal::Whole(1)), Ok(Share(Share::ONE)));
        assert_eq!(Share::read(Literal::Float(0.2)), Ok(Share(200_000_000)));
    }

    #[test]
    fn rejects_meaningless_values() {
        for text in [
            "-1%",
            "%",
            "20Mbps",
            "x",
            "0.0000000001",
            "-0.30000000000000004",
        ] {
            assert!(Share::parse(text).is_err(), "{text}");
        }
        let told = Share::read(Literal::Float(-0.2)).expect_err("negative");
        assert!(
            told.starts_with("-0.2 is invalid; expected a share"),
            "{told}"
        );
    }

    #[test]
    fn display_parses_back() {
        for text in ["95%", "12.5%", "0.0001%"] {
            let read = Share::parse(text).map(|share| share.to_string());
            assert_eq!(read, Ok(text.to_owned()));
        }
    }
}
