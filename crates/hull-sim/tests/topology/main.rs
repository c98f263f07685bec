//! Topologies and routing against independent counts, sums and searches.

mod computed_routes;
mod ecmp;
mod graph_files;
mod hpcc_files;
mod link_counts;
mod links_by_tier;
mod refused;
mod round_trip;
mod several_nics;
mod shapes;
mod single_links;
mod tree192;

use std::collections::VecDeque;

use hull_sim::scenario::{self, Scenario};
use hull_sim::topology::{Graph, Kind};

/// A scenario without a network; links of 10 Gbps and 200 ns as in paper 6.3.
const BASE: &str = r#"
name = "topology"
[run]
duration = "1ms"
[host]
queue = "fifo"
rate = "10Gbps"
delay = "200ns"
[switch]
rate = "10Gbps"
delay = "200ns"
[workload.bulk]
flows = 1
"#;

/// The scenario with `network` (TOML tables), or the message that rejects it.
pub fn try_scenario(network: &str) -> Result<Scenario, String> {
    scenario::expand(&format!("{BASE}{network}"), "test.toml", &[])
        .map(|cells| Scenario::clone(&cells[0].scenario))
        .map_err(|error| error.to_string())
}

/// The scenario with `network`.
pub fn scenario(network: &str) -> Scenario {
    try_scenario(network).unwrap_or_else(|message| panic!("{message}"))
}

/// The graph of `network`.
pub fn graph(network: &str) -> Graph {
    scenario(network)
        .graph()
        .unwrap_or_else(|problem| panic!("{problem}"))
}

/// Number of links at node `name`.
pub fn degree(graph: &Graph, name: &str) -> usize {
    graph
        .node_named(name)
        .map_or(0, |node| graph.node_ports(node).len())
}

/// Number of switches.
pub fn switches(graph: &Graph) -> usize {
    let nodes = graph.nodes.iter();
    nodes.filter(|node| node.kind == Kind::Switch).count()
}

/// Links from each node to `target`, by breadth-first search over all links.
pub fn links_to(graph: &Graph, target: usize) -> Vec<usize> {
    let mut links = vec![usize::MAX; graph.nodes.len()];
    links[target] = 0;
    let mut open = VecDeque::from([target]);
    while let Some(node) = open.pop_front() {
        for port in (0..graph.ports()).filter(|&port| graph.port_owner(port) == node) {
            let next = graph.port_far_end(port);
            if links[next] == usize::MAX {
                links[next] = links[node] + 1;
                open.push_back(next);
            }
        }
    }
    links
}

/// Names of the nodes along a path of ports, which must be contiguous.
pub fn walk(graph: &Graph, path: &[u32]) -> Vec<String> {
    let mut nodes = vec![graph.port_owner(path[0] as usize)];
    for &port in path {
        assert_eq!(
            nodes.last(),
            Some(&graph.port_owner(port as usize)),
            "a gap in the path"
        );
        nodes.push(graph.port_far_end(port as usize));
    }
    nodes.into_iter().map(|node| graph.name(node)).collect()
}
