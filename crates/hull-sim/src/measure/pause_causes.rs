//! The trees of pauses (priority flow control): one row for each pair of a port whose queue caused pauses and
//! a port that paused, by class, root and depth.

use std::io;
use std::path::Path;

use super::parquet_file::{self, Column, Values};

/// Columns of `pause_causes.parquet`.
pub const PAUSE_CAUSE_COLUMNS: [Column; 10] = [
    Column::new(
        "root_from",
        "",
        "switch of the port at the root of the tree, or the host whose ring fills",
    ),
    Column::new("root_to", "", "node to which the root sends"),
    Column::new(
        "cause_from",
        "",
        "switch of the port whose queue held most of what came over the paused link",
    ),
    Column::new("cause_to", "", "node to which that port sends"),
    Column::new("paused_from", "", "node that paused"),
    Column::new(
        "paused_to",
        "",
        "switch that asked for the pauses, as `cause_from`",
    ),
    Column::new(
        "class",
        "",
        "class; 0 for all together if links pause as a whole",
    ),
    Column::new(
        "depth",
        "",
        "number of pauses between the root and these: 0 if the cause was not paused itself",
    ),
    Column::new(
        "pauses",
        "",
        "pause frames that the switch sent in the whole run, renewed pauses among them",
    ),
    Column::new(
        "paused_ps",
        "ps",
        "time for which the class was paused for this cause in the whole run",
    ),
];

/// Pauses of a link with one cause. A port is a pair: the node that sends, and the node at the far end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseCause {
    /// Port at the root of the tree.
    pub root: [String; 2],
    /// Port whose queue caused the pauses.
    pub cause: [String; 2],
    /// Port that paused.
    pub paused: [String; 2],
    /// Class.
    pub class: u32,
    /// Number of pauses between the root and these.
    pub depth: u32,
    /// Number of frames to pause.
    pub pauses: u64,
    /// Time for which the port paused, ps.
    pub paused_ps: u64,
}

/// Writes `pause_causes.parquet`.
pub fn write(rows: &[PauseCause], path: &Path) -> io::Result<()> {
    let text = |get: fn(&PauseCause) -> &String| {
        Values::Strings(rows.iter().map(|row| get(row).clone()).collect())
    };
    let values = [
        text(|row| &row.root[0]),
        text(|row| &row.root[1]),
        text(|row| &row.cause[0]),
        text(|row| &row.cause[1]),
        text(|row| &row.paused[0]),
        text(|row| &row.paused[1]),
        Values::short(rows, |row| row.class),
        Values::short(rows, |row| row.depth),
        Values::long(rows, |row| row.pauses),
        Values::long(rows, |row| row.paused_ps),
    ];
    parquet_file::write(path, &PAUSE_CAUSE_COLUMNS, &values, rows.len())
}
