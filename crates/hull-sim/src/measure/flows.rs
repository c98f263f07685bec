//! Flow completion times: one row for each request (or bulk flow) that began in the measured time.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::distribution::Distribution;
use super::parquet_file::{self, Column, Values};
use crate::units::Size;

/// A completed request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowRecord {
    /// When it was asked for, ps.
    pub start_ps: u64,
    /// Until its last byte was delivered, ps.
    pub fct_ps: u64,
    /// Size class, an index.
    pub class: usize,
    /// Sending host.
    pub src: u16,
    /// Connection number.
    pub connection: u32,
}

/// The columns of `flows.parquet`.
pub const FLOW_COLUMNS: [Column; 7] = [
    Column::new("start_ps", "ps", "simulated time of the request"),
    Column::new(
        "fct_ps",
        "ps",
        "flow completion time: until the last byte was delivered",
    ),
    Column::new("bytes", "byte", "bytes of the response, without headers"),
    Column::new("class", "", "size class, as \"10MB\""),
    Column::new("src", "", "number of the host that sends the response"),
    Column::new("dst", "", "number of the host that receives it"),
    Column::new("connection", "", "number of the connection"),
];

/// All completed requests of a run, in the order of their completion.
#[derive(Debug)]
pub struct FlowLog {
    classes: Vec<Size>,
    records: Vec<FlowRecord>,
}

/// The completion times of one size class.
#[derive(Clone, Debug, Serialize)]
pub struct ClassSummary {
    /// The class by its size, `"10MB"`.
    pub class: String,
    /// Response bytes.
    pub bytes: u64,
    /// Completed requests.
    pub count: usize,
    /// Completion times.
    #[serde(flatten)]
    pub fct: Option<Distribution>,
}

impl FlowLog {
    /// For responses of these sizes.
    pub fn new(classes: Vec<Size>) -> Self {
        FlowLog {
            classes,
            records: Vec::new(),
        }
    }

    /// Adds a completed request.
    pub fn push(&mut self, record: FlowRecord) {
        self.records.push(record);
    }

    /// The requests so far.
    pub fn records(&self) -> &[FlowRecord] {
        &self.records
    }

    /// Completion times by size class.
    pub fn summary(&self) -> Vec<ClassSummary> {
        let of_class = |(i, size): (usize, &Size)| {
            let mut times: Vec<i64> = self
                .records
                .iter()
                .filter(|record| record.class == i)
                .map(|record| record.fct_ps as i64)
                .collect();
            ClassSummary {
                class: size.to_string(),
                bytes: size.0,
                count: times.len(),
                fct: Distribution::of(&mut times),
            }
        };
        self.classes.iter().enumerate().map(of_class).collect()
    }

    /// Writes `flows.parquet`.
    pub fn write(&self, path: &Path, dst: u16) -> io::Result<()> {
        let names = self.classes.iter().map(Size::to_string).collect();
        let rows = &self.records;
        let long = |get: fn(&FlowRecord) -> u64| {
            Values::Int64(rows.iter().map(|row| get(row) as i64).collect())
        };
        let short =
            |get: &dyn Fn(&FlowRecord) -> i32| Values::Int32(rows.iter().map(get).collect());
        let bytes = rows
            .iter()
            .map(|row| self.classes[row.class].0 as i64)
            .collect();
        let class = rows.iter().map(|row| row.class).collect();
        let values = [
            long(|row| row.start_ps),
            long(|row| row.fct_ps),
            Values::Int64(bytes),
            Values::Text(class, names),
            short(&|row| i32::from(row.src)),
            short(&|_| i32::from(dst)),
            short(&|row| row.connection as i32),
        ];
        parquet_file::write(path, &FLOW_COLUMNS, &values, rows.len())
    }
}
