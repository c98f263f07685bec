//! Queries of fan-out workloads (incast, partition/aggregate): one row for each query that began in the
//! measured time, and the documents' statistics over all queries: completion time (thesis 2.3.2), share
//! of responses in time (report III-B), share of queries with a timeout (thesis figure 2.18).

use std::io;
use std::path::Path;

use serde::Serialize;

use super::distribution::{Distribution, LowerBounds, Ranked};
use super::parquet_file::{self, Column, Values};
use crate::workload::QueryRecord;

/// Columns of `queries.parquet`.
pub const QUERY_COLUMNS: [Column; 8] = [
    Column::new(
        "start_ps",
        "ps",
        "simulated time at which the client sent the query",
    ),
    Column::new(
        "completion_ps",
        "ps",
        "time from then until the last response arrived; null if one was missing at the end",
    ),
    Column::new("client", "", "number of the client's host"),
    Column::new("servers", "", "number of queried servers"),
    Column::new(
        "in_time",
        "",
        "responses within the deadline; without a deadline all that arrived",
    ),
    Column::new(
        "timeouts",
        "",
        "responses with a retransmission timeout, in the response or its request",
    ),
    Column::new("bytes", "byte", "bytes of all responses that arrived"),
    Column::new(
        "mean_response_ps",
        "ps",
        "mean time from the start of the query to a response, over those that arrived",
    ),
];

/// Statistics over all queries of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuerySummary {
    /// Number of queries.
    pub count: usize,
    /// Number of queries whose responses have all arrived.
    pub completed: usize,
    /// Completion times.
    #[serde(flatten)]
    pub completion: Option<Distribution>,
    /// Statistics that the other queries could change, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<LowerBounds>,
    /// Share of the responses that were in time; a missing response counts as late.
    pub in_time_share: f64,
    /// Share of queries with at least one timeout.
    pub timeout_share: f64,
}

impl QuerySummary {
    /// Computes the statistics of all queries; `None` without queries.
    pub fn of(queries: &[QueryRecord]) -> Option<Self> {
        if queries.is_empty() {
            return None;
        }
        let completions = queries.iter().filter_map(|query| query.completion_ps);
        let completions: Vec<i64> = completions.map(|ps| ps as i64).collect();
        let completed = completions.len();
        let total = |get: fn(&QueryRecord) -> u32| -> u64 {
            queries.iter().map(|query| u64::from(get(query))).sum()
        };
        let late = queries.iter().filter(|query| query.timeouts > 0).count();
        Some(QuerySummary {
            count: queries.len(),
            completed,
            completion: Distribution::of(&completions),
            lower_bound: LowerBounds::of(&Ranked::sort(completions), queries.len() - completed),
            in_time_share: total(|q| q.in_time) as f64 / total(|q| q.servers).max(1) as f64,
            timeout_share: late as f64 / queries.len() as f64,
        })
    }
}

/// Writes `queries.parquet`.
pub fn write(queries: &[QueryRecord], path: &Path) -> io::Result<()> {
    let completion = queries
        .iter()
        .map(|query| query.completion_ps.map(|ps| ps as i64));
    let values = [
        Values::long(queries, |query| query.start_ps),
        Values::Optional(completion.collect()),
        Values::short(queries, |query| query.client),
        Values::short(queries, |query| query.servers),
        Values::short(queries, |query| query.in_time),
        Values::short(queries, |query| query.timeouts),
        Values::long(queries, |query| query.bytes),
        Values::long(queries, |query| query.mean_response_ps),
    ];
    parquet_file::write(path, &QUERY_COLUMNS, &values, queries.len())
}

#[cfg(test)]
mod tests {
    use super::QuerySummary;
    use crate::workload::QueryRecord;

    #[test]
    fn counts_late_lost_and_unfinished_responses() {
        let query = |completion_ps, in_time, timeouts| QueryRecord {
            start_ps: 0,
            completion_ps,
            client: 0,
            servers: 10,
            in_time,
            timeouts,
            bytes: 0,
            mean_response_ps: 0,
        };
        let queries = [
            query(Some(2_000_000), 10, 0),
            query(Some(4_000_000), 9, 0),
            query(None, 6, 3),
            query(Some(6_000_000), 5, 1),
        ];
        let summary = QuerySummary::of(&queries).expect("some");
        assert_eq!((summary.count, summary.completed), (4, 3));
        assert_eq!(summary.completion.map(|d| d.mean_us), Some(4.0));
        assert_eq!((summary.in_time_share, summary.timeout_share), (0.75, 0.5));
        assert_eq!(QuerySummary::of(&[]), None);
    }
}
