//! Times between two samples of a run, and the numbers of its samplers. Times are ps.

use crate::scenario::Scenario;

/// Readings of events of `Kind::Sample`, by their index.
pub const QUEUES: usize = 0;

pub const FLOWS: usize = 1;

pub const PACERS: usize = 2;

/// Display of a live run; last, so that it includes the others' records.
pub const LIVE: usize = 3;

/// Times between two samples, ps.
#[derive(Clone, Copy, Debug)]
pub struct Intervals {
    pub queues_ps: u64,
    /// Time of the first sample of queues: the end of the warm-up, ps.
    pub queues_from_ps: u64,
    pub flows_ps: Option<u64>,
    pub pacers_ps: Option<u64>,
    /// Time of the last reading of flows, ps.
    pub flows_read_ps: Option<u64>,
}

impl Intervals {
    /// Intervals that the scenario sets.
    pub fn of(scenario: &Scenario) -> Self {
        let measure = &scenario.measure;
        let pacers = measure.pacers.as_ref().filter(|_| scenario.pacer.is_some());
        Intervals {
            queues_ps: measure.sample_interval.0,
            queues_from_ps: scenario.run.warmup.0,
            flows_ps: measure.flows.as_ref().map(|flows| flows.interval.0),
            pacers_ps: pacers.map(|pacers| pacers.interval.0),
            flows_read_ps: None,
        }
    }
}
