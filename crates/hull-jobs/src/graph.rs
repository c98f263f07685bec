//! A run of a schedule on any network: which operations may start. Memory holds what has
//! some of its dependencies, not the rest.

use std::collections::HashMap;

use crate::op::{Kind, Op};
use crate::problem::Problem;
use crate::schedule::Schedule;

/// An operation that may start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// Its rank.
    pub rank: u32,
    /// Its index within the rank.
    pub index: u32,
    /// What it does.
    pub op: Op,
}

/// Progress of a schedule.
#[derive(Debug)]
pub struct Graph {
    schedule: Schedule,
    /// Per rank, the dependencies that operations still miss of those that have some.
    missing: Vec<HashMap<u32, u32>>,
    /// Per rank, the number of operations that ended.
    ended: Vec<u32>,
}

impl Graph {
    /// Begins a run.
    pub fn new(schedule: Schedule) -> Self {
        let ranks = schedule.ranks() as usize;
        Graph {
            schedule,
            missing: vec![HashMap::new(); ranks],
            ended: vec![0; ranks],
        }
    }

    /// The schedule.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// The operations of a rank that need nothing: sends first, then receives, then computations.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn roots(&mut self, rank: u32) -> Result<Vec<Started>, Problem> {
        let roots = self.schedule.roots(rank)?;
        let mut free = Vec::with_capacity(roots.len());
        for index in roots {
            let op = self.schedule.op(rank, index)?;
            free.push(Started { rank, index, op });
        }
        sort(&mut free);
        Ok(free)
    }

    /// Says that an operation began, and returns those that now may.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn begin(&mut self, rank: u32, index: u32) -> Result<Vec<Started>, Problem> {
        let next = self.schedule.after_start(rank, index)?;
        self.free(rank, &next)
    }

    /// Says that an operation ended, and returns those that now may start.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn end(&mut self, rank: u32, index: u32) -> Result<Vec<Started>, Problem> {
        self.ended[rank as usize] += 1;
        let next = self.schedule.after_end(rank, index)?;
        self.free(rank, &next)
    }

    fn free(&mut self, rank: u32, next: &[u32]) -> Result<Vec<Started>, Problem> {
        let mut free = Vec::new();
        for &index in next {
            let op = self.schedule.op(rank, index)?;
            let missing = &mut self.missing[rank as usize];
            let left = missing.remove(&index).unwrap_or(op.needs) - 1;
            if left == 0 {
                free.push(Started { rank, index, op });
            } else {
                missing.insert(index, left);
            }
        }
        sort(&mut free);
        Ok(free)
    }

    /// Number of operations of a rank that have not ended.
    pub fn left(&self, rank: u32) -> u32 {
        self.schedule.len(rank) - self.ended[rank as usize]
    }
}

/// What is free at once starts in this order, and in the order of the file within a kind.
fn sort(free: &mut [Started]) {
    free.sort_by_key(|started| match started.op.kind {
        Kind::Send => 0,
        Kind::Receive => 1,
        Kind::Compute => 2,
    });
}
