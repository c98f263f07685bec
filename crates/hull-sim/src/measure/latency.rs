//! Latency over time: the probe of paper 5.2, and samples of the queue at the client's port.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::distribution::Distribution;
use super::parquet_file::{self, Column, Values};

/// Row of the table: a probe's latency, or a queue sample.
#[derive(Clone, Copy, Debug)]
struct Row {
    time_ps: u64,
    probe_ps: Option<i64>,
    queue_bytes: Option<i64>,
    queue_mean_bytes: Option<f64>,
}

/// Columns of `latency.parquet`.
pub const LATENCY_COLUMNS: [Column; 4] = [
    Column::new("time_ps", "ps", "simulated time of the probe or the sample"),
    Column::new(
        "probe_ps",
        "ps",
        "queueing latency of the probe at the client's port, less the unloaded latency; null in rows \
         without a delivered probe",
    ),
    Column::new(
        "queue_bytes",
        "byte",
        "bytes waiting at the client's port; null in rows that have only a probe",
    ),
    Column::new(
        "queue_mean_bytes",
        "byte",
        "mean of the waiting bytes of all classes since the last sample; null in the first sample and in rows of a probe",
    ),
];

/// Probes and queue samples of a run, in the order of time.
#[derive(Debug, Default)]
pub struct LatencyLog {
    rows: Vec<Row>,
    lost: u64,
}

/// Statistics of the probes.
#[derive(Clone, Debug, Serialize)]
pub struct ProbeSummary {
    /// Queueing latency of the delivered probes, without the unloaded latency.
    #[serde(flatten)]
    pub latency: Option<Distribution>,
    /// Number of delivered probes.
    pub samples: usize,
    /// Number of probes dropped at a full buffer.
    pub lost: u64,
}

impl LatencyLog {
    /// Memory of a sample or a probe, bytes.
    pub const ROW: u64 = size_of::<Row>() as u64;

    /// Adds a probe that entered the port at `time_ps` and waited `waited_ps`.
    pub fn probe(&mut self, time_ps: u64, waited_ps: u64) {
        self.rows.push(Row {
            time_ps,
            probe_ps: Some(waited_ps as i64),
            queue_bytes: None,
            queue_mean_bytes: None,
        });
    }

    /// Counts a dropped probe.
    pub fn probe_lost(&mut self) {
        self.lost += 1;
    }

    /// Adds a sample at `time_ps`: the queue held `bytes`, and on average `mean` since the last
    /// sample.
    pub fn sample(&mut self, time_ps: u64, bytes: u64, mean: Option<f64>) {
        self.rows.push(Row {
            time_ps,
            probe_ps: None,
            queue_bytes: Some(bytes as i64),
            queue_mean_bytes: mean,
        });
    }

    /// Removes all rows.
    pub(crate) fn forget(&mut self) {
        self.rows.clear();
    }

    /// Statistics of the probes.
    pub fn summary(&self) -> ProbeSummary {
        let waits: Vec<i64> = self.rows.iter().filter_map(|row| row.probe_ps).collect();
        ProbeSummary {
            samples: waits.len(),
            lost: self.lost,
            latency: Distribution::of(&waits),
        }
    }

    /// Writes `latency.parquet`.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let rows = &self.rows;
        let time = rows.iter().map(|row| row.time_ps as i64).collect();
        let probe = rows.iter().map(|row| row.probe_ps).collect();
        let queue = rows.iter().map(|row| row.queue_bytes).collect();
        let values = [
            Values::Int64(time),
            Values::Optional(probe),
            Values::Optional(queue),
            Values::OptionalDouble(rows.iter().map(|row| row.queue_mean_bytes).collect()),
        ];
        parquet_file::write(path, &LATENCY_COLUMNS, &values, rows.len())
    }
}
