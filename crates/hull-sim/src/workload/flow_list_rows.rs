//! The rows of a flow list, parsed from a file's cells: the columns, the form of a cell, and the
//! messages about invalid ones.

use std::collections::HashMap;

use super::flow_chains::{Chained, Shared, rows_named};
use super::flow_list::ListedFlow;
use super::flow_pins::PinReader;
use super::{DEFAULT_TRANSPORT, Groups, HostNames, MAX_FLOW_BYTES, OTHER_GROUP};
use crate::limits;
use crate::quote;

/// Names of the required columns.
pub(super) const COLUMNS: [&str; 4] = ["start_ps", "src", "dst", "bytes"];

/// Names of the optional columns, which may have empty cells.
pub(super) const TRANSPORT: &str = "transport";
pub(super) const GROUP: &str = "group";
pub(super) const AFTER: &str = "after";
pub(super) const REUSE: &str = "reuse";
pub(super) const VIA: &str = "via";

/// Longest label of a group, characters.
const LONGEST_LABEL: usize = 100;

/// Latest start time, ps: 1,000,000 s.
const LATEST_PS: u64 = 1_000_000_000_000_000_000;

/// Parsed row.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub flow: ListedFlow,
    /// Numbers of transport and group, if the list has these columns.
    pub transport: Option<u16>,
    pub group: Option<u16>,
    /// Dependencies and connection, if the list has a column `after` or `reuse`.
    pub chained: Option<Chained>,
    /// Switch that the flow must pass, if the list has a column `via` and the cell is not empty.
    pub via: Option<Option<u32>>,
}

/// Problem of a cell: its column and the message.
pub(super) type CellProblem = (&'static str, String);

/// Cell: a number, or a text as in the file.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cell<'a> {
    Number(i128),
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

/// Value per used column: its index in the header, or its cell in a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Columns<T> {
    /// Values of the columns in [`COLUMNS`].
    pub needed: [T; 4],
    /// Value of the column [`TRANSPORT`].
    pub transport: Option<T>,
    /// Value of the column [`GROUP`].
    pub group: Option<T>,
    /// Value of the column [`AFTER`].
    pub after: Option<T>,
    /// Value of the column [`REUSE`].
    pub reuse: Option<T>,
    /// Value of the column [`VIA`].
    pub via: Option<T>,
}

impl<T> Columns<T> {
    /// Applies `of` to the value of each column.
    pub fn map<U>(self, mut of: impl FnMut(T) -> U) -> Columns<U> {
        Columns {
            needed: self.needed.map(&mut of),
            transport: self.transport.map(&mut of),
            group: self.group.map(&mut of),
            after: self.after.map(&mut of),
            reuse: self.reuse.map(&mut of),
            via: self.via.map(of),
        }
    }

    /// Values with the names of their columns.
    pub fn named(self) -> impl Iterator<Item = (&'static str, T)> {
        let needed = COLUMNS.into_iter().zip(self.needed);
        needed
            .chain(self.transport.map(|of| (TRANSPORT, of)))
            .chain(self.group.map(|of| (GROUP, of)))
            .chain(self.after.map(|of| (AFTER, of)))
            .chain(self.reuse.map(|of| (REUSE, of)))
            .chain(self.via.map(|of| (VIA, of)))
    }
}

/// Finds the columns in a header with these names.
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
        via: at_most_once(VIA)?,
    })
}

/// Parser of rows.
pub(super) struct RowReader<'a> {
    hosts: &'a HostNames,
    names: HashMap<&'a [u8], u32>,
    /// Whether a text of digits may be a name, and whether all hosts are called as nodes are: n17.
    names_are_numbers: bool,
    names_are_nodes: bool,
    transports: &'a [String],
    pub group_names: Vec<String>,
    /// Numbers of the groups by name.
    group_numbers: HashMap<String, u16>,
    pub shared: Shared,
    pins: PinReader,
}

impl<'a> RowReader<'a> {
    /// Creates a parser for a list between `hosts`, with the groups of `groups` and further labels.
    pub fn new(hosts: &'a HostNames, transports: &'a [String], groups: &Groups) -> Self {
        let names: HashMap<_, _> = hosts.names.iter().map(String::as_bytes).zip(0..).collect();
        let group_names = groups.names().to_vec();
        RowReader {
            hosts,
            names_are_numbers: names.keys().any(|name| digits(name).is_some()),
            names_are_nodes: (names.keys())
                .all(|name| name.strip_prefix(b"n").and_then(digits).is_some()),
            names,
            transports,
            group_numbers: group_names.iter().cloned().zip(1..).collect(),
            group_names,
            shared: Shared::default(),
            pins: PinReader::default(),
        }
    }

    /// Number of the host that is the node with this id: the host of that name if all are called as nodes
    /// are, otherwise the host of that number.
    pub fn host_of_node(&self, id: &str) -> Option<u32> {
        let number = digits(id.as_bytes())?;
        match self.names_are_nodes {
            true => self.names.get(format!("n{number}").as_bytes()).copied(),
            false => u32::try_from(number)
                .ok()
                .filter(|&host| host < self.hosts.count()),
        }
    }

    /// Parses a row.
    pub fn row(&mut self, cells: Columns<Cell<'_>>) -> Result<Row, CellProblem> {
        let flow = self.flow(cells.needed)?;
        let transport = cells.transport.map(|cell| self.transport(cell));
        let transport = transport.transpose()?;
        let group = cells.group.map(|cell| self.group(cell)).transpose()?;
        let via = cells.via.map(|cell| self.via(cell, &flow)).transpose()?;
        let chained = match (cells.after, cells.reuse) {
            (None, None) => None,
            (after, reuse) => {
                let after = after.map_or(Ok(Vec::new()), |cell| rows_named(&whole(cell)))?;
                let label = reuse.map(whole).filter(|label| !label.is_empty());
                let number = |label: String| {
                    let alike = (transport.unwrap_or(0), via.flatten());
                    (self.shared).number(&label, &flow, alike)
                };
                let connection = label.map(number).transpose()?;
                Some(Chained { after, connection })
            }
        };
        Ok(Row {
            flow,
            transport,
            group,
            chained,
            via,
        })
    }

    /// Number of the transport that a cell names; an empty cell means `[transport]`.
    fn transport(&self, cell: Cell<'_>) -> Result<u16, CellProblem> {
        let found = match cell.text() {
            Some("" | DEFAULT_TRANSPORT) => Some(0),
            Some(name) => self
                .transports
                .iter()
                .position(|known| known == name)
                .map(|index| 1 + index as u16),
            None => None,
        };
        found.ok_or_else(|| {
            let known = self.transports.iter().map(String::as_str);
            let known = Vec::from_iter(std::iter::once(DEFAULT_TRANSPORT).chain(known));
            let problem = format!(
                "{} is invalid; expected one of [transports], {}, or an empty cell",
                shown(cell),
                known.join(", ")
            );
            (TRANSPORT, problem)
        })
    }

    /// Number of the group that a cell names; 0 for an empty cell.
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
            format!("at most {} groups, including [groups]", limits::GROUPS)
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

    /// Number of the switch that a cell names; an empty cell names none.
    fn via(&mut self, cell: Cell<'_>, flow: &ListedFlow) -> Result<Option<u32>, CellProblem> {
        (self.pins).read(cell.text(), || shown(cell), flow, self.hosts)
    }

    /// Parses a flow from its cells, in the order of [`COLUMNS`].
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
            Cell::Text(text) => match digits(text).filter(|_| !self.names_are_numbers) {
                Some(value) => number(value),
                None => {
                    let named = self.names.get(text).copied();
                    named.or_else(|| digits(text).and_then(number))
                }
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

/// Parses a text of digits.
fn digits(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Cell as text.
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
