//! Flow completion times: one row for each message (a response, a flow) that began in the measured time
//! and whose completion time is of interest.

use std::io;
use std::path::PathBuf;

use indexmap::IndexMap;
use serde::Serialize;

use super::distribution::{Distribution, LowerBounds};
use super::parquet_file::{Column, Values};
use super::sketch::Sketch;
use super::slowdown::{SlowdownSummary, Slowdowns};
use super::table_log::{Names, Row, TableLog};
use crate::memory::block_of;
use crate::workload::{Acked, FlowRecord, NO_CONNECTION};

/// Columns of `flows.parquet`.
pub const FLOW_COLUMNS: [Column; 13] = [
    Column::new(
        "start_ps",
        "ps",
        "simulated time of the request or the flow's start",
    ),
    Column::new(
        "fct_ps",
        "ps",
        "flow completion time: until the last byte was delivered",
    ),
    Column::new(
        "acked_ps",
        "ps",
        "time from the start until the sender received the acknowledgment of the last byte; null if the \
         run ended first",
    ),
    Column::new(
        "bytes",
        "byte",
        "bytes of the response or flow, without headers",
    ),
    Column::new("class", "", "size class, such as \"10MB\""),
    Column::new("src", "", "number of the sending host"),
    Column::new("dst", "", "number of the receiving host"),
    Column::new(
        "connection",
        "",
        "number of the persistent connection; null for a flow of its own",
    ),
    Column::new("timeouts", "", "retransmission timeouts of the flow"),
    Column::new(
        "ideal_ps",
        "ps",
        "completion time in an otherwise empty network, without limits of window and pacing; null if no \
         route was left, and in results of a real network",
    ),
    Column::new("slowdown", "", "`fct_ps` over `ideal_ps`"),
    Column::new(
        "transport",
        "",
        "transport of the flow; present only if a scenario has several",
    ),
    Column::new(
        "group",
        "",
        "group of the flow, `other` for none; present only if a scenario or its flow list has groups",
    ),
];

/// Completed flows of a run, in the order of completion.
#[derive(Debug)]
pub struct FlowLog {
    sketches: Vec<Sketch>,
    /// Times until the last acknowledgment.
    acked: Vec<Sketch>,
    slowdowns: Slowdowns,
    bytes: Vec<u64>,
    /// Number of flows that did not complete.
    unfinished: Vec<u64>,
    /// Log of each transport, if there are several.
    of_transports: Vec<FlowLog>,
    /// Log of each group, if there are groups.
    of_groups: Vec<FlowLog>,
    table: TableLog<FlowRecord>,
}

/// Flow in a log, without its transport.
#[derive(Clone, Copy, Debug)]
pub struct LoggedFlow {
    /// Row number.
    pub row: u64,
    /// Index of the size class.
    pub class: u16,
    /// Index of the group.
    pub group: u16,
}

/// Acknowledgment of a flow's last byte.
#[derive(Clone, Copy, Debug)]
pub struct AckedFlow {
    /// The flow.
    pub flow: LoggedFlow,
    /// Number of its transport.
    pub transport: u16,
    /// Time since its start, ps.
    pub after_ps: u64,
}

/// Completion times of one size class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassSummary {
    /// Name of the class: its size, such as `"10MB"`, or its bounds.
    pub class: String,
    /// Total bytes of the flows.
    pub bytes: u64,
    /// Number of completed flows.
    pub count: usize,
    /// Number of flows that started and did not complete.
    pub unfinished: u64,
    /// Completion times.
    #[serde(flatten)]
    pub fct: Option<Distribution>,
    /// Statistics that the unfinished flows could change, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<LowerBounds>,
    /// Times from the start until the sender received the acknowledgment of the last byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub acked: Option<AckedSummary>,
}

/// Results of one group of flows.
#[derive(Clone, Debug, Serialize)]
pub struct GroupSummary {
    /// Completion times by size class.
    pub fct: Vec<ClassSummary>,
    /// Slowdowns by size class.
    pub slowdown: Vec<SlowdownSummary>,
}

/// Completion times of a size class, measured at the senders.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct AckedSummary {
    /// Number of flows whose last byte was acknowledged before the run ended.
    pub count: usize,
    /// Times until that acknowledgment.
    #[serde(flatten)]
    pub time: Option<Distribution>,
    /// Statistics that the other flows could change, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<LowerBounds>,
}

impl FlowLog {
    /// Creates a log for flows of these size classes. With a path, rows are written to that file
    /// during the run.
    pub fn new(classes: Vec<String>, path: Option<PathBuf>) -> Self {
        FlowLog {
            sketches: classes.iter().map(|_| Sketch::default()).collect(),
            acked: classes.iter().map(|_| Sketch::default()).collect(),
            slowdowns: Slowdowns::new(classes.len()),
            bytes: vec![0; classes.len()],
            unfinished: vec![0; classes.len()],
            of_transports: Vec::new(),
            of_groups: Vec::new(),
            table: TableLog::new(classes, path),
        }
    }

    /// Memory of a log with this number of size classes, without samples, bytes.
    pub fn bytes(classes: usize) -> u64 {
        let of_sketches = 3 * block_of::<Sketch>(classes) + block_of::<u64>(classes);
        size_of::<FlowLog>() as u64 + of_sketches
    }

    /// Adds logs for several transports.
    pub fn of_transports(mut self, transports: Vec<String>) -> Self {
        self.of_transports = transports.iter().map(|_| self.empty()).collect();
        self.table = self.table.of_transports(transports);
        self
    }

    /// Adds logs for several groups.
    pub fn of_groups(mut self, groups: Vec<String>) -> Self {
        self.of_groups = groups.iter().map(|_| self.empty()).collect();
        self.table = self.table.of_groups(groups);
        self
    }

    /// Creates a log with the same classes that keeps no rows.
    fn empty(&self) -> FlowLog {
        let mut log = FlowLog::new(self.classes().to_vec(), None);
        log.discard();
        log
    }

    /// Logs of a transport and of a group.
    fn parts(&mut self, transport: u16, group: u16) -> impl Iterator<Item = &mut FlowLog> {
        let of_transport = self.of_transports.get_mut(usize::from(transport));
        let of_group = self.of_groups.get_mut(usize::from(group));
        of_transport.into_iter().chain(of_group)
    }

    /// Adds a completed flow and returns its row number.
    pub fn push(&mut self, record: FlowRecord) -> u64 {
        for log in self.parts(record.transport, record.group) {
            log.push(record);
        }
        let class = usize::from(record.class);
        self.sketches[class].add(record.fct_ps);
        self.slowdowns.add(&record);
        self.bytes[class] += record.bytes;
        self.table.push(record)
    }

    /// Counts a flow that has not completed at the end of the run.
    pub fn count_unfinished(&mut self, record: &FlowRecord) {
        for log in self.parts(record.transport, record.group) {
            log.count_unfinished(record);
        }
        self.unfinished[usize::from(record.class)] += 1;
    }

    /// Records that the last byte of a flow was acknowledged.
    pub fn acknowledged(&mut self, acked: AckedFlow) {
        let AckedFlow {
            flow,
            transport,
            after_ps,
        } = acked;
        for log in self.parts(transport, flow.group) {
            log.acknowledged(acked);
        }
        self.acked[usize::from(flow.class)].add(after_ps);
        if let Some(record) = self.table.row_mut(flow.row) {
            record.acked = Acked::After(after_ps);
        }
    }

    /// Discards rows from now on; only the summary is kept.
    pub fn discard(&mut self) {
        self.table.discard();
    }

    /// Rows in memory: all rows if there is no file.
    pub fn rows(&self) -> &[FlowRecord] {
        self.table.rows()
    }

    /// Takes the rows in memory.
    pub(crate) fn take_rows(&mut self) -> Vec<FlowRecord> {
        self.table.take_rows()
    }

    /// Names of the size classes.
    pub(crate) fn classes(&self) -> &[String] {
        &self.table.names().names
    }

    /// Completion times by size class.
    pub fn summary(&self) -> Vec<ClassSummary> {
        let of_class = |(i, class): (usize, &String)| {
            let (times, acked) = (&self.sketches[i], &self.acked[i]);
            let unfinished = self.unfinished[i] as usize;
            let unacked = times.count() + unfinished - acked.count();
            let (fct, lower_bound) = times.durations(unfinished);
            let (time, acked_bound) = acked.durations(unacked);
            ClassSummary {
                class: class.clone(),
                bytes: self.bytes[i],
                count: times.count(),
                unfinished: self.unfinished[i],
                fct,
                lower_bound,
                acked: Some(AckedSummary {
                    count: acked.count(),
                    time,
                    lower_bound: acked_bound,
                }),
            }
        };
        self.classes().iter().enumerate().map(of_class).collect()
    }

    /// Slowdowns by size class.
    pub fn slowdowns(&self) -> Vec<SlowdownSummary> {
        self.slowdowns.summary(self.classes(), &self.unfinished)
    }

    /// Names of the transports, if there are several.
    pub fn transports(&self) -> &[String] {
        &self.table.names().transports
    }

    /// Log of each transport, if there are several.
    pub fn by_transport(&self) -> &[FlowLog] {
        &self.of_transports
    }

    /// Results of each group, if there are groups.
    pub fn groups(&self) -> IndexMap<String, GroupSummary> {
        let summary = |flows: &FlowLog| GroupSummary {
            fct: flows.summary(),
            slowdown: flows.slowdowns(),
        };
        let names = self.table.names().groups.iter().cloned();
        names.zip(self.of_groups.iter().map(summary)).collect()
    }

    /// Completes the file. Returns the first error since the log was created.
    pub fn close(&mut self) -> io::Result<()> {
        self.table.close()
    }
}

impl Row for FlowRecord {
    const COLUMNS: &'static [Column] = &FLOW_COLUMNS;

    fn is_open(&self) -> bool {
        self.acked == Acked::Pending
    }

    fn has(column: &Column, names: &Names) -> bool {
        match column.name {
            "transport" => !names.transports.is_empty(),
            "group" => !names.groups.is_empty(),
            _ => true,
        }
    }

    fn values(rows: &[Self], names: &Names) -> Vec<Values> {
        let connection = |row: &FlowRecord| {
            (row.connection != NO_CONNECTION).then_some(i64::from(row.connection))
        };
        let acked = |row: &FlowRecord| match row.acked {
            Acked::After(ps) => Some(ps as i64),
            Acked::Pending | Acked::Unknown => None,
        };
        let ideal = |row: &FlowRecord| row.ideal_ps.map(|ps| ps as i64);
        let mut values = vec![
            Values::long(rows, |row| row.start_ps),
            Values::long(rows, |row| row.fct_ps),
            Values::Optional(rows.iter().map(acked).collect()),
            Values::long(rows, |row| row.bytes),
            Values::Text(
                rows.iter().map(|row| usize::from(row.class)).collect(),
                names.names.clone(),
            ),
            Values::short(rows, |row| row.src),
            Values::short(rows, |row| row.dst),
            Values::Optional(rows.iter().map(connection).collect()),
            Values::short(rows, |row| u32::from(row.timeouts)),
            Values::Optional(rows.iter().map(ideal).collect()),
            Values::OptionalDouble(rows.iter().map(FlowRecord::slowdown).collect()),
        ];
        let mut text = |names: &[String], of: fn(&Self) -> u16| {
            if !names.is_empty() {
                let indices = rows.iter().map(|row| usize::from(of(row))).collect();
                values.push(Values::Text(indices, names.to_vec()));
            }
        };
        text(&names.transports, |row| row.transport);
        text(&names.groups, |row| row.group);
        values
    }
}
