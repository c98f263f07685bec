//! Errors of a scenario: one line per mistake, with its place in the file, the key, the value found and
//! the expected form.

use std::fmt;

use super::source::Position;
use crate::quote;

/// Largest number of mistakes shown in a message.
const MOST_SHOWN: usize = 20;

/// Error of a scenario that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// File name, as given by the user.
    pub file: String,
    /// All mistakes found, at least one, in the order of the file, then of the overrides.
    pub mistakes: Vec<Mistake>,
    shows_lines: bool,
    labels: Vec<String>,
}

/// Mistake in a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Place of the mistake.
    pub place: Place,
    /// Key at that place, if it differs from the invalid key: the key that a default conflicts
    /// with.
    pub cause: String,
    /// Dotted key; empty if the file as a whole is meant.
    pub key: String,
    /// Value found and expected form.
    pub problem: String,
}

/// Place of a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Place {
    /// Position in the file.
    At(Position),
    /// No place: the key is missing.
    Nowhere,
    /// Override with this index.
    Override(usize),
}

impl ScenarioError {
    pub(super) fn new(file: &str, mut mistakes: Vec<Mistake>) -> Self {
        mistakes.sort_by_key(|mistake| mistake.place);
        ScenarioError {
            file: file.to_owned(),
            mistakes,
            shows_lines: true,
            labels: Vec::new(),
        }
    }

    /// Sets the options that the overrides come from, if not `--set`.
    #[must_use]
    pub fn with_labels(mut self, labels: Vec<String>) -> Self {
        self.labels = labels;
        self
    }

    /// Omits line numbers, for input without lines such as Python's dicts.
    #[must_use]
    pub fn without_lines(mut self) -> Self {
        self.shows_lines = false;
        self
    }
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = quote::name(&self.file);
        for (i, mistake) in self.mistakes.iter().take(MOST_SHOWN).enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            f.write_str(&file)?;
            match mistake.place {
                Place::At(position) if self.shows_lines => write!(f, ":{position}: ")?,
                Place::Override(number) => {
                    let label = self.labels.get(number).map_or("--set", String::as_str);
                    write!(f, ": {label} ")?;
                }
                _ => f.write_str(": ")?,
            }
            let is_set = matches!(mistake.place, Place::Override(_));
            let cause = Some(&mistake.cause).filter(|_| is_set);
            for key in cause.into_iter().chain([&mistake.key]) {
                if !key.is_empty() {
                    write!(f, "{}: ", quote::name(key))?;
                }
            }
            f.write_str(&quote::plain(&mistake.problem))?;
        }
        match self.mistakes.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(f, "\n{file}: {more} more"),
        }
    }
}

impl std::error::Error for ScenarioError {}

#[cfg(test)]
mod tests {
    use super::{Mistake, Place, Position, ScenarioError};

    fn mistake(place: Place, key: &str, problem: &str) -> Mistake {
        Mistake {
            place,
            cause: String::new(),
            key: key.to_owned(),
            problem: problem.to_owned(),
        }
    }

    #[test]
    fn each_error_is_one_short_line() {
        let rude = "a\nb\u{1b}[31m\0";
        let shown = |key: &str| {
            let one = mistake(Place::Nowhere, key, &format!("found {rude}"));
            ScenarioError::new(&format!("{rude}.toml"), vec![one]).to_string()
        };
        let plain = "a\\nb\\u{1b}[31m\\u{0}";
        assert_eq!(shown(""), format!("{plain}.toml: found {plain}"));
        assert_eq!(
            shown(&format!("run.{rude}")),
            format!("{plain}.toml: run.{plain}: found {plain}")
        );
        let long = shown(&"k".repeat(1_000_000));
        assert!(
            long.len() < 600 && long.contains("... (1000000 characters): found"),
            "{long}"
        );
    }

    #[test]
    fn errors_are_in_file_order() {
        let at = |line, column| Place::At(Position { line, column });
        let error = ScenarioError::new(
            "my.toml",
            vec![
                mistake(Place::Override(0), "d", "4"),
                mistake(Place::Nowhere, "c", "3"),
                mistake(at(10, 2), "b", "2"),
                mistake(at(9, 12), "a", "1"),
            ],
        );
        let shown = "my.toml:9:12: a: 1\nmy.toml:10:2: b: 2\nmy.toml: c: 3\nmy.toml: --set d: 4";
        assert_eq!(error.to_string(), shown);
        let error = error.without_lines().with_labels(vec!["--over".to_owned()]);
        let shown = "my.toml: a: 1\nmy.toml: b: 2\nmy.toml: c: 3\nmy.toml: --over d: 4";
        assert_eq!(error.to_string(), shown);
    }

    #[test]
    fn excess_errors_are_counted() {
        let many = (0..50).map(|line| {
            let position = Position { line, column: 1 };
            mistake(Place::At(position), "k", "wrong")
        });
        let shown = ScenarioError::new("my.toml", many.collect()).to_string();
        assert_eq!(shown.lines().count(), 21);
        assert!(
            shown.ends_with("my.toml:19:1: k: wrong\nmy.toml: 30 more"),
            "{shown}"
        );
    }
}
