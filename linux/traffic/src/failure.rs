//! How a command ends that does not succeed.

use std::fmt;
use std::io;

/// Why a command did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Input that cannot be used: what was found and what is expected.
    Input(String),
    /// Something that started and failed.
    Run(String),
}

impl Failure {
    /// An option with a value that cannot be used.
    pub fn option(option: &str, problem: impl fmt::Display) -> Self {
        Failure::Input(format!("{option}: {problem}"))
    }

    /// The exit status: 2 for bad input, 1 for a failed run.
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
