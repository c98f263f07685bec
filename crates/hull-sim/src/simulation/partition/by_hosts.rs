//! Divides a network by its hosts: into pods, or the leaves of a network with two tiers, with all that
//! belongs to them.
//!
//! Without its top tier, such a network falls into *units*. Each part has some whole units: their hosts,
//! and all ports between their nodes and to the top tier. It also has the ports from the top tier to its
//! units: a port decides on arrival, so a switch of the top tier need not be in one part. Each packet
//! between two parts crosses one cut link, to the top tier, and no third part.

use super::plan::divide;
use crate::topology::{Graph, Kind};

/// Part of each host and of each port.
#[derive(Debug, PartialEq, Eq)]
pub struct ByHosts {
    pub of_hosts: Vec<u8>,
    pub of_ports: Vec<u8>,
}

impl ByHosts {
    /// Divides a network among at most `most` parts with about the same number of hosts each. `None`
    /// if it has no top tier that alone connects several units, or if the order of hosts differs
    /// from the order of the ports to them, which orders simultaneous arrivals.
    pub fn new(graph: &Graph, most: usize) -> Option<ByHosts> {
        let hosts = graph.hosts();
        let to_host = |host: usize| Graph::opposite(graph.host_port(host));
        if !(1..hosts.len()).all(|host| to_host(host - 1) < to_host(host)) {
            return None;
        }
        let units = units(graph)?;
        let mut weights: Vec<u128> = Vec::new();
        for &host in hosts {
            let unit = units[host]?;
            weights.resize(weights.len().max(unit + 1), 0);
            weights[unit] += 1;
        }
        let of_units = divide(&weights, most);
        // A unit without hosts is part of no route.
        let of_node =
            |node: usize| units[node].map(|unit| of_units.get(unit).copied().unwrap_or(0));
        let of_port = |port: usize| {
            let there = of_node(graph.port_far_end(port));
            there.or_else(|| of_node(graph.port_owner(port)))
        };
        let of_ports = (0..graph.ports())
            .map(of_port)
            .collect::<Option<Vec<u8>>>()?;
        let of_hosts = hosts.iter().map(|&host| of_node(host));
        Some(ByHosts {
            of_hosts: of_hosts.collect::<Option<Vec<u8>>>()?,
            of_ports,
        })
    }
}

/// Unit of each node, numbered in the order of their first hosts; `None` for the nodes of the top
/// tier.
fn units(graph: &Graph) -> Option<Vec<Option<usize>>> {
    let top = graph.nodes.iter().map(|node| node.tier).max()?;
    if top < 2 {
        return None; // hosts would be units
    }
    let is_top = |node: usize| graph.nodes[node].tier == top;
    let is_below_top = |node: usize| graph.nodes[node].kind == Kind::Switch && !is_top(node);
    let mut units: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    let mut count = 0;
    for &host in graph.hosts() {
        if is_top(host) || units[host].is_some() {
            continue;
        }
        let mut found = vec![host];
        units[host] = Some(count);
        while let Some(node) = found.pop() {
            for &port in graph.node_ports(node) {
                let next = graph.port_far_end(port);
                let is_host = graph.nodes[next].kind == Kind::Host;
                if (is_host || is_below_top(next)) && units[next].is_none() {
                    units[next] = Some(count);
                    found.push(next);
                }
            }
        }
        count += 1;
    }
    let joins = |port: usize| is_top(graph.port_owner(port)) && is_top(graph.port_far_end(port));
    (count > 1 && !(0..graph.ports()).any(joins)).then_some(units)
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::scenario;
    use super::*;

    fn graph(shape: &str) -> Graph {
        scenario(shape).graph().expect("valid")
    }

    /// Every route between two hosts changes part at most once, on a link to the top tier.
    #[test]
    fn packets_cross_one_cut_link() {
        for (shape, units) in [
            ("topology.fat_tree.k=4", 4),
            ("topology.tree={}", 8),
            (
                "topology.leaf_spine={leaves=3,spines=2,hosts_per_leaf=4}",
                3,
            ),
        ] {
            let graph = graph(shape);
            let routes = crate::topology::Routes::new(&graph);
            for most in [2, 3, 4, 64] {
                let ByHosts { of_hosts, of_ports } = ByHosts::new(&graph, most).expect("has units");
                let parts = 1 + usize::from(*of_hosts.iter().max().expect("hosts"));
                assert_eq!(parts, most.min(units), "{shape}");
                assert!(of_hosts.is_sorted() && of_hosts[0] == 0);
                for (from, to) in [(0, 1), (0, of_hosts.len() - 1), (of_hosts.len() - 1, 1)] {
                    let mut path = Vec::new();
                    assert!(routes.path(from, to, 7, &mut path));
                    let parts = path.iter().map(|&port| of_ports[port as usize]);
                    let mut parts = Vec::from_iter(parts);
                    parts.push(of_hosts[to]);
                    parts.dedup();
                    assert_eq!(parts[0], of_hosts[from]);
                    assert_eq!(parts.last(), Some(&of_hosts[to]));
                    assert_eq!(parts.len(), 1 + usize::from(of_hosts[from] != of_hosts[to]));
                }
            }
        }
    }

    #[test]
    fn networks_without_units() {
        for shape in ["topology.star.hosts=4", "topology.dumbbell.pairs=2"] {
            assert_eq!(ByHosts::new(&graph(shape), 4), None, "{shape}");
        }
    }
}
