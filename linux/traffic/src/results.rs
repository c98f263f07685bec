//! The folder of results, with the tables of a simulation (docs/results.md): built under another name and
//! moved into place when complete.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hull_sim::measure::{
    Column, FlowLog, LatencyLog, SERIES_COLUMNS, Values, write_links, write_queries, write_table,
};

use crate::failure::Failure;
use crate::latencies::write_histograms;
use crate::outcome::{Outcome, Sample};
use crate::summary::Summary;

/// Columns of the simulator's `series.parquet` that a receiver knows.
const SERIES: [&str; 5] = ["time_ps", "flow", "src", "dst", "delivered_bytes"];
/// Column that the simulator lacks.
const GOODPUT: Column = Column::new(
    "goodput_bps",
    "bit/s",
    "payload delivered since the flow's last sample, over the time since then",
);

/// Folder under construction.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    partial: PathBuf,
    force: bool,
}

impl Folder {
    /// Prepares a folder for results at `path` before the run. An existing folder is rejected, or with `force`
    /// replaced at the end.
    pub fn claim(path: &Path, force: bool) -> Result<Self, Failure> {
        if path.exists() && !force {
            let problem = format!("found {}, which already exists", path.display());
            let allowed = "expected a folder that does not exist, or --force to replace it";
            return Err(Failure::option("--out", format!("{problem}; {allowed}")));
        }
        let Some(name) = path.file_name() else {
            let problem = format!("found \"{}\"", path.display());
            return Err(Failure::option(
                "--out",
                format!("{problem}; expected the name of a folder"),
            ));
        };
        let mut partial_name = OsString::from(name);
        partial_name.push(".partial");
        let partial = path.with_file_name(partial_name);
        let made = remove(&partial).and_then(|()| fs::create_dir_all(&partial));
        made.map_err(|error| {
            Failure::option(
                "--out",
                format!("cannot make {}: {error}", partial.display()),
            )
        })?;
        Ok(Folder {
            path: path.to_owned(),
            partial,
            force,
        })
    }

    /// Writes the results and moves them into place.
    pub fn write(self, outcome: &Outcome, summary: &Summary, inputs: &str) -> Result<(), Failure> {
        let written = self.write_all(outcome, summary, inputs);
        written.map_err(|error| Failure::Run(format!("{}: {error}", self.path.display())))
    }

    /// Removes the folder under construction.
    pub fn abandon(self) {
        // The next run replaces anything that is left.
        let _ = remove(&self.partial);
    }

    fn write_all(&self, outcome: &Outcome, summary: &Summary, inputs: &str) -> io::Result<()> {
        let file = |name: &str| self.partial.join(name);
        let mut flows = FlowLog::new(outcome.classes.clone(), Some(file("flows.parquet")));
        for &flow in &outcome.flows {
            flows.push(flow);
        }
        flows.close()?;
        // A report reads these files of every run; an end host sees neither queues nor links.
        LatencyLog::default().write(&file("latency.parquet"))?;
        write_links(&[], &file("links.parquet"))?;
        if !outcome.classes.is_empty() {
            let path = file("histograms.parquet");
            write_histograms(&outcome.classes, &outcome.latencies, &path)?;
        }
        if !outcome.queries.is_empty() {
            write_queries(&outcome.queries, &file("queries.parquet"))?;
        }
        if !outcome.series.is_empty() {
            write_series(&outcome.series, &file("series.parquet"))?;
        }
        fs::write(file("scenario.toml"), inputs)?;
        let mut json = serde_json::to_string_pretty(summary)?;
        json.push('\n');
        fs::write(file("summary.json"), json)?;
        if self.force {
            remove(&self.path)?;
        }
        fs::rename(&self.partial, &self.path)
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Writes `series.parquet`.
fn write_series(series: &[Sample], path: &Path) -> io::Result<()> {
    let known = SERIES_COLUMNS
        .iter()
        .filter(|column| SERIES.contains(&column.name));
    let columns: Vec<Column> = known.copied().chain([GOODPUT]).collect();
    let values = [
        Values::long(series, |sample| sample.time_ps),
        Values::long(series, |sample| sample.flow as u64),
        Values::short(series, |sample| sample.ends.0),
        Values::short(series, |sample| sample.ends.1),
        Values::long(series, |sample| sample.delivered_bytes),
        Values::Double(series.iter().map(|sample| sample.goodput_bps).collect()),
    ];
    write_table(path, &columns, &values, series.len())
}
