//! Graphs written by NetworkX (tests/graphs/write_graphs.py), and invalid ones.

use std::path::PathBuf;

use hull_sim::topology::{Graph, Routes};

use super::{degree, graph, switches, try_scenario};

fn path(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs");
    folder.join(name).display().to_string()
}

fn network(path: &str) -> String {
    format!("[topology.file]\npath = '{path}'\n")
}

fn read(name: &str) -> Graph {
    graph(&network(&path(name)))
}

/// Rate in Gbps and delay in ns of a port.
fn wire(graph: &Graph, name: &str) -> (f64, f64) {
    let port = (0..graph.ports()).find(|&port| graph.port_name(port) == name);
    let wire = graph.wire(port.unwrap_or_else(|| panic!("no port {name}")));
    (wire.rate_bps as f64 / 1e9, wire.delay_ps as f64 / 1e3)
}

#[test]
fn three_undirected_formats_agree() {
    let forms = [
        "two_leaves.graphml",
        "two_leaves_edges.json",
        "two_leaves_links.json",
    ]
    .map(read);
    for form in &forms {
        assert_eq!(
            (form.hosts().len(), switches(form), form.links()),
            (4, 4, 8)
        );
        assert_eq!(form.host_named("h2"), Some(2));
        assert_eq!(wire(form, "h2->leaf1"), (10.0, 200.0));
        assert_eq!(wire(form, "leaf1->h2"), (10.0, 200.0));
        assert_eq!(wire(form, "leaf1->spine0"), (40.0, 300.0));
        assert_eq!(wire(form, "spine0->leaf1"), (40.0, 300.0));
        assert_eq!(wire(form, "leaf0->spine1"), (10.0, 200.0)); // switch.rate, switch.delay
        let tier = |name| form.node_named(name).map(|node| form.nodes[node].tier);
        assert_eq!(
            [tier("h0"), tier("leaf1"), tier("spine0")],
            [Some(0), Some(1), Some(2)]
        );
        assert_eq!(Routes::new(form).longest_path(), 4);
    }
    assert_eq!(forms[0], forms[1]);
    assert_eq!(forms[1], forms[2]);
}

#[test]
fn directed_graphs_have_two_rates_a_link() {
    let forms = ["two_leaves_directed.graphml", "two_leaves_directed.json"].map(read);
    for form in &forms {
        assert_eq!(form.links(), 8);
        assert_eq!(wire(form, "h2->leaf1"), (10.0, 200.0));
        assert_eq!(wire(form, "leaf1->h2"), (9.0, 200.0));
        assert_eq!(wire(form, "leaf0->spine0"), (40.0, 300.0));
        assert_eq!(wire(form, "spine0->leaf0"), (25.0, 500.0));
    }
    assert_eq!(forms[0], forms[1]);
}

#[test]
fn numeric_ids_become_names_and_parallel_links_share() {
    let forms = ["numbered.graphml", "numbered.json"].map(read);
    assert_eq!(forms[0], forms[1]);
    let network = &forms[0];
    let names =
        |hosts: &[usize]| -> Vec<String> { hosts.iter().map(|&node| network.name(node)).collect() };
    assert_eq!(names(network.hosts()), ["n0", "n1", "store"]);
    assert_eq!((degree(network, "n2"), degree(network, "n3")), (4, 3));
    let routes = Routes::new(network);
    let mut first = 0;
    for hash in 0..1000 {
        let mut path = Vec::new();
        assert!(routes.path(0, 2, hash, &mut path));
        assert_eq!(path.len(), 3);
        first += u32::from(path[1] == 4);
    }
    assert!(
        (400..600).contains(&first),
        "{first} of 1000 on the first of two links"
    );
}

/// Message for a temporary file with `text`, removed after reading.
fn message(name: &str, text: &str) -> String {
    let file = std::env::temp_dir().join(format!("hull-{}-{name}", std::process::id()));
    std::fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
    let found = try_scenario(&network(&file.display().to_string()));
    std::fs::remove_file(&file).unwrap_or_else(|error| panic!("{error}"));
    let message = found
        .err()
        .unwrap_or_else(|| panic!("accepted, but invalid: {text}"));
    println!("{message}");
    let start = format!(": topology.file.path: {}", file.display());
    let (place, problem) = message
        .split_once(&start)
        .unwrap_or_else(|| panic!("{message}"));
    assert!(place.starts_with("test.toml:"), "{message}");
    problem.trim_start_matches([':', ' ']).to_owned()
}

fn refuse(name: &str, text: &str, parts: &[&str]) {
    let message = message(name, text);
    for part in parts {
        assert!(
            message.contains(part),
            "\"{part}\" is missing from: {message}"
        );
    }
}

/// Checks the message for hosts `a` and `b` at switch `s` with `old` replaced by `new`.
fn refuse_json(old: &str, new: &str, parts: &[&str]) {
    let good = r#"{"directed": false,
 "nodes": [{"id": "a", "kind": "host"}, {"id": "b", "kind": "host"}, {"id": "s", "kind": "switch"}],
 "edges": [{"source": "a", "target": "s"}, {"source": "b", "target": "s"}]
}"#;
    assert!(good.contains(old), "{old}");
    refuse(
        &format!("{}.json", old.len()),
        &good.replacen(old, new, 1),
        parts,
    );
}

#[test]
fn bad_graphs_are_refused() {
    let edges = r#"[{"source": "a", "target": "s"}, {"source": "b", "target": "s"}]"#;
    refuse_json(
        edges,
        r#"[{"source": "a", "target": "s"}]"#,
        &["0 links at the host \"b\"", "expected 1 to 64"],
    );
    refuse_json(
        edges,
        r#"[{"source": "a", "target": "b"}]"#,
        &["between the hosts \"a\" and \"b\""],
    );
    refuse_json(
        edges,
        r#"[{"source": "s", "target": "s"}]"#,
        &["edges[0]", "\"s\" to itself"],
    );
    refuse_json(
        edges,
        r#"[{"source": "a", "target": "t"}]"#,
        &["edges[0]", "the node \"t\""],
    );
    refuse_json(
        edges,
        r#"[{"source": "a"}]"#,
        &["edges[0].target", "nothing"],
    );
    refuse_json(
        edges,
        r#"[{"source": "a", "target": [0, 1]}]"#,
        &["edges[0].target", "[0,1]"],
    );
    refuse_json("\"edges\"", "\"arcs\"", &["has neither edges nor links"]);
    refuse_json(
        "\"directed\": false",
        "\"directed\": true",
        &["\"a\" to \"s\" but not back"],
    );
    refuse_json(
        "\"id\": \"b\"",
        "\"id\": \"a\"",
        &["nodes[1]", "\"a\" twice"],
    );
    refuse_json(
        "\"id\": \"b\"",
        "\"id\": \"b\", \"name\": \"a\"",
        &["two nodes named \"a\""],
    );
    refuse_json(
        "\"id\": \"b\"",
        "\"id\": \"b\", \"name\": \"7\"",
        &["nodes[1]", "\"7\"", "not a number"],
    );
    refuse_json(
        "\"id\": \"b\"",
        "\"id\": \"b\", \"name\": \"b->a\"",
        &["\"b->a\""],
    );
    refuse_json(
        "\"host\"}, {\"id\": \"s\"",
        "\"router\"}, {\"id\": \"s\"",
        &["\"b\"", "\"router\"", "\"host\" or \"switch\""],
    );
    refuse_json(", \"kind\": \"switch\"", "", &["\"s\"", "no kind"]);
    refuse_json(
        "\"kind\": \"switch\"",
        "\"kind\": \"switch\", \"tier\": 0",
        &["tier \"0\"", "1 to 255"],
    );
    for (attribute, part) in [
        ("\"rate\": \"10GBps\"", "\"10GBps\""),
        ("\"rate\": 5", "from 1Mbps to 6.4Tbps"),
        ("\"rate\": 1e300", "from 1Mbps to 6.4Tbps"),
        ("\"rate\": -1", "\"-1\""),
        ("\"delay\": 2", "at most 1s"),
        ("\"delay\": \"nan\"", "\"nan\""),
        ("\"delay\": [1]", "edges[1].delay"),
    ] {
        let new = format!("\"source\": \"b\", {attribute}");
        refuse_json("\"source\": \"b\"", &new, &["edges[1]", part]);
    }
    refuse_json("\"kind\": \"host\"},", "\"kind\": \"host\",", &["line 2"]);
}

/// Two switches with two hosts each, whose links have `Rate` and `Delay`, as in a file that a colleague
/// sent: 10 Gbps and 50 us that hull would replace by the scenario's.
const CAPITALS: &str = r#"<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="d2" for="edge" attr.name="Delay" attr.type="string" />
  <key id="d1" for="edge" attr.name="Rate" attr.type="string" />
  <key id="d0" for="node" attr.name="kind" attr.type="string" />
  <graph edgedefault="undirected">
    <node id="l0"><data key="d0">switch</data></node>
    <node id="h0"><data key="d0">host</data></node>
    <node id="h1"><data key="d0">host</data></node>
    <edge source="l0" target="h0"><data key="d1">10Gbps</data><data key="d2">50us</data></edge>
    <edge source="l0" target="h1"><data key="d1">10Gbps</data><data key="d2">50us</data></edge>
  </graph>
</graphml>"#;

#[test]
fn names_near_rate_and_delay_are_refused() {
    refuse(
        "capitals.graphml",
        CAPITALS,
        &[
            "line 10: link \"l0\" to \"h0\": Rate: ",
            "did you mean rate?",
        ],
    );
    let with_rate = CAPITALS.replace("\"Rate\"", "\"rate\"");
    refuse(
        "delay.graphml",
        &with_rate,
        &["Delay: ", "did you mean delay?"],
    );
    for (attribute, parts) in [
        ("\"Rate\": \"1Gbps\"", ["Rate: ", "did you mean rate?"]),
        ("\"bandwidth\": 1e9", ["bandwidth: ", "did you mean rate?"]),
        ("\"bw\": 10", ["bw: ", "did you mean rate?"]),
        ("\"capacity\": [1]", ["capacity: ", "did you mean rate?"]),
        ("\"latency\": \"1us\"", ["latency: ", "did you mean delay?"]),
        (
            "\"rate\": 1e9, \"Latency_ms\": 3",
            ["Latency_ms: ", "did you mean delay?"],
        ),
        // The first name in alphabetical order, in each run.
        (
            "\"speed\": 1, \"bw\": 1, \"LinkSpeed\": 1",
            ["LinkSpeed: ", "did you mean rate?"],
        ),
    ] {
        let new = format!("\"source\": \"b\", {attribute}");
        refuse_json(
            "\"source\": \"b\"",
            &new,
            &["edges[1]: link \"b\"", parts[0], parts[1]],
        );
    }
}

/// Other names are ignored, and so are near ones that are null or beside the right one.
#[test]
fn other_attributes_of_links_are_ignored() {
    let text = r#"{"nodes": [{"id": 0, "kind": "host", "capacity": 7}, {"id": 1, "kind": "host", "Rate": 1},
 {"id": "s", "kind": "switch"}],
 "links": [{"source": 0, "target": "s", "label": "x", "id": 3, "weight": 2, "colour": "red", "length": 5},
 {"source": 1, "target": "s", "rate": 2e9, "capacity": 7, "latency": null, "loss_rate": 0.1}]}"#;
    let graph = graph(&format!("[topology.graph]\ntext = '''{text}'''\n"));
    assert_eq!(wire(&graph, "n0->s"), (10.0, 200.0));
    assert_eq!(wire(&graph, "n1->s"), (2.0, 200.0));
}

#[test]
fn disconnected_graphs_are_rejected() {
    let text = r#"{"nodes": [{"id": 0, "kind": "host"}, {"id": 1, "kind": "host"},
 {"id": "s", "kind": "switch"}, {"id": "t", "kind": "switch"}],
 "links": [{"source": 0, "target": "s"}, {"source": 1, "target": "t"}]}"#;
    refuse(
        "pieces.json",
        text,
        &["between \"n0\" and \"n1\"", "connected"],
    );
}

#[test]
fn bad_files_are_refused() {
    refuse("empty", "", &["is empty; expected GraphML"]);
    refuse(
        "table.csv",
        "a,b\n",
        &["is neither GraphML nor node-link JSON nor a topology of HPCC's"],
    );
    refuse(
        "open.xml",
        "<graphml>\n<graph>\n</graphml>",
        &["line 3", "no XML"],
    );
    refuse("other.xml", "<gexf/>", &["line 1", "<gexf>", "<graphml>"]);
    refuse("none.xml", "<graphml/>", &["no <graph>"]);
    refuse(
        "hyper.xml",
        "<graphml>\n<graph>\n<hyperedge/></graph></graphml>",
        &["line 3", "<hyperedge>"],
    );
    refuse(
        "bare.xml",
        "<graphml><graph>\n<node/></graph></graphml>",
        &["line 2", "without id"],
    );
    refuse(
        "key.xml",
        "<graphml><graph>\n<node id=\"a\"><data key=\"d9\">host</data></node></graph></graphml>",
        &["line 2", "\"d9\""],
    );
    refuse(
        "edges.xml",
        "<graphml>\n<graph edgedefault=\"Directed\"/></graphml>",
        &["line 2: <graph>: edgedefault: \"Directed\" is invalid; expected directed or undirected"],
    );
    refuse(
        "edge.xml",
        "<graphml><graph edgedefault=\"directed\">\n<edge directed=\"no\"/></graph></graphml>",
        &["line 2: <edge>: directed: \"no\" is invalid; expected true or false"],
    );
    let deep = format!("{}{}", "<a>".repeat(200_000), "</a>".repeat(200_000));
    refuse("deep.xml", &deep, &["line 1"]);
    refuse("deep.json", &"{\"a\":".repeat(200_000), &["line 1"]);
    let missing = try_scenario(&network("no/such/file.json"));
    let message = missing.err().unwrap_or_default();
    assert!(
        message.contains("topology.file.path: no/such/file.json: cannot be read"),
        "{message}"
    );
}

#[test]
fn graphml_defaults_fill_missing_attributes() {
    let text = r#"<graphml>
<key id="k" for="node" attr.name="kind"><default>host</default></key>
<key id="r" for="edge" attr.name="rate"><default>2Gbps</default></key>
<graph edgedefault="undirected">
<node id="a"/><node id="b"/><node id="s"><data key="k">switch</data></node>
<edge source="a" target="s"/><edge source="s" target="b"><data key="r">3Gbps</data></edge>
</graph></graphml>"#;
    let file = std::env::temp_dir().join(format!("hull-{}-defaults", std::process::id()));
    std::fs::write(&file, text).unwrap_or_else(|error| panic!("{error}"));
    let network = graph(&network(&file.display().to_string()));
    std::fs::remove_file(&file).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(
        (wire(&network, "s->a").0, wire(&network, "b->s").0),
        (2.0, 3.0)
    );
}
