//! Divides a network into parts for simulation on several threads. Times are ps.
//!
//! Part 0 is the *edge*: the hosts with their links in both directions, the flows and the workload. The
//! other parts form the *fabric*: the ports between switches, divided by owning switch. A port decides
//! when a packet will be delivered before its transmission starts, and can announce it to the next part
//! then: at least the smallest packet's transmission time plus the link's delay ahead. This is the
//! lookahead of conservative parallel simulation (Chandy and Misra, 1979). Host links are the longest
//! of a data-centre network, because their delay includes a host's stack. Every packet between racks
//! takes as many steps at the edge as any other, so the balance of the parts depends little on the
//! traffic matrix.
//!
//! Ports that share their switch's memory stay together. The edge then includes some switches with all
//! their ports, enough to balance the work, and the fabric all ports of the others.
//!
//! A network may also be divided by its hosts (`by_hosts`). Then all parts have flows, and the only cut
//! links lead to the top tier.
//!
//! The plan follows from the graph. `features` decides which features may be simulated this way.

use super::by_hosts::ByHosts;
use crate::topology::{Graph, Kind, Notice};

/// Lookahead of parts without a link between them.
pub const NEVER_PS: u64 = u64::MAX;

/// Parts of a network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Number of parts including the edge: at least 2.
    pub parts: usize,
    /// Part of each port's queue.
    pub of_ports: Vec<u8>,
    /// Part of each host, if the network is divided by hosts; otherwise all are at the edge.
    pub of_hosts: Option<Vec<u8>>,
    /// Ports whose packets may continue in another part.
    pub cut: Vec<usize>,
    /// Lookahead of each part (first index) for what it sends directly to each other one, ps;
    /// [`NEVER_PS`] if it sends nothing.
    pub lookahead_ps: Vec<Vec<u64>>,
}

impl Plan {
    /// Divides a network for at most `threads` threads; into fewer parts if fewer switches have
    /// links to others. There is no plan if the network has no fabric, or if something would reach
    /// another part in no time. `whole` is set if the ports of a switch must stay together.
    /// `transit_ps` is the smallest packet's time through a port's link.
    pub fn new(
        graph: &Graph,
        notice: Notice,
        threads: usize,
        whole: Option<Whole>,
        transit_ps: impl Fn(usize) -> u64,
    ) -> Option<Plan> {
        if threads < 2 || notice == Notice::default() {
            return None;
        }
        let weights = match whole {
            Some(whole) => without_edge(graph, whole, threads),
            None => rates(graph),
        };
        let of_nodes = divide(&weights, threads - 1);
        let of_port = |port: usize| match whole.is_some() || graph.is_between_switches(port) {
            true => of_nodes[graph.port_owner(port)],
            false => 0,
        };
        let of_ports: Vec<u8> = (0..graph.ports()).map(of_port).collect();
        let mut plan = Plan::of(graph, of_ports, transit_ps)?;
        // Besides packets, each part of the fabric reports drops to the edge, and the edge sends it
        // routes, which are needed when a packet arrives, and the end of the run. Every run delays
        // drops and end by the network's notice.
        let (of_edge, of_others) = plan.lookahead_ps.split_at_mut(1);
        for (out_ps, of_other) in of_edge[0].iter_mut().skip(1).zip(of_others) {
            let in_ps = &mut of_other[0];
            *out_ps = notice.to_fabric_ps.min(*out_ps);
            *in_ps = notice.to_edge_ps.min(*in_ps);
        }
        plan.is_ahead().then_some(plan)
    }

    /// Divides a network by hosts for at most `threads` threads. There is no plan if the network does
    /// not consist of units. `end_ps` is the time for which a run continues after its workload is
    /// done, or half of it if parts learn late that flows are complete: all must know by then.
    pub fn by_hosts(
        graph: &Graph,
        end_ps: u64,
        threads: usize,
        transit_ps: impl Fn(usize) -> u64,
    ) -> Option<Plan> {
        let ByHosts { of_hosts, of_ports } = ByHosts::new(graph, threads)?;
        let mut plan = Plan::of(graph, of_ports, transit_ps)?;
        plan.of_hosts = Some(of_hosts);
        for (from, to_parts) in plan.lookahead_ps.iter_mut().enumerate() {
            for (to, ahead_ps) in to_parts.iter_mut().enumerate() {
                if from != to {
                    *ahead_ps = end_ps.min(*ahead_ps);
                }
            }
        }
        (plan.parts > 1 && plan.is_ahead()).then_some(plan)
    }

    /// Finds the cut links between parts, and the lookahead over them.
    fn of(graph: &Graph, of_ports: Vec<u8>, transit_ps: impl Fn(usize) -> u64) -> Option<Plan> {
        let parts = 1 + usize::from(*of_ports.iter().max()?);
        let mut lookahead_ps = vec![vec![NEVER_PS; parts]; parts];
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
        Some(Plan {
            parts,
            of_ports,
            of_hosts: None,
            cut,
            lookahead_ps,
        })
    }

    /// Whether everything takes time to another part.
    fn is_ahead(&self) -> bool {
        (self.lookahead_ps.iter().flatten()).all(|&ahead_ps| ahead_ps > 0)
    }

    /// Longest lookahead between two parts that exchange messages, ps.
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

    /// Whether the two parts exchange messages.
    pub fn are_neighbours(&self, one: usize, other: usize) -> bool {
        let ahead_ps = self.lookahead_ps[one][other].min(self.lookahead_ps[other][one]);
        one != other && ahead_ps != NEVER_PS
    }
}

/// Total rate of each node's ports between switches, bit/s: a measure of the node's largest work.
fn rates(graph: &Graph) -> Vec<u128> {
    let rate = |&port: &usize| match graph.is_between_switches(port) {
        true => u128::from(graph.wire(port).rate_bps),
        false => 0,
    };
    let of_node = |node: usize| graph.node_ports(node).iter().map(rate).sum();
    (0..graph.nodes.len()).map(of_node).collect()
}

/// Work of a host per packet sent or received, in packet-hops: with DCTCP on the tree of paper 6.3,
/// 2.2 by processor time.
const HOST_HOPS: usize = 2;

/// Requirement that the ports of a switch stay together.
#[derive(Clone, Copy, Debug)]
pub struct Whole {
    /// Port that must be in the edge.
    pub port: usize,
    /// Number of packet-hops on the longest path.
    pub hops: usize,
}

/// Total rate of each node's ports, bit/s; 0 for nodes in the edge. The edge has the hosts, the
/// switch of a port, and enough further switches with hosts to give it one thread's share of the
/// work, as if all packets took the longest path. A switch in the edge takes two packet-hops of its
/// hosts' packets.
fn without_edge(graph: &Graph, whole: Whole, threads: usize) -> Vec<u128> {
    let rate = |&port: &usize| u128::from(graph.wire(port).rate_bps);
    let of_node = |node: usize| graph.node_ports(node).iter().map(rate).sum();
    let mut weights: Vec<u128> = (0..graph.nodes.len()).map(of_node).collect();
    let hosts = graph.hosts();
    hosts.iter().for_each(|&host| weights[host] = 0);
    let total = hosts.len() * (whole.hops + HOST_HOPS);
    let mut edge = hosts.len() * (1 + HOST_HOPS);
    let hosts_at = |node: usize| {
        let ports = graph.node_ports(node).iter();
        ports
            .filter(|&&port| !graph.is_between_switches(port))
            .count()
    };
    let first = graph.port_owner(whole.port);
    let switches = (0..graph.nodes.len()).filter(|&node| graph.nodes[node].kind == Kind::Switch);
    let others = switches.filter(|&node| node != first && hosts_at(node) > 0);
    for node in std::iter::once(first).chain(others) {
        let hops = 2 * hosts_at(node);
        if node == first || (2 * edge + hops) * threads <= 2 * total {
            edge += hops;
            weights[node] = 0;
        }
    }
    weights
}

/// Divides nodes into at most `most` parts of about the same weight, numbered from 1 in the order
/// of the nodes; nodes without weight get 0.
pub fn divide(weights: &[u128], most: usize) -> Vec<u8> {
    let total: u128 = weights.iter().sum();
    let (mut before, mut last, mut number) = (0, None, 0);
    let part_of = |&weight: &u128| {
        if weight == 0 {
            return 0;
        }
        // By the middle of the node's share of the total.
        let place = (2 * before + weight) * most as u128 / (2 * total);
        before += weight;
        if last != Some(place) {
            last = Some(place);
            number += 1;
        }
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

    fn planned(shape: &str, threads: usize) -> (Graph, Option<Plan>) {
        planned_whole(shape, threads, None)
    }

    fn planned_whole(shape: &str, threads: usize, whole: Option<Whole>) -> (Graph, Option<Plan>) {
        let scenario = scenario(shape);
        let graph = scenario.graph().expect("valid");
        let transit_ps = |port: usize| 1000 + port as u64;
        let notice = Notice::new(&scenario.topology, &graph, transit_ps);
        let plan = Plan::new(&graph, notice, threads, whole, transit_ps);
        (graph, plan)
    }

    #[test]
    fn weights_are_divided_in_order() {
        assert_eq!(divide(&[0, 1, 1, 0, 1, 1], 2), [0, 1, 1, 0, 2, 2]);
        assert_eq!(divide(&[1, 1, 1], 8), [1, 2, 3], "no more parts than nodes");
        assert_eq!(divide(&[9, 1, 1, 1], 2), [1, 2, 2, 2]);
        assert_eq!(divide(&[1, 1, 9, 1], 1), [1, 1, 1, 1]);
    }

    /// Ports of one switch stay together, hosts are at the edge, and every part of the fabric has the
    /// edge as its neighbour. The edge has the same lookahead to each of them.
    #[test]
    fn a_fat_tree_in_any_number_of_parts() {
        for threads in 2..=64 {
            let (graph, plan) = planned("topology.fat_tree.k=4", threads);
            let plan = plan.expect("has a fabric");
            assert!(plan.parts <= threads.min(21), "20 switches and the edge");
            assert!(threads > 9 || plan.parts == threads);
            for port in 0..graph.ports() {
                let part = plan.of_ports[port];
                assert_eq!(part == 0, !graph.is_between_switches(port));
                let of_owner = graph.node_ports(graph.port_owner(port)).iter();
                let parts = of_owner.map(|&port| plan.of_ports[port]);
                assert!(
                    parts
                        .into_iter()
                        .all(|other| other == part || other * part == 0)
                );
            }
            let outward = plan.lookahead_ps[0][1];
            for part in 1..plan.parts {
                assert!(plan.are_neighbours(0, part));
                assert_eq!(plan.lookahead_ps[0][part], outward);
            }
            let distances = plan.distances_ps();
            assert!(
                distances
                    .iter()
                    .flatten()
                    .all(|&ps| (1000..9000).contains(&ps))
            );
        }
    }

    /// With shared memory all ports of a switch are in one part, and the measured port is in the
    /// edge. By hand for k = 4: 16 hosts with six hops and two for the host, so with two parts the
    /// edge has 64 of 128: 48 for the hosts, and 4 each for 4 of the 8 switches with hosts.
    #[test]
    fn switches_are_not_split() {
        for threads in 2..=64 {
            let (graph, _) = planned("topology.fat_tree.k=4", threads);
            let read = Graph::opposite(graph.host_port(5));
            let whole = Whole {
                port: read,
                hops: 6,
            };
            let (_, plan) = planned_whole("topology.fat_tree.k=4", threads, Some(whole));
            let plan = plan.expect("has a fabric");
            assert!(plan.parts <= threads.min(20), "{} parts", plan.parts);
            assert_eq!(plan.of_ports[read], 0);
            let mut of_edge = 0;
            for (node, settings) in graph.nodes.iter().enumerate() {
                let ports = graph.node_ports(node);
                let part = plan.of_ports[ports[0]];
                assert!(ports.iter().all(|&port| plan.of_ports[port] == part));
                assert!(settings.kind == Kind::Switch || part == 0);
                of_edge += usize::from(settings.kind == Kind::Switch && part == 0);
            }
            assert_eq!(of_edge, if threads == 2 { 4 } else { 1 });
            for (port, &part) in plan.of_ports.iter().enumerate() {
                let onward = graph.node_ports(graph.port_far_end(port));
                let leads_out = onward.iter().any(|&next| plan.of_ports[next] != part);
                assert_eq!(leads_out, plan.cut.contains(&port));
            }
        }
    }

    #[test]
    fn no_fabric_no_parts() {
        for shape in ["topology.star.hosts=4", "topology.dumbbell.pairs=2"] {
            assert_eq!(planned(shape, 2).1, None);
        }
        assert_eq!(planned("topology.fat_tree.k=4", 1).1, None);
    }
}
