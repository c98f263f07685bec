//! The shortest paths of any graph as a table: for each pair of a switch and a switch with hosts, the
//! set of ports that lead one link nearer; equal sets are stored once. Per switch a path costs one
//! lookup and, if there is a choice, two multiplications; it allocates nothing.

use std::collections::{HashMap, VecDeque};

use super::graph::{Graph, Kind};
use super::routing::choose;
use crate::memory::block_of;

/// Absent port, set, row or path.
const NONE: u32 = u32::MAX;
/// Largest number of entries in the table, 4 bytes each.
pub(super) const MAX_ENTRIES: usize = 100_000_000;

/// Attachment of a NIC to its switch.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    /// Port from the NIC to its switch; `NONE` if the link is down.
    up: u32,
    /// Port from the switch to the NIC.
    down: u32,
    /// Number of the switch, in the order of the switches.
    switch: u32,
    /// Row of the switch in the table.
    row: u32,
}

/// Routing table of a graph.
#[derive(Clone, Debug)]
pub(super) struct RouteTable {
    nics: Vec<Attachment>,
    /// Switch at the far end of each port; `NONE` if that is a host.
    far_switch: Vec<u32>,
    switches: usize,
    /// One row per switch with hosts: for each switch, the index of its port set in `sets`.
    next: Vec<u32>,
    /// Port sets: the number of ports, then the ports in ascending order.
    sets: Vec<u32>,
    longest: usize,
}

impl RouteTable {
    /// Whether the table of a graph with `switches` switches, of which `with_hosts` have hosts, is
    /// small enough.
    pub(super) fn fits(switches: usize, with_hosts: usize) -> bool {
        switches * with_hosts <= MAX_ENTRIES
    }

    /// Creates the table of `graph` without the links marked in `failed_links`.
    pub(super) fn new(graph: &Graph, failed_links: &[bool]) -> RouteTable {
        let mut switch_of = vec![NONE; graph.nodes.len()];
        let mut switches = 0;
        for (node, switch) in graph.nodes.iter().zip(&mut switch_of) {
            if node.kind == Kind::Switch {
                *switch = switches;
                switches += 1;
            }
        }
        let switches = switches as usize;
        let far_switch: Vec<u32> = (0..graph.ports())
            .map(|port| switch_of[graph.port_far_end(port)])
            .collect();
        let mut neighbours: Vec<Vec<(u32, u32)>> = vec![Vec::new(); switches];
        for (port, &far) in far_switch.iter().enumerate() {
            let near = switch_of[graph.port_owner(port)];
            if !failed_links[port / 2] && near != NONE && far != NONE {
                neighbours[near as usize].push((port as u32, far));
            }
        }
        let (nics, rows) = attachments(graph, failed_links, &switch_of, switches);
        let mut next = Vec::with_capacity(switches * rows.len());
        let mut sets = SetList::default();
        let mut longest = 0;
        for &target in &rows {
            let hops = hops_to(&neighbours, target);
            for (ports, &here) in neighbours.iter().zip(&hops) {
                let nearer = ports
                    .iter()
                    .filter(|&&(_, far)| here != NONE && hops[far as usize] + 1 == here);
                next.push(sets.place(nearer.map(|&(port, _)| port)));
            }
            let reachable = rows
                .iter()
                .map(|&from| hops[from as usize])
                .filter(|&hops| hops != NONE);
            longest = reachable
                .map(|hops| hops as usize + 2)
                .fold(longest, usize::max);
        }
        RouteTable {
            nics,
            far_switch,
            switches,
            next,
            sets: sets.sets,
            longest,
        }
    }

    /// Memory of its lists, bytes.
    pub(super) fn heap_bytes(&self) -> u64 {
        block_of::<Attachment>(self.nics.len())
            + block_of::<u32>(self.far_switch.len())
            + block_of::<u32>(self.next.len())
            + block_of::<u32>(self.sets.len())
    }

    /// See [`Routes::path`](super::Routes::path).
    #[inline]
    pub(super) fn path(
        &self,
        src_nic: usize,
        dst_nic: usize,
        hash: u64,
        out: &mut Vec<u32>,
    ) -> bool {
        let (src, dst) = (self.nics[src_nic], self.nics[dst_nic]);
        let row = &self.next[dst.row as usize * self.switches..][..self.switches];
        let mut at = src.switch;
        if src.up == NONE || dst.up == NONE || (at != dst.switch && row[at as usize] == NONE) {
            return false;
        }
        out.push(src.up);
        while at != dst.switch {
            let place = row[at as usize] as usize;
            let ports = self.sets[place];
            let choice = if ports == 1 {
                0
            } else {
                choose(hash, at, ports)
            };
            let port = self.sets[place + 1 + choice as usize];
            out.push(port);
            at = self.far_switch[port as usize];
        }
        out.push(dst.down);
        true
    }

    /// Number of ports on the longest path between two NICs; 0 if there is none.
    pub(super) fn longest_path(&self) -> usize {
        self.longest
    }

    /// Calls `step` for each port between two switches and each set of ports over which packets go on from
    /// there ([`RouteTable::ports_at`]); some several times.
    pub(super) fn each_step(&self, mut step: impl FnMut(u32, u32)) {
        for row in self.next.chunks(self.switches) {
            for &place in row.iter().filter(|&&place| place != NONE) {
                for &port in self.ports_at(place) {
                    let next = row[self.far_switch[port as usize] as usize];
                    if next != NONE {
                        step(port, next);
                    }
                }
            }
        }
    }

    /// Ports of a set.
    pub(super) fn ports_at(&self, place: u32) -> &[u32] {
        let place = place as usize;
        &self.sets[place + 1..][..self.sets[place] as usize]
    }
}

/// Attachment of each NIC, and the switch of each row of the table.
fn attachments(
    graph: &Graph,
    failed_links: &[bool],
    switch_of: &[u32],
    switches: usize,
) -> (Vec<Attachment>, Vec<u32>) {
    let mut row_of = vec![NONE; switches];
    let mut rows = Vec::new();
    let nics = (0..graph.nics())
        .map(|nic| {
            let up = graph.nic_port(nic);
            let switch = switch_of[graph.port_far_end(up)];
            let row = &mut row_of[switch as usize];
            if *row == NONE {
                *row = rows.len() as u32;
                rows.push(switch);
            }
            Attachment {
                up: if failed_links[up / 2] {
                    NONE
                } else {
                    up as u32
                },
                down: Graph::opposite(up) as u32,
                switch,
                row: *row,
            }
        })
        .collect();
    (nics, rows)
}

/// Number of links from each switch to `target`; `NONE` without a path.
fn hops_to(neighbours: &[Vec<(u32, u32)>], target: u32) -> Vec<u32> {
    let mut hops = vec![NONE; neighbours.len()];
    hops[target as usize] = 0;
    let mut open = VecDeque::from([target]);
    while let Some(switch) = open.pop_front() {
        for &(_, far) in &neighbours[switch as usize] {
            if hops[far as usize] == NONE {
                hops[far as usize] = hops[switch as usize] + 1;
                open.push_back(far);
            }
        }
    }
    hops
}

/// Port sets in sequence, each stored once.
#[derive(Default)]
struct SetList {
    sets: Vec<u32>,
    place_of: HashMap<Vec<u32>, u32>,
    /// Set being looked up.
    set: Vec<u32>,
}

impl SetList {
    /// Index of a set, which is added if new; `NONE` for the empty set.
    fn place(&mut self, ports: impl Iterator<Item = u32>) -> u32 {
        self.set.clear();
        self.set.extend(ports);
        if self.set.is_empty() {
            return NONE;
        }
        if let Some(&place) = self.place_of.get(&self.set) {
            return place;
        }
        let place = self.sets.len() as u32;
        self.sets.push(self.set.len() as u32);
        self.sets.extend_from_slice(&self.set);
        self.place_of.insert(self.set.clone(), place);
        place
    }
}
