//! Where a job's graph of work comes from: a file, or a generator.

use std::path::Path;

use hull_jobs::{Choices, Form, Schedule, Stage};

use crate::problem::{Problem, quoted, require};

/// A graph of work, and its stages if a generator made it.
#[derive(Debug)]
pub(super) struct Source {
    /// Key of the scenario that names it.
    pub(super) key: &'static str,
    /// What messages call it.
    pub(super) name: String,
    pub(super) schedule: Schedule,
    pub(super) stages: Vec<Stage>,
    /// What the reader left out or decided by itself.
    pub(super) remarks: Vec<(String, u64)>,
    /// Largest message whose send ends when the network has it, bytes, if the job does not say so.
    pub(super) eager_bytes: u64,
}

impl Source {
    /// Reads a schedule's file, of any form.
    pub(super) fn file(path: &str, choices: &Choices) -> Result<Self, Problem> {
        let key = "workload.job.schedule";
        let told = |problem: hull_jobs::Problem| Problem::new(key, format!("{path}: {problem}"));
        let job = hull_jobs::open_job(Path::new(path), choices).map_err(told)?;
        if let Some(ranks) = choices.ranks {
            let key = "workload.job.ranks";
            let expected = format!("{}, as {path} has", job.schedule.ranks());
            require(ranks == job.schedule.ranks(), key, ranks, &expected)?;
        }
        Ok(Source {
            key,
            name: path.to_owned(),
            schedule: job.schedule,
            stages: job.stages,
            remarks: job.remarks.list().to_vec(),
            eager_bytes: match job.form {
                // 64 KB, as MPI libraries and LogGOPSim have it.
                Form::GoalText | Form::GoalBinary => 65_535,
                Form::SimaiText | Form::AicbTable | Form::ChakraTrace | Form::HtsimMatrix => 0,
            },
        })
    }

    /// What a generator made; communication libraries for accelerators have no eager messages.
    pub(super) fn of(
        key: &'static str,
        made: Result<(Schedule, Vec<Stage>), hull_jobs::Problem>,
    ) -> Result<Self, Problem> {
        let told = |problem: hull_jobs::Problem| Problem::new(key, problem.to_string());
        let (schedule, stages) = made.map_err(told)?;
        Ok(Source {
            key,
            name: key.to_owned(),
            schedule,
            stages,
            remarks: Vec::new(),
            eager_bytes: 0,
        })
    }
}

/// Checks the number of operations that a generator will make.
pub(super) fn check_operations(key: &str, operations: u64) -> Result<(), Problem> {
    // 10 GB on disk.
    const MOST: u64 = 250_000_000;
    let expected = format!("at most {MOST} operations of all ranks");
    require(
        operations <= MOST,
        key,
        quoted(format!("some {operations}")),
        &expected,
    )
}
