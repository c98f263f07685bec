//! `hull-linux`: see [`hull_linux`].

use std::process::ExitCode;

use clap::Parser;
use hull_linux::command::Command;

fn main() -> ExitCode {
    libbpf_rs::set_print(None);
    match Command::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("hull linux: {problem}");
            ExitCode::from(problem.status())
        }
    }
}
