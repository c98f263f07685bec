//! What is wrong with a schedule, and where.

use std::fmt;
use std::io;

/// Mistake in a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: `line 12`, `byte 480`, `rank 3`, or empty for the whole file.
    pub place: String,
    /// What was found and what was expected.
    pub told: String,
}

impl Problem {
    /// Creates a mistake.
    pub fn new(place: impl Into<String>, told: impl Into<String>) -> Self {
        Problem {
            place: place.into(),
            told: told.into(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            return write!(out, "{}", self.told);
        }
        write!(out, "{}: {}", self.place, self.told)
    }
}

impl std::error::Error for Problem {}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Problem::new("", error.to_string())
    }
}
