//! Failures of a command, with their exit status.

use std::fmt;
use std::io;

/// Reason why a command failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Invalid input: the value found and the expected form.
    Input(String),
    /// A run that started and failed.
    Run(String),
}

impl Failure {
    /// Creates the failure of an option with an invalid value.
    pub fn option(option: &str, problem: impl fmt::Display) -> Self {
        Failure::Input(format!("{option}: {problem}"))
    }

    /// Exit status: 2 for invalid input, 1 for a failed run.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Run(_) => 1,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Failure::Input(text) | Failure::Run(text)) = self;
        f.write_str(text)
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Failure::Run(error.to_string())
    }
}
