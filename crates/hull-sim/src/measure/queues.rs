//! Queue lengths of the watched ports over time: sampled, or at every change.

use super::parquet_file::{Column, Values};
use super::table_log::{Names, Row, TableLog};
use crate::network::QueueLevel;

/// Columns of `queues.parquet`.
pub const QUEUE_COLUMNS: [Column; 5] = [
    Column::new(
        "time_ps",
        "ps",
        "simulated time of the sample or of the change",
    ),
    Column::new("port", "", "the port, such as \"tor0->h3\""),
    Column::new(
        "bytes",
        "byte",
        "waiting bytes, without the packet in transmission",
    ),
    Column::new("packets", "packet", "waiting packets"),
    Column::new(
        "phantom_bytes",
        "byte",
        "backlog of the phantom queue; null without a phantom queue, and with measure.queue_changes",
    ),
];

/// Row of the table: the queue of one port at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueRow {
    /// Simulated time, ps.
    pub time_ps: u64,
    /// Index of the port among the watched ports.
    pub port: u32,
    /// Waiting bytes and packets.
    pub level: QueueLevel,
    /// Backlog of the phantom queue, bytes; `None` without a phantom queue, or if every change is
    /// recorded.
    pub phantom_bytes: Option<u64>,
}

/// Queues of a run in the order of time; the names are port names.
pub(crate) type QueueLog = TableLog<QueueRow>;

impl Row for QueueRow {
    const COLUMNS: &'static [Column] = &QUEUE_COLUMNS;

    fn values(rows: &[Self], names: &Names) -> Vec<Values> {
        vec![
            Values::long(rows, |row| row.time_ps),
            Values::Text(
                rows.iter().map(|row| row.port as usize).collect(),
                names.names.clone(),
            ),
            Values::long(rows, |row| row.level.bytes),
            Values::short(rows, |row| row.level.packets),
            Values::Optional(
                rows.iter()
                    .map(|row| row.phantom_bytes.map(|bytes| bytes as i64))
                    .collect(),
            ),
        ]
    }
}
