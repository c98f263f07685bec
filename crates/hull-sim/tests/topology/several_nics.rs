//! Hosts with several links: their NICs, and paths between NICs.

use std::collections::BTreeMap;
use std::sync::Arc;

use hull_sim::topology::{Graph, NicChoice, Routes, Sending};

use super::{graph, try_scenario, walk};

/// A topology of hosts `h..` and switches, with these links.
pub fn of_links(hosts: usize, switches: &[&str], links: &[(&str, &str)]) -> String {
    let host = |n: usize| format!(r#"{{"id": "h{n}", "kind": "host"}}"#);
    let switch = |name: &&str| format!(r#"{{"id": "{name}", "kind": "switch"}}"#);
    let nodes = (0..hosts).map(host).chain(switches.iter().map(switch));
    let edge = |(a, b): &(&str, &str)| format!(r#"{{"source": "{a}", "target": "{b}"}}"#);
    let edges = links.iter().map(edge);
    let all = |list: Vec<String>| list.join(", ");
    format!(
        "[topology.graph]\ntext = '{{\"nodes\": [{}], \"edges\": [{}]}}'\n",
        all(nodes.collect()),
        all(edges.collect())
    )
}

/// Two hosts with a link to each of two planes, and a third with two links to one of them.
fn planes() -> Graph {
    graph(&of_links(
        3,
        &["s0", "s1"],
        &[
            ("h0", "s0"),
            ("h1", "s0"),
            ("h0", "s1"),
            ("h1", "s1"),
            ("h2", "s1"),
            ("h2", "s1"),
        ],
    ))
}

#[test]
fn nics_are_numbered_by_host_and_link() {
    let network = planes();
    assert!(network.has_several_nics());
    assert_eq!((network.nics(), network.hosts().len()), (6, 3));
    let of_host = |host: usize| Vec::from_iter(network.nics_of(host));
    assert_eq!([0, 1, 2].map(of_host), [[0, 1], [2, 3], [4, 5]]);
    let names: Vec<String> = (0..6)
        .map(|nic| network.port_name(network.nic_port(nic)))
        .collect();
    let expected = ["h0->s0", "h0->s1", "h1->s0", "h1->s1", "h2->s1", "h2->s1"];
    assert_eq!(names, expected);
    assert_eq!(network.host_bps(0), (20_000_000_000, 20_000_000_000));
    assert_eq!(network.fastest_bps(0), (10_000_000_000, 10_000_000_000));
}

#[test]
fn paths_start_and_end_at_their_nics() {
    let network = planes();
    let routes = Routes::new(&network);
    let mut path = Vec::new();
    for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
        path.clear();
        let plane = |nic: usize| usize::from(nic > 3 || nic % 2 == 1);
        let found = routes.path(from, to, 7, &mut path);
        assert_eq!(found, plane(from) == plane(to), "{from} {to}");
        if found {
            let ports = [
                network.nic_port(from),
                Graph::opposite(network.nic_port(to)),
            ];
            assert_eq!(path, ports.map(|port| port as u32));
            assert_eq!(walk(&network, &path).len(), 3);
        }
    }
}

/// Number of times that each pair of NICs is chosen for flows between two hosts.
fn chosen(
    network: &Arc<Graph>,
    routes: &Routes,
    ends: (u32, u32),
) -> BTreeMap<(usize, usize), u32> {
    let mut choice = NicChoice::new(network).expect("several NICs");
    let mut counts = BTreeMap::new();
    for hash in 0..10_000 {
        let sending = Sending {
            ends,
            flow_hash: hash,
            path_hash: hash,
        };
        let nics = choice.choose(routes, &sending).expect("a path");
        *counts.entry(nics).or_default() += 1;
    }
    counts
}

/// Within four standard deviations of a binomial distribution of 10,000 flows.
fn assert_share(found: u32, share: f64) {
    let mean = 10_000.0 * share;
    let off = (f64::from(found) - mean).abs();
    assert!(off < 4.0 * (mean * (1.0 - share)).sqrt(), "{found} {share}");
}

#[test]
fn a_hash_spreads_flows_over_the_nics_with_a_path() {
    let network = Arc::new(planes());
    let routes = Routes::new(&network);
    let between = chosen(&network, &routes, (0, 1));
    assert_eq!(Vec::from_iter(between.keys()), [&(0, 2), &(1, 3)]);
    between.values().for_each(|&count| assert_share(count, 0.5));
    // Host 2 has no link to the first plane.
    let to_one_plane = chosen(&network, &routes, (0, 2));
    assert_eq!(Vec::from_iter(to_one_plane.keys()), [&(1, 4), &(1, 5)]);
    to_one_plane
        .values()
        .for_each(|&count| assert_share(count, 0.5));
    let from_one_plane = chosen(&network, &routes, (2, 1));
    assert_eq!(Vec::from_iter(from_one_plane.keys()), [&(4, 3), &(5, 3)]);
}

#[test]
fn a_flow_avoids_nics_without_a_path() {
    let network = Arc::new(planes());
    let mut failed = vec![false; network.links()];
    failed[network.nic_port(2) / 2] = true;
    let routes = Routes::without(&network, &failed);
    let left = chosen(&network, &routes, (0, 1));
    assert_eq!(Vec::from_iter(left.keys()), [&(1, 3)]);
    failed[network.nic_port(1) / 2] = true;
    let routes = Routes::without(&network, &failed);
    let sending = Sending {
        ends: (0, 1),
        flow_hash: 1,
        path_hash: 1,
    };
    let mut choice = NicChoice::new(&network).expect("several NICs");
    assert_eq!(choice.choose(&routes, &sending), None);
}

/// The receiver's NICs behind the sender's own switch are nearer than those behind another one.
#[test]
fn a_flow_ends_at_the_nearest_nics() {
    let links = [
        ("h0", "s0"),
        ("h0", "s1"),
        ("h1", "s0"),
        ("h1", "s1"),
        ("s0", "s1"),
    ];
    let network = Arc::new(graph(&of_links(2, &["s0", "s1"], &links)));
    let between = chosen(&network, &Routes::new(&network), (0, 1));
    assert_eq!(Vec::from_iter(between.keys()), [&(0, 2), &(1, 3)]);
}

#[test]
fn hosts_that_only_hosts_connect_are_refused() {
    let links = [("h0", "s0"), ("h1", "s0"), ("h1", "s1"), ("h2", "s1")];
    let told = try_scenario(&of_links(3, &["s0", "s1"], &links)).expect_err("no path");
    for part in [
        "topology.graph.text",
        "no path over switches",
        "\"h0\" and \"h2\"",
    ] {
        assert!(told.contains(part), "{told}");
    }
    let many = vec![("h0", "s"); 65];
    let told = try_scenario(&of_links(2, &["s"], &[&many[..], &[("h1", "s")]].concat()));
    let told = told.expect_err("too many");
    assert!(
        told.contains("65 links") && told.contains("1 to 64"),
        "{told}"
    );
}
