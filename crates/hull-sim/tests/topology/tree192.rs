//! The network of paper 6.3 against the paper's own numbers: 56 switches of 8 ports, 192 servers,
//! 11.8 us, 15%, 43.8% and 39.6%.

use std::collections::BTreeMap;

use hull_sim::random::{Purpose, Stream};
use hull_sim::topology::{Graph, Kind, Routes};

use super::{graph, links_to, switches};

const TREE: &str = "[topology.tree]\n";
/// Load of the servers' links in paper 6.3.
const LOAD: f64 = 0.15;

#[test]
fn it_has_56_switches_of_8_ports_and_192_servers() {
    let tree = graph(TREE);
    assert_eq!((switches(&tree), tree.hosts().len()), (56, 192));
    for (node, it) in tree.nodes.iter().enumerate() {
        let ports = if it.kind == Kind::Switch { 8 } else { 1 };
        assert_eq!(tree.node_ports(node).len(), ports, "{}", tree.name(node));
    }
    let of_tier = |tier| tree.nodes.iter().filter(|node| node.tier == tier).count();
    assert_eq!(
        [of_tier(0), of_tier(1), of_tier(2), of_tier(3)],
        [192, 32, 16, 8]
    );
}

#[test]
fn servers_are_two_four_or_six_links_apart() {
    let tree = graph(TREE);
    let routes = Routes::new(&tree);
    let mut path = Vec::new();
    for dst in 0..192 {
        let links = links_to(&tree, tree.hosts()[dst]);
        let mut pairs = BTreeMap::new();
        for src in (0..192).filter(|&src| src != dst) {
            path.clear();
            assert!(routes.path(src, dst, (src * 192 + dst) as u64, &mut path));
            assert_eq!(path.len(), links[tree.hosts()[src]]);
            assert_eq!(tree.port_owner(path[0] as usize), tree.hosts()[src]);
            assert_eq!(
                tree.port_far_end(path[path.len() - 1] as usize),
                tree.hosts()[dst]
            );
            *pairs.entry(path.len()).or_insert(0) += 1;
        }
        assert_eq!(pairs, BTreeMap::from([(2, 5), (4, 18), (6, 168)]));
    }
    assert_eq!(routes.longest_path(), 6);
}

#[test]
fn the_longest_round_trip_takes_11_8_us() {
    let tree = graph(TREE);
    let routes = Routes::new(&tree);
    let stack_ps = 500_000; // half of the 1 us that an end host adds, in each direction
    let one_way = |src, dst, bytes: u64| {
        let mut path = Vec::new();
        assert!(routes.path(src, dst, 7, &mut path));
        assert_eq!(path.len(), 6);
        let links: u64 = path
            .iter()
            .map(|&port| tree.wire(port as usize))
            .map(|wire| bytes * 8 * 1_000_000_000_000 / wire.rate_bps + wire.delay_ps)
            .sum();
        links + 2 * stack_ps
    };
    let round_trip_ps = one_way(0, 191, 1500) + one_way(191, 0, 40);
    // 6 * (1.2 + 0.2) + 6 * (0.032 + 0.2) + 2 us
    assert_eq!(round_trip_ps, 11_792_000);
}

/// Sum of loads, largest load of a link and number of links, by tier and direction.
fn by_tier(tree: &Graph, loads: &[f64]) -> BTreeMap<String, (f64, f64, f64)> {
    let mut tiers = BTreeMap::new();
    for (port, &load) in loads.iter().enumerate() {
        let (sum, max, links) = tiers
            .entry(tree.port_tiers(port))
            .or_insert((0.0, 0.0_f64, 0.0));
        *sum += load;
        *max = max.max(load);
        *links += 1.0;
    }
    tiers
}

/// A search finds all shortest paths; each carries an equal share of its pair's traffic.
#[test]
fn loads_by_counted_paths_match_the_paper() {
    let tree = graph(TREE);
    let mut loads = vec![0.0; tree.ports()];
    for &dst in tree.hosts() {
        let links = links_to(&tree, dst);
        for &src in tree.hosts().iter().filter(|&&src| src != dst) {
            let mut paths = vec![(src, Vec::new())];
            for _ in 0..links[src] {
                paths = paths
                    .into_iter()
                    .flat_map(|(node, path)| {
                        let nearer = tree
                            .node_ports(node)
                            .iter()
                            .filter(|&&port| links[tree.port_far_end(port)] < links[node]);
                        nearer
                            .map(|&port| {
                                let mut longer = path.clone();
                                longer.push(port);
                                (tree.port_far_end(port), longer)
                            })
                            .collect::<Vec<_>>()
                    })
                    .collect();
            }
            let share = LOAD / 191.0 / paths.len() as f64;
            for port in paths.iter().flat_map(|(_, path)| path) {
                loads[*port] += share;
            }
        }
    }
    let tiers = by_tier(&tree, &loads);
    for (tier, percent) in [
        ("host-tor", 15.0),
        ("tor-host", 15.0),
        ("tor-agg", 43.8),
        ("agg-tor", 43.8),
        ("agg-core", 39.6),
        ("core-agg", 39.6),
    ] {
        let (sum, max, links) = tiers[tier];
        let mean = 100.0 * sum / links;
        assert_eq!((mean * 10.0).round() / 10.0, percent, "{tier}");
        assert!(
            (100.0 * max - mean).abs() < 1e-9,
            "{tier}: every link has the same load"
        );
    }
}

/// Hashing many flows gives the same loads, within six standard deviations of a count.
#[test]
fn loads_by_hashed_flows_match_the_paper() {
    let tree = graph(TREE);
    let routes = Routes::new(&tree);
    let mut random = Stream::new(1, Purpose::Connections, 0);
    let (flows, mut counts, mut path) = (500_000, vec![0.0; tree.ports()], Vec::new());
    for flow in 0..flows {
        let src = random.below(192);
        let dst = (src + 1 + random.below(191)) % 192;
        path.clear();
        assert!(routes.path(src, dst, flow, &mut path));
        for &port in &path {
            counts[port as usize] += 1.0;
        }
    }
    let one_server = flows as f64 / 192.0;
    let expected = |tier: &str| match tier {
        "host-tor" | "tor-host" => one_server,
        "tor-agg" | "agg-tor" => one_server * 6.0 / 2.0 * 186.0 / 191.0,
        "agg-core" | "core-agg" => one_server * 24.0 / 8.0 * 168.0 / 191.0,
        other => panic!("{other}"),
    };
    for (port, &count) in counts.iter().enumerate() {
        let expected: f64 = expected(&tree.port_tiers(port));
        assert!(
            (count - expected).abs() < 6.0 * expected.sqrt(),
            "{}",
            tree.port_name(port)
        );
    }
    for (tier, (sum, _, links)) in by_tier(&tree, &counts) {
        let deviation = sum / links / expected(&tier) - 1.0;
        assert!(deviation.abs() < 0.001, "{tier}: {deviation}");
    }
}
