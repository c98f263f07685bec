//! A query to an aggregation tree, and the tasks that its nodes have of it. Times ps, sizes bytes.

use crate::workload::QueryRecord;
use crate::workload::answers::LevelCount;

/// Number of the task above the client's, which has none.
pub(super) const NONE: u32 = u32::MAX;

/// A node's part of a query: its rounds of requests, if it is an aggregator, and its answer.
#[derive(Debug)]
pub(super) struct Task {
    pub node: u32,
    pub query: u32,
    /// Number of the task that asked, or [`NONE`].
    pub above: u32,
    /// Round of that task.
    pub round_above: u32,
    /// Whether the request has suffered a timeout.
    pub timed_out: bool,
    /// Present round, from 1.
    pub round: u32,
    /// Last time at which an answer of this round is in time.
    pub round_ends_ps: u64,
    /// Answers missing in this round.
    pub missing: u32,
    /// Whether all rounds are over.
    pub is_over: bool,
    /// Answers of workers that this node has in time.
    pub collected: u32,
    /// Messages and wakes that still name the task.
    pub references: u32,
}

impl Task {
    /// Creates the task of a node, with the one reference of its own answer.
    pub fn new(node: u32, query: u32, above: u32, round_above: u32) -> Self {
        Task {
            node,
            query,
            above,
            round_above,
            timed_out: false,
            round: 0,
            round_ends_ps: u64::MAX,
            missing: 0,
            is_over: false,
            collected: 0,
            references: 1,
        }
    }
}

/// Query that has answers to come, in time or late.
#[derive(Debug)]
pub(super) struct Query {
    pub start_ps: u64,
    /// Time from then until the client's last round was over.
    pub completion_ps: Option<u64>,
    /// Answers to come.
    pub expected: u64,
    /// Answers of workers in the result.
    pub collected: u32,
    pub timeouts: u32,
    pub bytes: u64,
    /// Sum of the times from the start to each answer to the client.
    pub to_client_ps: u128,
    pub to_client: u64,
    pub levels: Vec<LevelCount>,
}

impl Query {
    /// Creates a query with so many levels.
    pub fn new(start_ps: u64, levels: usize) -> Self {
        Query {
            start_ps,
            completion_ps: None,
            expected: 0,
            collected: 0,
            timeouts: 0,
            bytes: 0,
            to_client_ps: 0,
            to_client: 0,
            levels: vec![LevelCount::default(); levels],
        }
    }

    /// Whether it has its result and no answer is to come.
    pub fn is_over(&self) -> bool {
        self.completion_ps.is_some() && self.expected == 0
    }

    /// Record of a query of `client` for the answers of `workers`.
    pub fn record(&self, client: u32, workers: u32) -> QueryRecord {
        QueryRecord {
            start_ps: self.start_ps,
            completion_ps: self.completion_ps,
            client,
            servers: workers,
            in_time: self.collected,
            timeouts: self.timeouts,
            bytes: self.bytes,
            mean_response_ps: (self.to_client_ps / u128::from(self.to_client.max(1))) as u64,
        }
    }
}
