//! `summary.json` of a run over real TCP. Its keys are the same as in a simulation's, so hull's
//! tables and reports read it like one. Values that an end host cannot know (the switch's queue,
//! its marks and drops) are null, and counts of the simulator are 0.

use std::time::Instant;

use hull_sim::measure::{ClassSummary, Distribution, Fairness, QuerySummary, thread_seconds};
use hull_sim::part::{Identity, peak_rss_bytes};
use serde::Serialize;

use crate::outcome::{LongFlow, Outcome};
use crate::tcp_info::{TcpEnds, TcpInfo};

/// Content of `summary.json`.
#[derive(Debug, Serialize)]
pub struct Summary {
    hull_version: &'static str,
    name: String,
    #[serde(flatten)]
    identity: Identity,
    /// Kind of run.
    mode: &'static str,
    /// Whether the run was stopped early.
    interrupted: bool,
    /// Measured time, s.
    measured_seconds: f64,
    packet_hops: u64,
    events: u64,
    simulated_seconds: f64,
    threads: u32,
    cpu_seconds: f64,
    wall_seconds: f64,
    peak_rss_bytes: Option<u64>,
    packets: Unknown,
    switch_latency: SwitchLatency,
    queues: Empty,
    fct: Vec<ClassSummary>,
    slowdown: Unknown,
    /// Number of measured requests without a response, by class.
    unanswered: Vec<Unanswered>,
    /// Delays of requests by the client itself, us.
    lateness: Option<Distribution>,
    /// Number of measured requests that found no free connection.
    queued: u64,
    queries: Option<QuerySummary>,
    fairness: Option<Fairness>,
    long_flows: Vec<LongFlow>,
    processor: Unknown,
    throughput: Throughput,
    links: Empty,
    flow_slots: u64,
    marks: Unknown,
    drops: Unknown,
    timeouts: Option<u64>,
    retransmissions: Option<u64>,
    paced: Unknown,
    associations: Unknown,
    tcp: Tcp,
}

/// Value that an end host cannot know: null.
type Unknown = Option<u64>;

#[derive(Debug, Serialize)]
struct Empty {}

#[derive(Debug, Serialize)]
struct SwitchLatency {
    occupancy: Unknown,
    probe: Unknown,
}

#[derive(Debug, Serialize)]
struct Unanswered {
    class: String,
    count: u64,
}

#[derive(Debug, Serialize)]
struct Throughput {
    goodput_bps: f64,
    utilization: Unknown,
    total_goodput_bps: f64,
}

#[derive(Debug, Serialize)]
struct Tcp {
    client: TcpEnds,
    servers: TcpEnds,
}

/// Names of a run.
#[derive(Clone, Debug)]
pub struct Title {
    /// Name of the run.
    pub name: String,
    /// Condition, scheme and seed of the run in a comparison.
    pub identity: Identity,
    /// Kind of run: `dynamic`, `incast`, ...
    pub mode: &'static str,
    /// Start time of the command.
    pub begun: Instant,
}

impl Summary {
    /// Creates the summary of a run.
    pub fn new(title: &Title, outcome: &Outcome) -> Self {
        let classes = outcome.classes.iter().zip(&outcome.latencies);
        let ends = &outcome.ends;
        let goodput_bps = outcome.window.goodput_bps();
        // Known only if both ends of all connections are: otherwise it would look like the total.
        let all_known =
            ends.own.len() == outcome.connections && ends.servers.len() == outcome.connections;
        let sum = |get: fn(&TcpInfo) -> Option<u32>| {
            let infos = ends.own.iter().chain(&ends.servers);
            let numbers = infos.map(|info| get(info).map(u64::from));
            numbers.sum::<Option<u64>>().filter(|_| all_known)
        };
        Summary {
            hull_version: env!("CARGO_PKG_VERSION"),
            name: title.name.clone(),
            identity: title.identity.clone(),
            mode: title.mode,
            interrupted: outcome.interrupted,
            measured_seconds: outcome.window.seconds(),
            packet_hops: 0,
            events: 0,
            simulated_seconds: 0.0,
            threads: 1,
            cpu_seconds: thread_seconds(),
            wall_seconds: title.begun.elapsed().as_secs_f64(),
            peak_rss_bytes: peak_rss_bytes(),
            packets: None,
            switch_latency: SwitchLatency {
                occupancy: None,
                probe: None,
            },
            queues: Empty {},
            slowdown: None,
            fct: classes
                .zip(&outcome.unanswered)
                .map(|((class, latencies), &count)| latencies.summary(class, count))
                .collect(),
            unanswered: outcome
                .classes
                .iter()
                .zip(&outcome.unanswered)
                .map(|(class, &count)| Unanswered {
                    class: class.clone(),
                    count,
                })
                .collect(),
            lateness: outcome.lateness,
            queued: outcome.queued,
            queries: QuerySummary::of(&outcome.queries),
            fairness: outcome.fairness,
            long_flows: outcome.long_flows.clone(),
            processor: None,
            throughput: Throughput {
                goodput_bps,
                utilization: None,
                total_goodput_bps: goodput_bps,
            },
            links: Empty {},
            flow_slots: outcome.connections as u64,
            marks: None,
            drops: None,
            timeouts: sum(|info| info.timeouts),
            retransmissions: sum(|info| Some(info.retransmissions)),
            paced: None,
            associations: None,
            tcp: Tcp {
                client: TcpEnds::of(&ends.own),
                servers: TcpEnds::of(&ends.servers),
            },
        }
    }
}
