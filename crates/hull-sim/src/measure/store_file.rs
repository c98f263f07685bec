//! A file of a sweep's store: the numbers of one run, one row per statistic.

use std::fs::File;
use std::io;
use std::path::Path;

use super::parquet_file::{self, Column, Values};

/// Columns of a file in a sweep's store.
pub const STATISTIC_COLUMNS: [Column; 10] = [
    Column::new(
        "run",
        "",
        "key of the run: SHA-256 of scenario, seed and build of hull",
    ),
    Column::new("hull_version", "", "version of hull"),
    Column::new("name", "", "name of the scenario"),
    Column::new(
        "condition",
        "",
        "the swept keys with their values at the time of the run",
    ),
    Column::new("scheme", "", "the scheme's name at the time of the run"),
    Column::new("seed", "", "seed"),
    Column::new("scenario", "", "the resolved scenario of this run, JSON"),
    Column::new(
        "statistic",
        "",
        "dotted name of a number in the run's summary",
    ),
    Column::new("unit", "", "unit of the value"),
    Column::new("value", "", "the number"),
];

/// Labels shared by all rows of a run.
#[derive(Clone, Debug)]
pub struct RunLabels {
    /// Key of the run.
    pub run: String,
    /// Name of the scenario.
    pub name: String,
    /// Swept keys with their values.
    pub condition: String,
    /// Name of the scheme.
    pub scheme: String,
    /// Seed.
    pub seed: u64,
    /// Resolved scenario, JSON.
    pub scenario: String,
}

/// Writes a run's statistics (name, unit, value) and waits until they are on disk.
pub fn write(path: &Path, run: RunLabels, rows: &[(String, String, f64)]) -> io::Result<()> {
    let same = |text: String| Values::Text(vec![0; rows.len()], vec![text]);
    let text = |get: fn(&(String, String, f64)) -> &String| {
        Values::Strings(rows.iter().map(|row| get(row).clone()).collect())
    };
    let values = [
        same(run.run),
        same(env!("CARGO_PKG_VERSION").to_owned()),
        same(run.name),
        same(run.condition),
        same(run.scheme),
        Values::Int64(vec![run.seed as i64; rows.len()]),
        same(run.scenario),
        text(|row| &row.0),
        text(|row| &row.1),
        Values::Double(rows.iter().map(|row| row.2).collect()),
    ];
    parquet_file::write(path, &STATISTIC_COLUMNS, &values, rows.len())?;
    File::open(path)?.sync_all()
}
