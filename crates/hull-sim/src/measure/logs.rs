//! The tables that a run writes while it executes, as requested by the scenario.

use std::io;

use super::parquet_file::Column;
use super::{
    COMPUTATION_COLUMNS, Capture, FLOW_COLUMNS, LATENCY_COLUMNS, LINK_COLUMNS, PACER_COLUMNS,
    PAUSE_CAUSE_COLUMNS, PAUSE_COLUMNS, PAUSE_EVENT_COLUMNS, PacerLog, PauseEventLog,
    QUERY_COLUMNS, QUEUE_COLUMNS, QueueLog, RANK_COLUMNS, SERIES_COLUMNS, STAGE_COLUMNS, SeriesLog,
};

/// Result tables by file name, with their columns. The first three always exist, the others if the
/// scenario requests them.
pub const TABLES: [(&str, &[Column]); 13] = [
    ("flows", &FLOW_COLUMNS),
    ("latency", &LATENCY_COLUMNS),
    ("links", &LINK_COLUMNS),
    ("queries", &QUERY_COLUMNS),
    ("ranks", &RANK_COLUMNS),
    ("stages", &STAGE_COLUMNS),
    ("computations", &COMPUTATION_COLUMNS),
    ("queues", &QUEUE_COLUMNS),
    ("series", &SERIES_COLUMNS),
    ("pacers", &PACER_COLUMNS),
    ("pauses", &PAUSE_COLUMNS),
    ("pause_causes", &PAUSE_CAUSE_COLUMNS),
    ("pause_events", &PAUSE_EVENT_COLUMNS),
];

/// Tables and capture that the scenario requests.
#[derive(Debug, Default)]
pub struct Logs {
    pub(crate) queues: Option<QueueLog>,
    pub(crate) series: Option<SeriesLog>,
    pub(crate) pacers: Option<PacerLog>,
    pub(crate) pauses: Option<PauseEventLog>,
    pub(crate) capture: Option<Capture>,
}

impl Logs {
    /// Discards rows from now on.
    pub fn discard(&mut self) {
        if let Some(queues) = &mut self.queues {
            queues.discard();
        }
        if let Some(series) = &mut self.series {
            series.discard();
        }
        if let Some(pacers) = &mut self.pacers {
            pacers.discard();
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.discard();
        }
    }

    /// Completes the files. Returns the first error since the start of the run.
    pub fn close(&mut self) -> io::Result<()> {
        if let Some(queues) = &mut self.queues {
            queues.close()?;
        }
        if let Some(series) = &mut self.series {
            series.close()?;
        }
        if let Some(pacers) = &mut self.pacers {
            pacers.close()?;
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.close()?;
        }
        self.capture.as_mut().map_or(Ok(()), Capture::close)
    }
}
