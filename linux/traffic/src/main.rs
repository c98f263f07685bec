//! `hull-traffic`: reads the command line; exit status 0 done, 1 a run that failed, 2 bad input, 130
//! stopped.

use std::process::ExitCode;

use clap::Parser;
use hull_traffic::action::{self, Done};
use hull_traffic::command::Command;

fn main() -> ExitCode {
    match action::carry_out(Command::parse()) {
        Ok(Done::Complete) => ExitCode::SUCCESS,
        Ok(Done::Interrupted) => ExitCode::from(130),
        Err(failure) => {
            action::say(&failure.to_string());
            ExitCode::from(failure.status())
        }
    }
}
