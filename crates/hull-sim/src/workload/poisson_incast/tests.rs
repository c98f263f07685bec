//! Incast to random receivers has the rate, gaps, load and hosts that its settings ask for.

use super::super::test_network::{Log, TestNetwork, build};
use super::*;

const INCAST: &str = r#"
    [workload.incast]
    load = "2%"
    fan_in = 16
    total = "100KB"
"#;

/// 40 hosts at 1 Gbps: 2% of 40 Gbps in queries of 800 kbit are 1,000 a second.
fn run(text: &str, duration: &str) -> Log {
    let mut traffic = build(text, 40, duration).expect("good");
    TestNetwork::default().run(&mut traffic)
}

/// Queries with the hosts that responded, by the time of their start.
fn responders(log: &Log) -> Vec<(u64, u32, Vec<u32>)> {
    let mut found: Vec<(u64, u32, Vec<u32>)> = Vec::new();
    for (at_ps, message) in log.sends.iter().filter(|(_, m)| m.bytes != 100) {
        match found.last_mut() {
            Some((last_ps, client, servers)) if last_ps == at_ps && *client == message.dst => {
                servers.push(message.src);
            }
            _ => found.push((*at_ps, message.dst, vec![message.src])),
        }
    }
    found
}

/// Pearson's statistic of equally likely counts.
fn chi_square(counts: &[f64]) -> f64 {
    let expected = counts.iter().sum::<f64>() / counts.len() as f64;
    let terms = counts.iter();
    terms.map(|n| (n - expected).powi(2) / expected).sum()
}

#[test]
fn queries_arrive_at_the_rate_of_the_load_with_exponential_gaps() {
    let log = run(INCAST, "20s");
    let count = log.queries.len() as f64;
    assert!(
        (count - 20_000.0).abs() < 4.0 * 20_000_f64.sqrt(),
        "{count}"
    );
    let bits: u64 = log.queries.iter().map(|query| 8 * query.bytes).sum();
    let load = bits as f64 / (20.0 * 40e9);
    assert!((load / 0.02 - 1.0).abs() < 4.0 / count.sqrt(), "{load}");
    // Kolmogorov and Smirnov: 1.95 / sqrt(n) is exceeded with a probability of 0.1%.
    let mut gaps = log.query_gaps();
    gaps.sort_unstable_by(f64::total_cmp);
    let n = gaps.len() as f64;
    let distance = (0..gaps.len()).map(|i| {
        let law = 1.0 - (-gaps[i] / 1e9).exp();
        (law - i as f64 / n).max((i + 1) as f64 / n - law)
    });
    let distance = distance.fold(0.0, f64::max);
    assert!(distance < 1.95 / n.sqrt(), "{distance}");
}

#[test]
fn a_rate_and_a_number_of_queries() {
    let text = INCAST.replace("load = \"2%\"", "queries_per_second = 500\nqueries = 300");
    let log = run(&text, "100s");
    assert_eq!((log.queries.len(), log.progress), (300, Progress::Done));
    let mean_ps = log.query_gaps().iter().sum::<f64>() / 299.0;
    assert!(
        (mean_ps / 2e9 - 1.0).abs() < 4.0 / 299_f64.sqrt(),
        "{mean_ps}"
    );
}

#[test]
fn clients_and_servers_are_uniform_and_apart() {
    let log = run(INCAST, "20s");
    let (mut clients, mut servers) = ([0.0; 40], [0.0; 40]);
    let mut pairs = vec![0.0; 1600];
    for (_, client, of) in responders(&log) {
        let mut once = of.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!((of.len(), once.len()), (16, 16));
        assert!(!of.contains(&client));
        clients[client as usize] += 1.0;
        for server in of {
            servers[server as usize] += 1.0;
            pairs[40 * client as usize + server as usize] += 1.0;
        }
    }
    // 39 degrees of freedom: mean 39, deviation 8.8.
    let of_clients = chi_square(&clients);
    assert!((12.0..76.0).contains(&of_clients), "{of_clients}");
    // Draws without replacement vary less: 23/39 of the variance.
    let of_servers = chi_square(&servers);
    assert!((5.0..60.0).contains(&of_servers), "{of_servers}");
    let expected = pairs.iter().sum::<f64>() / 1560.0;
    for (pair, count) in pairs.iter().enumerate() {
        match pair / 40 == pair % 40 {
            true => assert_eq!(*count, 0.0),
            false => assert!((count - expected).abs() < 5.0 * expected.sqrt(), "{pair}"),
        }
    }
}

#[test]
fn given_clients_and_servers() {
    let text = format!("{INCAST}clients = [0, 1, 30]\nservers = \"1-20\"\n");
    let log = run(&text, "2s");
    let queries = responders(&log);
    assert!(queries.len() > 100);
    for (_, client, servers) in queries {
        assert!([0, 1, 30].contains(&client));
        assert!(
            servers
                .iter()
                .all(|&s| s != client && (1..=20).contains(&s))
        );
    }
}

/// The last of 16 responses of 6,250 bytes decides, 10 ns after the request's start plus 1 ps per byte.
#[test]
fn a_query_ends_with_its_last_response() {
    let network = TestNetwork {
        delay_ps: |message| match message.bytes {
            100 => 10_000,
            bytes => bytes,
        },
        timeouts: |message| u32::from(message.bytes == 100 && message.dst == 3),
    };
    let mut traffic = build(&format!("{INCAST}queries = 50"), 40, "1s").expect("good");
    let log = network.run(&mut traffic);
    let with_3 = |log: &Log| responders(log).iter().filter(|q| q.2.contains(&3)).count();
    assert_eq!(log.queries.len(), 50);
    for query in &log.queries {
        assert_eq!(query.completion_ps, Some(16_250));
        assert_eq!(
            (query.servers, query.in_time, query.bytes),
            (16, 16, 100_000)
        );
        assert_eq!(query.mean_response_ps, 16_250);
    }
    let timeouts: u32 = log.queries.iter().map(|query| query.timeouts).sum();
    assert_eq!(timeouts as usize, with_3(&log));
    assert!(timeouts > 5);
}

#[test]
fn jitter_spreads_the_requests() {
    let log = run(&format!("{INCAST}queries = 100\njitter = \"1ms\""), "1s");
    assert_eq!(log.queries.len(), 100);
    let long = |query: &&crate::workload::QueryRecord| query.completion_ps > Some(800_000_000);
    // The latest of 16 uniform delays is above 0.8 ms with a probability of 97%.
    let count = log.queries.iter().filter(long).count();
    assert!(count > 88, "{count}");
    assert!(
        log.queries
            .iter()
            .all(|query| query.completion_ps < Some(1_000_000_000))
    );
}

#[test]
fn queries_that_are_open_at_the_end_have_a_record() {
    let network = TestNetwork {
        delay_ps: |message| if message.src == 7 { u64::MAX } else { 0 },
        ..TestNetwork::default()
    };
    let mut traffic = build(INCAST, 40, "1s").expect("good");
    let log = network.run(&mut traffic);
    let open = log
        .queries
        .iter()
        .filter(|query| query.completion_ps.is_none());
    let open = open.count();
    assert!(open > 100 && open < log.queries.len(), "{open}");
}

#[test]
fn what_cannot_be_is_refused() {
    for (more, key, part) in [
        (
            "servers = \"1-10\"",
            "fan_in",
            "16 is invalid; expected 1 to 9",
        ),
        (
            "servers = \"1-16\"\nclients = 1",
            "fan_in",
            "expected 1 to 15",
        ),
        (
            "servers = \"1-17\"\nload = \"90%\"",
            "load",
            "212% of the link of server 1",
        ),
    ] {
        let text = match more.contains("load") {
            true => INCAST.replace("load = \"2%\"", more),
            false => format!("{INCAST}{more}"),
        };
        let (found, problem): (String, String) = build(&text, 40, "1s").expect_err(more).into();
        assert_eq!(found, format!("workload.incast.{key}"));
        assert!(problem.contains(part), "{problem}");
    }
}
