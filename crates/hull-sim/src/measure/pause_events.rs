//! Single pauses (priority flow control): one row for each frame to pause that reaches a port, and for each
//! end of a pause, in the whole run.

use super::parquet_file::{Column, Values};
use super::table_log::{Names, Row, TableLog};
use crate::network::{PauseEvent, PauseStep};

/// Columns of `pause_events.parquet`.
pub const PAUSE_EVENT_COLUMNS: [Column; 6] = [
    Column::new("time_ps", "ps", "simulated time"),
    Column::new("from", "", "node that pauses"),
    Column::new("to", "", "node that asked for the pause"),
    Column::new(
        "link",
        "",
        "row of this direction of the link in links.parquet, from 0",
    ),
    Column::new(
        "class",
        "",
        "class; 0 for all together if links pause as a whole",
    ),
    Column::new(
        "event",
        "",
        "begin: the class pauses; renewal: another frame came; ignored: a frame came that the watchdog ignores; \
         end: the class may send again",
    ),
];

/// Names of the events, in the order of [`PauseStep`].
const STEPS: [(PauseStep, &str); 4] = [
    (PauseStep::Begin, "begin"),
    (PauseStep::Renewal, "renewal"),
    (PauseStep::Ignored, "ignored"),
    (PauseStep::End, "end"),
];

/// Row of the table: an event at a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PauseEventRow {
    /// Node of the port.
    pub from: u32,
    /// Node at the far end.
    pub to: u32,
    /// What happened.
    pub event: PauseEvent,
}

/// Events of a run in the order of time; the names are nodes' names.
pub(crate) type PauseEventLog = TableLog<PauseEventRow>;

impl Row for PauseEventRow {
    const COLUMNS: &'static [Column] = &PAUSE_EVENT_COLUMNS;

    fn values(rows: &[Self], names: &Names) -> Vec<Values> {
        let node = |get: fn(&Self) -> u32| {
            let indices = rows.iter().map(|row| get(row) as usize).collect();
            Values::Text(indices, names.names.clone())
        };
        let step = |row: &Self| {
            let is_its = |&(step, _): &(PauseStep, &str)| step == row.event.step;
            STEPS.iter().position(is_its).unwrap_or_default()
        };
        vec![
            Values::long(rows, |row| row.event.time_ps),
            node(|row| row.from),
            node(|row| row.to),
            Values::short(rows, |row| row.event.port),
            Values::short(rows, |row| u32::from(row.event.class)),
            Values::Text(
                rows.iter().map(step).collect(),
                STEPS.map(|(_, name)| name.to_owned()).to_vec(),
            ),
        ]
    }
}
