//! Runs one cell of a scenario file without Python and prints its summary as JSON: what `make
//! bench` counts instructions on.
//!
//! `cargo run --release -p hull-sim --example run_cell -- FILE CONDITION SCHEME FOLDER [KEY=VALUE]...`

use std::path::Path;
use std::process::ExitCode;

use hull_sim::part::{self, Identity};
use hull_sim::scenario;
use hull_sim::simulation::Control;

/// The same allocator as in `hull`: without its pages of 2 MB, large networks wait for the
/// processor's page table.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn run(args: &[String]) -> Result<String, String> {
    let [file, condition, scheme, folder, overrides @ ..] = args else {
        return Err("usage: run_cell FILE CONDITION SCHEME FOLDER [KEY=VALUE]...".to_owned());
    };
    let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
    let cells = scenario::expand(&text, file, overrides).map_err(|e| e.to_string())?;
    let cell = cells
        .iter()
        .find(|cell| cell.condition == *condition && cell.scheme == *scheme)
        .ok_or_else(|| format!("{file}: no cell {condition}/{scheme}"))?;
    let identity = Identity {
        condition: condition.clone(),
        scheme: scheme.clone(),
        seed: cell.scenario.run.seed,
    };
    let summary = part::run(
        &cell.scenario,
        None,
        identity,
        Some(Path::new(folder)),
        &Control::default(),
    )
    .map_err(|e| format!("{e:?}"))?;
    serde_json::to_string(&summary).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(summary) => {
            println!("{summary}");
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("run_cell: {message}");
            ExitCode::FAILURE
        }
    }
}
