//! Pauses of links (priority flow control): one row for each link in one direction and class, and totals.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::parquet_file::{self, Column, Values};
use crate::network::{ClassPauses, Locks, Storms};

/// Columns of `pauses.parquet`; the last three with a watchdog only.
pub const PAUSE_COLUMNS: [Column; 13] = [
    Column::new("from", "", "node that pauses"),
    Column::new(
        "to",
        "",
        "switch, or host with a ring, that asks for the pauses",
    ),
    Column::new(
        "class",
        "",
        "class; 0 for all together if links pause as a whole",
    ),
    Column::new(
        "sent",
        "",
        "pause frames that the switch sent in the whole run, refreshed pauses among them",
    ),
    Column::new("received", "", "pause frames that arrived"),
    Column::new("resumes", "", "frames to resume that arrived"),
    Column::new(
        "paused_ps",
        "ps",
        "time for which the class was paused in the whole run",
    ),
    Column::new(
        "headroom",
        "byte",
        "headroom of link and class in the switch, as given or computed; 0 at a host",
    ),
    Column::new("headroom_used", "byte", "largest use of the headroom"),
    Column::new(
        "drops",
        "packet",
        "packets of the class that came over the link and found no room in the switch",
    ),
    Column::new(
        "storms",
        "",
        "storms that the watchdog detected; this and the next two only with `switch.pfc.watchdog`",
    ),
    Column::new("restored", "", "storms that have ended"),
    Column::new(
        "discarded",
        "packet",
        "packets to be sent over the link that the watchdog discarded",
    ),
];

/// Number of columns without a watchdog.
const PLAIN: usize = 10;

/// Pauses of a link in one direction and class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseCount {
    /// Node that pauses.
    pub from: String,
    /// Switch that asks for the pauses.
    pub to: String,
    /// Class.
    pub class: u32,
    /// Counts of the whole run.
    pub counts: ClassPauses,
    /// Storms of the class; `None` without a watchdog.
    pub storms: Option<Storms>,
}

/// Pauses of all links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PauseSummary {
    /// Pause frames that switches sent.
    pub sent: u64,
    /// Pause frames that arrived.
    pub received: u64,
    /// Sum of the times for which a class of a link was paused, us.
    pub paused_us: f64,
    /// Longest of these times, us.
    pub max_paused_us: f64,
    /// Largest share of a headroom in use.
    pub max_headroom_use: f64,
    /// Lossless packets that found no room in a switch.
    pub drops: u64,
    /// What the watchdog did, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<WatchdogSummary>,
}

/// What the watchdog of all switches did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WatchdogSummary {
    /// Storms that it detected.
    pub storms: u64,
    /// Storms that have ended.
    pub restored: u64,
    /// Packets that it discarded.
    pub discarded: u64,
    /// Deadlocks.
    pub deadlocks: u64,
    /// Sum of the times of the deadlocks, us.
    pub locked_us: f64,
}

impl PauseSummary {
    /// Totals of these links; `None` without any. With a watchdog there are deadlocks.
    pub fn of(rows: &[PauseCount], locks: Option<Locks>) -> Option<Self> {
        let mut all = PauseSummary {
            watchdog: locks.map(|locks| WatchdogSummary {
                deadlocks: locks.found,
                locked_us: locks.locked_ps as f64 * 1e-6,
                ..WatchdogSummary::default()
            }),
            ..PauseSummary::default()
        };
        for PauseCount { counts, storms, .. } in rows {
            let paused_us = counts.paused_ps as f64 * 1e-6;
            let used = counts.most_in_headroom_bytes as f64;
            all.sent += counts.sent;
            all.received += counts.received;
            all.paused_us += paused_us;
            all.max_paused_us = all.max_paused_us.max(paused_us);
            let share = used / counts.headroom_bytes.max(1) as f64;
            all.max_headroom_use = all.max_headroom_use.max(share);
            all.drops += counts.drops;
            if let (Some(watchdog), Some(storms)) = (&mut all.watchdog, storms) {
                watchdog.storms += storms.detected;
                watchdog.restored += storms.restored;
                watchdog.discarded += storms.discarded;
            }
        }
        (!rows.is_empty()).then_some(all)
    }
}

/// Writes `pauses.parquet`.
pub fn write(rows: &[PauseCount], path: &Path) -> io::Result<()> {
    let text = |get: fn(&PauseCount) -> &String| {
        Values::Strings(rows.iter().map(|row| get(row).clone()).collect())
    };
    let long = |get: fn(&ClassPauses) -> u64| Values::long(rows, |row| get(&row.counts));
    let of_watchdog =
        |get: fn(&Storms) -> u64| Values::long(rows, |row| row.storms.as_ref().map_or(0, get));
    let values = [
        text(|row| &row.from),
        text(|row| &row.to),
        Values::short(rows, |row| row.class),
        long(|counts| counts.sent),
        long(|counts| counts.received),
        long(|counts| counts.resumes),
        long(|counts| counts.paused_ps),
        long(|counts| counts.headroom_bytes),
        long(|counts| counts.most_in_headroom_bytes),
        long(|counts| counts.drops),
        of_watchdog(|storms| storms.detected),
        of_watchdog(|storms| storms.restored),
        of_watchdog(|storms| storms.discarded),
    ];
    let has_watchdog = rows.iter().any(|row| row.storms.is_some());
    let count = if has_watchdog { values.len() } else { PLAIN };
    parquet_file::write(path, &PAUSE_COLUMNS[..count], &values[..count], rows.len())
}
