//! Partition/aggregate with service times (report III-B, the OLDISIM search workload): queries of one
//! client to all servers in an open loop; each server processes its requests one after the other. Times
//! ps, sizes bytes.
//!
//! A server has one worker and an unbounded queue. A request is ready when the application has it
//! (arrival plus the application's delay), its service begins when the worker is free, and its response
//! is sent when the service ends.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::fan_out::{FanOut, ResponseBytes, Step, Ticket};
use super::host_list::{HostList, HostRef};
use super::sizes::message;
use super::{Agenda, Backlog, Progress, Settings, Workload, time_above_0};
use crate::problem::{Problem, require};
use crate::random::{Purpose, Stream};
use crate::service_time::{Service, ServiceTime, check as check_service};
use crate::units::{Size, Time};

/// A client sends queries to all servers in an open loop; a server works on one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionAggregate {
    /// Mean time between two queries.
    pub interval: Time,
    /// Arrival process of the queries.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Number of queries, after which the run may end; unset: queries continue until the end of the
    /// measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// The requesting host (default: host 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<HostRef>,
    /// The responding hosts (default: all but the client).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<HostList>,
    /// Bytes of a request.
    pub request_size: Size,
    /// Bytes of a response.
    pub response_size: Size,
    /// Service time of a request at the server (default: none).
    #[serde(default)]
    pub service: Service,
    /// Responses after this time from the query's start are not counted as in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Arrival process of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// A Poisson process.
    #[default]
    Poisson,
    /// Arrivals at equal intervals.
    Fixed,
}

impl Settings for PartitionAggregate {
    fn check(&self) -> Result<(), Problem> {
        let key = |name: &str| format!("workload.partition_aggregate.{name}");
        time_above_0(&key("interval"), self.interval)?;
        require(self.queries != Some(0), &key("queries"), 0, "at least 1")?;
        message(&key("request_size"), self.request_size)?;
        message(&key("response_size"), self.response_size)?;
        if let Some(deadline) = self.deadline {
            time_above_0(&key("deadline"), deadline)?;
        }
        check_service(&key("service"), &self.service)
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(PartitionAggregateTraffic::new(self, context)?))
    }
}

/// Worker of a server.
#[derive(Debug)]
struct Worker {
    busy_until_ps: u64,
    service: Stream,
}

/// State of partition/aggregate.
#[derive(Debug)]
pub(super) struct PartitionAggregateTraffic {
    fan_out: FanOut,
    service: ServiceTime,
    workers: Vec<Worker>,
    arrivals: Arrivals,
    interval_ps: u64,
    times: Stream,
    backlog: Backlog,
    /// Number of queries not yet sent.
    left: u64,
    planned: Option<u64>,
    end_ps: u64,
    application_delay_ps: u64,
}

impl PartitionAggregateTraffic {
    /// Creates the queries that the scenario describes.
    pub fn new(settings: &PartitionAggregate, context: &Context) -> Result<Self, Problem> {
        let key = |name: &str| format!("workload.partition_aggregate.{name}");
        let hosts = context.hosts;
        let client = hosts.client(&key("client"), settings.client.as_ref())?;
        let servers = hosts.set(&key("servers"), settings.servers.as_ref(), Some(client))?;
        let workers = servers.iter().map(|&host| Worker {
            busy_until_ps: 0,
            service: Stream::new(context.seed, Purpose::ServiceTimes, host as usize),
        });
        let workers = workers.collect();
        let fan_out = FanOut::new(
            vec![(client, servers)],
            settings.request_size.0,
            ResponseBytes::Each(settings.response_size.0),
            settings.deadline.map(|deadline| deadline.0),
            context.application_delay_ps,
        );
        let left = settings.queries.unwrap_or(u64::MAX);
        Ok(PartitionAggregateTraffic {
            service: ServiceTime::new(&key("service"), &settings.service)?,
            workers,
            backlog: fan_out.backlog(settings.interval.0 as f64, left, context),
            fan_out,
            arrivals: settings.arrivals,
            interval_ps: settings.interval.0,
            times: Stream::new(context.seed, Purpose::QueryArrivals, 0),
            left,
            planned: settings.queries,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
        })
    }

    fn next_query(&mut self, now_ps: u64, agenda: &mut Agenda) {
        if self.left > 0 {
            let gap_ps = match self.arrivals {
                Arrivals::Poisson => self.times.exponential(self.interval_ps as f64),
                Arrivals::Fixed => self.interval_ps,
            };
            let turn = Ticket::new(Step::Turn, 0);
            agenda
                .wakes
                .push((now_ps.saturating_add(gap_ps), turn.pack()));
        }
    }
}

impl Workload for PartitionAggregateTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        self.fan_out.connections()
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn planned(&self) -> Option<u64> {
        self.planned
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.next_query(0, agenda);
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(token);
        if ticket.step == Step::Response {
            agenda.sends.push(self.fan_out.response(ticket));
            return;
        }
        if now_ps >= self.end_ps {
            self.left = 0;
            return;
        }
        self.left -= 1;
        for ticket in self.fan_out.open(now_ps, 0) {
            agenda.sends.push(self.fan_out.request(ticket));
        }
        self.next_query(now_ps, agenda);
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(tag);
        if ticket.step == Step::Request {
            let worker = &mut self.workers[ticket.server as usize];
            let ready_ps = now_ps + self.application_delay_ps;
            let begin_ps = ready_ps.max(worker.busy_until_ps);
            let service_ps = self.service.draw(&mut worker.service);
            worker.busy_until_ps = begin_ps.saturating_add(service_ps);
            let response = self.fan_out.requested(ticket, timeouts);
            agenda.wakes.push((worker.busy_until_ps, response.pack()));
        } else if let Some((_, record)) = self.fan_out.responded(now_ps, ticket, timeouts) {
            agenda.queries.push(record);
        }
    }

    fn is_complete(&self) -> bool {
        self.fan_out.is_idle()
    }

    fn progress(&self) -> Progress {
        if self.left == 0 && self.fan_out.is_idle() {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        agenda.queries.extend(self.fan_out.finish());
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{SEED, TestNetwork, build};
    use super::*;
    use crate::service_time::Gamma;

    /// The report's search workload, at its occupancy of 30%.
    const SEARCH: &str = r#"
        [workload.partition_aggregate]
        interval = "8.45ms"
        queries = 3000
        request_size = "3500B"
        response_size = "2800B"
        deadline = "25ms"
        service = { offset = "10us", gamma = { shape = 0.7, scale = "3.6ms" } }
    "#;

    #[test]
    fn service_follows_lindleys_recursion() {
        let mut traffic = build(SEARCH, 2, "60s").expect("good");
        let log = TestNetwork {
            delay_ps: |_| 7_000_000,
            ..TestNetwork::default()
        }
        .run(&mut traffic);
        assert_eq!(log.queries.len(), 3000);
        // One server: W(n+1) = max(0, W(n) + S(n) - A(n)), in ps, from the same draws.
        let service = Service {
            offset: Time(10_000_000),
            exponential: None,
            gamma: Some(Gamma {
                shape: 0.7,
                scale: Time(3_600_000_000),
            }),
        };
        let law = ServiceTime::new("k", &service).expect("good");
        let mut draws = Stream::new(SEED, Purpose::ServiceTimes, 1);
        let mut queries = log.queries.clone();
        queries.sort_by_key(|query| query.start_ps);
        let mut wait_ps = 0_i64;
        for pair in queries.windows(2) {
            let service_ps = law.draw(&mut draws) as i64;
            let expected_ps = wait_ps + service_ps + 2 * 7_000_000;
            assert_eq!(pair[0].completion_ps, Some(expected_ps as u64));
            let gap_ps = (pair[1].start_ps - pair[0].start_ps) as i64;
            wait_ps = 0.max(wait_ps + service_ps - gap_ps);
        }
    }

    #[test]
    fn in_time_share_matches_the_service_law() {
        // Ten servers, so little load that no request waits: P(service <= 25 ms) for each response.
        let text = SEARCH.replace("8.45ms", "845ms");
        let mut traffic = build(&text, 11, "6000s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let late: u32 = log.queries.iter().map(|q| q.servers - q.in_time).sum();
        let responses: u32 = log.queries.iter().map(|q| q.servers).sum();
        // Upper incomplete gamma Q(0.7, 24.99/3.6) by its asymptotic series.
        let x: f64 = 24.99 / 3.6;
        let q = x.powf(-0.3) * (-x).exp() / 1.298_055_332_647_558
            * (1.0 - 0.3 / x + 0.3 * 1.3 / x.powi(2) - 0.3 * 1.3 * 2.3 / x.powi(3));
        let share = f64::from(late) / f64::from(responses);
        let sigma = (q / f64::from(responses)).sqrt();
        assert!((share - q).abs() < 4.0 * sigma, "{share} {q}");
    }

    #[test]
    fn a_query_completes_with_its_slowest_response() {
        let mut traffic = build(SEARCH, 11, "60s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let ns = |query: &crate::workload::QueryRecord| {
            (
                query.completion_ps.unwrap_or(0) / 1000,
                query.mean_response_ps / 1000,
            )
        };
        assert!(log.queries.iter().map(ns).all(|(all, mean)| all >= mean));
        assert!(
            log.queries
                .iter()
                .all(|q| (q.servers, q.bytes) == (10, 28_000))
        );
    }

    #[test]
    fn arrivals_are_poisson_or_fixed() {
        let mut traffic = build(SEARCH, 2, "60s").expect("good");
        let gaps = TestNetwork::default().run(&mut traffic).query_gaps();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!((mean / 8.45e9 - 1.0).abs() < 0.06, "{mean}");
        assert!((variance / mean.powi(2) - 1.0).abs() < 0.15, "{variance}");
        let text = format!("{SEARCH}arrivals = \"fixed\"\n");
        let mut traffic = build(&text, 2, "60s").expect("good");
        let gaps = TestNetwork::default().run(&mut traffic).query_gaps();
        assert!(gaps.iter().all(|&gap| gap == 8.45e9));
    }

    #[test]
    fn unfinished_queries_are_recorded() {
        // The second server never gets its request.
        let network = TestNetwork {
            delay_ps: |message| if message.dst == 2 { u64::MAX } else { 0 },
            ..TestNetwork::default()
        };
        let mut traffic = build(SEARCH, 3, "60s").expect("good");
        let log = network.run(&mut traffic);
        assert_eq!(log.queries.len(), 3000);
        for query in &log.queries {
            assert_eq!((query.completion_ps, query.bytes), (None, 2800));
        }
    }
}
