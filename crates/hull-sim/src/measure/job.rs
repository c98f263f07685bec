//! What became of a job: a row for each rank, and the time of the step, from the job's begin until its last operation
//! ended. A rank's time without computation is exposed communication, and waiting.

use std::io;
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;

use super::parquet_file::{self, Column, Values};
use crate::workload::{Computation, JobRecord, RankRecord, StageRecord};

/// Columns of `ranks.parquet`.
pub const RANK_COLUMNS: [Column; 6] = [
    Column::new("rank", "", "number of the rank"),
    Column::new(
        "host",
        "",
        "number of its host, of its first one if each interface has one",
    ),
    Column::new("operations", "", "operations in the schedule"),
    Column::new("ended", "", "operations that ended"),
    Column::new(
        "end_ps",
        "ps",
        "simulated time at which the last of them ended",
    ),
    Column::new(
        "compute_ps",
        "ps",
        "time that it computed, over all its processors",
    ),
];

/// Columns of `stages.parquet`.
pub const STAGE_COLUMNS: [Column; 5] = [
    Column::new("stage", "", "name of the collective"),
    Column::new("ranks", "", "number of its ranks"),
    Column::new("bytes", "byte", "its size, as NCCL's tests define it"),
    Column::new(
        "begin_ps",
        "ps",
        "simulated time at which its first rank began",
    ),
    Column::new(
        "end_ps",
        "ps",
        "simulated time at which its last rank ended; 0 if one has not",
    ),
];

/// Columns of `computations.parquet`.
pub const COMPUTATION_COLUMNS: [Column; 4] = [
    Column::new("rank", "", "number of the rank"),
    Column::new(
        "operation",
        "",
        "number of the operation in the rank's part of the schedule",
    ),
    Column::new("begin_ps", "ps", "simulated time at which it began"),
    Column::new("end_ps", "ps", "simulated time at which it ends"),
];

/// Statistics of the collectives of a job that have the same name.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StageSummary {
    /// Number of those that have ended.
    pub count: usize,
    /// Time from the first rank's begin to the last rank's end, mean, us; null if none has ended.
    pub time_us: Option<f64>,
    /// Bus bandwidth: the rate that each rank's link must have carried with any algorithm (NCCL's tests), mean,
    /// bit/s; null as `time_us`.
    pub bus_bandwidth_bps: Option<f64>,
}

impl StageSummary {
    fn of(stages: &[&StageRecord]) -> Self {
        let ended = stages.iter().filter_map(|record| {
            let seconds = record.takes_ps()?.max(1) as f64 * 1e-12;
            let (numerator, denominator) = record.stage.bus_factor;
            let factor = f64::from(numerator) / f64::from(denominator);
            Some((seconds, record.stage.bytes as f64 * 8.0 * factor / seconds))
        });
        let ended = Vec::from_iter(ended);
        let mean = |get: fn(&(f64, f64)) -> f64| {
            let sum: f64 = ended.iter().map(get).sum();
            (!ended.is_empty()).then(|| sum / ended.len() as f64)
        };
        StageSummary {
            count: ended.len(),
            time_us: mean(|&(seconds, _)| seconds * 1e6),
            bus_bandwidth_bps: mean(|&(_, rate)| rate),
        }
    }
}

/// Statistics of a job.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobSummary {
    /// Number of ranks.
    pub ranks: usize,
    /// Number of operations.
    pub operations: u64,
    /// Number of those that ended.
    pub ended: u64,
    /// Time from the job's begin until its last operation ended; null if one has not.
    pub step_us: Option<f64>,
    /// Time that a rank computes, mean over the ranks, us.
    pub compute_us: f64,
    /// Part of the step in which a rank does not compute, mean over the ranks, us; null as `step_us`.
    pub exposed_us: Option<f64>,
    /// Rank that ends last; null as `step_us`.
    pub slowest_rank: Option<usize>,
    /// What the schedule's reader left out or decided by itself, with a count.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Its collectives, by name.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub collectives: IndexMap<String, StageSummary>,
}

impl JobSummary {
    /// Computes the statistics of a job.
    pub fn of(job: &JobRecord) -> Self {
        let us = |ps: u64| ps as f64 * 1e-6;
        let compute_us: f64 = job.ranks.iter().map(|rank| us(rank.compute_ps)).sum();
        let compute_us = compute_us / job.ranks.len().max(1) as f64;
        let step_us = job.step_ps().map(us);
        let last = job.ranks.iter().map(|rank| rank.end_ps).max();
        let slowest = job.ranks.iter().position(|rank| Some(rank.end_ps) == last);
        let mut stages: IndexMap<String, Vec<&StageRecord>> = IndexMap::new();
        for record in &job.stages {
            stages
                .entry(record.stage.name.clone())
                .or_default()
                .push(record);
        }
        let collectives = stages
            .into_iter()
            .map(|(name, of)| (name, StageSummary::of(&of)));
        JobSummary {
            remarks: job
                .remarks
                .iter()
                .map(|(remark, count)| format!("{remark}: {count}"))
                .collect(),
            collectives: collectives.collect(),
            ranks: job.ranks.len(),
            operations: job
                .ranks
                .iter()
                .map(|rank| u64::from(rank.operations))
                .sum(),
            ended: job.ranks.iter().map(|rank| u64::from(rank.ended)).sum(),
            step_us,
            compute_us,
            exposed_us: step_us.map(|step_us| step_us - compute_us),
            slowest_rank: step_us.and(slowest),
        }
    }
}

/// Writes `ranks.parquet`.
pub fn write(ranks: &[RankRecord], path: &Path) -> io::Result<()> {
    let numbers = Vec::from_iter(0..ranks.len() as u32);
    let values = [
        Values::short(&numbers, |&rank| rank),
        Values::short(ranks, |rank| rank.host),
        Values::short(ranks, |rank| rank.operations),
        Values::short(ranks, |rank| rank.ended),
        Values::long(ranks, |rank| rank.end_ps),
        Values::long(ranks, |rank| rank.compute_ps),
    ];
    parquet_file::write(path, &RANK_COLUMNS, &values, ranks.len())
}

/// Writes `stages.parquet`.
pub fn write_stages(stages: &[StageRecord], path: &Path) -> io::Result<()> {
    let names = stages.iter().map(|record| record.stage.name.clone());
    let values = [
        Values::Strings(names.collect()),
        Values::short(stages, |record| record.stage.ranks),
        Values::long(stages, |record| record.stage.bytes),
        Values::long(stages, |record| record.begin_ps),
        Values::long(stages, |record| record.end_ps),
    ];
    parquet_file::write(path, &STAGE_COLUMNS, &values, stages.len())
}

/// Writes `computations.parquet`.
pub fn write_computations(computations: &[Computation], path: &Path) -> io::Result<()> {
    let values = [
        Values::short(computations, |one| one.rank),
        Values::short(computations, |one| one.operation),
        Values::long(computations, |one| one.begin_ps),
        Values::long(computations, |one| one.end_ps),
    ];
    parquet_file::write(path, &COMPUTATION_COLUMNS, &values, computations.len())
}
