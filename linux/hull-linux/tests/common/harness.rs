//! Runs the tests of a file so that one which this machine cannot run is reported as skipped: cargo's own
//! harness knows only passed and failed.

use std::process::ExitCode;

use libtest_mimic::{Arguments, Completion, Failed, Trial};

/// Why a test cannot run here.
pub struct Skipped(pub String);

/// Outcome of a test that did not fail; a failure is a panic.
pub type Tried = Result<(), Skipped>;

/// A test and its name.
pub type Test = (&'static str, fn() -> Tried);

/// Runs tests as cargo's arguments ask.
pub fn run(tests: &[Test]) -> ExitCode {
    let trials = tests.iter().map(|&(name, test)| {
        Trial::ignorable_test(name, move || -> Result<Completion, Failed> {
            Ok(match test() {
                Ok(()) => Completion::Completed,
                Err(Skipped(reason)) => Completion::ignored_with(format!("skipped: {reason}")),
            })
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

/// `main` of a test file, with all of its tests: one that is left out is dead code.
#[macro_export]
macro_rules! tests {
    ($($test:ident),+ $(,)?) => {
        fn main() -> std::process::ExitCode {
            common::harness::run(&[$((stringify!($test), $test)),+])
        }
    };
}
