//! Several concurrent workloads.

use super::*;
use crate::workload::test_network::{TestNetwork, build};

const REQUESTS: &str = r#"
    [workload.requests]
    load = "20%"
    pick = "random_idle"
    classes = [{ size = "1KB", share = "80%" }, { size = "1MB", share = "20%" }]
"#;
const QUERIES: &str = r#"
    [workload.partition_aggregate]
    interval = "5ms"
    request_size = "3500B"
    response_size = "2800B"
    service = { exponential = "1ms" }
"#;
const FLOWS: &str = r#"
    [workload.flows]
    load = "5%"
    sizes.pareto = { shape = 1.5, mean = "20KB", cut = "1MB" }
"#;

fn run(text: &str) -> crate::workload::test_network::Log {
    let mut traffic = build(text, 10, "500ms").expect("good");
    TestNetwork::default().run(&mut traffic)
}

#[test]
fn concurrent_workloads_draw_as_if_alone() {
    let together = run(&format!("{REQUESTS}{QUERIES}{FLOWS}"));
    let (requests, queries, flows) = (run(REQUESTS), run(QUERIES), run(FLOWS));
    assert_eq!(together.queries, queries.queries);
    let of_requests = |record: &&crate::workload::FlowRecord| record.class < 2;
    let first: Vec<_> = together.flows.iter().filter(of_requests).copied().collect();
    assert_eq!(first, requests.flows);
    let mut rest: Vec<_> = together.flows.clone();
    rest.retain(|record| record.class >= 2);
    rest.iter_mut().for_each(|record| record.class -= 2);
    assert_eq!(rest, flows.flows);
    assert_eq!(together.classes.len(), 6);
    assert_eq!(together.connections.len(), 9 * 16 + 9);
    let sends = requests.sends.len() + queries.sends.len() + flows.sends.len();
    assert_eq!(together.sends.len(), sends);
}

#[test]
fn flow_list_and_poisson_flows_together() {
    let path = std::env::temp_dir().join(format!("hull-beside-{}.csv", std::process::id()));
    let rows: Vec<(u64, u32, u32, u64)> = (0..50)
        .map(|n| (n * 10_000_000_007, n as u32 % 9, 9, 1 + 300 * n * n))
        .collect();
    let lines = rows
        .iter()
        .map(|(start_ps, src, dst, bytes)| format!("{start_ps},{src},{dst},{bytes}\n"));
    let text = format!("start_ps,src,dst,bytes\n{}", lines.collect::<String>());
    std::fs::write(&path, text).expect("a temporary file");
    let list = format!("workload.list = \"{}\"\n", path.display());
    let both = run(&format!("{list}{FLOWS}"));
    let alone = run(&list);
    std::fs::remove_file(&path).expect("file exists");
    // The Poisson flows come first, and keep their classes.
    let poisson = run(FLOWS);
    let (of_list, of_poisson): (Vec<_>, Vec<_>) =
        both.flows.iter().partition(|record| record.class >= 4);
    assert_eq!(of_poisson, Vec::from_iter(&poisson.flows));
    let exact = |record: &&crate::workload::FlowRecord| {
        (record.start_ps, record.src, record.dst, record.bytes)
    };
    assert_eq!(Vec::from_iter(of_list.iter().map(exact)), rows);
    assert_eq!(
        Vec::from_iter(alone.flows.iter().map(|record| exact(&record))),
        rows
    );
    assert_eq!(both.sends.len(), poisson.sends.len() + 50);
    assert_eq!(both.classes[..4], poisson.classes);
    assert_eq!(both.classes[4], "list (0, 10KB]");
}

#[test]
fn same_seed_same_traffic() {
    let text = format!("{REQUESTS}{QUERIES}{FLOWS}");
    let (one, two) = (run(&text), run(&text));
    assert_eq!(one.sends, two.sends);
    assert_eq!(one.flows, two.flows);
    assert!(!one.flows.is_empty());
}

#[test]
fn messages_use_connections_between_their_hosts() {
    let log = run(&format!("{REQUESTS}{QUERIES}"));
    for (_, message) in &log.sends {
        let Channel::Connection(connection) = message.channel else {
            panic!("{message:?}");
        };
        let (a, b) = log.connections[connection as usize];
        let ends = (message.src, message.dst);
        assert!(ends == (a, b) || ends == (b, a), "{message:?} {a} {b}");
    }
}

#[test]
fn small_messages_have_priority() {
    let log = run(&format!(
        "workload.high_priority_below = \"10KB\"\n{REQUESTS}"
    ));
    for (_, message) in &log.sends {
        assert_eq!(message.priority, u8::from(message.bytes >= 10_000));
    }
    assert!(run(REQUESTS).sends.iter().all(|(_, m)| m.priority == 1));
}

#[test]
fn records_begin_in_the_measured_time() {
    let text = format!("run.warmup = \"100ms\"\n{REQUESTS}{QUERIES}");
    let log = run(&text);
    let measured_ps = 100_000_000_000..600_000_000_000;
    assert!(log.flows.iter().all(|f| measured_ps.contains(&f.start_ps)));
    assert!(
        log.queries
            .iter()
            .all(|q| measured_ps.contains(&q.start_ps))
    );
    assert!(
        log.sends
            .iter()
            .any(|(at_ps, _)| *at_ps < measured_ps.start)
    );
}

#[test]
fn run_ends_when_counted_work_is_done() {
    let lasting = "[[workload.long_lived.flows]]\nsrc = 1\ndst = 2\n";
    let incast = "[workload.incast]\nqueries = 2\ntotal = \"10KB\"\n";
    assert_eq!(run(lasting).progress, Progress::Lasting);
    assert_eq!(run(incast).progress, Progress::Done);
    assert_eq!(run(&format!("{lasting}{incast}")).progress, Progress::Done);
    assert_eq!(run(&format!("{REQUESTS}{incast}")).progress, Progress::Busy);
}

#[test]
fn classes_with_the_same_name_are_distinguished() {
    let text = format!("{FLOWS}\n[workload.production]\noutside = 9\n");
    let classes = run(&text).classes;
    assert_eq!(classes[0], "(0, 10KB]");
    assert_eq!(classes[4], "production (0, 10KB]");
    assert_eq!(classes[6], "(100KB, 1MB]");
}
