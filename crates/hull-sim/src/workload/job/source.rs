//! Where a job's graph of work comes from: a file, or a generator.

use std::path::Path;

use hull_jobs::{Program, Schedule, Stage};

use crate::problem::Problem;

/// A graph of work, and its stages if a generator made it.
#[derive(Debug)]
pub(super) struct Source {
    /// Key of the scenario that names it.
    pub(super) key: &'static str,
    /// What messages call it.
    pub(super) name: String,
    pub(super) schedule: Schedule,
    pub(super) stages: Vec<Stage>,
    /// Largest message whose send ends when the network has it, bytes, if the job does not say so.
    pub(super) eager_bytes: u64,
}

impl Source {
    /// Reads a schedule's file.
    pub(super) fn file(path: &str) -> Result<Self, Problem> {
        let key = "workload.job.schedule";
        let told = |problem: hull_jobs::Problem| Problem::new(key, format!("{path}: {problem}"));
        let (schedule, _) = hull_jobs::open(Path::new(path)).map_err(told)?;
        Ok(Source {
            key,
            name: path.to_owned(),
            schedule,
            stages: Vec::new(),
            // 64 KB, as MPI libraries and LogGOPSim have it.
            eager_bytes: 65_535,
        })
    }

    /// What a generator made; communication libraries for accelerators have no eager messages.
    pub(super) fn of(key: &'static str, program: Program) -> Result<Self, Problem> {
        let told = |problem: hull_jobs::Problem| Problem::new(key, problem.to_string());
        let (schedule, stages) = program.finish().map_err(told)?;
        Ok(Source {
            key,
            name: key.to_owned(),
            schedule,
            stages,
            eager_bytes: 0,
        })
    }
}
