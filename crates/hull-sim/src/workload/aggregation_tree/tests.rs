//! Partition/aggregate in levels against hand arithmetic and conservation. The network delivers a
//! request in 10 ns and a response in 2 ns.

use super::super::answers::LevelAnswers;
use super::super::test_network::{Log, TestNetwork, build};
use super::super::{Message, Quality, Workload};

/// Client 0, aggregators 1 and 2, workers 3 and 4 below the first, 5 and 6 below the second.
const TREE: &str = r#"
    [workload.aggregation_tree]
    interval = "1ms"
    arrivals = "fixed"
    queries = 3
    [[workload.aggregation_tree.levels]]
    hosts = [1, 2]
    AGGREGATORS
    [[workload.aggregation_tree.levels]]
    hosts = "3-6"
    service.offset = "1us"
    WORKERS
"#;

fn of_message(message: &Message) -> u64 {
    if message.bytes == 1600 { 10_000 } else { 2_000 }
}

/// Responses of host 4 take 200 us.
fn slow(message: &Message) -> u64 {
    match (message.src, message.bytes) {
        (4, 2000) => 200_000_000,
        _ => of_message(message),
    }
}

fn run(delay_ps: fn(&Message) -> u64, aggregators: &str, workers: &str) -> (Log, Quality) {
    let text = TREE.replace("AGGREGATORS", aggregators);
    let mut traffic = build(&text.replace("WORKERS", workers), 7, "1s").expect("good");
    let log = TestNetwork {
        delay_ps,
        ..TestNetwork::default()
    }
    .run(&mut traffic);
    let quality = traffic.quality().expect("three queries");
    (log, quality)
}

fn completions(log: &Log) -> Vec<Option<u64>> {
    log.queries
        .iter()
        .map(|query| query.completion_ps)
        .collect()
}

fn level(asked: u64, in_time: u64, late: u64) -> LevelAnswers {
    LevelAnswers {
        asked,
        in_time,
        late,
        unanswered: asked - in_time - late,
        in_time_share: in_time as f64 / asked as f64,
    }
}

#[test]
fn two_levels_by_hand() {
    let (log, quality) = run(of_message, "", "");
    // Two requests, the service, two responses.
    assert_eq!(
        completions(&log),
        [Some(2 * 10_000 + 1_000_000 + 2 * 2_000); 3]
    );
    let query = log.queries[0];
    assert_eq!((query.start_ps, query.client), (1_000_000_000, 0));
    assert_eq!(
        (query.servers, query.in_time, query.bytes),
        (4, 4, 6 * 2000)
    );
    assert_eq!((quality.quality, quality.full_share), (1.0, 1.0));
    assert_eq!(quality.levels["1"], level(6, 6, 0));
    assert_eq!(quality.levels["2"], level(12, 12, 0));
    let ends = [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)];
    assert_eq!(log.connections, ends);
    assert_eq!(log.end_ps, 3_000_000_000 + 1_024_000);
}

#[test]
fn iterations_are_in_series() {
    let (log, quality) = run(of_message, "iterations = 3", "iterations = 4");
    let inner = 4 * (10_000 + 1_000_000 + 2_000);
    assert_eq!(completions(&log), [Some(3 * (10_000 + inner + 2_000)); 3]);
    assert_eq!(quality.levels["1"].asked, 3 * 3 * 2);
    assert_eq!(quality.levels["2"].asked, 3 * 3 * 4 * 4);
    assert_eq!(log.queries[0].servers, 3 * 4 * 4);
}

#[test]
fn an_answer_at_the_deadline_is_in_time() {
    // A worker's answer takes 10 + 1000 + 2 ns.
    let (log, quality) = run(of_message, "", "deadline = \"1012ns\"");
    assert_eq!(
        (quality.quality, quality.levels["2"]),
        (1.0, level(12, 12, 0))
    );
    assert_eq!(completions(&log), [Some(1_024_000); 3]);
    let (log, quality) = run(of_message, "", "deadline = \"1011999ps\"");
    assert_eq!(
        (quality.quality, quality.levels["2"]),
        (0.0, level(12, 0, 12))
    );
    // The aggregators answer in time, with nothing.
    assert_eq!(quality.levels["1"], level(6, 6, 0));
    assert!(log.queries.iter().all(|query| query.in_time == 0));
    assert_eq!(completions(&log), [Some(10_000 + 1_012_000 + 2_000); 3]);
}

#[test]
fn the_application_must_have_it_at_the_deadline() {
    // The worker's application and the aggregator's need 1 us each; the latter counts too.
    let with = |deadline: &str| {
        let text = TREE.replace("AGGREGATORS", "");
        let text = text.replace("WORKERS", &format!("deadline = \"{deadline}\""));
        let text = format!("host.application_delay = \"1us\"\n{text}");
        let mut traffic = build(&text, 7, "1s").expect("good");
        let log = TestNetwork {
            delay_ps: of_message,
            ..TestNetwork::default()
        }
        .run(&mut traffic);
        (log.queries[0].in_time, log.queries[0].completion_ps)
    };
    // Client: request, aggregator's application, its round, response, client's application.
    let all = 10_000 + 1_000_000 + 3_012_000 + 2_000 + 1_000_000;
    assert_eq!(with("3012ns"), (4, Some(all)));
    assert_eq!(with("3011999ps"), (0, Some(all)));
}

#[test]
fn a_late_worker_is_left_out() {
    let (log, quality) = run(slow, "", "deadline = \"50us\"");
    // Its aggregator gives up 1 ps after 50 us.
    assert_eq!(completions(&log), [Some(10_000 + 50_000_001 + 2_000); 3]);
    assert_eq!((quality.quality, quality.full_share), (0.75, 0.0));
    assert_eq!(quality.levels["1"], level(6, 6, 0));
    assert_eq!(quality.levels["2"], level(12, 9, 3));
    // The record waits for the late answer, which has used the network.
    assert!(log.queries.iter().all(|query| query.bytes == 6 * 2000));
    assert_eq!(
        log.end_ps,
        3_000_000_000 + 2 * 10_000 + 1_000_000 + 200_000_000
    );
}

#[test]
fn a_late_aggregator_takes_its_workers_with_it() {
    let (log, quality) = run(slow, "deadline = \"30us\"", "deadline = \"50us\"");
    assert_eq!(completions(&log), [Some(30_000_001); 3]);
    // Worker 3 answered its aggregator in time, in vain.
    assert_eq!(quality.levels["1"], level(6, 3, 3));
    assert_eq!(quality.levels["2"], level(12, 9, 3));
    assert_eq!(quality.quality, 0.5);
    assert!(log.queries.iter().all(|query| query.in_time == 2));
}

#[test]
fn a_late_answer_does_not_count_in_the_next_iteration() {
    let (log, quality) = run(slow, "", "deadline = \"150us\"\niterations = 3");
    // Worker 4's first answer arrives in the second iteration, its second in the third.
    assert_eq!(quality.levels["2"], level(36, 27, 9));
    let inner = 3 * 150_000_001;
    assert_eq!(completions(&log), [Some(10_000 + inner + 2_000); 3]);
}

#[test]
fn a_host_serves_its_places_one_after_the_other() {
    let text = TREE
        .replace("AGGREGATORS", "")
        .replace("WORKERS", "")
        .replace("\"3-6\"", "[3, 4, 3, 1]");
    let mut traffic = build(&text, 7, "1s").expect("good");
    let log = TestNetwork {
        delay_ps: of_message,
        ..TestNetwork::default()
    }
    .run(&mut traffic);
    // Host 3 works for both aggregators.
    let expected = 2 * 10_000 + 2 * 1_000_000 + 2 * 2_000;
    assert_eq!(log.queries[0].completion_ps, Some(expected));
}

/// Random services, jitter and deadlines: each request is answered once, in time or late, and the record
/// of each query agrees with the counts.
#[test]
fn in_time_and_late_are_all_that_was_asked() {
    for (deadline, iterations) in [("20us", 1), ("100us", 3), ("1ms", 2)] {
        let text = format!(
            r#"
            [workload.aggregation_tree]
            interval = "300us"
            queries = 200
            jitter = "10us"
            [[workload.aggregation_tree.levels]]
            hosts = [1, 2]
            iterations = {iterations}
            deadline = "200us"
            service.exponential = "2us"
            [[workload.aggregation_tree.levels]]
            hosts = "3-8"
            iterations = 2
            deadline = "{deadline}"
            service.exponential = "30us"
            "#
        );
        let mut traffic = build(&text, 9, "1s").expect("good");
        let log = TestNetwork {
            delay_ps: of_message,
            ..TestNetwork::default()
        }
        .run(&mut traffic);
        let quality = traffic.quality().expect("queries");
        assert_eq!(log.queries.len(), 200);
        let asked = [400 * iterations, 200 * iterations * 2 * 6];
        for (name, asked) in ["1", "2"].iter().zip(asked) {
            let level = quality.levels[*name];
            assert_eq!((level.asked, level.in_time + level.late), (asked, asked));
        }
        assert!(quality.levels.values().any(|level| level.late > 0));
        let collected: u64 = log
            .queries
            .iter()
            .map(|query| u64::from(query.in_time))
            .sum();
        let share = collected as f64 / asked[1] as f64;
        assert!((quality.quality - share).abs() < 1e-12);
        assert!(share <= quality.levels["2"].in_time_share);
        // Deadlines bound a query: its iterations at the client, 1 ps each.
        let most = iterations * (200_000_000 + 1);
        assert!(
            log.queries
                .iter()
                .all(|query| query.completion_ps <= Some(most))
        );
    }
}

/// Without load no request waits, so a worker is in time with probability 1 - exp(-d / mean).
#[test]
fn quality_matches_the_service_law() {
    let text = r#"
        [workload.aggregation_tree]
        interval = "1s"
        arrivals = "fixed"
        queries = 1000
        [[workload.aggregation_tree.levels]]
        hosts = "1-10"
        deadline = "20ms"
        service.exponential = "10ms"
    "#;
    let mut traffic = build(text, 11, "2000s").expect("good");
    TestNetwork::default().run(&mut traffic);
    let quality = traffic.quality().expect("queries");
    let expected = 1.0 - (-2.0_f64).exp();
    let sigma = (expected * (1.0 - expected) / 10_000.0).sqrt();
    assert!(
        (quality.quality - expected).abs() < 4.0 * sigma,
        "{}",
        quality.quality
    );
    let full = expected.powi(10);
    let sigma = (full * (1.0 - full) / 1000.0).sqrt();
    assert!(
        (quality.full_share - full).abs() < 4.0 * sigma,
        "{}",
        quality.full_share
    );
}

#[test]
fn hosts_that_do_not_fit_are_refused() {
    for (hosts, below, part) in [
        (
            "[1, 2]",
            "\"3-5\"",
            "3 hosts below 2 are invalid; expected a multiple",
        ),
        ("[1, 2]", "[3, 2]", "host 2 (h2) would ask itself"),
        ("[1, 2]", "[3, 9]", "9"),
    ] {
        let text = format!(
            "[workload.aggregation_tree]\ninterval = \"1ms\"\nlevels = [{{ hosts = {hosts} }}, {{ hosts = {below} }}]\n"
        );
        let (key, problem): (String, String) = build(&text, 7, "1s").expect_err(below).into();
        assert_eq!(key, "workload.aggregation_tree.levels[1].hosts");
        assert!(problem.contains(part), "{problem}");
    }
}
