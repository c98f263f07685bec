//! Computed routes against the table: hull does not recognize the shape of the same network read
//! from a graph file, so it looks up the routes.

use std::fmt::Write;

use hull_sim::random::{Purpose, Stream};
use hull_sim::topology::{Graph, Kind, Routes};

use super::graph;

/// Number of hashes per pair.
const HASHES: u64 = 40;

/// Small networks of every shape with its own scenario table.
const NETWORKS: [&str; 12] = [
    "star]\nhosts = 5",
    "dumbbell]\npairs = 3",
    "multihop]\ns1 = 2\ns2 = 3\ns3 = 2\nr2 = 2",
    "leaf_spine]\nleaves = 4\nspines = 3\nhosts_per_leaf = 2",
    "leaf_spine]\nleaves = 1\nspines = 2\nhosts_per_leaf = 3",
    "leaf_spine]\nleaves = 5\nspines = 1\nhosts_per_leaf = 1",
    "tree]\nhosts_per_tor = 2",
    "tree]\npods = 1\ntors_per_pod = 3\nhosts_per_tor = 2\naggs_per_pod = 2\ncores = 4",
    "tree]\npods = 3\ntors_per_pod = 1\nhosts_per_tor = 2\naggs_per_pod = 3\ncores = 6",
    "fat_tree]\nk = 2",
    "fat_tree]\nk = 4",
    "fat_tree]\nk = 6",
];

/// Writes the network as node-link JSON and reads it back.
fn as_file(network: &Graph) -> Graph {
    let (mut nodes, mut links) = (String::new(), String::new());
    for (node, it) in network.nodes.iter().enumerate() {
        let kind = if it.kind == Kind::Host {
            "host"
        } else {
            "switch"
        };
        let (name, tier) = (network.name(node), it.tier);
        let comma = if node == 0 { "" } else { "," };
        write!(
            nodes,
            r#"{comma}{{"id": "{name}", "kind": "{kind}", "tier": {tier}}}"#
        )
        .expect("writes to a String");
    }
    for port in (0..network.ports()).step_by(2) {
        let (from, to) = (network.port_owner(port), network.port_far_end(port));
        let (from, to) = (network.name(from), network.name(to));
        let comma = if port == 0 { "" } else { "," };
        write!(links, r#"{comma}{{"source": "{from}", "target": "{to}"}}"#)
            .expect("writes to a String");
    }
    let text = format!(
        r#"{{"directed": false, "multigraph": false, "graph": {{}}, "nodes": [{nodes}], "links": [{links}]}}"#
    );
    graph(&format!("[topology.graph]\ntext = '''{text}'''\n"))
}

/// Compares the paths of all pairs of hosts.
fn compare(network: &Graph, file: &Graph, failed: &[bool], what: &str) {
    let (one, other) = (
        Routes::without(network, failed),
        Routes::without(file, failed),
    );
    assert_eq!(one.longest_path(), other.longest_path(), "{what}");
    let hosts = network.hosts().len();
    let (mut here, mut there) = (Vec::new(), Vec::new());
    for (src, dst) in (0..hosts).flat_map(|src| (0..hosts).map(move |dst| (src, dst))) {
        for hash in 0..HASHES {
            let hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (src * 31 + dst) as u64;
            here.clear();
            there.clear();
            let found = one.path(src, dst, hash, &mut here);
            assert_eq!(found, other.path(src, dst, hash, &mut there), "{what}");
            assert_eq!(here, there, "{what}: {src} to {dst}, hash {hash}");
        }
    }
}

#[test]
fn file_describes_the_same_network() {
    for network in NETWORKS {
        let network = graph(&format!("[topology.{network}\n"));
        let file = as_file(&network);
        assert_eq!(network.nodes, file.nodes);
        assert_eq!(network.hosts(), file.hosts());
        for port in 0..network.ports() {
            assert_eq!(network.port_name(port), file.port_name(port));
        }
        for node in 0..network.nodes.len() {
            assert_eq!(network.node_ports(node), file.node_ports(node));
            assert_eq!(network.node_named(&network.name(node)), Some(node));
        }
    }
}

#[test]
fn all_links() {
    for shape in NETWORKS {
        let network = graph(&format!("[topology.{shape}\n"));
        let none = vec![false; network.links()];
        compare(&network, &as_file(&network), &none, shape);
    }
}

/// Any number of failed links: with few, every pair keeps a shortest path and routes are still
/// computed; with many it does not.
#[test]
fn failed_links() {
    let mut random = Stream::new(7, Purpose::Arrivals, 0);
    for shape in NETWORKS {
        let network = graph(&format!("[topology.{shape}\n"));
        let file = as_file(&network);
        let hosts = network.hosts().len();
        for round in 0..12 {
            let mut failed = vec![false; network.links()];
            // One host's link, then links between switches, one more per round.
            failed[random.below(hosts)] = round % 3 == 0;
            for _ in 0..round {
                let between = network.links() - hosts;
                if between > 0 {
                    failed[hosts + random.below(between)] = true;
                }
            }
            compare(&network, &file, &failed, &format!("{shape}, round {round}"));
        }
    }
}

/// A table for this network would have 655 million entries. All paths go up, then down.
#[test]
fn a_million_hosts() {
    let network = graph("[topology.fat_tree]\nk = 160\n");
    let routes = Routes::new(&network);
    let hosts = network.hosts().len();
    assert_eq!((hosts, network.links()), (1_024_000, 3 * 1_024_000));
    assert_eq!(network.host_named("h1023999"), Some(1_023_999));
    assert_eq!(network.port_name(2 * 1_023_999), "h1023999->tor159_79");
    let mut path = Vec::new();
    for flow in 0..20_000_u64 {
        let (src, dst) = (
            (flow * 7919) as usize % hosts,
            (flow * 104_729) as usize % hosts,
        );
        path.clear();
        assert!(routes.path(src, dst, flow, &mut path));
        let mut at = network.hosts()[src];
        for &port in &path {
            assert_eq!(network.port_owner(port as usize), at);
            at = network.port_far_end(port as usize);
        }
        assert_eq!(at, network.hosts()[dst]);
        let (tor, pod) = (80, 80 * 80);
        let expected = match (src / tor == dst / tor, src / pod == dst / pod) {
            (true, _) => 2,
            (_, true) => 4,
            _ => 6,
        };
        assert_eq!(path.len(), expected);
    }
}
