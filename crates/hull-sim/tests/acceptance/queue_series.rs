//! The queue of the client's port over time, read back from `latency.parquet`, and its sawteeth.
//! Contains no tests.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use hull_sim::simulation::Outcome;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

/// An empty folder of this name for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("a folder of this test");
    }
    fs::create_dir_all(&folder).expect("cargo's folder for tests can be written");
    folder
}

/// Samples as (s, bytes).
pub fn queue_series(outcome: &Outcome, name: &str) -> Vec<(f64, f64)> {
    let path = folder(name).join("latency.parquet");
    outcome.latency.write(&path).expect("written");
    let rows = table(&path, ["time_ps", "queue_bytes"]);
    rows.into_iter()
        .map(|[time_ps, queue_bytes]| (time_ps * 1e-12, queue_bytes))
        .collect()
}

/// Reads these integer columns of a Parquet file; omits rows with a null among them.
pub fn table<const N: usize>(path: &Path, columns: [&str; N]) -> Vec<[f64; N]> {
    let file = File::open(path).expect("just written");
    let reader = SerializedFileReader::new(file).expect("a Parquet file");
    let mut rows = Vec::new();
    for row in reader.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let value = |name: &str| match row.get_column_iter().find(|column| column.0 == name) {
            Some((_, &Field::Long(value))) => value as f64,
            Some((_, &Field::Int(value))) => f64::from(value),
            _ => f64::NAN,
        };
        let values = columns.map(value);
        if values.iter().all(|value| !value.is_nan()) {
            rows.push(values);
        }
    }
    rows
}

/// Sawteeth of a series: mean peak, mean trough, mean period (s). A tooth ends when the queue has
/// fallen by `depth` from its peak and begins again when it has risen by `depth` from its trough.
pub fn sawteeth(series: &[(f64, f64)], depth: f64) -> (f64, f64, f64) {
    let (mut peaks, mut troughs): (Vec<(f64, f64)>, Vec<f64>) = Default::default();
    let (mut rising, mut extreme) = (true, series[0]);
    for &(time, queue) in series {
        let further = if rising {
            queue > extreme.1
        } else {
            queue < extreme.1
        };
        if further {
            extreme = (time, queue);
        } else if (queue - extreme.1).abs() >= depth {
            if rising {
                peaks.push(extreme);
            } else {
                troughs.push(extreme.1);
            }
            (rising, extreme) = (!rising, (time, queue));
        }
    }
    assert!(peaks.len() > 3, "only {} sawteeth", peaks.len());
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let heights: Vec<f64> = peaks[1..].iter().map(|peak| peak.1).collect();
    let period = (peaks[peaks.len() - 1].0 - peaks[1].0) / (peaks.len() - 2) as f64;
    (mean(&heights), mean(&troughs[1..]), period)
}
