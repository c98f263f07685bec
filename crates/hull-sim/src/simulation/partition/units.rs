//! Units of a network: its pods, or the leaves of a network with two tiers, with all that belongs to them.
//! Without its top tier, such a network falls into units.

use crate::topology::{Graph, Kind};

/// Units of a network, numbered in the order of their first hosts.
#[derive(Debug, PartialEq, Eq)]
pub struct Units {
    /// Unit of each node; `None` for the nodes of the top tier.
    pub of_nodes: Vec<Option<usize>>,
    /// Number of hosts of each unit.
    pub hosts: Vec<u128>,
}

impl Units {
    /// Finds the units. `None` if there is no top tier that alone connects several of them.
    pub fn of(graph: &Graph) -> Option<Units> {
        let top = graph.nodes.iter().map(|node| node.tier).max()?;
        if top < 2 {
            return None; // hosts would be units
        }
        let is_top = |node: usize| graph.nodes[node].tier == top;
        let is_host = |node: usize| graph.nodes[node].kind == Kind::Host;
        let mut units = Units {
            of_nodes: vec![None; graph.nodes.len()],
            hosts: Vec::new(),
        };
        for &host in graph.hosts() {
            if is_top(host) || units.of_nodes[host].is_some() {
                continue;
            }
            let unit = units.hosts.len();
            units.hosts.push(0);
            units.of_nodes[host] = Some(unit);
            let mut found = vec![host];
            while let Some(node) = found.pop() {
                units.hosts[unit] += u128::from(is_host(node));
                for &port in graph.node_ports(node) {
                    let next = graph.port_far_end(port);
                    if (is_host(next) || !is_top(next)) && units.of_nodes[next].is_none() {
                        units.of_nodes[next] = Some(unit);
                        found.push(next);
                    }
                }
            }
        }
        let ends = |port: usize| [graph.port_owner(port), graph.port_far_end(port)];
        let joins = |port: usize| ends(port).into_iter().all(is_top);
        (units.hosts.len() > 1 && !(0..graph.ports()).any(joins)).then_some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::scenario;
    use super::*;

    #[test]
    fn pods_and_leaves() {
        for (shape, hosts) in [
            ("topology.fat_tree.k=4", &[4; 4][..]),
            ("topology.tree={}", &[24; 8]),
            (
                "topology.leaf_spine={leaves=3,spines=2,hosts_per_leaf=4}",
                &[4; 3],
            ),
        ] {
            let graph = scenario(shape).graph().expect("valid");
            assert_eq!(Units::of(&graph).expect("has units").hosts, hosts);
        }
    }

    #[test]
    fn networks_without_units() {
        for shape in ["topology.star.hosts=4", "topology.dumbbell.pairs=2"] {
            let graph = scenario(shape).graph().expect("valid");
            assert_eq!(Units::of(&graph), None, "{shape}");
        }
    }
}
