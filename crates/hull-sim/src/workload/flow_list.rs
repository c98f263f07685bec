//! A list of flows from a file of HPCC's (`flow_list_hpcc`), or from a CSV or Parquet file with the columns
//! `start_ps`, `src`, `dst`, `bytes`, in
//! any order; other columns are ignored, so the `flows.parquet` of a run is such a list. An optional
//! column `transport` names one of `[transports]`; an empty cell or `default` selects `[transport]`. An
//! optional column `group` labels each flow; with an empty cell or `other`, the flow belongs to the
//! first matching one of `[groups]`. Columns `after` and `reuse` chain flows ([`Chains`]), a column `via`
//! names a switch that a flow's data must pass ([`Pins`]). Hosts are identified by number or by name. Times are ps from the start of the run.
//!
//! The rows need not be sorted; rows with the same start keep their order. A flow takes 24 bytes, 2
//! more for each of the columns `transport` and `group`, 4 for `via`, and 4 or more for `after` and `reuse`.

use std::fs::File;
use std::io::{Read, Seek};

use super::flow_chains::Chains;
use super::flow_list_rows::{Row, RowReader};
use super::flow_pins::Pins;
use super::{Groups, HostNames, flow_list_csv, flow_list_hpcc, flow_list_parquet};
use crate::compressed;
use crate::damaged::{DAMAGED, undamaged};
use crate::memory::{Estimate, Need, available, block_of};
use crate::quote;

/// Number of bytes that decide the format of a file.
const START_BYTES: u64 = 1000;

/// Number of flows from which a list is checked against the available memory when it grows.
const LONG: usize = 1 << 20;

/// Row of a flow list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedFlow {
    /// Start time, ps.
    pub start_ps: u64,
    /// Size, bytes.
    pub bytes: u64,
    /// Number of the sending host.
    pub src: u32,
    /// Number of the receiving host.
    pub dst: u32,
}

/// Flows that a list of HPCC's has behind those that it announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beyond {
    /// Number of announced flows.
    pub announced: u64,
    /// Line of the last announced flow.
    pub line: u64,
    /// Number of flows behind it.
    pub flows: u64,
}

/// Flows in the order of their start times.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowList {
    flows: Vec<ListedFlow>,
    /// Number of each flow's transport; empty if the list has no such column.
    transports: Vec<u16>,
    /// Number of each flow's group, 0 for an empty cell; empty if the list has no such column.
    groups: Vec<u16>,
    /// Names of the groups, from number 1: first `[groups]`, then the other labels in the order of
    /// the file.
    group_names: Vec<String>,
    /// Rows that each row waits for, until the list is sorted; empty if the list has no such
    /// column.
    after: Vec<Vec<u32>>,
    chains: Chains,
    /// Number of each flow's persistent connection; empty if the list has no such column.
    connections: Vec<Option<u32>>,
    /// Ends and transport of each persistent connection.
    connection_ends: Vec<(u32, u32)>,
    connection_transports: Vec<u16>,
    pins: Pins,
    /// Flows of the file that are not in the list.
    pub(super) beyond: Option<Beyond>,
}

impl FlowList {
    /// Reads the file at `path`. Flows are between `hosts`, each on one of `transports`; labels
    /// that are not in `groups` form further groups. An error names file, line (row from 1 in a
    /// Parquet file) and column.
    pub fn read(
        path: &str,
        hosts: &HostNames,
        transports: &[String],
        groups: &Groups,
    ) -> Result<Self, String> {
        let in_file = |problem: String| format!("{}: {problem}", quote::name(path));
        let cannot = |error: std::io::Error| {
            format!(
                "found {} ({}); expected a table of flows or the path of a CSV or Parquet file, or of a list of HPCC's",
                quote::text(path),
                quote::reason(&error)
            )
        };
        let mut file = File::open(path).map_err(cannot)?;
        let mut start = Vec::new();
        let mut beginning = file.by_ref().take(START_BYTES);
        beginning.read_to_end(&mut start).map_err(cannot)?;
        if let Some(told) = compressed::told(&start) {
            return Err(format!("{} {told}", quote::name(path)));
        }
        file.rewind().map_err(cannot)?;
        let mut rows = RowReader::new(hosts, transports, groups);
        let mut list = FlowList::default();
        if start.starts_with(b"PAR1") {
            let read = undamaged(|| flow_list_parquet::read(file, &mut rows, &mut list));
            read.unwrap_or_else(|| Err(DAMAGED.to_owned()))
                .map_err(in_file)?;
        } else if flow_list_hpcc::is_of(&start) {
            flow_list_hpcc::read(file, &mut rows, &mut list).map_err(in_file)?;
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

    /// Adds a row. Fails if the list needs more memory than is available.
    pub(super) fn push(&mut self, row: Row) -> Result<(), String> {
        let flows = self.flows.len();
        if flows >= LONG && flows == self.flows.capacity() {
            // The longer list and the present one, until it is copied.
            let needed = 3 * block_of::<ListedFlow>(flows);
            let need = Need::new("", format!("more than {flows} flows"), needed);
            let checked =
                available().and_then(|left| Estimate::new(vec![need]).check(left.as_ref()));
            checked.map_err(|problem| <(String, String)>::from(problem).1)?;
        }
        self.flows.push(row.flow);
        self.transports.extend(row.transport);
        self.groups.extend(row.group);
        if let Some(via) = row.via {
            let connection = row.chained.as_ref().and_then(|of| of.connection);
            self.pins.push(via, connection);
        }
        if let Some(chained) = row.chained {
            self.after.push(chained.after);
            self.connections.push(chained.connection);
        }
        Ok(())
    }

    /// Sorts the rows by start time.
    fn sort(&mut self) -> Result<(), String> {
        let has_others = !(self.after.is_empty() && self.pins.is_empty());
        if self.transports.is_empty() && self.groups.is_empty() && !has_others {
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
        self.pins.sort(&order);
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

    /// Memory of the flows, bytes.
    pub fn heap_bytes(&self) -> u64 {
        block_of::<ListedFlow>(self.flows.len())
            + block_of::<u16>(self.transports.len())
            + block_of::<u16>(self.groups.len())
            + block_of::<Option<u32>>(self.connections.len())
            + self.chains.heap_bytes()
            + self.pins.heap_bytes()
    }

    /// Flows in the order of their start times.
    pub fn flows(&self) -> &[ListedFlow] {
        &self.flows
    }

    /// Number of the transport of the flow at this index.
    pub fn transport(&self, index: usize) -> u16 {
        self.transports.get(index).copied().unwrap_or(0)
    }

    /// Numbers of the transports named by rows, each once.
    pub fn transports(&self) -> Vec<u16> {
        let mut numbers = self.transports.clone();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Number of the group that the row of the flow at this index names; 0 if none.
    pub fn group(&self, index: usize) -> u16 {
        self.groups.get(index).copied().unwrap_or(0)
    }

    /// Names of the groups, from number 1.
    pub fn group_names(&self) -> &[String] {
        &self.group_names
    }

    /// Dependencies between the flows.
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// Flows of the file that are not in the list, if there are some.
    pub fn beyond(&self) -> Option<Beyond> {
        self.beyond
    }

    /// Switches that flows must pass.
    pub fn pins(&self) -> &Pins {
        &self.pins
    }

    /// Number of the persistent connection of the flow at this index, if it has one.
    pub fn connection(&self, index: usize) -> Option<u32> {
        self.connections.get(index).copied().flatten()
    }

    /// Ends of the persistent connections.
    pub fn connection_ends(&self) -> &[(u32, u32)] {
        &self.connection_ends
    }

    /// Number of the transport of a persistent connection.
    pub fn connection_transport(&self, connection: usize) -> u16 {
        self.connection_transports[connection]
    }

    /// Number of flows that start before `end_ps`. In a list with dependencies a start may be
    /// relative to the end of other flows: the number of all.
    pub fn count_before(&self, end_ps: u64) -> usize {
        if self.chains.is_empty() {
            self.flows.partition_point(|flow| flow.start_ps < end_ps)
        } else {
            self.flows.len()
        }
    }
}
