//! Tests of the settings of workloads.

use super::*;
use crate::scenario::{Scenario, expand, keys};

const BASE: &str = r#"
    name = "test"
    run.duration = "1s"
    topology.star.hosts = 10
    host.rate = "1Gbps"
    host.delay = "1us"
    switch.rate = "1Gbps"
    switch.delay = "1us"
    switch.buffer = "100KB"
"#;

/// All tables with all keys that their defaults leave out.
const ALL: &str = r#"
    [workload]
    high_priority_below = "10KB"
    bulk = { flows = 2, size = "1MB", start_interval = "1ms" }
    flows = { load = "15%", count = 9, sources = "1-3", destinations = [0, "h4"], connections = "persistent", sizes = { pareto = { shape = 1.05, mean = "100KB", cut = "1GB" } } }
    incast = { client = 0, servers = ["1-5", "h6"], fan_in = 3, queries = 2, batch = 2, jitter = "1ms", deadline = "10ms" }
    all_to_all = { size = "1KB", hosts = "0-3" }
    permutation = { size = "1KB", hosts = "0-3" }
    production = { outside = "h9", response_total = "1MB", update_factor = 10 }
    [workload.requests]
    load = "20%"
    client = "h1"
    servers = "2-4"
    classes = [{ size = "1KB", share = "100%" }]
    [[workload.long_lived.flows]]
    src = 1
    dst = ["2-3"]
    stop = "1s"
    [workload.partition_aggregate]
    interval = "1ms"
    request_size = "100B"
    response_size = "100B"
    service = { offset = "400ns", gamma = { shape = 0.7, scale = "142.2us" } }
    [workload.aggregation_tree]
    interval = "1ms"
    client = 0
    [[workload.aggregation_tree.levels]]
    hosts = [1, 2]
    iterations = 4
    deadline = "10ms"
    [[workload.aggregation_tree.levels]]
    hosts = "3-8"
    service.exponential = "1ms"
"#;

fn scenario(workload: &str) -> Result<Scenario, String> {
    let cells = expand(&format!("{BASE}{workload}"), "my.toml", &[]);
    cells
        .map(|cells| Scenario::clone(&cells[0].scenario))
        .map_err(|error| error.to_string())
}

#[test]
fn written_scenario_reads_back_unchanged() {
    for workload in [
        ALL,
        "workload.flows = \"list.csv\"",
        "workload.list = \"list.csv\"",
    ] {
        let read = scenario(workload).expect("good");
        let text = read.to_toml().expect("TOML");
        let again = expand(&text, "again.toml", &[]).expect("good").remove(0);
        assert_eq!(*again.scenario, read);
    }
}

#[test]
fn a_flow_list_takes_the_place_of_a_table() {
    let text = format!("{BASE}{ALL}");
    let settings = ["workload.flows=dir/list.csv".to_owned()];
    let cell = expand(&text, "my.toml", &settings).expect("good").remove(0);
    let flows = cell.scenario.workload.flows.clone();
    assert_eq!(flows, Some(Flows::Replay("dir/list.csv".to_owned())));
}

#[test]
fn a_flow_list_alone_is_the_workload_of_each_scheme() {
    let list = Some(Flows::Replay("list.csv".to_owned()));
    for schemes in [
        "",
        "[schemes.a]\n[schemes.b]",
        "[schemes.a.workload]\nhigh_priority_below = \"1KB\"\n[schemes.b]",
    ] {
        for setting in ["workload.flows=list.csv", "workload={flows=\"list.csv\"}"] {
            let text = format!("{BASE}{schemes}");
            let cells = expand(&text, "my.toml", &[setting.to_owned()]).expect("good");
            let all = cells
                .iter()
                .all(|cell| cell.scenario.workload.flows == list);
            assert!(all, "{schemes} {setting}");
        }
    }
}

#[test]
fn the_documentation_has_the_keys() {
    let rows = keys();
    for key in [
        "workload.high_priority_below",
        "workload.flows.load",
        "workload.flows.sizes.pareto.shape",
        "workload.long_lived.flows[].src",
        "workload.partition_aggregate.service.gamma.scale",
        "workload.production.outside",
        "workload.aggregation_tree.levels[].deadline",
    ] {
        let row = rows.iter().find(|row| row["key"] == key);
        assert!(row.is_some_and(|row| row["doc"].is_string()), "{key}");
    }
}

#[test]
fn bad_values_are_refused_with_their_key() {
    let pareto = |rest: &str| format!("flows = {{ load = 0.1, sizes.pareto = {{ {rest} }} }}");
    let queries = |rest: &str| {
        format!(
            "partition_aggregate = {{ interval = \"1ms\", request_size = \"1B\", response_size = \"1B\", {rest} }}"
        )
    };
    for (workload, parts) in [
        (
            "high_priority_below = \"1KB\"".to_owned(),
            ["workload: ", "no traffic", "production"],
        ),
        (
            "list = \"\"".to_owned(),
            ["workload.list", "\"\"", "path of a flow list"],
        ),
        (
            "list = \"a.csv\"\nflows = \"b.csv\"".to_owned(),
            ["workload.list", "a.csv", "table of Poisson flows"],
        ),
        (
            "flows = 7".to_owned(),
            ["workload.flows", "7", "path of a flow list"],
        ),
        (
            "flows = { lode = 0.1 }".to_owned(),
            [
                "workload.flows.lode",
                "no such key",
                "did you mean workload.flows.load?",
            ],
        ),
        (
            "flows = { sizes.fixed = \"1B\" }".to_owned(),
            ["workload.flows: ", "no rate", "flows_per_second"],
        ),
        (
            "flows = { load = 1.2, sizes.fixed = \"1B\" }".to_owned(),
            ["workload.flows.load", "1.2", "below 100%"],
        ),
        (
            "flows = { load = 0.1, sizes = {} }".to_owned(),
            ["workload.flows.sizes", "no distribution", "pareto"],
        ),
        (
            "flows = { load = 0.1, sizes = { fixed = \"1B\", csv = \"x\" } }".to_owned(),
            ["workload.flows.sizes", "several", "exactly one"],
        ),
        (
            pareto("shape = 1, mean = \"1KB\""),
            ["workload.flows.sizes.pareto.shape", "1", "above 1"],
        ),
        (
            pareto("shape = nan, mean = \"1KB\""),
            ["workload.flows.sizes.pareto.shape", "nan", "above 1"],
        ),
        (
            pareto("shape = 2, mean = \"1KB\", cut = \"1B\""),
            ["workload.flows.sizes.pareto.cut", "1B", "mean"],
        ),
        (
            "flows = { load = 0.1, sizes.fixed = \"1B\", class_bounds = [\"2KB\", \"1KB\"] }"
                .to_owned(),
            ["workload.flows.class_bounds", "2KB, 1KB", "larger"],
        ),
        (
            "incast = { client = -1 }".to_owned(),
            ["workload.incast.client", "-1", "host by number or name"],
        ),
        (
            "incast = { servers = [1.5] }".to_owned(),
            ["workload.incast.servers", "1.5", "host"],
        ),
        (
            "incast = { all_to_all = true, client = 0 }".to_owned(),
            ["workload.incast.client", "none", "all_to_all"],
        ),
        (
            "incast = { load = 0.1, client = 0 }".to_owned(),
            ["workload.incast.client", "0", "clients with load"],
        ),
        (
            "incast = { clients = \"1-3\" }".to_owned(),
            [
                "workload.incast.clients",
                "1-3",
                "load or queries_per_second",
            ],
        ),
        (
            "incast = { load = 1 }".to_owned(),
            ["workload.incast.load", "1", "below 100%"],
        ),
        (
            "incast = { load = 0.1, queries_per_second = 1 }".to_owned(),
            ["workload.incast: ", "load and queries_per_second", "one of"],
        ),
        (
            "incast = { queries_per_second = 0 }".to_owned(),
            ["workload.incast.queries_per_second", "0", "1e-6 to 1e12"],
        ),
        (
            "incast = { load = 0.1, all_to_all = true }".to_owned(),
            ["workload.incast.all_to_all", "true", "random"],
        ),
        (
            "incast = { batch = 0 }".to_owned(),
            ["workload.incast.batch", "0", "at least 1"],
        ),
        (
            "production = { batch = 0 }".to_owned(),
            ["workload.production.batch", "0", "at least 1"],
        ),
        (
            "incast = { deadline = \"0s\" }".to_owned(),
            ["workload.incast.deadline", "0s", "above 0"],
        ),
        (
            queries("service = { exponential = \"1s\", gamma = { shape = 1, scale = \"1s\" } }"),
            [
                "workload.partition_aggregate.service",
                "exponential and gamma",
                "one of",
            ],
        ),
        (
            queries("service.gamma = { shape = 0, scale = \"1s\" }"),
            [
                "workload.partition_aggregate.service.gamma.shape",
                "0",
                "above 0",
            ],
        ),
        (
            queries("queries = 0"),
            ["workload.partition_aggregate.queries", "0", "at least 1"],
        ),
        (
            "aggregation_tree = { interval = \"1ms\", levels = [] }".to_owned(),
            ["workload.aggregation_tree.levels", "0 levels", "1 to 8"],
        ),
        (
            "aggregation_tree = { interval = \"1ms\", levels = [{ hosts = 1, iterations = 21 }] }"
                .to_owned(),
            [
                "workload.aggregation_tree.levels[0].iterations",
                "21",
                "1 to 20",
            ],
        ),
        (
            "long_lived.flows = [{ src = 0, dst = 1, start = \"2s\", stop = \"1s\" }]".to_owned(),
            ["workload.long_lived.flows[0].stop", "1s", "after the start"],
        ),
        (
            "production = { update_factor = 0 }".to_owned(),
            ["workload.production.update_factor", "0", "1 to 1000"],
        ),
        (
            "all_to_all = { size = \"0B\" }".to_owned(),
            ["workload.all_to_all.size", "0B", "1000GB"],
        ),
        (
            "permutation = { size = \"0B\" }".to_owned(),
            ["workload.permutation.size", "0B", "1000GB"],
        ),
    ] {
        let problem = scenario(&format!("[workload]\n{workload}")).expect_err(&workload);
        assert!(problem.starts_with("my.toml:"), "{problem}");
        for part in parts {
            assert!(
                problem.contains(part),
                "\"{part}\" is missing from: {problem}"
            );
        }
    }
}
