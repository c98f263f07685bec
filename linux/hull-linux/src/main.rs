//! `hull-linux`: see [`hull_linux`].

use std::process::ExitCode;

use clap::Parser;
use hull_linux::command::Command;

fn main() -> ExitCode {
    libbpf_rs::set_print(None);
    // Ends silently if the reader stops reading (`| head`).
    // SAFETY: this replaces no handler of the program.
    #[allow(unsafe_code)]
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL)
    };
    match Command::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("hull linux: {problem}");
            ExitCode::from(problem.status())
        }
    }
}
