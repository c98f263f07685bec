//! The shape of an aggregation tree: the client, and below each node an equal part of the hosts of the
//! next level. A node has a persistent connection to the one above it.

use std::ops::Range;

use super::AggregationTree;
use crate::limits;
use crate::problem::Problem;
use crate::workload::HostNames;

/// Largest number of requests of a query.
const MAX_REQUESTS: u64 = 1 << 20;

/// Node of the tree: a host in one of its places.
#[derive(Debug)]
pub(super) struct Node {
    pub host: u32,
    /// Level, 0 for the client.
    pub level: usize,
    /// Number of the node above; of the client its own.
    pub above: u32,
    /// Numbers of the nodes below.
    pub below: Range<u32>,
}

/// All nodes, level by level.
#[derive(Debug)]
pub(super) struct Shape {
    pub nodes: Vec<Node>,
    /// Connections: number n leads to node n + 1; the asking host is first.
    pub connections: Vec<(u32, u32)>,
    /// Number of requests to each level for one query.
    pub requests: Vec<u64>,
}

impl Shape {
    /// Places the hosts of the levels below the client.
    pub fn new(tree: &AggregationTree, hosts: &HostNames) -> Result<Self, Problem> {
        let key = |name: &str| format!("workload.aggregation_tree.{name}");
        let mut nodes = vec![Node {
            host: hosts.client(&key("client"), tree.client.as_ref())?,
            level: 0,
            above: 0,
            below: 1..1,
        }];
        let mut requests = Vec::new();
        let mut asking = 0..1;
        let mut rounds = 1;
        for (i, level) in tree.levels.iter().enumerate() {
            let key = key(&format!("levels[{i}].hosts"));
            let below = hosts.many(&key, &level.hosts)?;
            let each = below.len() / asking.len();
            if !below.len().is_multiple_of(asking.len()) {
                return Err(Problem::new(
                    key,
                    format!(
                        "{} hosts below {} are invalid; expected a multiple, equally many below each",
                        below.len(),
                        asking.len()
                    ),
                ));
            }
            rounds *= u64::from(level.iterations);
            requests.push(rounds * below.len() as u64);
            let first = nodes.len();
            for (n, &host) in below.iter().enumerate() {
                let above = asking.start + n / each;
                if nodes[above].host == host {
                    let name = &hosts.names[host as usize];
                    return Err(Problem::new(
                        key,
                        format!("host {host} ({name}) would ask itself; expected other hosts"),
                    ));
                }
                nodes.push(Node {
                    host,
                    level: i + 1,
                    above: above as u32,
                    below: 0..0,
                });
            }
            for (n, above) in asking.enumerate() {
                let start = (first + n * each) as u32;
                nodes[above].below = start..start + each as u32;
            }
            asking = first..nodes.len();
        }
        let total: u64 = requests.iter().sum();
        let places = nodes.len() - 1;
        for (number, what, most) in [
            (total, "requests per query", MAX_REQUESTS),
            (places as u64, "connections", limits::CONNECTIONS as u64),
        ] {
            if number > most {
                return Err(Problem::new(
                    key("levels"),
                    format!("{number} {what} are invalid; expected at most {most}"),
                ));
            }
        }
        let of_nodes = nodes.iter().skip(1);
        Ok(Shape {
            connections: of_nodes
                .map(|node| (nodes[node.above as usize].host, node.host))
                .collect(),
            nodes,
            requests,
        })
    }
}
