//! What became of a job. Times ps.

use std::fmt;

use hull_jobs::{ANY, Stage};

use super::JobTraffic;
use crate::units::Time;

/// Rank of a job: a row of `ranks.parquet`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankRecord {
    /// Number of its host; of its first one if it has one for each interface.
    pub host: u32,
    /// Number of its operations.
    pub operations: u32,
    /// Number of those that have ended.
    pub ended: u32,
    /// Time at which the last of them ended; 0 if none has.
    pub end_ps: u64,
    /// Time that it computed, over all its processors.
    pub compute_ps: u64,
}

/// A computation: a row of `computations.parquet`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Computation {
    /// Its rank.
    pub rank: u32,
    /// Its operation.
    pub operation: u32,
    /// Time at which it began, ps.
    pub begin_ps: u64,
    /// Time at which it ends, ps.
    pub end_ps: u64,
}

/// A collective of a job: a row of `stages.parquet`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageRecord {
    /// What it is.
    pub stage: Stage,
    /// Time at which its first rank began, ps; 0 if none has.
    pub begin_ps: u64,
    /// Time at which its last rank ended, ps; 0 if one has not.
    pub end_ps: u64,
    /// Ranks that have begun.
    begun: u32,
    /// Ranks that have ended.
    ended: u32,
}

impl StageRecord {
    pub(super) fn new(stage: Stage) -> Self {
        StageRecord {
            stage,
            begin_ps: 0,
            end_ps: 0,
            begun: 0,
            ended: 0,
        }
    }

    /// Notes that a rank begins or ends it.
    pub(super) fn note(&mut self, now_ps: u64, is_end: bool) {
        if is_end {
            self.ended += 1;
            if self.ended == self.stage.ranks {
                self.end_ps = now_ps;
            }
        } else {
            if self.begun == 0 {
                self.begin_ps = now_ps;
            }
            self.begun += 1;
        }
    }

    /// Time from its first rank's begin to its last rank's end, ps; `None` if it has not ended.
    pub fn takes_ps(&self) -> Option<u64> {
        (self.end_ps > 0).then(|| self.end_ps - self.begin_ps)
    }
}

/// A receive that waits for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stuck {
    /// Rank that waits.
    pub rank: u32,
    /// Its operation.
    pub operation: u32,
    /// Rank that it waits for; `None` for any.
    pub from: Option<u32>,
    /// Tag that it waits for; `None` for any.
    pub tag: Option<u32>,
}

/// What became of a job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobRecord {
    /// Time at which it began.
    pub start_ps: u64,
    /// Its ranks, by number.
    pub ranks: Vec<RankRecord>,
    /// Its computations that take time, if `workload.job.timeline` asks for them.
    pub computations: Vec<Computation>,
    /// What the schedule's reader left out or decided by itself, each with a count.
    pub remarks: Vec<(String, u64)>,
    /// Its collectives, in the order in which a generator made them.
    pub stages: Vec<StageRecord>,
    /// Receives that wait when nothing moves any more: the first of each rank.
    pub stuck: Vec<Stuck>,
    /// Why the schedule could not be read on.
    pub failed: Option<String>,
}

impl JobRecord {
    /// Whether it can make no progress.
    pub fn has_failed(&self) -> bool {
        !self.stuck.is_empty() || self.failed.is_some()
    }

    /// Time from its begin until its last operation ended; `None` if one has not.
    pub fn step_ps(&self) -> Option<u64> {
        let is_over = self.ranks.iter().all(|rank| rank.ended == rank.operations);
        let end_ps = self.ranks.iter().map(|rank| rank.end_ps).max();
        is_over.then(|| end_ps.unwrap_or_default().saturating_sub(self.start_ps))
    }
}

impl fmt::Display for Stuck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Stuck {
            rank, operation, ..
        } = self;
        write!(f, "rank {rank} in operation {operation} for a message of ")?;
        match self.from {
            Some(from) => write!(f, "rank {from}")?,
            None => write!(f, "any rank")?,
        }
        match self.tag {
            Some(tag) => write!(f, " with tag {tag}"),
            None => write!(f, " with any tag"),
        }
    }
}

impl JobRecord {
    /// Message about a job that has failed.
    pub fn told(&self) -> String {
        const MOST: usize = 8;
        if let Some(failed) = &self.failed {
            return format!("workload.job.schedule: {failed}");
        }
        let left = |rank: &RankRecord| u64::from(rank.operations - rank.ended);
        let left: u64 = self.ranks.iter().map(left).sum();
        let waits = self.stuck.iter().take(MOST).map(Stuck::to_string);
        let more = match self.stuck.len().saturating_sub(MOST) {
            0 => String::new(),
            more => format!("; and {more} more ranks"),
        };
        let end_ps = self.ranks.iter().map(|rank| rank.end_ps).max();
        format!(
            "workload.job: nothing moves after {}, and {left} operations are left; there wait {}{more}",
            Time(end_ps.unwrap_or_default()),
            Vec::from_iter(waits).join("; "),
        )
    }
}

impl JobTraffic {
    /// Receives that wait for ever: nothing moves, and operations are left.
    pub(super) fn stuck(&self) -> Vec<Stuck> {
        if self.is_over() || !self.is_still() {
            return Vec::new();
        }
        let known = |number: u32| (number != ANY).then_some(number);
        let first = |matching: &super::Receives| matching.waiting().first().copied();
        let waiting = self.matching.iter().filter_map(first);
        waiting
            .map(|(posted, from, tag)| Stuck {
                rank: posted.rank,
                operation: posted.index,
                from: known(from),
                tag: known(tag),
            })
            .collect()
    }
}
