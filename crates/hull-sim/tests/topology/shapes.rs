//! Counts, names, rates and delays of each network against its definition.

use std::collections::BTreeMap;

use hull_sim::topology::{Graph, Routes, Wire, observed};

use super::{degree, graph, scenario, switches, walk};

fn wire(graph: &Graph, from: &str, to: &str) -> Wire {
    let node = |name: &str| {
        graph
            .node_named(name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    let ports: Vec<usize> = graph.ports_between(node(from), node(to)).collect();
    assert_eq!(ports.len(), 1, "{from}->{to}");
    graph.wire(ports[0])
}

fn links_by_tier(graph: &Graph) -> BTreeMap<String, usize> {
    let mut tiers = BTreeMap::new();
    for port in (0..graph.ports()).step_by(2) {
        *tiers.entry(graph.port_tiers(port)).or_insert(0) += 1;
    }
    tiers
}

fn path_names(graph: &Graph, routes: &Routes, src: usize, dst: usize) -> Vec<String> {
    let mut path = Vec::new();
    assert!(routes.path(src, dst, 1, &mut path));
    walk(graph, &path)
}

#[test]
fn star() {
    let star = graph("[topology.star]\nhosts = 5\n");
    assert_eq!(
        (star.hosts().len(), switches(&star), star.links()),
        (5, 1, 5)
    );
    assert_eq!(degree(&star, "switch"), 5);
    let routes = Routes::new(&star);
    assert_eq!(path_names(&star, &routes, 3, 0), ["h3", "switch", "h0"]);
    assert_eq!((routes.longest_path(), star.host_named("h3")), (2, Some(3)));
    assert_eq!(star.host_named("switch"), None);
    for host in 0..5 {
        assert_eq!(
            star.host_port(host),
            2 * host,
            "link h is the link of host h"
        );
    }
    assert_eq!(star.port_name(6), "h3->switch");
    assert_eq!(star.port_tiers(6), "host-switch");
    assert_eq!(star.port_tiers(7), "switch-host");
    let seen = observed(&scenario("[topology.star]\nhosts = 5\n").topology, &star);
    assert_eq!((seen.client, seen.prober), (0, 1));
    assert_eq!(star.port_name(seen.port), "switch->h0");
}

#[test]
fn directions_use_host_and_switch_settings() {
    let mut asked = scenario("[topology.star]\nhosts = 2\n");
    asked.host.rate.0 = 1_000_000_000;
    asked.host.delay.0 = 5;
    let star = asked
        .graph()
        .unwrap_or_else(|problem| panic!("{problem:?}"));
    let up = Wire {
        rate_bps: 1_000_000_000,
        delay_ps: 5,
    };
    let down = Wire {
        rate_bps: 10_000_000_000,
        delay_ps: 200_000,
    };
    assert_eq!(
        (wire(&star, "h1", "switch"), wire(&star, "switch", "h1")),
        (up, down)
    );
}

/// Flow i goes from sender i to receiver i: the sum of the six delays is its round trip.
#[test]
fn dumbbell_with_round_trips() {
    let network = r#"[topology.dumbbell]
pairs = 5
bottleneck_rate = "1Gbps"
bottleneck_delay = "10us"
rtts = ["100us", "250.000001us", "1ms"]
"#;
    let dumbbell = graph(network);
    assert_eq!(
        (
            dumbbell.hosts().len(),
            switches(&dumbbell),
            dumbbell.links()
        ),
        (10, 2, 11)
    );
    let routes = Routes::new(&dumbbell);
    let delay_ps = |src, dst| {
        let mut path = Vec::new();
        assert!(routes.path(src, dst, 0, &mut path));
        path.iter()
            .map(|&port| dumbbell.wire(port as usize).delay_ps)
            .sum::<u64>()
    };
    let round_trips: Vec<u64> = (0..5)
        .map(|i| delay_ps(i, 5 + i) + delay_ps(5 + i, i))
        .collect();
    assert_eq!(
        round_trips,
        [
            100_000_000,
            250_000_001,
            1_000_000_000,
            100_000_000,
            250_000_001
        ]
    );
    assert_eq!(
        path_names(&dumbbell, &routes, 2, 7),
        ["sender2", "left", "right", "receiver2"]
    );
    let bottleneck = Wire {
        rate_bps: 1_000_000_000,
        delay_ps: 10_000_000,
    };
    assert_eq!(wire(&dumbbell, "left", "right"), bottleneck);
    assert_eq!(wire(&dumbbell, "right", "left"), bottleneck);
    let seen = observed(&scenario(network).topology, &dumbbell);
    assert_eq!(dumbbell.port_name(seen.port), "left->right");
    assert_eq!(dumbbell.host_named("receiver0"), Some(seen.client));
    assert_eq!(dumbbell.host_named("sender0"), Some(seen.prober));
    let plain = graph("[topology.dumbbell]\npairs = 1\n");
    assert_eq!(wire(&plain, "sender0", "left").delay_ps, 200_000);
}

/// Thesis 2.3.1: 10, 20, 10, 1 and 20 hosts, trunks of 10 Gbps.
#[test]
fn multihop() {
    let network = graph("[topology.multihop]\ntrunk_delay = \"3us\"\n");
    assert_eq!((network.hosts().len(), switches(&network)), (61, 3));
    assert_eq!(degree(&network, "triumph1"), 10 + 20 + 1);
    assert_eq!(degree(&network, "scorpion"), 2);
    assert_eq!(degree(&network, "triumph2"), 10 + 1 + 20 + 1);
    let trunk = Wire {
        rate_bps: 10_000_000_000,
        delay_ps: 3_000_000,
    };
    assert_eq!(wire(&network, "triumph1", "scorpion"), trunk);
    assert_eq!(wire(&network, "triumph2", "scorpion"), trunk);
    let routes = Routes::new(&network);
    let host = |name: &str| {
        network
            .host_named(name)
            .unwrap_or_else(|| panic!("no {name}"))
    };
    assert_eq!(
        path_names(&network, &routes, host("s1_9"), host("r1")),
        ["s1_9", "triumph1", "scorpion", "triumph2", "r1"]
    );
    assert_eq!(
        path_names(&network, &routes, host("s3_0"), host("r1")),
        ["s3_0", "triumph2", "r1"]
    );
    assert_eq!(routes.longest_path(), 4);
}

#[test]
fn leaf_spine() {
    let network = graph(
        "[topology.leaf_spine]\nleaves = 4\nspines = 3\nhosts_per_leaf = 8\nuplink_rate = \"40Gbps\"\n",
    );
    assert_eq!((network.hosts().len(), switches(&network)), (32, 7));
    assert_eq!(
        (degree(&network, "leaf2"), degree(&network, "spine1")),
        (8 + 3, 4)
    );
    let tiers = BTreeMap::from([("host-leaf".to_owned(), 32), ("leaf-spine".to_owned(), 12)]);
    assert_eq!(links_by_tier(&network), tiers);
    assert_eq!(wire(&network, "leaf3", "spine0").rate_bps, 40_000_000_000);
    assert_eq!(wire(&network, "spine0", "leaf3").rate_bps, 40_000_000_000);
    assert_eq!(wire(&network, "leaf3", "h31").rate_bps, 10_000_000_000);
    assert_eq!(Routes::new(&network).longest_path(), 4);
}

/// k pods of k/2 ToRs and k/2 aggregation switches, k^2/4 cores, k^3/4 hosts, k ports per switch.
#[test]
fn fat_trees() {
    for k in [2, 4, 16] {
        let network = graph(&format!("[topology.fat_tree]\nk = {k}\n"));
        assert_eq!(network.hosts().len(), k * k * k / 4);
        assert_eq!(switches(&network), 5 * k * k / 4);
        for (node, it) in network.nodes.iter().enumerate() {
            assert_eq!(
                network.node_ports(node).len(),
                if it.tier == 0 { 1 } else { k }
            );
        }
        let each = k * k * k / 4;
        let tiers = ["host-tor", "tor-agg", "agg-core"].map(|tier| (tier.to_owned(), each));
        assert_eq!(links_by_tier(&network), BTreeMap::from(tiers));
        assert_eq!(Routes::new(&network).longest_path(), 6);
    }
}

#[test]
fn tree_of_another_shape() {
    let network = graph(
        r#"[topology.tree]
pods = 3
tors_per_pod = 2
hosts_per_tor = 5
aggs_per_pod = 3
cores = 6
uplink_rate = "40Gbps"
core_rate = "100Gbps"
core_delay = "2us"
"#,
    );
    assert_eq!((network.hosts().len(), switches(&network)), (30, 6 + 9 + 6));
    assert_eq!(degree(&network, "tor2_1"), 5 + 3);
    assert_eq!(degree(&network, "agg0_2"), 2 + 2);
    assert_eq!(degree(&network, "core5"), 3);
    assert_eq!(wire(&network, "tor1_0", "agg1_2").rate_bps, 40_000_000_000);
    let core = Wire {
        rate_bps: 100_000_000_000,
        delay_ps: 2_000_000,
    };
    assert_eq!(wire(&network, "core4", "agg1_2"), core);
}

/// 8192 hosts: the table is small because it is indexed by switch.
#[test]
fn a_large_fat_tree_is_built_and_routed() {
    let network = graph("[topology.fat_tree]\nk = 32\n");
    let routes = Routes::new(&network);
    assert_eq!((network.hosts().len(), routes.longest_path()), (8192, 6));
    let mut path = Vec::with_capacity(6);
    for flow in 0..100_000_u64 {
        let (src, dst) = ((flow * 31 % 8192) as usize, (flow * 17 % 8191) as usize);
        path.clear();
        assert!(routes.path(src, dst, flow, &mut path));
        assert_eq!(
            network.port_far_end(path[path.len() - 1] as usize),
            network.hosts()[dst]
        );
    }
}

/// Two fat trees of k = 8, each with a border switch, as in Uno: per tree 128 hosts, 32 ToRs, 32
/// aggregation switches, 16 cores, and 8 links from each core to the border.
#[test]
fn two_datacentres() {
    let graph = graph(
        "[topology.two_datacentres]\nk = 8\nborder_links = 8\nborder_delay = \"886.5us\"\ncore_links = 8\n",
    );
    assert_eq!((graph.hosts().len(), switches(&graph)), (256, 162));
    let expected = [
        ("host-tor", 256),
        ("tor-agg", 256),
        ("agg-core", 256),
        ("core-border", 256),
        ("border-border", 8),
    ];
    let expected = expected.map(|(tiers, links)| (tiers.to_owned(), links));
    assert_eq!(links_by_tier(&graph), BTreeMap::from(expected));
    let routes = Routes::new(&graph);
    assert_eq!(routes.longest_path(), 9);
    let inside = path_names(&graph, &routes, 128, 255);
    assert!(inside.len() == 7 && !inside.contains(&"border1".to_owned()));
    let between = path_names(&graph, &routes, 1, 240);
    assert_eq!(between.len(), 10);
    assert_eq!(between[4..6], ["border0", "border1"]);
    let node = |name: &str| graph.node_named(name).expect("a switch");
    let delays = graph.ports_between(node("border1"), node("border0"));
    assert!(
        delays
            .map(|port| graph.wire(port).delay_ps)
            .eq([886_500_000; 8])
    );
}
