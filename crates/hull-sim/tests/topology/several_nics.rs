//! Hosts with several links: their NICs, and paths between NICs.

use std::collections::BTreeMap;
use std::sync::Arc;

use hull_sim::scenario;
use hull_sim::topology::{Graph, NicChoice, NicRule, Routes, Sending};

use super::{BASE, graph, switches, try_scenario, walk};

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
    let mut choice = NicChoice::new(network, NicRule::Hash).expect("several NICs");
    let mut counts = BTreeMap::new();
    for hash in 0..10_000 {
        let sending = Sending {
            ends,
            receiver: ends.1,
            path: 0,
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
        receiver: 1,
        path: 0,
        flow_hash: 1,
        path_hash: 1,
    };
    let mut choice = NicChoice::new(&network, NicRule::Hash).expect("several NICs");
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

/// Names of the nodes of the network that a host's NICs are connected to.
fn neighbours(network: &Graph, host: usize) -> Vec<String> {
    let ports = network.nics_of(host).map(|nic| network.nic_port(nic));
    let nodes = ports.map(|port| network.port_far_end(port));
    nodes.map(|node| network.name(node)).collect()
}

/// Planes share the hosts alone, and each is a fat tree or leaf-spine network with all hosts: counts of
/// links and switches, and the nodes of each path.
#[test]
fn planes_are_equal_networks() {
    let tree = graph("[topology.fat_tree]\nk = 4\nplanes = 3\n");
    assert_eq!((tree.hosts().len(), switches(&tree)), (16, 3 * 20));
    assert_eq!((tree.nics(), tree.links()), (48, 3 * (16 + 16 + 16)));
    assert_eq!(neighbours(&tree, 5), ["tor1_0", "tor5_0", "tor9_0"]);
    let leaves = "[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\nplanes = 2\n";
    let leaves = graph(leaves);
    assert_eq!((leaves.hosts().len(), switches(&leaves)), (12, 2 * 5));
    assert_eq!((leaves.nics(), leaves.links()), (24, 2 * (12 + 6)));
    assert_eq!(neighbours(&leaves, 11), ["leaf0_2", "leaf1_2"]);
    for (network, planes) in [(&tree, 3), (&leaves, 2)] {
        let routes = Routes::new(network);
        let mut path = Vec::new();
        for (from, to) in (0..network.nics()).flat_map(|a| (0..network.nics()).map(move |b| (a, b)))
        {
            path.clear();
            let found = routes.path(from, to, 11, &mut path);
            assert_eq!(found, from % planes == to % planes, "{from} {to}");
        }
    }
}

/// A plane has the paths of the same network without planes.
#[test]
fn a_plane_has_the_paths_of_one_network() {
    let one = graph("[topology.fat_tree]\nk = 4\n");
    let two = graph("[topology.fat_tree]\nk = 4\nplanes = 2\n");
    let lengths = |network: &Graph, each: usize| {
        let routes = Routes::new(network);
        let mut path = Vec::new();
        let mut lengths = Vec::new();
        for (src, dst) in (0..16).flat_map(|src| (0..16).map(move |dst| (src, dst))) {
            path.clear();
            assert!(routes.path(each * src, each * dst, 3, &mut path));
            lengths.push(path.len());
        }
        (lengths, routes.longest_path())
    };
    assert_eq!(lengths(&one, 1), lengths(&two, 2));
}

#[test]
fn one_plane_is_the_network_without_planes() {
    for text in [
        "[topology.fat_tree]\nk = 4\n",
        "[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n",
    ] {
        assert_eq!(graph(text), graph(&format!("{text}planes = 1\n")));
    }
}

#[test]
fn rails_and_racks_have_a_switch_for_each_nic() {
    let text =
        "[topology.rail_optimized]\ngroups = 2\nhosts_per_group = 3\nrails = 4\nspines = 2\n";
    let rails = graph(text);
    assert_eq!((rails.hosts().len(), switches(&rails)), (6, 2 * 4 + 2));
    assert_eq!((rails.nics(), rails.links()), (24, 6 * 4 + 8 * 2));
    assert_eq!(
        neighbours(&rails, 4),
        ["leaf1_0", "leaf1_1", "leaf1_2", "leaf1_3"]
    );
    assert_eq!(rails.tiers_of_switch_ports(), [(1, 2), (2, 1), (1, 0)]);
    let racks = graph("[topology.dual_tor]\nracks = 3\nhosts_per_rack = 2\nspines = 2\n");
    assert_eq!((racks.hosts().len(), switches(&racks)), (6, 3 * 2 + 2));
    assert_eq!((racks.nics(), racks.links()), (12, 12 + 6 * 2));
    assert_eq!(neighbours(&racks, 3), ["tor1_0", "tor1_1"]);
    // Through the first ToR to a rack's other hosts, over a spine to another rack.
    let routes = Routes::new(&racks);
    let mut path = Vec::new();
    assert!(routes.path(4, 6, 1, &mut path));
    assert_eq!(walk(&racks, &path), ["h2", "tor1_0", "h3"]);
    path.clear();
    assert!(routes.path(4, 11, 1, &mut path));
    assert_eq!(path.len(), 4);
    let alone =
        "[topology.rail_optimized]\ngroups = 1\nhosts_per_group = 3\nrails = 2\nspines = 0\n";
    assert_eq!(graph(alone).links(), 6);
}

/// The data of a flow to host n and its acknowledgments are on rail n modulo 3; within a group they
/// cross the group's leaf of that rail.
#[test]
fn a_rail_is_the_receivers() {
    let text =
        "[topology.rail_optimized]\ngroups = 2\nhosts_per_group = 4\nrails = 3\nspines = 2\n";
    let network = Arc::new(graph(text));
    let routes = Routes::new(&network);
    let mut choice = NicChoice::new(&network, NicRule::Rail).expect("several NICs");
    let mut path = Vec::new();
    for (src, dst) in (0..8).flat_map(|src| (0..8).map(move |dst| (src, dst))) {
        for ends in [(src, dst), (dst, src)] {
            let sending = Sending {
                ends,
                receiver: dst,
                path: 0,
                flow_hash: 99,
                path_hash: 1,
            };
            let rail = dst as usize % 3;
            let (from, to) = choice.choose(&routes, &sending).expect("a path");
            let expected = (3 * ends.0 as usize + rail, 3 * ends.1 as usize + rail);
            assert_eq!((from, to), expected);
            path.clear();
            assert!(routes.path(from, to, 5, &mut path));
            let nodes = walk(&network, &path);
            assert_eq!(nodes[1], format!("leaf{}_{rail}", ends.0 / 4));
            assert_eq!(nodes.len(), if src / 4 == dst / 4 { 3 } else { 5 });
        }
    }
}

#[test]
fn rails_that_do_not_match_are_refused() {
    let rail = |network: &str| {
        let settings = ["host.nic_choice=rail".to_owned()];
        let read = scenario::expand(&format!("{BASE}{network}"), "test.toml", &settings);
        read.map(|_| ()).expect_err("no rails").to_string()
    };
    let links = [("h0", "s0"), ("h0", "s1"), ("h1", "s0")];
    let told = rail(&of_links(
        2,
        &["s0", "s1"],
        &[&links[..], &[("s0", "s1")]].concat(),
    ));
    let expected = "\"h0\" has 2 links, and \"h1\" has 1";
    assert!(
        told.contains("host.nic_choice") && told.contains(expected),
        "{told}"
    );
    let links = [("h0", "s0"), ("h0", "s1"), ("h1", "s1"), ("h1", "s0")];
    let told = rail(&of_links(2, &["s0", "s1"], &links));
    assert!(
        told.contains("link 0 of \"h0\" has no path to link 0 of \"h1\""),
        "{told}"
    );
}
