//! Settings and failures of single links.

use hull_sim::topology::{self, Change, Graph, Routes};

use super::{graph, scenario, walk};

const LEAVES: &str = "[topology.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";

fn port(graph: &Graph, name: &str) -> usize {
    (0..graph.ports())
        .find(|&port| graph.port_name(port) == name)
        .unwrap_or_else(|| panic!("no port {name}"))
}

#[test]
fn settings_change_what_they_name_and_nothing_else() {
    let plain = graph(LEAVES);
    let network = graph(&format!(
        r#"{LEAVES}
[topology]
links = [
  {{ link = "leaf0--spine1", rate = "40Gbps" }},
  {{ link = "h3->leaf1", rate = "1Gbps", delay = "7us" }},
]
"#
    ));
    for port in 0..network.ports() {
        let (mut expected, name) = (plain.wire(port), network.port_name(port));
        match name.as_str() {
            "leaf0->spine1" | "spine1->leaf0" => expected.rate_bps = 40_000_000_000,
            "h3->leaf1" => (expected.rate_bps, expected.delay_ps) = (1_000_000_000, 7_000_000),
            _ => {}
        }
        assert_eq!(network.wire(port), expected, "{name}");
    }
}

#[test]
fn flows_use_the_remaining_paths() {
    let network = graph(LEAVES);
    let spine0 = port(&network, "leaf0->spine0");
    let mut failed = vec![false; network.links()];
    failed[spine0 / 2] = true;
    let (all, left) = (Routes::new(&network), Routes::without(&network, &failed));
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut moved = 0;
    for hash in 0..1000 {
        before.clear();
        after.clear();
        assert!(all.path(0, 3, hash, &mut before) && left.path(0, 3, hash, &mut after));
        assert_eq!(
            walk(&network, &after),
            ["h0", "leaf0", "spine1", "leaf1", "h3"]
        );
        moved += usize::from(before != after);
        assert!(left.path(3, 0, hash, &mut Vec::new()));
    }
    assert!(
        (400..600).contains(&moved),
        "{moved} of 1000 flows had the other spine"
    );
    // Without a shortest path, routing takes a longer one through another leaf.
    let three = graph("[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 1\n");
    let mut failed = vec![false; three.links()];
    failed[port(&three, "leaf0->spine0") / 2] = true;
    failed[port(&three, "leaf1->spine1") / 2] = true;
    let left = Routes::without(&three, &failed);
    let mut path = Vec::new();
    assert!(left.path(0, 1, 0, &mut path));
    assert_eq!(
        walk(&three, &path),
        ["h0", "leaf0", "spine1", "leaf2", "spine0", "leaf1", "h1"]
    );
    assert_eq!(
        (Routes::new(&three).longest_path(), left.longest_path()),
        (4, 6)
    );
}

#[test]
fn missing_path_leaves_the_list_unchanged() {
    let network = graph(LEAVES);
    let mut failed = vec![false; network.links()];
    failed[port(&network, "leaf0->spine0") / 2] = true;
    failed[port(&network, "leaf0->spine1") / 2] = true;
    failed[port(&network, "h2->leaf1") / 2] = true;
    let routes = Routes::without(&network, &failed);
    let mut path = vec![99];
    for (src, dst) in [(0, 3), (3, 0), (2, 3), (3, 2), (1, 2)] {
        assert!(!routes.path(src, dst, 0, &mut path), "{src} to {dst}");
    }
    assert_eq!(path, [99]);
    assert!(routes.path(0, 1, 0, &mut path));
    assert_eq!(path.len(), 3);
}

#[test]
fn failures_in_the_order_of_time() {
    let asked = scenario(&format!(
        r#"{LEAVES}
[topology]
failures = [
  {{ link = "leaf1--spine0", at = "2ms" }},
  {{ link = "leaf0--spine0", at = "1ms", until = "3ms" }},
  {{ link = "spine0--leaf0", at = "2ms", until = "4ms" }},
  {{ link = "h0--leaf0", at = "1ms", until = "2ms" }},
]
"#
    ));
    let network = graph(LEAVES);
    let link = |name: &str| port(&network, name) / 2;
    let (leaf0, leaf1, h0) = (
        link("leaf0->spine0"),
        link("leaf1->spine0"),
        link("h0->leaf0"),
    );
    let ms = 1_000_000_000_u64;
    let change = |at, failed: &[usize], restored: &[usize]| Change {
        at_ps: at * ms,
        failed: failed.to_vec(),
        restored: restored.to_vec(),
    };
    assert_eq!(
        topology::changes(&asked.topology.failures, &network),
        Ok(vec![
            change(1, &[h0, leaf0], &[]),
            change(2, &[leaf1], &[h0]), // leaf0 fails again before its recovery
            change(4, &[], &[leaf0]),
        ])
    );
}

/// A NIC fails with its link, a switch and a host with all of theirs.
#[test]
fn nics_switches_and_hosts_fail_with_their_links() {
    let network = "[topology.dual_tor]\nracks = 2\nhosts_per_rack = 2\nspines = 2\n";
    let failed = |what: &str| {
        let failures = format!("[topology]\nfailures = [{{ {what}, at = \"1ms\" }}]\n");
        let text = format!("{network}{failures}");
        let network = graph(&text);
        let changes = topology::changes(&scenario(&text).topology.failures, &network);
        let changes = changes.unwrap_or_else(|problem| panic!("{problem:?}"));
        let links = changes[0].failed.iter();
        let mut names = Vec::from_iter(links.map(|link| network.port_name(2 * link)));
        names.sort();
        names
    };
    assert_eq!(failed("nic = \"h3:1\""), ["h3->tor1_1"]);
    assert_eq!(failed("host = \"h3\""), ["h3->tor1_0", "h3->tor1_1"]);
    let of_tor = [
        "h0->tor0_1",
        "h1->tor0_1",
        "tor0_1->spine0",
        "tor0_1->spine1",
    ];
    assert_eq!(failed("switch = \"tor0_1\""), of_tor);
}
