//! The number of links on the shortest paths between two hosts, over the NICs that are nearest.

use std::collections::VecDeque;

use super::graph::{Graph, Kind};
use super::pods::Pods;

/// Switch without a path to another.
const NONE: u16 = u16::MAX;

/// Numbers of links between the hosts of a graph.
#[derive(Clone, Debug)]
pub struct LinkCounts(Ways);

#[derive(Clone, Debug)]
enum Ways {
    /// By the shape of the network.
    Pods(Pods),
    Stored(Table),
}

/// Numbers of links between all switches with hosts, each of which is a row.
#[derive(Clone, Debug)]
struct Table {
    /// Row of the switch of each NIC.
    rows: Vec<u32>,
    /// First NIC of each host, with the number of NICs as the last entry.
    first_nics: Vec<u32>,
    /// Number of rows, and from each row the links to each.
    switches: usize,
    links: Vec<u16>,
}

impl LinkCounts {
    /// Creates the numbers for a graph with all links.
    pub fn of(graph: &Graph) -> LinkCounts {
        LinkCounts(match graph.pods() {
            Some(pods) if !graph.has_several_nics() => Ways::Pods(*pods),
            Some(_) | None => Ways::Stored(Table::of(graph)),
        })
    }

    /// Number of links of a path from one host to another, the hosts' own included.
    pub fn between(&self, from: u32, to: u32) -> u16 {
        match &self.0 {
            Ways::Pods(pods) => of_pods(pods, from as usize, to as usize),
            Ways::Stored(table) => table.between(from as usize, to as usize),
        }
    }
}

fn of_pods(pods: &Pods, from: usize, to: usize) -> u16 {
    let [from, to] = [from, to].map(|host| host / pods.hosts_per_tor);
    if from == to {
        2
    } else if from / pods.tors_per_pod == to / pods.tors_per_pod {
        4
    } else {
        6
    }
}

impl Table {
    fn of(graph: &Graph) -> Table {
        let mut row_of = vec![None; graph.nodes.len()];
        let mut targets = Vec::new();
        let mut rows = Vec::with_capacity(graph.nics());
        for nic in 0..graph.nics() {
            let switch = graph.port_far_end(graph.nic_port(nic));
            let row = *row_of[switch].get_or_insert_with(|| {
                targets.push(switch);
                targets.len() as u32 - 1
            });
            rows.push(row);
        }
        let mut links = Vec::with_capacity(targets.len() * targets.len());
        for &target in &targets {
            let hops = hops_to(graph, target);
            links.extend(targets.iter().map(|&switch| hops[switch]));
        }
        let hosts = 0..graph.hosts().len();
        let mut first_nics = vec![0];
        first_nics.extend(hosts.map(|host| graph.nics_of(host).end as u32));
        Table {
            rows,
            first_nics,
            switches: targets.len(),
            links,
        }
    }

    fn between(&self, from: usize, to: usize) -> u16 {
        let rows = |host: usize| {
            let nics = self.first_nics[host] as usize..self.first_nics[host + 1] as usize;
            &self.rows[nics]
        };
        let to = rows(to);
        let pairs = rows(from)
            .iter()
            .flat_map(|&one| to.iter().map(move |&other| (one as usize, other as usize)));
        let links = pairs.map(|(one, other)| self.links[one * self.switches + other]);
        links.min().unwrap_or(NONE).saturating_add(2)
    }
}

/// Number of links from each switch to a switch.
fn hops_to(graph: &Graph, target: usize) -> Vec<u16> {
    let mut hops = vec![NONE; graph.nodes.len()];
    hops[target] = 0;
    let mut open = VecDeque::from([target]);
    while let Some(switch) = open.pop_front() {
        for &port in graph.node_ports(switch) {
            let next = graph.port_far_end(port);
            if graph.nodes[next].kind == Kind::Switch && hops[next] == NONE {
                hops[next] = hops[switch] + 1;
                open.push_back(next);
            }
        }
    }
    hops
}
