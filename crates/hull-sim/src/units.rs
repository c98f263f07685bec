//! Quantities with the units that people write: `"950Mbps"`, `"1KB"`, `"64us"`, `"20%"`, `"500pkts"`.
//!
//! KB is 1000 bytes, as in the papers. Inside: integer picoseconds, bit/s and bytes. A text is read
//! digit by digit, so that no value passes through a float on its way to an integer; shares with more
//! decimals than are kept are the exception.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::quote;

/// Splits `"12.5us"` into 12.5 scaled by 10^`digits` and `"us"`.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || c == '.' || c == '-'))
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (!number.is_empty()).then_some((number, unit.trim_start()))
}

/// `number` times `factor`, exactly; `None` when it is no number, negative, no integer, or too big.
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

/// Longest time that a scenario may have, 1,000,000 s: a sum of several is far below 2^64 ps.
const LONGEST_PS: u64 = 1_000_000_000_000_000_000;

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $field:ident, $example:literal, $most:expr, [$(($unit:literal, $factor:expr)),+]) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
        pub struct $name(pub u64);

        impl $name {
            const UNITS: &'static [(&'static str, u64)] = &[$(($unit, $factor)),+];

            /// Reads a number with a unit; the error says what is allowed.
            pub fn parse(text: &str) -> Result<Self, String> {
                let allowed = || {
                    let units: Vec<_> = Self::UNITS.iter().map(|&(unit, _)| unit).collect();
                    format!(
                        "{} is invalid; expected a number with one of the units {}, such as \"{}\", at \
                         most {}",
                        quote::text(text), units.join(", "), $example, $name($most)
                    )
                };
                let (number, unit) = split(text).ok_or_else(allowed)?;
                let &(_, factor) =
                    Self::UNITS.iter().find(|&&(name, _)| name == unit).ok_or_else(allowed)?;
                scaled(number, factor)
                    .filter(|&value| value <= $most)
                    .map($name)
                    .ok_or_else(allowed)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write_unit(f, self.0, Self::UNITS)
            }
        }

        text_form!($name, $example);
    };
}

/// Serde and schema of a type that is written as a text.
macro_rules! text_form {
    ($name:ident, $example:literal) => {
        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = deserializer.deserialize_any(TextVisitor($example))?;
                $name::parse(&text).map_err(D::Error::custom)
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "examples": [$example] })
            }
        }
    };
}

/// Takes a text, and says what is expected when it finds a bare number.
struct TextVisitor(&'static str);

impl serde::de::Visitor<'_> for TextVisitor {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a number with its unit in quotes, such as \"{}\"",
            self.0
        )
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

quantity!(
    /// A time, in picoseconds.
    Time, ps, "64us", LONGEST_PS,
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)]
);
quantity!(
    /// A rate, in bit/s.
    Rate, bps, "950Mbps", 1_600_000_000_000,
    [("Tbps", 1_000_000_000_000), ("Gbps", 1_000_000_000), ("Mbps", 1_000_000), ("kbps", 1_000), ("bps", 1)]
);
quantity!(
    /// A number of bytes.
    Size, bytes, "30KB", 1_000_000_000_000_000,
    [("GB", 1_000_000_000), ("MB", 1_000_000), ("KB", 1_000), ("B", 1)]
);

impl Time {
    /// In seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

/// A share of a whole, 0 to 1: `0.2` or `"20%"`. Kept in parts of 10^9.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Share(pub u64);

impl Share {
    /// The whole.
    pub const ONE: u64 = 1_000_000_000;

    /// Reads `"20%"`.
    pub fn parse(text: &str) -> Result<Self, String> {
        let allowed = || not_a_share(&quote::text(text));
        let (number, unit) = split(text).ok_or_else(allowed)?;
        let factor = match unit {
            "%" => Self::ONE / 100,
            "" => Self::ONE,
            _ => return Err(allowed()),
        };
        let value = scaled(number, factor).or_else(|| rounded(number, factor));
        value.map(Share).ok_or_else(allowed)
    }

    /// As a float, 0 to 1.
    pub fn value(self) -> f64 {
        self.0 as f64 / Self::ONE as f64
    }

    /// In fixed point, scaled by `one`.
    pub fn scaled(self, one: u64) -> u64 {
        (u128::from(self.0) * u128::from(one) / u128::from(Self::ONE)) as u64
    }
}

fn not_a_share(found: &str) -> String {
    format!("{found} is invalid; expected a share such as \"20%\" or 0.2, to 9 decimals")
}

/// A number with more decimals than are kept, to the nearest part, where that changes it by less than a
/// millionth: a float such as 1/3.
fn rounded(number: &str, factor: u64) -> Option<u64> {
    let exact = number.parse::<f64>().ok()? * factor as f64;
    let nearest = exact.round();
    let fits = (0.0..9e15).contains(&nearest) && (nearest - exact).abs() <= 1e-6 * exact;
    fits.then_some(nearest as u64)
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

struct ShareVisitor;

impl serde::de::Visitor<'_> for ShareVisitor {
    type Value = Share;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a share such as \"20%\" or 0.2")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Share, E> {
        Share::parse(text).map_err(E::custom)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Share, E> {
        let found = quote::value(&toml::Value::Float(value));
        Share::parse(&value.to_string()).map_err(|_| E::custom(not_a_share(&found)))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Share, E> {
        Share::parse(&value.to_string()).map_err(E::custom)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Share, E> {
        Share::parse(&value.to_string()).map_err(E::custom)
    }
}

impl Serialize for Share {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Share {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShareVisitor)
    }
}

impl JsonSchema for Share {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Share".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": ["string", "number"], "examples": ["20%", 0.2] })
    }
}

/// Room of a buffer: `"unlimited"`, `"700KB"` or `"500pkts"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Without end.
    Unlimited,
    /// Bytes.
    Bytes(u64),
    /// Packets.
    Packets(u64),
}

impl Buffer {
    /// Reads a buffer's room.
    pub fn parse(text: &str) -> Result<Self, String> {
        let allowed = || {
            format!(
                "{} is invalid; expected \"unlimited\", a size such as \"700KB\" or a number of packets \
                 such as \"500pkts\"",
                quote::text(text)
            )
        };
        if text.trim() == "unlimited" {
            return Ok(Buffer::Unlimited);
        }
        match split(text) {
            Some((number, "pkts")) => scaled(number, 1).map(Buffer::Packets).ok_or_else(allowed),
            _ => Size::parse(text)
                .map(|size| Buffer::Bytes(size.0))
                .map_err(|_| allowed()),
        }
    }
}

impl fmt::Display for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Buffer::Unlimited => write!(f, "unlimited"),
            Buffer::Bytes(bytes) => Size(bytes).fmt(f),
            Buffer::Packets(packets) => write!(f, "{packets}pkts"),
        }
    }
}

text_form!(Buffer, "500pkts");

/// A rate, absolute or as a share of the link's: `"950Mbps"` or `"95%"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelativeRate {
    /// bit/s.
    Absolute(Rate),
    /// Share of the link's rate.
    Share(Share),
}

impl RelativeRate {
    /// Reads a rate or a percentage.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim_end().ends_with('%') {
            return Share::parse(text).map(RelativeRate::Share);
        }
        Rate::parse(text).map(RelativeRate::Absolute).map_err(|_| {
            format!(
                "{} is invalid; expected a rate such as \"950Mbps\" or a share of the link's rate such as \
                 \"95%\"",
                quote::text(text)
            )
        })
    }

    /// In bit/s on a link of `link`.
    pub fn of(self, link: Rate) -> Rate {
        match self {
            RelativeRate::Absolute(rate) => rate,
            RelativeRate::Share(share) => Rate(share.scaled(link.0)),
        }
    }
}

impl fmt::Display for RelativeRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RelativeRate::Absolute(rate) => rate.fmt(f),
            RelativeRate::Share(share) => share.fmt(f),
        }
    }
}

text_form!(RelativeRate, "95%");

/// A step of time, or none: `"continuous"` or `"800ns"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tick {
    /// No steps.
    #[default]
    Continuous,
    /// Every so long.
    Every(Time),
}

impl Tick {
    /// Reads a step.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim() == "continuous" {
            return Ok(Tick::Continuous);
        }
        let every = Time::parse(text).ok().filter(|every| every.0 > 0);
        every.map(Tick::Every).ok_or_else(|| {
            format!(
                "{} is invalid; expected \"continuous\" or a time above 0 such as \"800ns\"",
                quote::text(text)
            )
        })
    }

    /// In ps, 0 when continuous.
    pub fn ps(self) -> u64 {
        match self {
            Tick::Continuous => 0,
            Tick::Every(time) => time.0,
        }
    }
}

impl fmt::Display for Tick {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tick::Continuous => write!(f, "continuous"),
            Tick::Every(time) => time.fmt(f),
        }
    }
}

text_form!(Tick, "800ns");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        assert_eq!(Time::parse("0.5us"), Ok(Time(500_000)));
        assert_eq!(Rate::parse("950 Mbps"), Ok(Rate(950_000_000)));
        assert_eq!(Size::parse("1KB"), Ok(Size(1000)));
        assert_eq!(Share::parse("12.5%"), Ok(Share(125_000_000)));
        assert_eq!(Share::parse("0.3333333333333333"), Ok(Share(333_333_333)));
        assert_eq!(Share::parse("0.30000000000000004"), Ok(Share(300_000_000)));
        assert_eq!(Share::parse("33.333333333333336%"), Ok(Share(333_333_333)));
        assert_eq!(Buffer::parse("500pkts"), Ok(Buffer::Packets(500)));
        assert_eq!(Tick::parse("800ns"), Ok(Tick::Every(Time(800_000))));
        assert_eq!(
            RelativeRate::parse("95%").map(|r| r.of(Rate(1000))),
            Ok(Rate(950))
        );
    }

    #[test]
    fn refuses_what_has_no_meaning() {
        for text in [
            "",
            "5",
            "us",
            "-5us",
            "5 parsecs",
            "1.2.3us",
            "0.5ps",
            "99999999999s",
            "1e3us",
        ] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
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
    }

    #[test]
    fn writes_what_it_reads() {
        for text in ["64us", "1.5ms", "10s", "800ns", "1ps"] {
            assert_eq!(
                Time::parse(text).map(|t| t.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["95%", "12.5%", "0.0001%"] {
            assert_eq!(
                Share::parse(text).map(|t| t.to_string()),
                Ok(text.to_owned())
            );
        }
        for text in ["30KB", "950B", "128KB", "unlimited", "500pkts"] {
            assert_eq!(
                Buffer::parse(text).map(|t| t.to_string()),
                Ok(text.to_owned())
            );
        }
    }
}
