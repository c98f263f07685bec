//! The longest unloaded round trip against hand-calculated sums and paper 6.3.

use hull_sim::scenario::{self, Scenario, longest_round_trip_ps, longest_round_trips_ps};

/// The round trip of `network` in ns.
fn round_trip_ns(network: &str, settings: &[&str]) -> f64 {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let text = format!("{}{network}", super::BASE);
    let scenario = match scenario::expand(&text, "test.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    };
    let graph = scenario
        .graph()
        .unwrap_or_else(|problem| panic!("{problem:?}"));
    longest_round_trip_ps(&scenario, &graph) as f64 / 1e3
}

/// A packet of 1500 bytes takes 1200 ns at 10 Gbps, an ACK of 40 bytes 32 ns; each link 200 ns.
const LINK_NS: f64 = 1200.0 + 32.0 + 2.0 * 200.0;

/// Paper 6.3: 6 hops, 1 us of delay at each end, 11.8 us.
#[test]
fn of_the_papers_tree() {
    let found = round_trip_ns("[topology.tree]\n", &["host.stack_delay=500ns"]);
    assert_eq!(found, 6.0 * LINK_NS + 2000.0);
    assert!((found - 11_800.0).abs() < 50.0);
}

#[test]
fn of_a_star_with_hosts_that_take_their_time() {
    let star = "[topology.star]\nhosts = 3\n";
    assert_eq!(round_trip_ns(star, &[]), 2.0 * LINK_NS);
    let stacks = [
        "host.stack_delay=3us",
        "host.stack_jitter={offset=\"1us\",exponential=\"2us\"}",
    ];
    assert_eq!(round_trip_ns(star, &stacks), 2.0 * LINK_NS + 4.0 * 6000.0);
    let receive = "host.receive={frames=8,wait=\"20us\",packet_cost=\"500ns\"}";
    assert_eq!(
        round_trip_ns(star, &[receive]),
        2.0 * LINK_NS + 2.0 * 20_500.0
    );
    let framing = ["transport.framing=38B"];
    assert!((round_trip_ns(star, &framing) - 2.0 * LINK_NS - 4.0 * 30.4).abs() < 0.01);
}

/// One slow, long link counts if the farthest pair uses it, but not if other paths avoid it.
#[test]
fn of_the_farthest_pair() {
    let star = "[topology.star]\nhosts = 3\n[[topology.links]]\nlink = \"h1--switch\"\nrate = \"1Gbps\"\ndelay = \"5us\"\n";
    assert_eq!(round_trip_ns(star, &[]), LINK_NS + 12_320.0 + 10_000.0);
    let leaf_spine = "[topology.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n\
        [[topology.links]]\nlink = \"leaf0--spine1\"\ndelay = \"5us\"\n";
    assert_eq!(round_trip_ns(leaf_spine, &[]), 4.0 * LINK_NS + 2.0 * 4800.0);
    let racks = "[topology.leaf_spine]\nleaves = 1\nspines = 1\nhosts_per_leaf = 2\n";
    assert_eq!(round_trip_ns(racks, &[]), 2.0 * LINK_NS);
}

/// Two links in a rack, four over a spine; hosts' own times do not count.
#[test]
fn of_each_number_of_links() {
    let network = "[topology.leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\n";
    let scenario = super::scenario(network);
    let graph = super::graph(network);
    let found = longest_round_trips_ps(&scenario, &graph);
    let expected = [(2, 2.0 * LINK_NS), (4, 4.0 * LINK_NS)];
    let found = found
        .into_iter()
        .map(|(links, ps)| (links, ps as f64 / 1e3));
    assert_eq!(Vec::from_iter(found), expected);
}
