//! Errors in one line: the value found, the expected form, and what to do.

use std::fmt;

/// Problem, with its exit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// An invalid request (exit status 2). The system is unchanged.
    Input(String),
    /// A valid request that failed (exit status 1).
    Failed(String),
}

impl Problem {
    /// Exit status.
    pub fn status(&self) -> u8 {
        match self {
            Problem::Input(_) => 2,
            Problem::Failed(_) => 1,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Input(text) | Problem::Failed(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Problem {}

impl From<libbpf_rs::Error> for Problem {
    fn from(error: libbpf_rs::Error) -> Self {
        Problem::Failed(format!("the kernel refused an eBPF call: {error:#}"))
    }
}

impl From<std::io::Error> for Problem {
    fn from(error: std::io::Error) -> Self {
        Problem::Failed(error.to_string())
    }
}

/// Rejects the input with a message.
pub fn input<T>(text: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::Input(text.into()))
}
