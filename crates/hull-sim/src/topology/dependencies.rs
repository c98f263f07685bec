//! Cycles of buffers that wait for each other. A link whose far end pauses it waits for room there, and that
//! for the link over which the packets go on. If such dependencies form a cycle, lossless traffic can come to
//! rest for ever (Dally and Seitz, "Deadlock-free message routing", 1987). In a network of pods all shortest
//! paths go up and then down, so there is none.

use std::collections::HashSet;

use super::graph::Graph;
use super::route_table::RouteTable;

/// State of a port while cycles are searched.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the path that is being followed.
    Open,
    Done,
}

/// Ports of which each waits for the next one, and the last for the first, over the shortest paths between all
/// hosts; `None` if there are none.
pub(super) fn cycle(graph: &Graph, table: &RouteTable) -> Option<Vec<usize>> {
    let next = successors(graph, table);
    let mut marks = vec![Mark::New; graph.ports()];
    for start in 0..graph.ports() {
        if marks[start] != Mark::New {
            continue;
        }
        // Ports on the path, with the number of successors that have been followed.
        let mut path = vec![(start, 0)];
        marks[start] = Mark::Open;
        while let Some((port, followed)) = path.last_mut() {
            let Some(&to) = next[*port].get(*followed) else {
                marks[*port] = Mark::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            let to = to as usize;
            match marks[to] {
                Mark::New => {
                    marks[to] = Mark::Open;
                    path.push((to, 0));
                }
                Mark::Open => {
                    let ports = path.iter().map(|&(port, _)| port);
                    return Some(ports.skip_while(|&port| port != to).collect());
                }
                Mark::Done => {}
            }
        }
    }
    None
}

/// For each port, the ports at its far end over which packets go on to another switch, in ascending order.
fn successors(graph: &Graph, table: &RouteTable) -> Vec<Vec<u32>> {
    let mut next: Vec<Vec<u32>> = vec![Vec::new(); graph.ports()];
    let mut seen = HashSet::new();
    table.each_step(|port, place| {
        if seen.insert((port, place)) {
            next[port as usize].extend(table.ports_at(place));
        }
    });
    for ports in &mut next {
        ports.sort_unstable();
        ports.dedup();
    }
    next
}

#[cfg(test)]
mod tests {
    use super::super::names::Numbering;
    use super::super::parts::Parts;
    use super::super::{Routes, Wire};
    use super::*;

    /// A ring of switches with a host each.
    fn ring(switches: usize) -> Graph {
        let wire = Wire {
            rate_bps: 1_000_000_000,
            delay_ps: 1000,
        };
        let mut parts = Parts::new(wire, wire);
        let nodes = parts.switches("s", Numbering::Single, switches, 1);
        parts.hosts("h", switches, |host| nodes.start + host);
        let wires = parts.between_switches(None, None);
        let wires = parts.wire(wires);
        for at in 0..switches {
            let next = nodes.start + (at + 1) % switches;
            parts.join(nodes.start + at, next, wires);
        }
        parts.graph(&["host", "switch"]).expect("a ring")
    }

    /// In a ring of three all switches are neighbours: no packet passes a second link between switches. From
    /// four on paths of two such links close a circle, which has as many ports as the ring.
    #[test]
    fn rings_of_four_and_more_have_cycles() {
        for switches in 3..8 {
            let graph = ring(switches);
            let found = Routes::new(&graph).cycle(&graph);
            assert_eq!(
                found.as_ref().map(Vec::len),
                (switches > 3).then_some(switches),
                "{switches}"
            );
            for ports in found.iter() {
                for (at, &port) in ports.iter().enumerate() {
                    let next = ports[(at + 1) % ports.len()];
                    assert_eq!(graph.port_far_end(port), graph.port_owner(next));
                }
            }
        }
    }
}
