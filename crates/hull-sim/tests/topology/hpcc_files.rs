//! Topology files of HPCC's simulator and its forks: a small network in each dialect against counts by hand,
//! and files that contradict themselves.

use hull_sim::topology::{Graph, Routes};

use super::{degree, graph, switches, try_scenario};

/// Two ToRs with two hosts each, and two switches above; node 4 and 5 are the ToRs.
const LEAVES: &str = "8 4 8\n4 5 6 7\n0 4 100Gbps 1000ns 0.000000\n1 4 100Gbps 0.001ms 0\n\
                      2 5 100Gbps 1us 0\n3 5 100Gbps 1us 0\n4 6 400Gbps 1us 0\n4 7 400Gbps 1us 0\n\
                      5 6 400Gbps 1us 0\n5 7 400Gbps 1us 0\n";
const NOTES: &str =
    "\n\nFirst line: total node #, switch node #, link #\nsrc0 dst0 rate delay error_rate\n";

fn network(text: &str) -> String {
    format!("[topology.graph]\ntext = '''{text}'''\n")
}

fn wires(graph: &Graph) -> Vec<(u64, u64)> {
    let wires = (0..graph.ports()).map(|port| graph.wire(port));
    wires.map(|wire| (wire.rate_bps, wire.delay_ps)).collect()
}

#[test]
fn dialects_agree() {
    let power = LEAVES
        .replace("8 4 8\n", "8 4 2 8\n")
        .replace("100Gbps", "100000000000.0")
        .replace("400Gbps", "400Gb/s");
    let windows = LEAVES.replace('\n', "\r\n");
    let first = graph(&network(LEAVES));
    for text in [format!("{LEAVES}{NOTES}"), power, windows] {
        let found = graph(&network(&text));
        assert_eq!(
            (found.hosts().len(), switches(&found), found.links()),
            (4, 4, 8)
        );
        assert_eq!(wires(&found), wires(&first));
        assert_eq!(degree(&found, "n4"), 4);
        assert_eq!(found.host_named("n3"), Some(3));
        assert_eq!(found.host_named("n4"), None);
        let tier = |name| found.node_named(name).map(|node| found.nodes[node].tier);
        assert_eq!(
            [tier("n0"), tier("n5"), tier("n6")],
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(Routes::new(&found).longest_path(), 4);
    }
    assert_eq!(first.wire(0).rate_bps, 100_000_000_000);
    assert_eq!(first.wire(8).delay_ps, 1_000_000);
}

/// Switches may have any ids: hosts are numbered in the order of theirs.
#[test]
fn switches_before_hosts() {
    let found = graph(&network("3 1 2\n0\n1 0 1Gbps 1us 0\n0 2 1Gbps 1us 0.25\n"));
    assert_eq!(
        (found.host_named("n1"), found.host_named("n2")),
        (Some(0), Some(1))
    );
    let shares = (0..4).map(|port| found.loss(port).map(|share| share.value()));
    assert_eq!(Vec::from_iter(shares), [None, None, Some(0.25), Some(0.25)]);
}

#[test]
fn contradictions_are_refused_with_the_line() {
    for (from, to, told) in [
        ("8 4 8\n", "8 4 9\n", "line 1: announces 9 links; found 8"),
        (
            "8 4 8\n",
            "8 4 7\n",
            "line 10: found a link behind the 7 that line 1 announces",
        ),
        (
            "8 4 8\n",
            "8 3 8\n",
            "line 2: found 4 ids; expected the 3 switches",
        ),
        (
            "8 4 8\n",
            "8 5 8\n",
            "line 2: found 4 ids; expected the 5 switches",
        ),
        (
            "8 4 8\n",
            "8 8 8\n",
            "line 1: found 8 switches among 8 nodes",
        ),
        (
            "8 4 8\n",
            "8 4\n",
            "line 1: \"8 4\" is invalid; expected the numbers of nodes",
        ),
        ("8 4 8\n", "9 4 8\n", "found 0 links at the host \"n8\""),
        ("4 5 6 7\n", "4 5 6 6\n", "line 2: found the switch 6 twice"),
        (
            "4 5 6 7\n",
            "4 5 6 8\n",
            "line 2: \"8\" is invalid; expected the id of a node, 0 to 7",
        ),
        (
            "1 4 100Gbps",
            "1 9 100Gbps",
            "line 4: \"9\" is invalid; expected the id of a node",
        ),
        (
            "1 4 100Gbps",
            "1 0 100Gbps",
            "found a link between the hosts \"n1\" and \"n0\"",
        ),
        (
            "1 4 100Gbps",
            "4 4 100Gbps",
            "line 4: found a link from \"4\" to itself",
        ),
        (
            "100Gbps 0.001ms",
            "100Gpbs 0.001ms",
            "line 4: link \"1\" to \"4\": rate: \"100Gpbs\" is invalid",
        ),
        (
            "0.001ms",
            "0.001m",
            "line 4: link \"1\" to \"4\": delay: \"0.001m\" is invalid",
        ),
        (
            "0.001ms 0",
            "0.001ms 1",
            "line 4: error rate: \"1\" is invalid",
        ),
        (
            "0.001ms 0",
            "0.001ms",
            "line 4: \"1 4 100Gbps 0.001ms\" is invalid; expected a link",
        ),
    ] {
        assert!(LEAVES.contains(from));
        let error = try_scenario(&network(&LEAVES.replacen(from, to, 1)));
        let error =
            error.and_then(|scenario| scenario.graph().map_err(|problem| problem.to_string()));
        let error = error.expect_err(told);
        assert!(error.contains(told), "{told}: {error}");
    }
}
