//! Measurements: what the documents plot. They read the simulation and change nothing in it.

mod distribution;
mod flows;
mod latency;
mod occupancy;
mod parquet_file;

pub use distribution::Distribution;
pub use flows::{ClassSummary, FLOW_COLUMNS, FlowLog, FlowRecord};
pub use latency::{LATENCY_COLUMNS, LatencyLog, ProbeSummary};
pub use occupancy::Occupancy;
pub use parquet_file::Column;
