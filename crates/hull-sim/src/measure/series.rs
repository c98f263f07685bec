//! Flows over time: the state of a flow at its two ends at each sample (thesis figures 2.16 and 3.11).

use super::parquet_file::{Column, Values};
use super::table_log::{Names, Row, TableLog};

/// Columns of `series.parquet`.
pub const SERIES_COLUMNS: [Column; 14] = [
    Column::new("time_ps", "ps", "simulated time of the sample"),
    Column::new(
        "flow",
        "",
        "number of the flow, from 0 in the order of opening; a connection has two, one for each direction",
    ),
    Column::new("src", "", "number of the sending host"),
    Column::new("dst", "", "number of the receiving host"),
    Column::new(
        "delivered_bytes",
        "byte",
        "payload received in order since the flow was opened",
    ),
    Column::new("cwnd_bytes", "byte", "congestion window"),
    Column::new(
        "ssthresh_bytes",
        "byte",
        "slow-start threshold; null before the first reduction",
    ),
    Column::new(
        "alpha",
        "",
        "DCTCP's estimate of the share of marked bytes; null with another congestion control",
    ),
    Column::new(
        "srtt_ps",
        "ps",
        "smoothed round-trip time; null before the first measurement",
    ),
    Column::new(
        "in_flight_bytes",
        "byte",
        "sender's estimate of the payload in the network (the pipe of RFC 6675)",
    ),
    Column::new("timeouts", "", "retransmission timeouts so far"),
    Column::new(
        "associations",
        "",
        "associations of the flow with its host's pacer so far, renewals included",
    ),
    Column::new(
        "associations_begun",
        "",
        "associations so far without renewals",
    ),
    Column::new(
        "rate_bps",
        "bit/s",
        "rate of a rate-based source; null before it is known, and for window-based controls",
    ),
];

/// State of a flow at one time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlowReading {
    /// Flow number, in the order of opening.
    pub flow: u64,
    /// Sending and receiving host.
    pub ends: (u32, u32),
    /// Payload received in order, bytes.
    pub delivered_bytes: u64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold, bytes; `None` before the first reduction.
    pub ssthresh_bytes: Option<u64>,
    /// DCTCP's alpha; `None` with another congestion control.
    pub alpha: Option<f64>,
    /// Smoothed round trip, ps; `None` before the first sample.
    pub srtt_ps: Option<u64>,
    /// Estimate of the bytes in flight (the pipe of RFC 6675).
    pub in_flight_bytes: u64,
    /// Retransmission timeouts so far.
    pub timeouts: u32,
    /// Associations with the host's pacer so far, renewals included.
    pub associations: u32,
    /// Associations so far without renewals.
    pub associations_begun: u32,
    /// Sending rate of a rate-based source, bit/s; `None` before it is known, and for window-based
    /// controls.
    pub rate_bps: Option<u64>,
}

/// Row of the table: time (ps) and state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeriesRow(pub u64, pub FlowReading);

/// Log of the flows of a run.
pub(crate) type SeriesLog = TableLog<SeriesRow>;

impl Row for SeriesRow {
    const COLUMNS: &'static [Column] = &SERIES_COLUMNS;

    fn values(rows: &[Self], _: &Names) -> Vec<Values> {
        let optional = |get: fn(&FlowReading) -> Option<u64>| {
            let values = rows.iter().map(|row| get(&row.1).map(|value| value as i64));
            Values::Optional(values.collect())
        };
        vec![
            Values::long(rows, |row| row.0),
            Values::long(rows, |row| row.1.flow),
            Values::short(rows, |row| row.1.ends.0),
            Values::short(rows, |row| row.1.ends.1),
            Values::long(rows, |row| row.1.delivered_bytes),
            Values::long(rows, |row| row.1.cwnd_bytes),
            optional(|reading| reading.ssthresh_bytes),
            Values::OptionalDouble(rows.iter().map(|row| row.1.alpha).collect()),
            optional(|reading| reading.srtt_ps),
            Values::long(rows, |row| row.1.in_flight_bytes),
            Values::short(rows, |row| row.1.timeouts),
            Values::short(rows, |row| row.1.associations),
            Values::short(rows, |row| row.1.associations_begun),
            optional(|reading| reading.rate_bps),
        ]
    }
}
