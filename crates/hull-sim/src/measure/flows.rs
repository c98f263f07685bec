//! Flow completion times: one row for each request (or bulk flow) that began in the measured time.

use std::io;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, Int64Array, StringArray};
use arrow_schema::DataType;
use serde::Serialize;

use super::distribution::Distribution;
use super::parquet_file::{self, Column};
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
        let column = |name, data_type, unit, doc| Column {
            name,
            data_type,
            nullable: false,
            unit,
            doc,
        };
        let columns = [
            column(
                "start_ps",
                DataType::Int64,
                "ps",
                "simulated time of the request",
            ),
            column(
                "fct_ps",
                DataType::Int64,
                "ps",
                "time until the last byte was delivered",
            ),
            column("bytes", DataType::Int64, "B", "bytes of the response"),
            column("class", DataType::Utf8, "", "size class"),
            column("src", DataType::Int32, "", "host that sends the response"),
            column("dst", DataType::Int32, "", "host that receives it"),
            column(
                "connection",
                DataType::Int32,
                "",
                "number of the connection",
            ),
        ];
        let names: Vec<String> = self.classes.iter().map(Size::to_string).collect();
        let rows = &self.records;
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|r| r.start_ps as i64),
            )),
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|r| r.fct_ps as i64),
            )),
            Arc::new(Int64Array::from_iter_values(
                rows.iter().map(|r| self.classes[r.class].0 as i64),
            )),
            Arc::new(StringArray::from_iter_values(
                rows.iter().map(|r| &names[r.class]),
            )),
            Arc::new(Int32Array::from_iter_values(
                rows.iter().map(|r| i32::from(r.src)),
            )),
            Arc::new(Int32Array::from_iter_values(
                rows.iter().map(|_| i32::from(dst)),
            )),
            Arc::new(Int32Array::from_iter_values(
                rows.iter().map(|r| r.connection as i32),
            )),
        ];
        parquet_file::write(path, &columns, arrays)
    }
}
