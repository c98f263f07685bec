//! Times, and steps of time.

use std::fmt;

use super::{Literal, Quantity, factor_of, text_form, write_unit};

/// Longest time in a scenario: 1,000,000 s. A sum of several is far below 2^64 ps.
const LONGEST_PS: u64 = 1_000_000_000_000_000_000;
const SECOND: u64 = 1_000_000_000_000;
const UNITS: [(&str, u64); 5] = [
    ("s", SECOND),
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
];

/// Time, ps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Time(pub u64);

impl Time {
    /// Time in seconds.
    pub fn seconds(self) -> f64 {
        self.0 as f64 * 1e-12
    }
}

impl Quantity for Time {
    const EXAMPLE: &'static str = "64us";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        let found = literal.parts().and_then(|(number, unit)| {
            let factor = match unit.as_str() {
                "" => SECOND,
                "\u{b5}s" | "\u{3bc}s" => 1_000_000,
                unit => factor_of(unit, &UNITS)?,
            };
            number.times(factor, LONGEST_PS)
        });
        found.map(Time).ok_or_else(|| Self::refused(literal))
    }

    fn allowed() -> String {
        "a number with one of the units s, ms, us, ns, ps (without a unit: seconds), such as \"64us\", at \
         most 1000000s"
            .to_owned()
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_unit(f, self.0, &UNITS)
    }
}

text_form!(Time);

/// Step of time, or none: `"800ns"` or `"continuous"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tick {
    /// No steps.
    #[default]
    Continuous,
    /// Steps of this length.
    Every(Time),
}

impl Tick {
    /// Length of a step, ps; 0 if continuous.
    pub fn ps(self) -> u64 {
        match self {
            Tick::Continuous => 0,
            Tick::Every(time) => time.0,
        }
    }
}

impl Quantity for Tick {
    const EXAMPLE: &'static str = "800ns";

    fn read(literal: Literal<'_>) -> Result<Self, String> {
        if let Literal::Text(text) = literal
            && text.trim() == "continuous"
        {
            return Ok(Tick::Continuous);
        }
        let every = Time::read(literal).ok().filter(|every| every.0 > 0);
        every.map(Tick::Every).ok_or_else(|| Self::refused(literal))
    }

    fn allowed() -> String {
        "\"continuous\" or a time above 0 (without a unit: seconds), such as \"800ns\"".to_owned()
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

text_form!(Tick);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_common_notations() {
        for (text, ps) in [
            ("0.5us", 500_000),
            ("64us", 64_000_000),
            ("64\u{b5}s", 64_000_000),
            ("64 \u{3bc}s", 64_000_000),
            ("1.5ms", 1_500_000_000),
            ("5", 5 * SECOND),
            ("0.001", 1_000_000_000),
        ] {
            assert_eq!(Time::parse(text), Ok(Time(ps)), "{text}");
        }
        assert_eq!(Tick::parse("800ns"), Ok(Tick::Every(Time(800_000))));
        assert_eq!(Tick::parse(" continuous "), Ok(Tick::Continuous));
    }

    #[test]
    fn numbers_are_seconds() {
        assert_eq!(Time::read(Literal::Whole(3)), Ok(Time(3 * SECOND)));
        assert_eq!(Time::read(Literal::Float(64e-6)), Ok(Time(64_000_000)));
        // The last digits of 3 * 1.1e-6 are a floating-point error.
        assert_eq!(
            Time::read(Literal::Float(1.1e-6 * 3.0)),
            Ok(Time(3_300_000))
        );
        assert_eq!(
            Tick::read(Literal::Float(8e-7)),
            Ok(Tick::Every(Time(800_000)))
        );
        for number in [-1.0, 5e-13, 1e300, f64::NAN, f64::INFINITY] {
            assert!(Time::read(Literal::Float(number)).is_err(), "{number}");
        }
        for number in [-1, i128::from(i64::MAX), i128::from(u64::MAX)] {
            assert!(Time::read(Literal::Whole(number)).is_err(), "{number}");
        }
        let told = Time::read(Literal::Float(-0.25)).expect_err("negative");
        assert!(told.starts_with("-0.25 is invalid; expected "), "{told}");
        assert!(told.contains("without a unit: seconds"), "{told}");
    }

    #[test]
    fn rejects_meaningless_values() {
        for text in [
            "",
            "us",
            "-5us",
            "-5",
            "5 parsecs",
            "1.2.3us",
            "0.5ps",
            "99999999999s",
            "1e3us",
            "5usec",
            "5 Us",
            "5m",
        ] {
            assert!(Time::parse(text).is_err(), "{text}");
        }
        for text in ["0s", "0", "-1us", "steps"] {
            assert!(Tick::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn display_parses_back() {
        for text in ["64us", "1.5ms", "10s", "800ns", "1ps"] {
            let read = Time::parse(text).map(|time| time.to_string());
            assert_eq!(read, Ok(text.to_owned()));
        }
    }
}
