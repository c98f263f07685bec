//! Flows of a list whose data must pass a given switch: the column `via`. A switch is given by its
//! number among the nodes of the network.

use super::HostNames;
use super::flow_list::ListedFlow;
use super::flow_list_rows::{CellProblem, VIA};
use crate::memory::block_of;
use crate::quote;
use crate::topology::Passing;

/// Number of no switch.
const NONE: u32 = u32::MAX;

/// Switches that flows must pass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pins {
    /// Switch of each flow; empty if the list has no column `via`.
    of_flows: Vec<u32>,
    /// Switch of each persistent connection, for both directions.
    of_connections: Vec<u32>,
}

impl Pins {
    /// Adds the next row of a list, with the number of its persistent connection.
    pub(super) fn push(&mut self, via: Option<u32>, connection: Option<u32>) {
        let via = via.unwrap_or(NONE);
        self.of_flows.push(via);
        if let Some(connection) = connection.map(|number| number as usize) {
            let known = self.of_connections.len().max(connection + 1);
            self.of_connections.resize(known, NONE);
            self.of_connections[connection] = via;
        }
    }

    /// Sorts the rows: `order` has the row of each place.
    pub(super) fn sort(&mut self, order: &[usize]) {
        if !self.is_empty() {
            self.of_flows = order.iter().map(|&row| self.of_flows[row]).collect();
        }
    }

    /// Whether no flow can have a switch.
    pub fn is_empty(&self) -> bool {
        self.of_flows.is_empty()
    }

    /// Memory, bytes.
    pub(super) fn heap_bytes(&self) -> u64 {
        block_of::<u32>(self.of_flows.len()) + block_of::<u32>(self.of_connections.len())
    }

    /// Switch of the flow at a place of the list.
    pub fn flow(&self, place: usize) -> Option<u32> {
        let of_flow = self.of_flows.get(place).copied();
        of_flow.filter(|&switch| switch != NONE)
    }

    /// Switch of a persistent connection.
    pub fn connection(&self, number: usize) -> Option<u32> {
        let of_connection = self.of_connections.get(number).copied();
        of_connection.filter(|&switch| switch != NONE)
    }
}

/// Reader of the column `via`. It needs the routes of the network, so it is created for the first cell
/// that is not empty.
#[derive(Debug, Default)]
pub(super) struct PinReader(Option<Passing>);

impl PinReader {
    /// Number of the switch that a cell names, which must be on a shortest path of the flow; `None` for
    /// an empty cell.
    pub fn read(
        &mut self,
        text: Option<&str>,
        shown: impl FnOnce() -> String,
        flow: &ListedFlow,
        hosts: &HostNames,
    ) -> Result<Option<u32>, CellProblem> {
        let Some(graph) = &hosts.graph else {
            return Ok(None);
        };
        if text == Some("") {
            return Ok(None);
        }
        let passing = self.0.get_or_insert_with(|| Passing::new(graph));
        let switch = text.and_then(|name| passing.switch_named(name));
        if let Some(switch) = switch
            && passing.can_pass(flow.src, flow.dst, switch)
        {
            return Ok(Some(switch as u32));
        }
        let [src, dst] = [flow.src, flow.dst].map(|host| &hosts.names[host as usize]);
        let told = format!(
            "{} is invalid; expected a switch on a shortest path from {} to {}, such as {}, or an empty cell",
            shown(),
            quote::name(src),
            quote::name(dst),
            quote::name(&passing.example(flow.src, flow.dst))
        );
        Err((VIA, told))
    }
}
