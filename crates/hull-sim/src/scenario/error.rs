//! What is wrong with a scenario: file, key, what was found and what is allowed, in one message.

use std::fmt;

use crate::quote;

/// A scenario that cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, as the user named it.
    pub file: String,
    /// The dotted key; empty when the file as a whole is meant.
    pub key: String,
    /// What was found and what is allowed.
    pub problem: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", quote::name(&self.file))?;
        if !self.key.is_empty() {
            write!(f, "{}: ", quote::name(&self.key))?;
        }
        f.write_str(&quote::plain(&self.problem))
    }
}

impl std::error::Error for ScenarioError {}

#[cfg(test)]
mod tests {
    use super::ScenarioError;

    #[test]
    fn a_message_is_one_short_line() {
        let rude = "a\nb\u{1b}[31m\0";
        let shown = |key: &str| {
            let error = ScenarioError {
                file: format!("{rude}.toml"),
                key: key.to_owned(),
                problem: format!("found {rude}"),
            };
            error.to_string()
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
}
