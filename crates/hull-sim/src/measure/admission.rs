//! Admission by receivers: requests, grants, and how long messages waited for the first one.

use hull_core::admission::Waited;
use serde::Serialize;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct AdmissionCount {
    /// Requests that senders sent.
    pub requests: u64,
    /// Grants that receivers sent.
    pub grants: u64,
    /// Waits of the messages that a receiver admitted.
    pub waited: Waited,
}

impl AdmissionCount {
    /// Adds the waits of a connection's messages, if it has some.
    pub fn add_waited(&mut self, waited: Option<Waited>) {
        if let Some(waited) = waited {
            self.waited.add(&waited);
        }
    }
}

/// Admission in the summary of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AdmissionSummary {
    /// Requests that senders sent.
    pub requests: u64,
    /// Grants that receivers sent.
    pub grants: u64,
    /// Messages that a receiver admitted.
    pub messages: u64,
    /// Mean time between the start of a message and its first grant, us; 0 without any.
    pub mean_wait_us: f64,
    /// Longest of these times, us.
    pub max_wait_us: f64,
}

impl AdmissionSummary {
    /// Summary of these counts.
    pub fn of(count: &AdmissionCount) -> Self {
        let waited = &count.waited;
        AdmissionSummary {
            requests: count.requests,
            grants: count.grants,
            messages: waited.messages,
            mean_wait_us: waited.total_ps as f64 * 1e-6 / waited.messages.max(1) as f64,
            max_wait_us: waited.longest_ps as f64 * 1e-6,
        }
    }
}
