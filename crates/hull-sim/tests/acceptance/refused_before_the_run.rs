//! Bad input of the issue, written as a user would: each case is rejected before the run with one
//! message that names the file, the key, the value found and the expected form. Unit tests beside
//! the code cover the rules themselves; these tests apply them to a scenario.

use std::fs;

use hull_sim::scenario::expand;
use hull_sim::simulation;

use super::queue_series::folder;

const GOOD: &str = r#"
name = "good"
run.duration = "1ms"
topology.star.hosts = 4
host = { queue = "fifo", rate = "1Gbps", delay = "1us" }
switch = { rate = "1Gbps", delay = "1us" }
workload.bulk = { flows = 1, size = "1KB" }
"#;

/// Message shown to the user; `None` if the scenario is accepted.
fn message(settings: &[String]) -> Option<String> {
    match expand(GOOD, "my.toml", settings) {
        Err(error) => Some(error.to_string()),
        Ok(cells) => {
            let (key, problem) = simulation::verify(&cells[0].scenario).err()?.into();
            Some(format!("my.toml: {key}: {problem}"))
        }
    }
}

fn refuse(setting: &str, parts: &[&str]) {
    let message = message(&[setting.to_owned()]).expect("it is wrong");
    println!("{message}");
    assert!(message.starts_with("my.toml: "), "{message}");
    assert!(!message.contains('\n'), "{message}");
    for part in parts {
        assert!(
            message.contains(part),
            "\"{part}\" is missing from: {message}"
        );
    }
}

/// Writes a file for one test and returns its path.
fn file(test: &str, name: &str, text: &str) -> String {
    let path = folder(test).join(name);
    fs::write(&path, text).expect("a folder of this test");
    path.display().to_string()
}

#[test]
fn valid_scenario_is_accepted() {
    assert_eq!(message(&[]), None);
}

fn graph(nodes: &str, links: &str) -> String {
    format!("{{\"directed\":false,\"nodes\":[{nodes}],\"links\":[{links}]}}")
}

const TWO: &str = r#"{"id":"s","kind":"switch"},{"id":"a","kind":"host"},{"id":"b","kind":"host"}"#;
const THEIRS: &str = r#"{"source":"a","target":"s"},{"source":"b","target":"s"}"#;

#[test]
fn a_graph_that_is_not_connected() {
    let more = r#",{"id":"t","kind":"switch"},{"id":"c","kind":"host"},{"id":"d","kind":"host"}"#;
    let links = r#",{"source":"c","target":"t"},{"source":"d","target":"t"}"#;
    let text = graph(&format!("{TWO}{more}"), &format!("{THEIRS}{links}"));
    let path = file("pieces", "pieces.json", &text);
    refuse(
        &format!("topology={{file={{path=\"{path}\"}}}}"),
        &[
            "topology.file.path",
            "pieces.json",
            "no path between \"s\" and \"t\"",
            "connected",
        ],
    );
}

#[test]
fn a_duplicate_host() {
    let nodes = format!("{TWO},{{\"id\":\"c\",\"name\":\"a\",\"kind\":\"host\"}}");
    let links = format!("{THEIRS},{{\"source\":\"c\",\"target\":\"s\"}}");
    let path = file("twins", "twins.json", &graph(&nodes, &links));
    refuse(
        &format!("topology={{file={{path=\"{path}\"}}}}"),
        &[
            "topology.file.path",
            "twins.json",
            "two nodes",
            "\"a\"",
            "different names",
        ],
    );
}

#[test]
fn a_flow_to_itself() {
    refuse(
        "workload.long_lived={flows=[{src=1,dst=1}]}",
        &["workload.long_lived.flows[0].dst", "itself", "another host"],
    );
    refuse(
        "workload.incast={client=1,servers=[1,2]}",
        &["workload.incast.servers", "1", "expected"],
    );
    refuse(
        "workload.flows={load=0.1,sizes={fixed=\"1KB\"},sources=1,destinations=1}",
        &["workload.flows", "expected"],
    );
    let path = file(
        "own",
        "own.csv",
        "start_ps,src,dst,bytes\n0,0,1,10\n5,h2,2,10\n",
    );
    refuse(
        &format!("workload.flows={path}"),
        &["workload.flows", "own.csv", "line 3", "dst", "expected"],
    );
}

#[test]
fn unknown_hosts() {
    refuse(
        "workload.long_lived={flows=[{src=0,dst=4}]}",
        &["workload.long_lived.flows[0].dst", "4", "0 to 3"],
    );
    refuse(
        "workload.requests={load=0.1,client=\"nobody\",classes=[{size=\"1KB\",share=1.0}]}",
        &["workload.requests.client", "nobody"],
    );
}

#[test]
fn a_bad_row() {
    for (text, parts) in [
        (
            "start_ps,src,dst,bytes\n0,0,1,10\n\n7,0,1,many\n",
            ["line 4", "bytes", "many"],
        ),
        (
            "start_ps,src,dst,bytes\n0,0,1\n",
            ["line 2", "3 cells", "4"],
        ),
        (
            "start_ps,src,dst,bytes\n-5,0,1,10\n",
            ["line 2", "start_ps", "-5"],
        ),
        ("start_ps,src,dst,bytes\n0,0,9,10\n", ["line 2", "dst", "9"]),
        (
            "start_ps,src,bytes\n0,0,10\n",
            ["line 1", "dst", "start_ps"],
        ),
    ] {
        let path = file("rows", "rows.csv", text);
        let mut expected = vec!["workload.flows", "rows.csv"];
        expected.extend(parts);
        refuse(&format!("workload.flows={path}"), &expected);
    }
}

#[test]
fn a_distribution_that_does_not_reach_1() {
    let path = file("low", "low.csv", "bytes,cdf\n1000,0.2\n5000,0.97\n");
    let setting = format!("workload.flows={{load=0.1,sizes={{csv=\"{path}\"}}}}");
    refuse(
        &setting,
        &[
            "workload.flows.sizes.csv",
            "low.csv",
            "cdf",
            "0.97 in the last line",
            "1",
        ],
    );
    let path = file(
        "falling",
        "falling.csv",
        "bytes,cdf\n1000,0.5\n5000,0.4\n9000,1\n",
    );
    let setting = format!("workload.flows={{load=0.1,sizes={{csv=\"{path}\"}}}}");
    refuse(
        &setting,
        &["workload.flows.sizes.csv", "line 3", "cdf", "0.4"],
    );
}

#[test]
fn a_rate_that_overflows() {
    refuse(
        "host.rate=99999999999999999999Tbps",
        &["host.rate", "99999999999999999999Tbps", "expected"],
    );
    refuse(
        "switch.rate=18446744Tbps",
        &["switch.rate", "18446744Tbps", "at most 6.4Tbps"],
    );
    refuse(
        "topology.links=[{link=\"h0--switch\",rate=\"7Tbps\"}]",
        &["topology.links[0].rate", "7Tbps", "at most 6.4Tbps"],
    );
    refuse(
        "run.duration=9999999s",
        &["run.duration", "9999999s", "1000000s"],
    );
}

/// A threshold has no \"unlimited\", and a weight of 1 has two readings.
#[test]
fn settings_of_red() {
    let red = |key: &str, value: &str| {
        let others = match key {
            "min" => "max=\"90pkts\"",
            "max" => "min=\"9pkts\"",
            _ => "min=\"9pkts\",max=\"90pkts\"",
        };
        format!("switch.red={{{others},{key}={value}}}")
    };
    let length = "expected a number of packets such as \"50pkts\" or a size such as \"75KB\"";
    for key in ["min", "max"] {
        for value in ["\"400cells\"", "\"unlimited\"", "\"5%\"", "true"] {
            refuse(
                &red(key, value),
                &[&format!("switch.red.{key}"), value, length],
            );
            let shown = message(&[red(key, value)]).unwrap_or_default();
            assert_eq!(
                shown.matches("unlimited").count(),
                value.matches("unlimited").count()
            );
        }
    }
    let pi = "switch.pi={reference=\"9cells\",interval=\"20us\",flows=9,round_trip=\"1ms\"}";
    refuse(pi, &["switch.pi.reference", length]);
    for value in ["1", "1.0", "\"1\"", "\"1.0\""] {
        let readings = "expected \"50%\" for 2^-1, or \"100%\" for the queue itself";
        refuse(
            &red("weight", value),
            &["switch.red.weight", value, readings],
        );
    }
    for value in ["0", "25", "9.0", "\"0%\""] {
        let allowed = "2 to 24, for 2^-2 to 2^-24, or a share such as \"10%\"";
        refuse(
            &red("weight", value),
            &["switch.red.weight", value, allowed],
        );
    }
    refuse(
        &red("draw", "\"each\""),
        &["switch.red.draw", "\"each\"", "\"spaced\", \"independent\""],
    );
}

#[test]
fn values_the_simulator_cannot_represent() {
    refuse("switch.loss=1", &["switch.loss", "100%", "less than 100%"]);
    refuse(
        "switch.marking={threshold=\"5GB\"}",
        &["switch.marking.threshold", "5GB", "1GB"],
    );
}

#[test]
fn more_memory_than_available() {
    let parts = &["workload", "4000000000 flows at a time", "GB of memory"];
    refuse("workload={bulk={flows=4000000000}}", parts);
    refuse(
        "workload={bulk={flows=4000000000,start_interval=\"1ps\"}}",
        &["1000000000 flows", "GB of memory"],
    );
}
