//! Scenarios that would exhaust memory or disk are rejected before the run; the message names the
//! responsible key (`limits`, `simulation::build::memory`).

use hull_sim::scenario::expand;
use hull_sim::simulation::verify;

const BASE: &str = r#"
name = "large"
[run]
duration = "1s"
[host]
queue = "fifo"
rate = "1Gbps"
delay = "1us"
[topology.star]
hosts = 3
[switch]
rate = "1Gbps"
delay = "1us"
buffer = "100KB"
"#;

/// Message for `BASE` plus `text` with overrides; empty if accepted.
fn told(text: &str, set: &[&str]) -> String {
    let set: Vec<String> = set.iter().map(|&setting| setting.to_owned()).collect();
    match expand(&format!("{BASE}{text}"), "x.toml", &set) {
        Err(error) => error.to_string(),
        Ok(cells) => match verify(&cells[0].scenario) {
            Err(problem) => problem.to_string(),
            Ok(_) => String::new(),
        },
    }
}

const FLOWS: &str = "[workload.flows]\nflows_per_second = 1000\nsizes.fixed = \"1KB\"\n";
const QUERIES: &str = "[workload.partition_aggregate]\ninterval = \"1ms\"\nrequest_size = \"100B\"\nresponse_size = \"1KB\"\n";
const ONE_FLOW: &str = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 0\n";

#[test]
fn flows_beyond_any_link_rate() {
    assert_eq!(told(FLOWS, &[]), "");
    let flood = "workload.flows.flows_per_second=1e12";
    let text = told(FLOWS, &[flood]);
    assert!(
        text.starts_with("workload.") && text.contains("GB of memory"),
        "{text}"
    );
    let kept = ["workload.flows.connections=\"persistent\"", flood];
    let text = told(FLOWS, &kept);
    assert!(
        text.contains("waiting messages") && text.contains("GB of memory"),
        "{text}"
    );
    // A flow count bounds the memory.
    assert_eq!(told(FLOWS, &[flood, "workload.flows.count=1000"]), "");
}

#[test]
fn queries_beyond_any_link_rate() {
    assert_eq!(told(QUERIES, &[]), "");
    let text = told(QUERIES, &["workload.partition_aggregate.interval=1ps"]);
    assert!(
        text.contains("waiting messages") && text.contains("GB of memory"),
        "{text}"
    );
}

#[test]
fn samples_of_a_long_run() {
    assert_eq!(told(ONE_FLOW, &[]), "");
    let text = told(
        ONE_FLOW,
        &["run.duration=1000000s", "measure.sample_interval=1us"],
    );
    assert!(text.starts_with("measure.sample_interval: "), "{text}");
    let text = told(
        ONE_FLOW,
        &["run.duration=1000000s", "measure.ports=[\"switch->h0\"]"],
    );
    assert!(
        text.starts_with("measure.sample_interval: \"1ms\" makes 1000000000 rows"),
        "{text}"
    );
    for table in ["flows", "pacers"] {
        let interval = format!("measure.{table}.interval=1us");
        let text = told(ONE_FLOW, &["pacer={}", "run.duration=1000000s", &interval]);
        assert!(
            text.starts_with(&format!("measure.{table}.interval: \"1us\"")),
            "{text}"
        );
    }
    // One flow has one flow's rows, regardless of the limit on flows; without pacers there are
    // none.
    let one = ["run.duration=400s", "measure.flows.interval=1us"];
    assert_eq!(told(ONE_FLOW, &one), "");
    let none = ["run.duration=10000s", "measure.pacers.interval=1us"];
    assert_eq!(told(ONE_FLOW, &none), "");
}

#[test]
fn seeds_cells_and_connections() {
    let text = told(ONE_FLOW, &["run.seeds=100001"]);
    assert!(
        text.contains("run.seeds") && text.contains("1 to 100000"),
        "{text}"
    );
    let sweep = "[sweep]\n\"run.seed\" = \"1:1000:1\"\n\"run.warmup\" = \"1us:1000us:1us\"\n";
    let text = told(&format!("{ONE_FLOW}{sweep}"), &[]);
    assert!(text.contains("1000000 cells"), "{text}");
    let all = "[workload.incast]\ntotal = \"1MB\"\nall_to_all = true\n";
    let wide = "topology.star.hosts=4096";
    let text = told(all, &[wide]);
    assert!(
        text.contains("workload.incast.servers: 4096 clients"),
        "{text}"
    );
    let pools = "[workload.requests]\nload = \"10%\"\nconnections_per_server = 10000\nrequest_size = \"100B\"\nclasses = [{ size = \"1KB\", share = 1.0 }]\n";
    let text = told(pools, &[wide]);
    assert!(
        text.contains("workload.requests.connections_per_server: 40950000"),
        "{text}"
    );
}

/// The key that sizes the largest table, and its bytes, of a fat tree of 128 hosts with `set`.
fn largest(set: &[&str]) -> (String, u64) {
    let base = BASE.replace("[topology.star]\nhosts = 3", "[topology.fat_tree]\nk = 8");
    let set: Vec<String> = set.iter().map(|&setting| setting.to_owned()).collect();
    let cells = expand(&format!("{base}{ONE_FLOW}"), "x.toml", &set).expect("valid");
    let memory = verify(&cells[0].scenario).expect("fits");
    (memory.needs[0].key.clone(), memory.needs[0].bytes)
}

/// Every key that sizes a table for each port, host or connection counts. By hand: 128 hosts, 640
/// ports of switches; a queue takes 40 bytes, a bucket more than its packets' list (32) and tokens.
#[test]
fn tables_that_a_key_sizes() {
    let all = "workload={all_to_all={size=\"1KB\"}}";
    let nscc = "transport={congestion_control=\"nscc\",ecn=true,message={paths=4096}}";
    for (set, key, least) in [
        (
            &["switch.fq_codel.flows=8192"][..],
            "switch.fq_codel.flows",
            640 * 8192 * 100,
        ),
        (
            &["host.nic_queues=8192"],
            "host.nic_queues",
            128 * 8192 * 40,
        ),
        (&["pacer.buckets=4096"], "pacer.buckets", 128 * 4096 * 100),
        (
            &[nscc, all],
            "transport.message.paths",
            128 * 127 * 2 * 4096 * 8,
        ),
        (&[all], "workload.all_to_all", 128 * 127 * 300),
        (&["topology={fat_tree={k=32}}"], "topology", 6 * 8192 * 256),
        (
            &["run.duration=100s"],
            "measure.sample_interval",
            100_000 * 40,
        ),
    ] {
        let (found, bytes) = largest(set);
        assert_eq!(found, key, "{set:?}");
        assert!(
            (least..4 * least).contains(&bytes),
            "{key}: {bytes}, not {least}"
        );
    }
}

/// Parts of a run have their own ports.
#[test]
fn threads_multiply_the_ports() {
    let flows =
        "workload={flows={flows_per_second=10.0,connections=\"per_flow\",sizes={fixed=\"1KB\"}}}";
    let of_threads = |threads| largest(&[threads, flows]).1;
    let [one, two] = ["run.threads=1", "run.threads=2"].map(of_threads);
    assert!((4 * one / 3..2 * one).contains(&two), "{one} {two}");
}

/// Without a known shape, the routing table has (switches) x (switches with hosts) entries.
#[test]
fn a_graph_with_too_many_switches() {
    let nodes = (0..10_001).map(|n| {
        format!(
            "{{\"id\": \"h{n}\", \"kind\": \"host\"}}, {{\"id\": \"s{n}\", \"kind\": \"switch\"}},"
        )
    });
    let links = (0..10_001).map(|n| {
        format!(
            "{{\"source\": \"h{n}\", \"target\": \"s{n}\"}}, {{\"source\": \"s{n}\", \"target\": \"s\"}}"
        )
    });
    let text = format!(
        "{{\"directed\": false, \"multigraph\": false, \"graph\": {{}}, \"nodes\": [{}{{\"id\": \"s\", \"kind\": \"switch\"}}], \"links\": [{}]}}",
        nodes.collect::<String>(),
        links.collect::<Vec<_>>().join(",")
    );
    let path = std::env::temp_dir().join(format!("hull-switches-{}.json", std::process::id()));
    std::fs::write(&path, text).expect("temporary file");
    let scenario = format!(
        "name = \"large\"\n[run]\nduration = \"1s\"\n[topology.file]\npath = \"{}\"\n[host]\nrate = \"1Gbps\"\ndelay = \"1us\"\n[switch]\nrate = \"1Gbps\"\ndelay = \"1us\"\n{ONE_FLOW}",
        path.display()
    );
    let told = match expand(&scenario, "x.toml", &[]) {
        Err(error) => error.to_string(),
        Ok(cells) => format!("{:?}", verify(&cells[0].scenario)),
    };
    std::fs::remove_file(&path).expect("temporary file");
    assert!(
        told.contains("10002 switches, of which 10001 have hosts") && told.contains("100000000"),
        "{told}"
    );
}

/// A known shape needs a table only if so many links have failed that paths grow longer.
#[test]
fn failures_in_a_network_that_is_too_large_for_a_table() {
    let leaves = "topology.leaf_spine={leaves=10001,spines=2,hosts_per_leaf=1}";
    let told = |links: &[&str]| {
        let failure = |link: &&str| format!("{{link=\"{link}\",at=\"1ms\"}}");
        let failures = Vec::from_iter(links.iter().map(failure)).join(",");
        let base = BASE.replace("[topology.star]\nhosts = 3\n", "");
        let set = [leaves.to_owned(), format!("topology.failures=[{failures}]")];
        let cells = expand(&format!("{base}{ONE_FLOW}"), "x.toml", &set);
        cells.map_or_else(|error| error.to_string(), |_| String::new())
    };
    assert_eq!(told(&["leaf7--spine0"]), "");
    let text = told(&["leaf7--spine0", "leaf8--spine1"]);
    assert!(
        text.contains(
            "topology.failures: found 2 links between switches down at once; expected at most 1"
        ),
        "{text}"
    );
}
