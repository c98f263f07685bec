//! What is wrong with a scenario: file, key, what was found and what is allowed, in one message.

use std::fmt;

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
        if self.key.is_empty() {
            write!(f, "{}: {}", self.file, self.problem)
        } else {
            write!(f, "{}: {}: {}", self.file, self.key, self.problem)
        }
    }
}

impl std::error::Error for ScenarioError {}
