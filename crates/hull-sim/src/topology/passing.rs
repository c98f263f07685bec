//! Shortest paths through a given switch. ECMP chooses a path by a hash, so a flow that must pass a
//! switch takes the first of a series of hashes whose path does.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::graph::{Graph, Kind};
use super::routing::Routes;

/// Number of hashes tried: of a switch on one path of 4,096, the last one is missed with a probability
/// of exp(-16).
const TRIES: u64 = 1 << 16;

/// Distance between the hashes tried, odd, so that all differ.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// First of a series of hashes that begins with `hash` whose path `passes`.
pub fn hash_that(hash: u64, mut passes: impl FnMut(u64) -> bool) -> Option<u64> {
    let tried = (0..TRIES).map(|number| hash.wrapping_add(number.wrapping_mul(STEP)));
    tried.into_iter().find(|&hash| passes(hash))
}

impl Graph {
    /// Whether a path of ports passes a switch.
    pub fn passes(&self, path: &[u32], switch: usize) -> bool {
        path.iter()
            .any(|&port| self.port_owner(port as usize) == switch)
    }
}

/// Tells whether shortest paths between hosts pass a switch.
#[derive(Debug)]
pub struct Passing {
    graph: Arc<Graph>,
    routes: Routes,
    /// Number of links from each node to a switch, by switch.
    distances: HashMap<usize, Vec<usize>>,
    path: Vec<u32>,
}

impl Passing {
    /// Prepares questions about a graph with all links.
    pub fn new(graph: &Arc<Graph>) -> Passing {
        Passing {
            graph: Arc::clone(graph),
            routes: Routes::new(graph),
            distances: HashMap::new(),
            path: Vec::new(),
        }
    }

    /// Number of the switch with this name.
    pub fn switch_named(&self, name: &str) -> Option<usize> {
        let node = self.graph.node_named(name)?;
        (self.graph.nodes[node].kind == Kind::Switch).then_some(node)
    }

    /// Name of a switch on a shortest path between two hosts.
    pub fn example(&mut self, src: u32, dst: u32) -> String {
        self.path.clear();
        let [from, to] = [src, dst].map(|host| self.graph.nics_of(host as usize).start);
        self.routes.path(from, to, 0, &mut self.path);
        let middle = self.path.get(self.path.len() / 2);
        middle.map_or(String::new(), |&port| {
            self.graph.name(self.graph.port_owner(port as usize))
        })
    }

    /// Whether a shortest path between a NIC of each of two hosts passes a switch.
    pub fn can_pass(&mut self, src: u32, dst: u32, switch: usize) -> bool {
        let Passing {
            graph,
            routes,
            distances,
            path,
        } = self;
        let distances = distances
            .entry(switch)
            .or_insert_with(|| distances_to(graph, switch));
        let far_end = |nic: usize| graph.port_far_end(graph.nic_port(nic));
        graph.nics_of(src as usize).any(|from| {
            graph.nics_of(dst as usize).any(|to| {
                path.clear();
                let through = distances[far_end(from)].saturating_add(distances[far_end(to)]);
                routes.path(from, to, 0, path) && path.len() == through.saturating_add(2)
            })
        })
    }
}

/// Number of links from each node to a switch over other switches; the largest number without a path.
fn distances_to(graph: &Graph, switch: usize) -> Vec<usize> {
    let mut distances = vec![usize::MAX; graph.nodes.len()];
    distances[switch] = 0;
    let mut open = VecDeque::from([switch]);
    while let Some(node) = open.pop_front() {
        for &port in graph.node_ports(node) {
            let far = graph.port_far_end(port);
            if distances[far] == usize::MAX && graph.nodes[far].kind == Kind::Switch {
                distances[far] = distances[node] + 1;
                open.push_back(far);
            }
        }
    }
    distances
}
