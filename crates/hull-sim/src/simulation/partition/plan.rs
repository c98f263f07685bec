//! Divides a network into parts for simulation on several threads. Times are ps.
//!
//! Each part has some whole units (`units`): their hosts, and all ports between their nodes and to the top
//! tier. It also has the ports from the top tier to its units: a port decides on arrival, so a switch of
//! the top tier need not be in one part. Each packet between two parts crosses one cut link, to the top
//! tier, and no third part.
//!
//! A port decides when a packet will be delivered before its transmission starts, and can announce it to
//! the next part then: at least the smallest packet's transmission time plus the link's delay ahead. This
//! is the lookahead of conservative parallel simulation (Chandy and Misra, 1979).
//!
//! The plan follows from the graph. `features` decides which scenarios may be simulated this way.

use super::units::Units;
use crate::topology::Graph;

/// Lookahead of a part to itself.
pub const NEVER_PS: u64 = u64::MAX;

/// Parts of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of parts: at least 2.
    pub parts: usize,
    /// Part of each port's queue.
    pub of_ports: Vec<u8>,
    /// Part of each host.
    pub of_hosts: Vec<u8>,
    /// Ports whose packets may continue in another part.
    pub cut: Vec<usize>,
    /// Lookahead of each part (first index) for what it sends to each other one, ps.
    pub lookahead_ps: Vec<Vec<u64>>,
}

impl Plan {
    /// Divides a network into at most `most` parts with about the same number of hosts each. There is no
    /// plan if the network does not consist of units, if the order of hosts differs from the order of the
    /// ports to them, which orders simultaneous arrivals, or if something would reach another part in no
    /// time.
    ///
    /// `end_ps` is the time for which a run continues after its workload is done, or half of it if parts
    /// learn late that flows are complete: all must know by then. `transit_ps` is the smallest packet's
    /// time through a port's link.
    pub fn new(
        graph: &Graph,
        end_ps: u64,
        most: usize,
        transit_ps: impl Fn(usize) -> u64,
    ) -> Option<Plan> {
        let hosts = graph.hosts();
        let to_host = |host: usize| Graph::opposite(graph.host_port(host));
        if !(0..hosts.len()).map(to_host).is_sorted() {
            return None;
        }
        let units = Units::of(graph)?;
        let of_units = divide(&units.hosts, most);
        let of_node = |node: usize| units.of_nodes[node].map(|unit| of_units[unit]);
        let of_port = |port: usize| {
            let there = of_node(graph.port_far_end(port));
            there.or_else(|| of_node(graph.port_owner(port)))
        };
        let of_ports = (0..graph.ports()).map(of_port);
        let of_ports = of_ports.collect::<Option<Vec<u8>>>()?;
        let of_hosts = hosts.iter().map(|&host| of_node(host));
        let of_hosts = of_hosts.collect::<Option<Vec<u8>>>()?;
        let parts = 1 + usize::from(*of_ports.iter().max()?);
        let mut lookahead_ps = vec![vec![end_ps; parts]; parts];
        for (part, to_parts) in lookahead_ps.iter_mut().enumerate() {
            to_parts[part] = NEVER_PS;
        }
        let mut cut = Vec::new();
        for (port, &from) in of_ports.iter().enumerate() {
            let far_end = graph.port_far_end(port);
            let onward = graph.node_ports(far_end).iter();
            let onward = onward.map(|&next| of_ports[next]);
            let mut is_cut = false;
            for to in onward.filter(|&to| to != from) {
                is_cut = true;
                let least_ps = &mut lookahead_ps[usize::from(from)][usize::from(to)];
                *least_ps = transit_ps(port).min(*least_ps);
            }
            if is_cut {
                cut.push(port);
            }
        }
        let is_ahead = (lookahead_ps.iter().flatten()).all(|&ahead_ps| ahead_ps > 0);
        (parts > 1 && is_ahead).then_some(Plan {
            parts,
            of_ports,
            of_hosts,
            cut,
            lookahead_ps,
        })
    }

    /// Longest lookahead between two parts, ps.
    pub fn longest_ps(&self) -> u64 {
        let ahead_ps = self.lookahead_ps.iter().flatten();
        let exchanged = ahead_ps.filter(|&&ahead_ps| ahead_ps != NEVER_PS);
        exchanged.copied().max().unwrap_or(0)
    }

    /// Shortest time from each part (first index) to each other one on any path, and back to itself
    /// via another, ps.
    pub fn distances_ps(&self) -> Vec<Vec<u64>> {
        let mut least_ps = self.lookahead_ps.clone();
        for via in 0..self.parts {
            for from in 0..self.parts {
                for to in 0..self.parts {
                    let way_ps = least_ps[from][via].saturating_add(least_ps[via][to]);
                    least_ps[from][to] = least_ps[from][to].min(way_ps);
                }
            }
        }
        least_ps
    }
}

/// Divides weights into at most `most` parts of about the same sum, numbered in order from 0.
fn divide(weights: &[u128], most: usize) -> Vec<u8> {
    let total: u128 = weights.iter().sum();
    let (mut before, mut last, mut number) = (0, 0, 0);
    let part_of = |&weight: &u128| {
        // By the middle of the weight's share of the total.
        let place = (2 * before + weight) * most as u128 / (2 * total);
        if before > 0 && last != place {
            number += 1;
        }
        before += weight;
        last = place;
        number
    };
    weights.iter().map(part_of).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::scenario::{self, Scenario};

    const BASE: &str = r#"
name = "plan"
[run]
duration = "1ms"
[host]
queue = "fifo"
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
[workload.flows]
load = "10%"
connections = "per_flow"
sizes.fixed = "1KB"
"#;

    /// Scenario of a network with this shape.
    pub fn scenario(shape: &str) -> Scenario {
        let cells = scenario::expand(BASE, "plan.toml", &[shape.to_owned()]).expect("valid");
        Scenario::clone(&cells[0].scenario)
    }

    #[test]
    fn weights_are_divided_in_order() {
        assert_eq!(divide(&[1, 1, 1, 1], 2), [0, 0, 1, 1]);
        assert_eq!(divide(&[1, 1, 1], 8), [0, 1, 2], "no more parts than units");
        assert_eq!(divide(&[9, 1, 1, 1], 2), [0, 1, 1, 1]);
        assert_eq!(divide(&[1, 1, 9, 1], 1), [0, 0, 0, 0]);
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
            let graph = scenario(shape).graph().expect("valid");
            let routes = crate::topology::Routes::new(&graph);
            for most in [2, 3, 4, 64] {
                let plan = Plan::new(&graph, 1000, most, |_| 1000).expect("has units");
                assert_eq!(plan.parts, most.min(units), "{shape}");
                let (of_hosts, of_ports) = (plan.of_hosts, plan.of_ports);
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

    /// The lookahead is the time through a cut link, or the time in which all parts learn of the end.
    #[test]
    fn lookahead_of_a_fat_tree() {
        let graph = scenario("topology.fat_tree.k=4").graph().expect("valid");
        for (end_ps, least_ps) in [(u64::MAX, 1000), (700, 700)] {
            let plan = Plan::new(&graph, end_ps, 3, |port| 1000 + port as u64).expect("has units");
            assert_eq!(plan.parts, 3);
            let distances_ps = plan.distances_ps();
            for (from, to) in [(0, 1), (1, 0), (2, 1), (0, 2)] {
                let ahead_ps = plan.lookahead_ps[from][to];
                assert!((least_ps..2000).contains(&ahead_ps), "{ahead_ps}");
                assert!(distances_ps[from][to] <= ahead_ps);
                assert!(plan.longest_ps() >= ahead_ps);
            }
            assert!(distances_ps[0][0] >= 2 * least_ps);
        }
        assert_eq!(
            Plan::new(&graph, 0, 3, |_| 1000),
            None,
            "the end takes no time"
        );
        assert_eq!(Plan::new(&graph, 1000, 1, |_| 1000), None, "one part");
    }
}
