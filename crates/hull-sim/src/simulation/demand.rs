//! The workload of a run, what it has asked for, and whether it is done.

use super::completion::Completion;
use crate::workload::{Agenda, Traffic};

/// Workload and its requests.
#[derive(Debug)]
pub(super) struct Demand {
    pub(super) traffic: Traffic,
    pub(super) agenda: Agenda,
    /// Tokens of the workload's wakes, by the index of their events.
    pub(super) wakes: Vec<u64>,
    pub(super) free_wakes: Vec<u32>,
    /// Whether the run is complete: the workload has done everything, or, after the measured time,
    /// everything that was started is complete.
    pub(super) done: bool,
    pub(super) completion: Completion,
    /// Time for which the run continues after that, so that ports between switches could know, ps.
    pub(super) linger_ps: u64,
}
