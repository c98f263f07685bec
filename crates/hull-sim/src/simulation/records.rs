//! The rows of a run's result tables.

use crate::measure::{FlowLog, HalfLog, LatencyLog, WaitLog};
use crate::workload::QueryRecord;

/// Rows of the result tables.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) flows: FlowLog,
    pub(super) waits: WaitLog,
    pub(super) halves: HalfLog,
    pub(super) queries: Vec<QueryRecord>,
    pub(super) latency: LatencyLog,
}
