//! Pacers over time: the rate and backlog of each token bucket (paper 4.2).

use super::parquet_file::{Column, Values};
use super::table_log::{Names, Row, TableLog};

/// Columns of `pacers.parquet`.
pub const PACER_COLUMNS: [Column; 6] = [
    Column::new("time_ps", "ps", "simulated time of the sample"),
    Column::new("host", "", "number of the pacer's host"),
    Column::new("bucket", "", "number of the token bucket in the pacer"),
    Column::new("rate_bps", "bit/s", "token rate"),
    Column::new("backlog_bytes", "byte", "bytes in the bucket's FIFO"),
    Column::new("backlog_packets", "packet", "packets in the bucket's FIFO"),
];

/// Row of the table: one token bucket at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PacerRow {
    /// Simulated time, ps.
    pub time_ps: u64,
    /// Host number.
    pub host: u32,
    /// Number of the bucket in the host's pacer.
    pub bucket: u32,
    /// Token rate, bit/s.
    pub rate_bps: u64,
    /// Bytes waiting in the bucket's FIFO.
    pub backlog_bytes: u32,
    /// Packets waiting in the bucket's FIFO.
    pub backlog_packets: u32,
}

/// Log of the pacers of a run.
pub(crate) type PacerLog = TableLog<PacerRow>;

impl Row for PacerRow {
    const COLUMNS: &'static [Column] = &PACER_COLUMNS;

    fn values(rows: &[Self], _: &Names) -> Vec<Values> {
        vec![
            Values::long(rows, |row| row.time_ps),
            Values::short(rows, |row| row.host),
            Values::short(rows, |row| row.bucket),
            Values::long(rows, |row| row.rate_bps),
            Values::long(rows, |row| u64::from(row.backlog_bytes)),
            Values::short(rows, |row| row.backlog_packets),
        ]
    }
}
