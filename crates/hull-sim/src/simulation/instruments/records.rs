//! The rows of a run's result tables.

use std::path::Path;

use crate::measure::{FlowLog, HalfLog, LatencyLog, WaitLog};
use crate::scenario::Scenario;
use crate::workload::{QueryRecord, Traffic, Workload};

/// Rows of the result tables.
#[derive(Debug)]
pub struct Records {
    pub flows: FlowLog,
    pub waits: WaitLog,
    pub halves: HalfLog,
    pub queries: Vec<QueryRecord>,
    pub latency: LatencyLog,
}

impl Records {
    /// Creates the empty tables of a scenario. With a folder, completion times go to a file in it.
    pub fn new(scenario: &Scenario, traffic: &Traffic, folder: Option<&Path>) -> Self {
        let (run, classes) = (&scenario.run, traffic.classes());
        let flows = folder.map(|folder| folder.join("flows.parquet"));
        Records {
            flows: FlowLog::new(classes.to_vec(), flows)
                .of_transports(scenario.transport_names())
                .of_groups(traffic.groups()),
            waits: WaitLog::new(classes.len()),
            halves: HalfLog::new(classes.len(), run.warmup.0 + run.duration.0 / 2),
            queries: Vec::new(),
            latency: LatencyLog::default(),
        }
    }
}
