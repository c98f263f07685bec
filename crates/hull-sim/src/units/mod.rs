//! Quantities with units: `"950Mbps"`, `"100Gbit/s"`, `"1KB"`, `"64us"`, `"20%"`, `"500pkts"`. A number
//! without a unit is in seconds, bit/s or bytes.
//!
//! KB is 1000 bytes, as in the papers, KiB 1024. Internally integer picoseconds, bit/s and bytes. A
//! text is parsed digit by digit, so no value passes through a float on its way to an integer, except
//! floats of a file and shares with more decimals than are kept.

use std::fmt;

use serde::Deserializer;

use crate::quote;

mod form;
mod rate;
mod share;
mod size;
mod time;

pub(crate) use form::{check, expected};
pub use rate::{Rate, RelativeRate};
pub use share::Share;
pub(crate) use size::in_bytes;
pub use size::{Buffer, QueueLength, Size};
pub use time::{Tick, Time};

/// Quantity as written in a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Literal<'t> {
    Text(&'t str),
    Whole(i128),
    Float(f64),
}

impl Literal<'_> {
    /// Value as written, for messages.
    fn shown(self) -> String {
        match self {
            Literal::Text(text) => quote::text(text),
            Literal::Whole(number) => number.to_string(),
            Literal::Float(number) => quote::value(&toml::Value::Float(number)),
        }
    }

    /// Number and unit.
    fn parts(self) -> Option<(Number, String)> {
        match self {
            Literal::Text(text) => {
                let (digits, unit) = split(text)?;
                let number = Number {
                    digits: digits.to_owned(),
                    may_round: unit.is_empty(),
                };
                Some((number, unit.to_owned()))
            }
            Literal::Whole(number) => Some((Number::new(number), String::new())),
            Literal::Float(number) => Some((Number::new(number), String::new())),
        }
    }
}

/// Decimal number.
#[derive(Debug)]
struct Number {
    digits: String,
    /// Whether the number may come from a float, whose last digits are not exact.
    may_round: bool,
}

impl Number {
    fn new(number: impl fmt::Display) -> Self {
        Number {
            digits: number.to_string(),
            may_round: true,
        }
    }

    /// Number times `factor`; `None` if it is not a number, negative, not an integer, or above
    /// `most`.
    fn times(&self, factor: u64, most: u64) -> Option<u64> {
        let exact = scaled(&self.digits, factor);
        let near = || self.may_round.then(|| rounded(&self.digits, factor))?;
        exact.or_else(near).filter(|&value| value <= most)
    }
}

/// Quantity in a scenario file.
pub(crate) trait Quantity: Sized {
    /// Example of the notation.
    const EXAMPLE: &'static str;

    /// Parses a quantity. Fails with the message.
    fn read(literal: Literal<'_>) -> Result<Self, String>;

    /// Expected form, for messages.
    fn allowed() -> String;

    /// Message for an invalid value.
    fn refused(literal: Literal<'_>) -> String {
        format!(
            "{} is invalid; expected {}",
            literal.shown(),
            Self::allowed()
        )
    }
}

/// Splits `"12.5us"` into `"12.5"` and `"us"`.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (!number.is_empty()).then_some((number, unit.trim_start()))
}

/// Exact product of `number` and `factor`; `None` if it is not a number, negative, not an integer,
/// or too large.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if fraction.len() > 18 || whole.is_empty() {
        return None;
    }
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let scale = 10_u128.pow(fraction.len() as u32);
    let value = digits.checked_mul(u128::from(factor))?;
    if value % scale != 0 {
        return None;
    }
    u64::try_from(value / scale).ok()
}

/// Product of a number with too many decimals (a float such as 1/3) and `factor`, rounded to
/// nearest; `None` if rounding changes it by more than a millionth.
fn rounded(number: &str, factor: u64) -> Option<u64> {
    let exact = number.parse::<f64>().ok()? * factor as f64;
    let nearest = exact.round();
    let fits = (0.0..9e15).contains(&nearest) && (nearest - exact).abs() <= 1e-6 * exact;
    fits.then_some(nearest as u64)
}

/// Writes `value` with the largest unit that leaves at most three decimals.
fn write_unit(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    for &(unit, factor) in units {
        if value >= factor && (u128::from(value) * 1000) % u128::from(factor) == 0 {
            let (whole, rest) = (value / factor, value % factor);
            if rest == 0 {
                return write!(f, "{whole}{unit}");
            }
            let decimals = format!("{:03}", u128::from(rest) * 1000 / u128::from(factor));
            return write!(f, "{whole}.{}{unit}", decimals.trim_end_matches('0'));
        }
    }
    let (unit, factor) = units[units.len() - 1];
    write!(f, "{}{unit}", value / factor)
}

/// Factor of a unit in a table of units.
fn factor_of(unit: &str, units: &[(&str, u64)]) -> Option<u64> {
    let found = units.iter().find(|&&(name, _)| name == unit);
    found.map(|&(_, factor)| factor)
}

/// Deserializes a quantity from any format.
fn deserialize<'de, Q: Quantity, D: Deserializer<'de>>(deserializer: D) -> Result<Q, D::Error> {
    deserializer.deserialize_any(QuantityVisitor(std::marker::PhantomData))
}

struct QuantityVisitor<Q>(std::marker::PhantomData<Q>);

impl<Q: Quantity> serde::de::Visitor<'_> for QuantityVisitor<Q> {
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Q::allowed())
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Q, E> {
        Q::read(Literal::Text(text)).map_err(E::custom)
    }

    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Q, E> {
        Q::read(Literal::Whole(number.into())).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<Q, E> {
        Q::read(Literal::Whole(number.into())).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, number: f64) -> Result<Q, E> {
        Q::read(Literal::Float(number)).map_err(E::custom)
    }
}

/// Implements parsing, serde and schema of a quantity, which is written as text and read from text
/// or a number.
macro_rules! text_form {
    ($name:ident) => {
        impl $name {
            /// Parses a text. An error states the expected form.
            pub fn parse(text: &str) -> Result<Self, String> {
                crate::units::Quantity::read(crate::units::Literal::Text(text))
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                crate::units::deserialize(deserializer)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": ["string", "number"],
                    "examples": [<$name as crate::units::Quantity>::EXAMPLE],
                    "x-quantity": stringify!($name),
                })
            }
        }
    };
}
use text_form;
