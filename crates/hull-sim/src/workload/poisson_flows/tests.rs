//! Poisson flows have the rates, sizes, hosts and connections that their settings ask for.

use super::*;
use crate::workload::test_network::{TestNetwork, build, hosts};
use crate::workload::{Groups, LastList};

const FLOWS: &str = r#"
    [workload.flows]
    load = "15%"
    sizes.fixed = "10KB"
"#;

#[test]
fn arrivals_have_the_rate_and_dispersion_of_a_poisson_process() {
    let mut traffic = build(FLOWS, 20, "10s").expect("good");
    let log = TestNetwork::default().run(&mut traffic);
    // 15% of 20 Gbps in flows of 80 kbit: 37,500 a second.
    let count = log.flows.len() as f64;
    assert!((count / 375_000.0 - 1.0).abs() < 0.006, "{count}");
    // Counts in 2,000 windows of 5 ms: variance over mean is 1 within 4 sigma.
    let mut counts = vec![0.0; 2000];
    for flow in &log.flows {
        counts[(flow.start_ps / 5_000_000_000) as usize] += 1.0;
    }
    let mean = counts.iter().sum::<f64>() / 2000.0;
    let variance = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / 1999.0;
    let dispersion = variance / mean;
    assert!(
        (dispersion - 1.0).abs() < 4.0 * (2.0_f64 / 1999.0).sqrt(),
        "{dispersion}"
    );
}

#[test]
fn pairs_of_hosts_are_equally_likely() {
    let mut traffic = build(FLOWS, 8, "5s").expect("good");
    let log = TestNetwork::default().run(&mut traffic);
    let mut counts = [0.0; 64];
    for flow in &log.flows {
        counts[(flow.src * 8 + flow.dst) as usize] += 1.0;
    }
    let expected = log.flows.len() as f64 / 56.0;
    let chi_square: f64 = (0..64)
        .filter(|pair| pair / 8 != pair % 8)
        .map(|pair| (counts[pair] - expected).powi(2) / expected)
        .sum();
    // 55 degrees of freedom: mean 55, deviation 10.5.
    assert!((20.0..100.0).contains(&chi_square), "{chi_square}");
    assert!((0..8).all(|host| counts[9 * host] == 0.0));
}

#[test]
fn given_host_sets_and_link_load() {
    let text = format!("{FLOWS}sources = \"0-3\"\ndestinations = [\"2-7\"]\n");
    let mut traffic = build(&text, 8, "5s").expect("good");
    let log = TestNetwork::default().run(&mut traffic);
    assert!(
        log.flows
            .iter()
            .all(|f| f.src < 4 && f.dst >= 2 && f.src != f.dst)
    );
    let expected = 0.15 * 4.0e9 / 80_000.0 * 5.0;
    let count = log.flows.len() as f64;
    assert!((count / expected - 1.0).abs() < 0.03, "{count}");
    // Ten sources at 15% are 150% of one destination.
    let text = format!("{FLOWS}sources = \"1-10\"\ndestinations = 0\n");
    let (key, problem): (String, String) = build(&text, 11, "5s").expect_err("too much").into();
    assert_eq!(key, "workload.flows.load");
    assert!(problem.contains("150% of the link of host 0"), "{problem}");
}

#[test]
fn a_count_of_flows_ends_the_run() {
    let text = format!("{FLOWS}count = 1234\n");
    let mut traffic = build(&text, 8, "1000s").expect("good");
    let log = TestNetwork::default().run(&mut traffic);
    assert_eq!((log.flows.len(), log.progress), (1234, Progress::Done));
    assert!(log.end_ps < 1_000_000_000_000);
    let text = FLOWS.replace("load = \"15%\"", "flows_per_second = 1000.0");
    let mut traffic = build(&text, 8, "10s").expect("good");
    let count = TestNetwork::default().run(&mut traffic).flows.len();
    assert!((9_600..10_400).contains(&count), "{count}");
}

/// Flows last 1 ms. A new flow shares a connection with no active flow of its pair and
/// direction, as long as those are fewer than the connections.
#[test]
fn a_flow_takes_an_idle_connection_of_its_pair() {
    let text = format!("{FLOWS}connections = \"persistent\"\nconnections_per_pair = 3\n");
    let mut traffic = build(&text, 4, "1s").expect("good");
    assert_eq!(traffic.connections().len(), 3 * 6);
    let network = TestNetwork {
        delay_ps: |_| 1_000_000_000,
        ..TestNetwork::default()
    };
    let flows = network.run(&mut traffic).flows;
    let (mut shared, mut overlapping) = (0, 0);
    for (at, flow) in flows.iter().enumerate() {
        let others: Vec<u32> = flows[..at]
            .iter()
            .filter(|other| (other.src, other.dst) == (flow.src, flow.dst))
            .filter(|other| other.start_ps + other.fct_ps > flow.start_ps)
            .map(|other| other.connection)
            .collect();
        overlapping += usize::from(!others.is_empty());
        shared += usize::from(others.contains(&flow.connection));
        assert!(others.len() >= 3 || !others.contains(&flow.connection));
    }
    assert!(overlapping > 100, "{overlapping} of {}", flows.len());
    assert!(shared < overlapping, "{shared}");
}

#[test]
fn one_permanent_connection_for_each_pair() {
    let text = format!("{FLOWS}connections = \"persistent\"\n");
    let traffic = build(&text, 192, "1s").expect("good");
    assert_eq!(traffic.connections().len(), 192 * 191 / 2);
    let mut traffic = build(&text, 12, "1s").expect("good");
    let log = TestNetwork::default().run(&mut traffic);
    for flow in &log.flows {
        let pair = (flow.src.min(flow.dst), flow.src.max(flow.dst));
        assert_eq!(log.connections[flow.connection as usize], pair);
    }
    let per_flow = TestNetwork::default().run(&mut build(FLOWS, 12, "1s").expect("good"));
    let starts = |flows: &[FlowRecord]| -> Vec<(u64, u32, u32)> {
        flows.iter().map(|f| (f.start_ps, f.src, f.dst)).collect()
    };
    assert_eq!(
        starts(&log.flows),
        starts(&per_flow.flows),
        "the same draws"
    );
}

#[test]
fn state_covers_only_outstanding_flows() {
    let network = TestNetwork {
        delay_ps: |_| 1_000_000_000,
        ..TestNetwork::default()
    };
    let keys = "flows_per_second = 10000.0\ncount = 100000\nsizes.fixed = \"1B\"\n";
    let settings: PoissonFlows = toml::from_str(keys).expect("good");
    let names = hosts(4, 1);
    let context = Context {
        hosts: &names,
        seed: 1,
        warmup_ps: 0,
        end_ps: u64::MAX,
        application_delay_ps: 0,
        transports: &[],
        groups: &Groups::default(),
        lists: &LastList::default(),
    };
    let flows = PoissonTraffic::new(&settings, &context).expect("good");
    assert_eq!(flows.flows.capacity(), 0);
    let text = format!("[workload.flows]\n{keys}");
    let mut traffic = build(&text, 4, "1000s").expect("good");
    // Ten flows are outstanding on average, so tags stay far below the number of flows.
    let log = network.run(&mut traffic);
    let largest = log.sends.iter().map(|(_, message)| message.tag).max();
    assert!(largest < Some(60), "{largest:?}");
    assert_eq!(log.flows.len(), 100_000);
}

#[test]
fn invalid_host_sets() {
    for (keys, key, part) in [
        ("destinations = 1", "destinations", "only host 1"),
        ("sources = [1, \"0-2\"]", "sources", "twice"),
        ("sizes = { csv = \"no/such\" }", "sizes.csv", "no/such"),
    ] {
        let text = if keys.starts_with("sizes") {
            FLOWS.replace("sizes.fixed = \"10KB\"", keys)
        } else {
            format!("{FLOWS}{keys}\n")
        };
        let (found, problem): (String, String) = build(&text, 4, "1s").expect_err(keys).into();
        assert_eq!(found, format!("workload.flows.{key}"));
        assert!(problem.contains(part), "{problem}");
    }
}
