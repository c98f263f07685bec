//! A list of flows from a CSV or Parquet file with the columns `start_ps`, `src`, `dst`, `bytes`,
//! in any order and with others beside them, which are not read: the `flows.parquet` of a run is
//! such a list. Hosts are named by number or by name. Times are ps from the start of the run.
//!
//! The rows need not be sorted; those with the same start keep their order. 24 bytes a flow.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};

use super::{HostNames, flow_list_csv, flow_list_parquet};
use crate::quote;
use crate::scenario::MAX_FLOW_BYTES;

/// Names of the columns.
pub(super) const COLUMNS: [&str; 4] = ["start_ps", "src", "dst", "bytes"];

/// The latest start, ps: 10^18, a million seconds.
const LATEST_PS: u64 = 1_000_000_000_000_000_000;

/// A row of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// When it starts, ps.
    pub start_ps: u64,
    /// Bytes.
    pub bytes: u64,
    /// Number of the sending host.
    pub src: u32,
    /// Number of the receiving host.
    pub dst: u32,
}

/// Flows in the order of their starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowList {
    flows: Vec<ListedFlow>,
}

/// What is wrong with a cell: its column and the problem.
pub(super) type CellProblem = (&'static str, String);

/// A cell: a number, or a text as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Number(i64),
    Text(&'a [u8]),
}

impl FlowList {
    /// Reads the file at `path`. The error names file, line (or row, from 1, of a Parquet file) and
    /// column.
    pub fn read(path: &str, hosts: &HostNames) -> Result<Self, String> {
        let in_file = |problem: String| format!("{}: {problem}", quote::name(path));
        let cannot = |error: std::io::Error| {
            format!(
                "found {} ({}); expected a table of flows or the path of a CSV or Parquet file",
                quote::text(path),
                quote::reason(&error)
            )
        };
        let mut file = File::open(path).map_err(cannot)?;
        let mut magic = [0; 4];
        let parquet = match file.read_exact(&mut magic) {
            Ok(()) => &magic == b"PAR1",
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => false,
            Err(error) => return Err(cannot(error)),
        };
        file.rewind().map_err(cannot)?;
        let rows = RowReader::new(hosts);
        let mut flows = if parquet {
            flow_list_parquet::read(file, &rows).map_err(in_file)?
        } else {
            flow_list_csv::read(file, &rows).map_err(in_file)?
        };
        if flows.is_empty() {
            return Err(in_file("found no flows; expected at least one".to_owned()));
        }
        flows.sort_by_key(|flow| flow.start_ps);
        flows.shrink_to_fit();
        Ok(FlowList { flows })
    }

    /// The flows.
    pub fn into_flows(self) -> Vec<ListedFlow> {
        self.flows
    }
}

/// Where the columns are in a header with these names.
pub(super) fn places(header: &[String]) -> Result<[usize; 4], String> {
    let mut places = [0; 4];
    for (place, column) in places.iter_mut().zip(COLUMNS) {
        let mut found = (0..header.len()).filter(|&index| header[index] == column);
        let problem = match (found.next(), found.next()) {
            (Some(only), None) => {
                *place = only;
                continue;
            }
            (None, _) => "missing",
            (Some(_), Some(_)) => "repeated",
        };
        return Err(format!(
            "header: {} is invalid; expected each of {} once, but {column} is {problem}",
            quote::text(&header.join(",")),
            COLUMNS.join(",")
        ));
    }
    Ok(places)
}

/// Rows from cells.
pub(super) struct RowReader<'a> {
    hosts: &'a HostNames,
    names: HashMap<&'a [u8], u32>,
}

impl<'a> RowReader<'a> {
    fn new(hosts: &'a HostNames) -> Self {
        let names = hosts.names.iter().map(String::as_bytes).zip(0..).collect();
        RowReader { hosts, names }
    }

    /// A row from its cells, in the order of [`COLUMNS`].
    pub fn row(&self, [start, src, dst, bytes]: [Cell<'_>; 4]) -> Result<ListedFlow, CellProblem> {
        let flow = ListedFlow {
            start_ps: integer("start_ps", start, 0, LATEST_PS)?,
            src: self.host("src", src)?,
            dst: self.host("dst", dst)?,
            bytes: integer("bytes", bytes, 1, MAX_FLOW_BYTES)?,
        };
        if flow.src == flow.dst {
            return Err((
                "dst",
                format!("found the source {}; expected another host", shown(dst)),
            ));
        }
        Ok(flow)
    }

    fn host(&self, column: &'static str, cell: Cell<'_>) -> Result<u32, CellProblem> {
        let count = self.hosts.count();
        let number = |number: u64| u32::try_from(number).ok().filter(|&host| host < count);
        let found = match cell {
            Cell::Number(value) => u64::try_from(value).ok().and_then(number),
            Cell::Text(text) => match self.names.get(text) {
                Some(&host) => Some(host),
                None => digits(text).and_then(number),
            },
        };
        found.ok_or_else(|| {
            let last = count.saturating_sub(1);
            let name = quote::name(self.hosts.names.last().map_or("", String::as_str));
            (
                column,
                format!(
                    "{} is invalid; expected a host by number, 0 to {last}, or by name, such as {name}",
                    shown(cell)
                ),
            )
        })
    }
}

fn integer(
    column: &'static str,
    cell: Cell<'_>,
    least: u64,
    most: u64,
) -> Result<u64, CellProblem> {
    let value = match cell {
        Cell::Number(value) => u64::try_from(value).ok(),
        Cell::Text(text) => digits(text),
    };
    value
        .filter(|value| (least..=most).contains(value))
        .ok_or_else(|| {
            (
                column,
                format!(
                    "{} is invalid; expected an integer from {least} to {most}",
                    shown(cell)
                ),
            )
        })
}

/// The number that a text of digits is.
fn digits(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => quote::text(&String::from_utf8_lossy(text)),
    }
}
