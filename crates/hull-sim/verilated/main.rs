//! Runs scenarios whose switches mark by the verilated modules of `rtl/`; `rtl/loop/test_loop.py` builds
//! and calls it.
//!
//! `hardware_in_the_loop FOLDER FILE...` runs scenario files of one condition and scheme each into
//! FOLDER/0, FOLDER/1, ... It prints a JSON list of their summaries, and to stderr what the hardware did.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering::Relaxed;

use hull_sim::network::rules::verilated::WORK;
use hull_sim::part::{self, Identity};
use hull_sim::scenario;
use hull_sim::simulation::Control;

fn run(args: &[String]) -> Result<String, String> {
    let [folder, scenarios @ ..] = args else {
        return Err("usage: hardware_in_the_loop FOLDER FILE...".to_owned());
    };
    let mut summaries = Vec::new();
    for (number, file) in scenarios.iter().enumerate() {
        let text = std::fs::read_to_string(file).map_err(|e| format!("{file}: {e}"))?;
        let cells = scenario::expand(&text, file, &[]).map_err(|e| e.to_string())?;
        let [cell] = cells.as_slice() else {
            return Err(format!("{file}: {} cells; expected 1", cells.len()));
        };
        if !cell.scenario.topology.failures.is_empty() {
            return Err(format!(
                "{file}: topology.failures: links that fail; expected none: the modules are not reset"
            ));
        }
        let folder = Path::new(folder).join(number.to_string());
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let identity = Identity {
            condition: cell.condition.clone(),
            scheme: cell.scheme.clone(),
            seed: cell.scenario.run.seed,
        };
        let control = Control::default();
        let summary = part::run(&cell.scenario, None, identity, Some(&folder), &control)
            .map_err(|e| format!("{e:?}"))?;
        summaries.push(summary);
    }
    serde_json::to_string(&summaries).map_err(|e| e.to_string())
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(summaries) => {
            println!("{summaries}");
            eprintln!(
                "{} arrivals, {} departures, {} marks, {} clocks, {} more skipped",
                WORK.arrivals.load(Relaxed),
                WORK.departures.load(Relaxed),
                WORK.marks.load(Relaxed),
                WORK.clocks.load(Relaxed),
                WORK.skipped.load(Relaxed)
            );
            ExitCode::SUCCESS
        }
        Err(message) => {
            eprintln!("hardware_in_the_loop: {message}");
            ExitCode::FAILURE
        }
    }
}
