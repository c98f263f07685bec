//! A live run has the same samples as a run of the same scenario and seed, however it is read.

use super::Live;
use crate::scenario::{self, Resolved, Scenario};
use crate::simulation::{Control, build};

const SCENARIO: &str = r#"
name = "live"
[run]
duration = "40ms"
warmup = "10ms"
[topology.star]
hosts = 6
[host]
queue = "fifo"
rate = "1Gbps"
delay = "5us"
offload = "64KB"
[switch]
rate = "1Gbps"
delay = "5us"
buffer = "100KB"
phantom_queue = { drain = "95%", threshold = "1KB" }
[transport]
congestion_control = "dctcp"
ecn = true
[pacer]
[workload.requests]
load = "20%"
connections_per_server = 2
servers = "4-5"
classes = [{ size = "1KB", share = "50%" }, { size = "20KB", share = "50%" }]
[workload.long_lived]
flows = [{ src = "1-2", dst = 0 }, { src = 3, dst = 0, start = "3ms", stop = "20ms" }]
[measure]
sample_interval = "20us"
ports = ["switch->h0"]
flows = { count = 11, interval = "20us" }
"#;
/// Connections: two servers, two connections to each, two directions.
const CONNECTED: u64 = 8;

fn read(settings: &[&str]) -> Scenario {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    match scenario::expand(SCENARIO, "live.toml", &settings) {
        Ok(cells) => Scenario::clone(&cells[0].scenario),
        Err(error) => panic!("{error}"),
    }
}

fn live(scenario: &Scenario) -> Live {
    let flows = CONNECTED..CONNECTED + 3;
    let long = CONNECTED..CONNECTED + 2;
    let scenario = Resolved::new(scenario.clone()).expect("a network");
    Live::new(
        &scenario,
        7,
        flows,
        long,
        200_000_000,
        vec![0.0, 1e-5, 1e-2],
    )
    .expect("builds")
}

/// Advances in unaligned steps, each first by about 100 packet-hops, and takes after each.
fn watch(live: &mut Live, end_ps: u64) -> Vec<super::Shown> {
    let mut looks = Vec::new();
    let mut until_ps = 0;
    while live.reached_ps() < end_ps {
        until_ps += 777_777_777;
        live.advance(until_ps, 100).expect("advances");
        live.advance(until_ps, u64::MAX).expect("advances");
        looks.push(live.take(usize::MAX));
    }
    looks
}

#[test]
fn shows_what_a_run_measures() {
    let scenario = read(&[]);
    let end_ps = 50_000_000_000;
    let mut live = live(&scenario);
    let looks = watch(&mut live, end_ps);
    let outcome = build(&scenario, 7, None)
        .expect("builds")
        .run(&Control::default())
        .expect("runs");

    let times = looks.iter().flat_map(|look| look.t.clone());
    let queue = looks.iter().flat_map(|look| look.queue.clone());
    let samples: Vec<(u64, u64)> = times
        .map(|t| (t * 1e12).round() as u64)
        .zip(queue)
        .collect();
    let measured = outcome.logs.queues.as_ref().expect("asked for").rows();
    let measured = measured.iter().map(|row| (row.time_ps, row.level.bytes));
    let after: Vec<_> = samples
        .iter()
        .copied()
        .filter(|&(at_ps, _)| at_ps >= 10_000_000_000)
        .collect();
    assert_eq!(after, measured.collect::<Vec<_>>());
    assert_eq!((after.len(), samples.len()), (2000, 2500));
    assert!(after.iter().any(|&(_, bytes)| bytes > 0));

    let series = outcome.logs.series.as_ref().expect("asked for").rows();
    for flow in 0..3 {
        let windows = looks.iter().flat_map(|look| look.flows[flow].cwnd.clone());
        let alphas = looks.iter().flat_map(|look| match &look.flows[flow].alpha {
            Some(alphas) => alphas.clone(),
            None => vec![None; look.t.len()],
        });
        let mut shown = samples.iter().zip(windows.zip(alphas));
        let number = CONNECTED + flow as u64;
        let read = series.iter().filter(|row| row.1.flow == number);
        for row in read.filter(|row| row.0 < end_ps && row.0 < 20_000_000_000) {
            let found = shown.find(|((at_ps, _), _)| *at_ps == row.0);
            let (_, (window, alpha)) = found.expect("a sample at that time");
            let window = window.expect("open") * 1460.0;
            assert!((window - row.1.cwnd_bytes as f64).abs() < 10.0);
            let (alpha, other) = (alpha.expect("DCTCP"), row.1.alpha.expect("DCTCP"));
            assert!((alpha - other).abs() < 1e-4);
        }
    }

    let completed = outcome.flows.rows().iter();
    let completed = completed.filter(|flow| flow.start_ps + flow.fct_ps < end_ps);
    let counted: u64 = live.completions.iter().map(|class| class.len()).sum();
    assert_eq!(counted, completed.count() as u64);
    assert!(counted > 100);
    let stats = serde_json::to_value(live.take(1).stats).expect("JSON");
    let latency_us = stats["latency_p99"].as_f64().expect("a number") * 1e6;
    assert!((latency_us - outcome.occupancy.p99_us).abs() < 1e-3 * outcome.occupancy.p99_us);
    let delivered = |flow: u64, until_ps: u64| {
        let rows = series.iter().filter(|row| row.1.flow == flow);
        let row = rows.rev().find(|row| row.0 <= until_ps);
        row.expect("followed").1.delivered_bytes as f64
    };
    let of_long = |flow: u64| delivered(flow, end_ps) - delivered(flow, 10_000_000_000);
    let expected = 8.0 * (of_long(CONNECTED) + of_long(CONNECTED + 1)) / 40e-3;
    let goodput = stats["goodput_long"].as_f64().expect("a number");
    assert!(
        (goodput / expected - 1.0).abs() < 1e-3,
        "{goodput} {expected}"
    );
    let throughput = stats["throughput"].as_f64().expect("a number") / 1e9;
    assert!((throughput - outcome.throughput.utilization).abs() < 1e-3);
}

#[test]
fn taken_samples_are_not_kept() {
    let scenario = read(&["run.duration=400ms"]);
    let mut live = live(&scenario);
    // Without a reader, every second sample is discarded once there are too many.
    live.advance(u64::MAX, u64::MAX).expect("advances");
    let simulation = &live.simulation;
    assert!(simulation.instruments.records.flows.rows().is_empty());
    let rows = simulation
        .instruments
        .live
        .as_ref()
        .expect("live")
        .rows
        .len();
    assert!((2048..=4096).contains(&rows), "{rows}");
    let look = live.take(100);
    assert!((50..=100).contains(&look.t.len()));
    assert!(look.t.is_sorted() && look.phantom.is_some());
    assert!(live.take(100).t.is_empty());
}

#[test]
fn a_port_without_phantom_queue_shows_none() {
    let mut scenario = read(&["transport.congestion_control=newreno"]);
    scenario.switch.phantom_queue = None;
    let mut live = live(&scenario);
    live.advance(20_000_000_000, u64::MAX).expect("advances");
    let look = live.take(usize::MAX);
    assert!(look.phantom.is_none() && look.flows.iter().all(|flow| flow.alpha.is_none()));
    assert_eq!(look.latency.cdf.last(), Some(&1.0));
    let rate_bps = 1e9 + 1.0;
    assert!(
        look.throughput
            .iter()
            .all(|&bps| (0.0..=rate_bps).contains(&bps))
    );
}

const LOSSLESS: &str = r#"
name = "pauses"
[run]
duration = "2ms"
[topology.dumbbell]
pairs = 3
bottleneck_rate = "10Gbps"
[host]
rate = "10Gbps"
delay = "1us"
[switch]
rate = "10Gbps"
delay = "1us"
pfc = {}
[transport]
congestion_control = "line-rate"
[workload.long_lived]
flows = [{ src = "0-2", dst = 3 }]
[measure]
sample_interval = "10us"
flows = { count = 3, interval = "10us" }
"#;

#[test]
fn pauses_add_up_to_those_that_a_run_counts() {
    let cells = scenario::expand(LOSSLESS, "pauses.toml", &[]).expect("valid");
    let scenario = Scenario::clone(&cells[0].scenario);
    let resolved = Resolved::new(scenario.clone()).expect("a network");
    let mut live = Live::new(&resolved, 7, 0..3, 0..3, 100_000_000, vec![0.0]).expect("builds");
    let (mut paused_s, mut of_links_s) = (0.0, std::collections::BTreeMap::new());
    let (mut before_s, mut last) = (0.0, None);
    while live.reached_ps() < 2_000_000_000 {
        live.advance(live.reached_ps() + 123_456_789, u64::MAX)
            .expect("advances");
        let look = live.take(7);
        let pauses = look.pauses.expect("links may pause");
        for (at, &until_s) in look.t.iter().enumerate() {
            paused_s += pauses.paused[at] * (until_s - before_s);
            for (number, link) in pauses.links.iter().enumerate() {
                *of_links_s.entry(number).or_insert(0.0) += link.share[at] * (until_s - before_s);
            }
            before_s = until_s;
        }
        last = Some((pauses.links, pauses.time, pauses.rates, pauses.goodput));
    }
    let outcome = build(&scenario, 7, None)
        .expect("builds")
        .run(&Control::default())
        .expect("runs");
    let counted_s = |paused_ps: u64| paused_ps as f64 * 1e-12;
    let all_s: f64 = outcome
        .pauses
        .iter()
        .map(|row| counted_s(row.counts.paused_ps))
        .sum();
    let (links, time_s, rates, goodput) = last.expect("a look");
    // Three senders and the link between the switches; each sender gets a third of it.
    assert_eq!(links.iter().filter(|link| link.time > 0.0).count(), 3);
    assert!((time_s / all_s - 1.0).abs() < 1e-9, "{time_s} {all_s}");
    assert!((paused_s / all_s - 1.0).abs() < 0.02, "{paused_s} {all_s}");
    for (number, link) in links.iter().enumerate() {
        assert!((of_links_s[&number] / link.time - 1.0).abs() < 0.02);
    }
    assert_eq!(rates.len(), 3);
    let shared: f64 = goodput.iter().sum();
    assert!((shared / 10e9 - 1.0).abs() < 0.05, "{shared}");
    assert!(
        live.take(1).pauses.expect("pauses").links[0]
            .share
            .is_empty()
    );
}
