//! Measurements: the quantities that the documents plot. They read the simulation and do not perturb
//! it.

mod admission;
mod capture;
mod counts;
mod cpu_time;
mod distribution;
mod fairness;
mod flows;
mod halves;
mod job;
mod latency;
mod links;
mod logs;
mod pacers;
mod parquet_file;
mod pause_causes;
mod pause_events;
mod pauses;
mod queries;
mod queues;
mod registry;
mod registry_of_several;
mod run_table;
mod series;
mod size_bins;
mod sketch;
mod slowdown;
mod statistic;
mod store_file;
mod table_log;
mod transports;
mod waits;

pub use admission::{AdmissionCount, AdmissionSummary};
pub use capture::HEADERS_BYTES;
pub(crate) use capture::{Capture, CaptureConfig, CapturedPort, Context};
pub use counts::Counts;
pub use cpu_time::thread_seconds;
pub use distribution::{
    Distribution, LowerBounds, Ranked, Slowdown, SlowdownBounds, of_distribution,
};
pub use fairness::Fairness;
pub use flows::{
    AckedFlow, AckedSummary, ClassSummary, FLOW_COLUMNS, FlowLog, GroupSummary, LoggedFlow,
};
pub use halves::{HalfLog, HalfSummary, HalvesSummary};
pub use job::{
    COMPUTATION_COLUMNS, JobSummary, RANK_COLUMNS, STAGE_COLUMNS, write as write_ranks,
    write_computations, write_stages,
};
pub use latency::{LATENCY_COLUMNS, LatencyLog, ProbeSummary};
pub use links::{
    LINK_COLUMNS, LinkCount, TierCount, by_tier, drops_by_place, failure_drops,
    write as write_links,
};
pub use logs::{Logs, TABLES};
pub use pacers::PACER_COLUMNS;
pub(crate) use pacers::{PacerLog, PacerRow};
pub use parquet_file::{Column, Values, write as write_table};
pub use pause_causes::{PAUSE_CAUSE_COLUMNS, PauseCause, write as write_pause_causes};
pub use pause_events::PAUSE_EVENT_COLUMNS;
pub(crate) use pause_events::{PauseEventLog, PauseEventRow};
pub use pauses::{PAUSE_COLUMNS, PauseCount, PauseSummary, WatchdogSummary, write as write_pauses};
pub use queries::{QUERY_COLUMNS, QuerySummary, write as write_queries};
pub use queues::QUEUE_COLUMNS;
pub(crate) use queues::{QueueLog, QueueRow};
pub use registry::statistics;
pub use run_table::{PartTable, RunTable, TableError};
pub use series::SERIES_COLUMNS;
pub(crate) use series::{FlowReading, SeriesLog, SeriesRow};
pub use size_bins::{PartInBin, SizeBin, SlowedFlows, size_bins};
pub use sketch::Sketch;
pub use slowdown::SlowdownSummary;
pub use statistic::{Combined, Statistic, Unit};
pub use store_file::{RunLabels, STATISTIC_COLUMNS, write as write_statistics};
pub use transports::{TransportCount, TransportSummary};
pub use waits::{MeanWaits, MessageWaits, WaitLog, WaitSummary};
