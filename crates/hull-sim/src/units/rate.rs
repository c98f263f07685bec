//! Rates, absolute and as a share of a link's.

use std::fmt;

use super::{Literal, Quantity, Share, text_form, write_unit};

const UNITS: [(&str, u64); 5] = [
    ("Tbps", 1_000_000_000_000),
    ("Gbps", 1_000_000_000),
    ("Mbps", 1_000_000),
    ("kbps", 1_000),
    ("bps", 1),
];
/// Notations of bit/s after the prefix, in lower case; an empty one is allowed.
const BITS_PER_SECOND: [&str; 8] = ["", "bps", "bit", "bits", "bit/s", "bits/s", "b", "b/s"];

/// Rate, bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Rate(pub u64);

impl Rate {
    /// Largest rate: four times a link of 1.6 Tbps, and 1.25 ps per byte. A packet's time is a whole
    /// number of ps, which shortens it by less than 1 ps: 0.05% of 1500 bytes at this rate.
    pub const MOST: Rate = Rate(6_400_000_000_000);
}

/// Bit/s of a unit: an optional prefix, then one of [`BITS_PER_SECOND`], in any case.
fn factor(unit: &str) -> Option<u64> {
    let prefix = unit.chars().next().map(|c| c.to_ascii_lowercase());
    let (factor, rest) = match prefix {
        Some('t') => (1_000_000_000_000, &unit[1..]),
        Some('g') => (1_000_000_000, &unit[1..]),
        Some('m') => (1_000_000, &unit[1..]),
        Some('k') => (1_000, &unit[1..]),
        _ => (1, unit),
    };
    let known = BITS_PER_SECOND.contains(&rest.to_ascii_lowercase().as_str());
    (known && !is_of_bytes(rest)).then_some(factor)
}

/// Whether a unit without its prefix means bytes: `Bps`, `B/s`, `Byte`, not `BIT`.
fn is_of_bytes(unit: &str) -> bool {
    let lower = unit.to_ascii_lowercase();
    lower.starts_with("byte") || (unit.starts_with('B') && !lower.starts_with("bit"))
}

impl Rate {
    /// Whether a value is a number of bytes per second.
    fn is_in_bytes(literal: Literal<'_>) -> bool {
        let unit = literal.parts().map(|(_, unit)| unit).unwrap_or_default();
        is_of_bytes(unit.trim_start_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']))
    }
}

impl Quantity for Rate {
    const EXAMPLE: &'static str = "950Mbps";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        let found = literal
            .parts()
            .and_then(|(number, unit)| number.times(factor(&unit)?, Rate::MOST.0));
        found.map(Rate).ok_or_else(|| Self::refused(literal))
    }

    fn allowed() -> String {
        format!(
            "a number with one of the units Tbps, Gbps, Mbps, kbps, bps (without a unit: bit/s), such \
             as \"950Mbps\", at most {}",
            Rate::MOST
        )
    }

    fn refused(literal: Literal<'_>) -> String {
        let allowed = match Self::is_in_bytes(literal) {
            true => "bits per second, such as \"950Mbps\": a capital B stands for bytes".to_owned(),
            false => Self::allowed(),
        };
        format!("{} is invalid; expected {allowed}", literal.shown())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_unit(f, self.0, &UNITS)
    }
}

text_form!(Rate);

/// Rate, absolute or as a share of the link's rate: `"950Mbps"` or `"95%"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelativeRate {
    /// Rate in bit/s.
    Absolute(Rate),
    /// Share of the link's rate.
    Share(Share),
}

impl RelativeRate {
    /// Rate on a link of rate `link`.
    pub fn of(self, link: Rate) -> Rate {
        match self {
            RelativeRate::Absolute(rate) => rate,
            RelativeRate::Share(share) => Rate(share.scaled(link.0)),
        }
    }
}

impl Quantity for RelativeRate {
    const EXAMPLE: &'static str = "95%";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        match literal {
            Literal::Text(text) if text.trim_end().ends_with('%') => {
                Share::read(literal).map(RelativeRate::Share)
            }
            _ if Rate::is_in_bytes(literal) => Err(Rate::refused(literal)),
            _ => {
                let rate = Rate::read(literal).map(RelativeRate::Absolute);
                rate.map_err(|_| Self::refused(literal))
            }
        }
    }

    fn allowed() -> String {
        "a rate such as \"950Mbps\" (without a unit: bit/s) or a share of the link's rate such as \"95%\""
            .to_owned()
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

text_form!(RelativeRate);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_common_notations() {
        for (text, bps) in [
            ("950 Mbps", 950_000_000),
            ("100G", 100_000_000_000),
            ("25g", 25_000_000_000),
            ("100Gbit", 100_000_000_000),
            ("100 gbit/s", 100_000_000_000),
            ("100GBIT/S", 100_000_000_000),
            ("100gbps", 100_000_000_000),
            ("100Gb/s", 100_000_000_000),
            ("1.6t", 1_600_000_000_000),
            ("6.4 Tbit/s", 6_400_000_000_000),
            ("64Kbps", 64_000),
            ("10m", 10_000_000),
            ("500bit/s", 500),
            ("1000000", 1_000_000),
        ] {
            assert_eq!(Rate::parse(text), Ok(Rate(bps)), "{text}");
        }
    }

    #[test]
    fn numbers_are_bits_per_second() {
        assert_eq!(Rate::read(Literal::Whole(10_000)), Ok(Rate(10_000)));
        assert_eq!(Rate::read(Literal::Float(1e9)), Ok(Rate(1_000_000_000)));
        let told = Rate::read(Literal::Float(0.5)).expect_err("half a bit");
        assert!(told.starts_with("0.5 is invalid; expected "), "{told}");
        assert!(told.contains("without a unit: bit/s"), "{told}");
    }

    #[test]
    fn bytes_are_not_bits() {
        for text in ["1GBps", "1 GB/s", "1gB", "8B/s", "5MBytes/s", "1GBPS"] {
            let told = Rate::parse(text).expect_err(text);
            assert!(told.contains("a capital B stands for bytes"), "{told}");
            assert!(RelativeRate::parse(text) == Err(told), "{text}");
        }
    }

    #[test]
    fn rejects_meaningless_values() {
        for text in [
            "",
            "G",
            "-1Gbps",
            "1Gibps",
            "1GHz",
            "6.401Tbps",
            "1e9",
            "1 G bps",
            "0.5",
        ] {
            let told = Rate::parse(text).expect_err(text);
            assert!(told.contains("one of the units Tbps, Gbps"), "{told}");
        }
    }

    #[test]
    fn a_share_is_of_the_link() {
        let of = |text| RelativeRate::parse(text).map(|rate| rate.of(Rate(1000)));
        assert_eq!(of("95%"), Ok(Rate(950)));
        assert_eq!(of("800"), Ok(Rate(800)));
        // Ambiguous, neither a share nor a rate: 95% or 1 bit/s?
        assert!(of("0.95").is_err());
        assert!(RelativeRate::read(Literal::Float(0.95)).is_err());
    }
}
