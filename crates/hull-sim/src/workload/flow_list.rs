//! A list of flows from a CSV or Parquet file with the columns `start_ps`, `src`, `dst`, `bytes`,
//! in any order and with others beside them, which are not read: the `flows.parquet` of a run is
//! such a list. A column `transport` may name one of `[transports]`; where it is empty, or `default`, the
//! flow has that of `[transport]`. A column `group` may have a label for each flow; where it is empty, or
//! `other`, the flow is of the first of `[groups]` that fits it. Columns `after` and `reuse` chain flows
//! ([`Chains`]). Hosts are named by number or by name. Times are ps from the start of
//! the run.
//!
//! The rows need not be sorted; those with the same start keep their order. 24 bytes a flow, 2 more for
//! each of the columns `transport` and `group` that is there, and 4 and more for `after` and `reuse`.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek};

use indexmap::IndexMap;

use super::flow_chains::{Chained, Chains, Shared, rows_named};
use super::{Groups, HostNames, flow_list_csv, flow_list_parquet};
use crate::limits;
use crate::quote;
use crate::scenario::{DEFAULT_TRANSPORT, MAX_FLOW_BYTES, OTHER_GROUP, Transport};

/// Names of the columns that must be there.
pub(super) const COLUMNS: [&str; 4] = ["start_ps", "src", "dst", "bytes"];

/// Names of the columns that may be there, with empty cells.
pub(super) const TRANSPORT: &str = "transport";
pub(super) const GROUP: &str = "group";
pub(super) const AFTER: &str = "after";
pub(super) const REUSE: &str = "reuse";

/// The longest label of a group, characters.
const LONGEST_LABEL: usize = 100;

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
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowList {
    flows: Vec<ListedFlow>,
    /// Number of each flow's transport; empty where the list has no such column.
    transports: Vec<u16>,
    /// Number of each flow's group, 0 where its cell is empty; no numbers where the list has no such column.
    groups: Vec<u16>,
    /// Names of the groups, from number 1: those of `[groups]`, then other labels in their order in the file.
    group_names: Vec<String>,
    /// What each row says of other rows, until the list is sorted; empty where the list has no such column.
    after: Vec<Vec<u32>>,
    chains: Chains,
    /// Number of each flow's persistent connection; empty where the list has no such column.
    connections: Vec<Option<u32>>,
    /// Ends and transport of each persistent connection.
    connection_ends: Vec<(u32, u32)>,
    connection_transports: Vec<u16>,
}

/// A row as it was read.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub flow: ListedFlow,
    /// Numbers, where the list has these columns.
    pub transport: Option<u16>,
    pub group: Option<u16>,
    /// Where it has one of the columns `after` and `reuse`.
    pub chained: Option<Chained>,
}

/// What is wrong with a cell: its column and the problem.
pub(super) type CellProblem = (&'static str, String);

/// A cell: a number, or a text as it stands in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Number(i64),
    Text(&'a [u8]),
}

impl<'a> Cell<'a> {
    fn text(self) -> Option<&'a str> {
        match self {
            Cell::Text(text) => std::str::from_utf8(text).ok(),
            Cell::Number(_) => None,
        }
    }
}

impl FlowList {
    /// Reads the file at `path`; flows are between `hosts`, by one of `transports`. A label that is none of
    /// `groups` is a further one. The error names file, line (or row, from 1, of a Parquet file) and column.
    pub fn read(
        path: &str,
        hosts: &HostNames,
        transports: &IndexMap<String, Transport>,
        groups: &Groups,
    ) -> Result<Self, String> {
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
        let mut rows = RowReader::new(hosts, transports, groups);
        let mut list = FlowList::default();
        if parquet {
            flow_list_parquet::read(file, &mut rows, &mut list).map_err(in_file)?;
        } else {
            flow_list_csv::read(file, &mut rows, &mut list).map_err(in_file)?;
        }
        list.group_names = rows.group_names;
        if list.flows.is_empty() {
            return Err(in_file("found no flows; expected at least one".to_owned()));
        }
        list.connection_ends = rows.shared.ends;
        list.connection_transports = rows.shared.transports;
        list.sort().map_err(in_file)?;
        list.flows.shrink_to_fit();
        list.transports.shrink_to_fit();
        list.groups.shrink_to_fit();
        Ok(list)
    }

    /// Adds a row.
    pub(super) fn push(&mut self, row: Row) {
        self.flows.push(row.flow);
        self.transports.extend(row.transport);
        self.groups.extend(row.group);
        if let Some(chained) = row.chained {
            self.after.push(chained.after);
            self.connections.push(chained.connection);
        }
    }

    /// By start.
    fn sort(&mut self) -> Result<(), String> {
        if self.transports.is_empty() && self.groups.is_empty() && self.after.is_empty() {
            self.flows.sort_by_key(|flow| flow.start_ps);
            return Ok(());
        }
        let mut order = Vec::from_iter(0..self.flows.len());
        order.sort_by_key(|&row| self.flows[row].start_ps);
        self.flows = order.iter().map(|&row| self.flows[row]).collect();
        for numbers in [&mut self.transports, &mut self.groups] {
            if !numbers.is_empty() {
                *numbers = order.iter().map(|&row| numbers[row]).collect();
            }
        }
        if !self.after.is_empty() {
            self.connections = order.iter().map(|&row| self.connections[row]).collect();
            let mut places = vec![0; order.len()];
            for (place, &row) in (0..).zip(&order) {
                places[row] = place;
            }
            self.chains = Chains::new(&std::mem::take(&mut self.after), &places)?;
        }
        Ok(())
    }

    /// The flows.
    pub fn flows(&self) -> &[ListedFlow] {
        &self.flows
    }

    /// Number of the transport of the flow in this place.
    pub fn transport(&self, index: usize) -> u16 {
        self.transports.get(index).copied().unwrap_or(0)
    }

    /// The transports that rows name, by number, each once.
    pub fn transports(&self) -> Vec<u16> {
        let mut numbers = self.transports.clone();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Number of the group that the row of the flow in this place names; 0 where it names none.
    pub fn group(&self, index: usize) -> u16 {
        self.groups.get(index).copied().unwrap_or(0)
    }

    /// Names of the groups, from number 1.
    pub fn group_names(&self) -> &[String] {
        &self.group_names
    }

    /// Which flows wait for others.
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// Number of the persistent connection of the flow in this place, where it has one.
    pub fn connection(&self, index: usize) -> Option<u32> {
        self.connections.get(index).copied().flatten()
    }

    /// The persistent connections' ends.
    pub fn connection_ends(&self) -> &[(u32, u32)] {
        &self.connection_ends
    }

    /// And the transport of one.
    pub fn connection_transport(&self, connection: usize) -> u16 {
        self.connection_transports[connection]
    }

    /// Leaves out what starts at `end_ps` or later; of a list in which flows wait for others nothing.
    pub fn cut(&mut self, end_ps: u64) {
        if !self.chains.is_empty() {
            return;
        }
        let count = self.flows.partition_point(|flow| flow.start_ps < end_ps);
        self.flows.truncate(count);
        self.transports.truncate(count);
        self.groups.truncate(count);
        self.connections.truncate(count);
    }
}

/// Something of each column that is read: its place in the header, or its cell in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<T> {
    /// Of those of [`COLUMNS`].
    pub needed: [T; 4],
    /// Of [`TRANSPORT`].
    pub transport: Option<T>,
    /// Of [`GROUP`].
    pub group: Option<T>,
    /// Of [`AFTER`].
    pub after: Option<T>,
    /// Of [`REUSE`].
    pub reuse: Option<T>,
}

impl<T> Columns<T> {
    /// The same columns with what `of` makes of each.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> Columns<U> {
        Columns {
            needed: self.needed.map(&mut of),
            transport: self.transport.map(&mut of),
            group: self.group.map(&mut of),
            after: self.after.map(&mut of),
            reuse: self.reuse.map(of),
        }
    }

    /// Each with the name of its column.
    pub fn named(self) -> impl Iterator<Item = (&'static str, T)> {
        let needed = COLUMNS.into_iter().zip(self.needed);
        needed
            .chain(self.transport.map(|of| (TRANSPORT, of)))
            .chain(self.group.map(|of| (GROUP, of)))
            .chain(self.after.map(|of| (AFTER, of)))
            .chain(self.reuse.map(|of| (REUSE, of)))
    }
}

/// Where the columns are in a header with these names.
pub(super) fn places(header: &[String]) -> Result<Columns<usize>, String> {
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
    let at_most_once = |column: &str| {
        let mut found = (0..header.len()).filter(|&index| header[index] == column);
        match (found.next(), found.next()) {
            (place, None) => Ok(place),
            (_, Some(_)) => Err(format!(
                "header: {} is invalid; expected {column} at most once",
                quote::text(&header.join(","))
            )),
        }
    };
    Ok(Columns {
        needed: places,
        transport: at_most_once(TRANSPORT)?,
        group: at_most_once(GROUP)?,
        after: at_most_once(AFTER)?,
        reuse: at_most_once(REUSE)?,
    })
}

/// Rows from cells.
pub(super) struct RowReader<'a> {
    hosts: &'a HostNames,
    names: HashMap<&'a [u8], u32>,
    transports: &'a IndexMap<String, Transport>,
    group_names: Vec<String>,
    /// By name.
    group_numbers: HashMap<String, u16>,
    shared: Shared,
}

impl<'a> RowReader<'a> {
    fn new(
        hosts: &'a HostNames,
        transports: &'a IndexMap<String, Transport>,
        groups: &Groups,
    ) -> Self {
        let names = hosts.names.iter().map(String::as_bytes).zip(0..).collect();
        let group_names = groups.names().to_vec();
        RowReader {
            hosts,
            names,
            transports,
            group_numbers: group_names.iter().cloned().zip(1..).collect(),
            group_names,
            shared: Shared::default(),
        }
    }

    /// A row from its cells.
    pub fn row(&mut self, cells: Columns<Cell<'_>>) -> Result<Row, CellProblem> {
        let flow = self.flow(cells.needed)?;
        let transport = cells.transport.map(|cell| self.transport(cell));
        let transport = transport.transpose()?;
        let group = cells.group.map(|cell| self.group(cell)).transpose()?;
        let chained = match (cells.after, cells.reuse) {
            (None, None) => None,
            (after, reuse) => {
                let after = after.map_or(Ok(Vec::new()), |cell| rows_named(&whole(cell)))?;
                let label = reuse.map(whole).filter(|label| !label.is_empty());
                let number =
                    |label: String| (self.shared).number(&label, &flow, transport.unwrap_or(0));
                let connection = label.map(number).transpose()?;
                Some(Chained { after, connection })
            }
        };
        Ok(Row {
            flow,
            transport,
            group,
            chained,
        })
    }

    /// Number of the transport that a cell names; an empty one is that of `[transport]`.
    fn transport(&self, cell: Cell<'_>) -> Result<u16, CellProblem> {
        let found = match cell.text() {
            Some("" | DEFAULT_TRANSPORT) => Some(0),
            Some(name) => self
                .transports
                .get_index_of(name)
                .map(|index| 1 + index as u16),
            None => None,
        };
        found.ok_or_else(|| {
            let known = self.transports.keys().map(String::as_str);
            let known = Vec::from_iter(std::iter::once(DEFAULT_TRANSPORT).chain(known));
            let problem = format!(
                "{} is invalid; expected one of [transports], {}, or an empty cell",
                shown(cell),
                known.join(", ")
            );
            (TRANSPORT, problem)
        })
    }

    /// Number of the group that a cell names; an empty one names none.
    fn group(&mut self, cell: Cell<'_>) -> Result<u16, CellProblem> {
        let is_label =
            |text: &&str| text.chars().count() <= LONGEST_LABEL && quote::plain(text) == **text;
        let Some(text) = cell.text() else {
            return Err((
                GROUP,
                format!("{} is invalid; expected a text", shown(cell)),
            ));
        };
        if text.is_empty() || text == OTHER_GROUP {
            return Ok(0);
        }
        if let Some(&number) = self.group_numbers.get(text) {
            return Ok(number);
        }
        let expected = if !is_label(&text) {
            format!("at most {LONGEST_LABEL} characters that can be seen, or an empty cell")
        } else if self.group_names.len() >= limits::GROUPS {
            format!(
                "at most {} groups, those of [groups] included",
                limits::GROUPS
            )
        } else {
            self.group_names.push(text.to_owned());
            let number = self.group_names.len() as u16;
            self.group_numbers.insert(text.to_owned(), number);
            return Ok(number);
        };
        Err((
            GROUP,
            format!("{} is invalid; expected {expected}", shown(cell)),
        ))
    }

    /// A flow from its cells, in the order of [`COLUMNS`].
    fn flow(&self, [start, src, dst, bytes]: [Cell<'_>; 4]) -> Result<ListedFlow, CellProblem> {
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

/// A cell as text.
fn whole(cell: Cell<'_>) -> String {
    match cell {
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => String::from_utf8_lossy(text).into_owned(),
    }
}

fn shown(cell: Cell<'_>) -> String {
    match cell {
        Cell::Number(value) => value.to_string(),
        Cell::Text(text) => quote::text(&String::from_utf8_lossy(text)),
    }
}
