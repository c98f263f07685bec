//! Links by tier against counts by hand.

use hull_sim::topology::LinkKind;

use super::graph;

const GBPS: u64 = 1_000_000_000;

/// Rates in Gbps and delays in ns, up and down.
fn kind(links: usize, [up, down]: [u64; 2], [up_ns, down_ns]: [u64; 2]) -> LinkKind {
    LinkKind {
        links,
        up_bps: up * GBPS,
        down_bps: down * GBPS,
        up_ps: up_ns * 1000,
        down_ps: down_ns * 1000,
    }
}

fn check(network: &str, expected: &[(&str, Vec<LinkKind>)]) {
    let found = graph(network).links_by_tier();
    let names = Vec::from_iter(found.iter().map(|of| of.tiers.as_str()));
    assert_eq!(names, Vec::from_iter(expected.iter().map(|of| of.0)));
    for (found, (tiers, kinds)) in found.iter().zip(expected) {
        assert_eq!(&found.kinds, kinds, "{tiers}");
        let links: usize = kinds.iter().map(|kind| kind.links).sum();
        assert_eq!(found.links, links, "{tiers}");
    }
    let all: usize = found.iter().map(|of| of.links).sum();
    assert_eq!(all, graph(network).links());
}

/// 3 leaves of 4 hosts, each with a link to both spines.
#[test]
fn built_shapes() {
    let leaf_spine = "[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 4\n\
                      uplink_rate = \"40Gbps\"\nuplink_delay = \"1us\"\n";
    check(
        leaf_spine,
        &[
            ("host-leaf", vec![kind(12, [10; 2], [200; 2])]),
            ("leaf-spine", vec![kind(6, [40; 2], [1000; 2])]),
        ],
    );
    check(
        "[topology.dumbbell]\npairs = 5\nbottleneck_rate = \"1Gbps\"\n",
        &[
            ("host-switch", vec![kind(10, [10; 2], [200; 2])]),
            ("switch-switch", vec![kind(1, [1; 2], [200; 2])]),
        ],
    );
}

/// A direction with its own rate, another with its own delay: three kinds, the most frequent first.
#[test]
fn mixed_links() {
    let links = "[topology]\nlinks = [{ link = \"h1->switch\", rate = \"1Gbps\" }, \
                 { link = \"switch->h2\", delay = \"5us\" }]\n[topology.star]\nhosts = 5\n";
    check(
        links,
        &[(
            "host-switch",
            vec![
                kind(3, [10; 2], [200; 2]),
                kind(1, [1, 10], [200; 2]),
                kind(1, [10; 2], [200, 5000]),
            ],
        )],
    );
}

/// In a graph a link keeps its direction, whichever end is written first.
#[test]
fn graphs() {
    let text = r#"{"directed": true, "nodes": [{"id": "a", "kind": "host"}, {"id": "b", "kind": "host"},
 {"id": "s", "kind": "switch"}, {"id": "t", "kind": "switch"}],
 "edges": [{"source": "s", "target": "a", "rate": 2e9}, {"source": "a", "target": "s", "rate": 1e9},
 {"source": "b", "target": "t", "rate": 1e9}, {"source": "t", "target": "b", "rate": 2e9},
 {"source": "s", "target": "t", "rate": 3e9}, {"source": "t", "target": "s", "rate": 4e9}]}"#;
    check(
        &format!("[topology.graph]\ntext = '''{text}'''\n"),
        &[
            ("host-tor", vec![kind(2, [1, 2], [200; 2])]),
            ("tor-tor", vec![kind(1, [4, 3], [200; 2])]),
        ],
    );
}
