//! Invalid keys of `[topology]`: one message with the key, the value found and the expected form.

use super::try_scenario;

fn refuse(network: &str, parts: &[&str]) {
    let message = try_scenario(network)
        .err()
        .unwrap_or_else(|| panic!("accepted, but invalid: {network}"));
    println!("{message}");
    for part in parts {
        assert!(
            message.contains(part),
            "\"{part}\" is missing from: {message}"
        );
    }
}

#[test]
fn exactly_one_network() {
    refuse(
        "[topology]\n",
        &["topology", "no network", "star, dumbbell"],
    );
    refuse(
        "[topology.star]\nhosts = 3\n[topology.tree]\n",
        &["topology", "several networks"],
    );
    refuse(
        "[topology.ring]\nhosts = 3\n",
        &["topology.ring", "no such key", "leaf_spine"],
    );
}

#[test]
fn counts_out_of_range() {
    for (network, parts) in [
        ("star]\nhosts = 1", ["topology.star.hosts", "1 is invalid"]),
        (
            "dumbbell]\npairs = 0",
            ["topology.dumbbell.pairs", "1 to 524288"],
        ),
        (
            "dumbbell]\npairs = 1\nrtts = [\"1ms\", \"2ms\"]",
            ["topology.dumbbell.rtts", "2 entries"],
        ),
        (
            "dumbbell]\npairs = 1\nrtts = [\"799ns\"]",
            ["topology.dumbbell.rtts[0]", "at least \"800ns\""],
        ),
        ("multihop]\ns2 = 0", ["topology.multihop.s2", "1 to 10000"]),
        (
            "multihop]\ntrunk_rate = \"9Tbps\"",
            ["topology.multihop.trunk_rate", "at most 6.4Tbps"],
        ),
        (
            "leaf_spine]\nleaves = 1\nspines = 1\nhosts_per_leaf = 1",
            ["topology.leaf_spine", "1 hosts"],
        ),
        (
            "leaf_spine]\nleaves = 10000\nspines = 1\nhosts_per_leaf = 110",
            ["1100000 hosts", "2 to 1048576"],
        ),
        (
            "leaf_spine]\nleaves = 9999\nspines = 999\nhosts_per_leaf = 1",
            ["9999000 links", "at most 4194304"],
        ),
        (
            "leaf_spine]\nleaves = 2\nspines = 0\nhosts_per_leaf = 1",
            ["topology.leaf_spine.spines", "0 is invalid"],
        ),
        (
            "tree]\ncores = 7",
            ["topology.tree.cores", "a multiple of aggs_per_pod, 2"],
        ),
        (
            "tree]\naggs_per_pod = 0",
            ["topology.tree.aggs_per_pod", "0 is invalid"],
        ),
        (
            "tree]\npods = 1000\ntors_per_pod = 21\nhosts_per_tor = 1",
            ["21000 top-of-rack", "1 to 20000"],
        ),
        (
            "tree]\npods = 1000\ncores = 10000",
            ["10032000 links", "at most 4194304"],
        ),
        (
            "tree]\nuplink_delay = \"2s\"",
            ["topology.tree.uplink_delay", "at most 1s"],
        ),
        ("fat_tree]\nk = 5", ["topology.fat_tree.k", "even"]),
        (
            "fat_tree]\nk = 162",
            ["topology.fat_tree.k", "an even number from 2 to 160"],
        ),
        (
            "fat_tree]\nk = 4\nplanes = 0",
            ["topology.fat_tree.planes", "1 to 64"],
        ),
        (
            "fat_tree]\nk = 160\nplanes = 2",
            ["6144000 links", "at most 4194304"],
        ),
        (
            "leaf_spine]\nleaves = 2\nspines = 2\nhosts_per_leaf = 2\nplanes = 65",
            ["topology.leaf_spine.planes", "1 to 64"],
        ),
        (
            "rail_optimized]\ngroups = 2\nhosts_per_group = 2\nrails = 0\nspines = 1",
            ["topology.rail_optimized.rails", "1 to 64"],
        ),
        (
            "rail_optimized]\ngroups = 2\nhosts_per_group = 2\nrails = 2\nspines = 0",
            ["topology.rail_optimized.spines", "groups above 1"],
        ),
        (
            "dual_tor]\nracks = 1\nhosts_per_rack = 1\nspines = 1",
            ["topology.dual_tor", "1 hosts"],
        ),
    ] {
        refuse(&format!("[topology.{network}\n"), &parts);
    }
}

#[test]
fn unknown_links() {
    let with = |list: &str| format!("[topology]\n{list}\n[topology.star]\nhosts = 3\n");
    let rate = |link: &str| {
        with(&format!(
            "links = [{{ link = \"{link}\", rate = \"1Gbps\" }}]"
        ))
    };
    refuse(
        &rate("h0--h9"),
        &["topology.links[0].link", "\"h9\"", "\"a--b\""],
    );
    refuse(
        &rate("h0--h1"),
        &["topology.links[0].link", "no link joins them"],
    );
    refuse(&rate("h0"), &["topology.links[0].link", "\"h0\""]);
    refuse(&rate("--"), &["topology.links[0].link", "\"\""]);
    refuse(
        &with("links = [{ link = \"h0--switch\" }]"),
        &["topology.links[0]", "a link without rate, delay and loss"],
    );
    refuse(
        &with("links = [{ link = \"h0--switch\", rate = \"1kbps\" }]"),
        &["topology.links[0].rate", "\"1kbps\""],
    );
    refuse(
        &with("failures = [{ link = \"h0->switch\", at = \"1ms\" }]"),
        &["topology.failures[0].link", "\"a--b\""],
    );
    refuse(
        &with("failures = [{ link = \"h0--switch\", at = \"1ms\", until = \"1ms\" }]"),
        &["topology.failures[0].until", "after at, \"1ms\""],
    );
}

#[test]
fn failures_of_unknown_things() {
    let with = |what: &str| {
        format!("[topology]\nfailures = [{{ {what}at = \"1ms\" }}]\n[topology.star]\nhosts = 3\n")
    };
    for (what, parts) in [
        (
            "",
            [
                "topology.failures[0]",
                "exactly one of link, nic, switch and host",
            ],
        ),
        (
            "host = \"h0\", nic = \"h0:0\", ",
            ["topology.failures[0]", "a failure of 2 things"],
        ),
        (
            "host = \"switch\", ",
            ["topology.failures[0].host", "the name of a host"],
        ),
        (
            "switch = \"h1\", ",
            ["topology.failures[0].switch", "the name of a switch"],
        ),
        (
            "nic = \"h0\", ",
            ["topology.failures[0].nic", "\"host:number\""],
        ),
        (
            "nic = \"h9:0\", ",
            ["topology.failures[0].nic", "the name of a host"],
        ),
        ("nic = \"h0:1\", ", ["topology.failures[0].nic", "0 to 0"]),
    ] {
        refuse(&with(what), &parts);
    }
}
