//! The production benchmark of a rack (thesis 2.3.3, from the measurements of 2.1.2): queries of each
//! server to all others, and background flows (short messages and updates) inside the rack and to or
//! from a host that represents the rest of the data centre. Times ps, sizes bytes.
//!
//! From the text: 45 servers and one such host, 1.6 KB queries, 2 KB responses; each server
//! independently draws the times between its queries, the times between its background flows and their
//! sizes; the scaled benchmark multiplies flows above 1 MB by ten and makes the responses to a query 1
//! MB in total. Assumed, because the figures exist only as plots or not at all: the shapes of the three
//! distributions (see the files in `sizes/` and `intervals/`), the share of the flows that leave or
//! enter the rack, and that half of these go each way.

mod settings;

use slab::Slab;

use super::backlog::waiting;
use super::context::Context;
use super::fan_out::{FanOut, ResponseBytes, Step, Ticket};
use super::size_class::SizeClasses;
use super::sizes::{SizeDistribution, table};
use super::{Agenda, Backlog, Besides, CdfTable, Channel, FlowRecord, Message, Progress, Workload};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};

pub use settings::Production;

/// Size above which a background flow is an update, bytes.
const UPDATE_BYTES: u64 = 1_000_000;

const QUERY_INTERVALS: [(&str, &str); 1] = [(
    "production",
    include_str!("intervals/production_queries.csv"),
)];
const BACKGROUND_INTERVALS: [(&str, &str); 1] = [(
    "production",
    include_str!("intervals/production_background.csv"),
)];

/// Random streams of a server.
#[derive(Debug)]
struct Server {
    host: u32,
    queries: Stream,
    arrivals: Stream,
    sizes: Stream,
    endpoints: Stream,
    jitter: Stream,
}

/// Background flow in progress.
#[derive(Debug)]
struct Flow {
    start_ps: u64,
    bytes: u64,
    ends: (u32, u32),
}

/// State of the benchmark.
#[derive(Debug)]
pub(super) struct ProductionTraffic {
    fan_out: FanOut,
    servers: Vec<Server>,
    outside: Option<u32>,
    outside_share: f64,
    query_intervals: CdfTable,
    background_intervals: CdfTable,
    sizes: SizeDistribution,
    update_factor: u64,
    jitter_ps: u64,
    backlog: Backlog,
    classes: SizeClasses,
    flows: Slab<Flow>,
    end_ps: u64,
    application_delay_ps: u64,
}

impl ProductionTraffic {
    /// Creates the benchmark that the scenario describes.
    pub fn new(settings: &Production, context: &Context) -> Result<Self, Problem> {
        let key = |name: &str| format!("workload.production.{name}");
        let outside = settings.outside.as_ref();
        let outside = outside
            .map(|host| context.hosts.one(&key("outside"), host))
            .transpose()?;
        let rack = context
            .hosts
            .set(&key("servers"), settings.servers.as_ref(), outside)?;
        if rack.len() < 2 {
            return Err(Problem::new(
                key("servers"),
                format!("found {} servers; expected at least two", rack.len()),
            ));
        }
        FanOut::check(&key("servers"), rack.len(), rack.len())?;
        let others = |client: u32| rack.iter().copied().filter(move |&host| host != client);
        let response = match settings.response_total {
            Some(total) => ResponseBytes::Total(total.0.max(rack.len() as u64)),
            None => ResponseBytes::Each(settings.response_size.0),
        };
        let intervals = |name: &str, source: &str, shipped: &[(&str, &str)]| {
            table(&key(name), source, shipped, "interval_us")
        };
        let query_intervals = intervals(
            "query_intervals",
            &settings.query_intervals,
            &QUERY_INTERVALS,
        )?;
        let background_intervals = intervals(
            "background_intervals",
            &settings.background_intervals,
            &BACKGROUND_INTERVALS,
        )?;
        let sizes = SizeDistribution::table(&key("background_sizes"), &settings.background_sizes)?;
        let fan_out = FanOut::new(
            rack.iter().map(|&c| (c, others(c).collect())).collect(),
            settings.query_size.0,
            response,
            settings.deadline.map(|deadline| deadline.0),
            context.application_delay_ps,
        )
        .with_batch(settings.batch);
        let queries = fan_out.backlog(1e6 * query_intervals.mean(), u64::MAX, context);
        let gap_ps = 1e6 * background_intervals.mean();
        let background = rack.iter().map(|&host| {
            let link_bps = context.hosts.to_network_bps[host as usize] as f64;
            let load = 8e12 * sizes.mean() / gap_ps / link_bps;
            waiting(context.end_ps as f64 / gap_ps, load)
        });
        let background = Backlog::of_flows(background.fold(0, u64::saturating_add));
        Ok(ProductionTraffic {
            backlog: queries.and(background),
            fan_out,
            servers: rack
                .iter()
                .map(|&host| {
                    let stream = |purpose| Stream::new(context.seed, purpose, host as usize);
                    Server {
                        host,
                        queries: stream(Purpose::ProductionQueries),
                        arrivals: stream(Purpose::ProductionArrivals),
                        sizes: stream(Purpose::ProductionSizes),
                        endpoints: stream(Purpose::ProductionEndpoints),
                        jitter: stream(Purpose::RequestJitter),
                    }
                })
                .collect(),
            outside,
            outside_share: settings.outside_share.value(),
            query_intervals,
            background_intervals,
            sizes,
            update_factor: u64::from(settings.update_factor),
            jitter_ps: settings.jitter.0,
            classes: SizeClasses::new(&settings.class_bounds),
            flows: Slab::new(),
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
        })
    }

    fn next_query(&mut self, now_ps: u64, server: usize, agenda: &mut Agenda) {
        let gap_us = self.query_intervals.draw(&mut self.servers[server].queries);
        let turn = Ticket::new(Step::Turn, server as u64);
        agenda.wakes.push((now_ps + ps(gap_us), turn.pack()));
    }

    fn next_flow(&mut self, now_ps: u64, server: usize, agenda: &mut Agenda) {
        let arrivals = &mut self.servers[server].arrivals;
        let gap_us = self.background_intervals.draw(arrivals);
        let turn = Ticket::new(Step::Background, server as u64);
        agenda.wakes.push((now_ps + ps(gap_us), turn.pack()));
    }

    /// Starts a background flow of a server: to another server, or to or from the rest of the data
    /// centre.
    fn start_flow(&mut self, now_ps: u64, server: usize, agenda: &mut Agenda) {
        let count = self.servers.len();
        let Server {
            host,
            sizes,
            endpoints,
            ..
        } = &mut self.servers[server];
        let host = *host;
        let drawn = self.sizes.draw(sizes);
        let bytes = if drawn > UPDATE_BYTES {
            drawn * self.update_factor
        } else {
            drawn
        };
        let leaves = endpoints.uniform() <= self.outside_share;
        let ends = match self.outside.filter(|_| leaves) {
            Some(outside) if endpoints.bits() & 1 == 0 => (host, outside),
            Some(outside) => (outside, host),
            None => {
                let other = endpoints.below(count - 1);
                let other = other + usize::from(other >= server);
                (host, self.servers[other].host)
            }
        };
        let number = self.flows.insert(Flow {
            start_ps: now_ps,
            bytes,
            ends,
        });
        let ticket = Ticket::new(Step::Background, number as u64);
        let message = Message::new(ticket.pack(), ends, bytes, Channel::New);
        agenda.sends.push(message);
    }
}

/// Converts a time from us to ps, rounded.
fn ps(us: f64) -> u64 {
    (us * 1e6).round() as u64
}

impl Workload for ProductionTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        self.fan_out.connections()
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn besides(&self) -> Besides {
        Besides {
            application_ps: self.application_delay_ps,
            ..Besides::default()
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn planned(&self) -> Option<u64> {
        None // traffic comes to the end of the measured time
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        for server in 0..self.servers.len() {
            self.next_query(0, server, agenda);
            self.next_flow(0, server, agenda);
        }
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(token);
        let number = ticket.number as usize;
        match ticket.step {
            Step::Request => agenda.sends.push(self.fan_out.request(ticket)),
            Step::Response => agenda.sends.push(self.fan_out.response(ticket)),
            _ if now_ps >= self.end_ps => {}
            Step::Turn => {
                for ticket in self.fan_out.open(now_ps, number) {
                    if self.jitter_ps == 0 {
                        agenda.sends.push(self.fan_out.request(ticket));
                    } else {
                        let jitter = &mut self.servers[number].jitter;
                        let at_ps = now_ps + jitter.below(self.jitter_ps as usize) as u64;
                        agenda.wakes.push((at_ps, ticket.pack()));
                    }
                }
                self.next_query(now_ps, number, agenda);
            }
            Step::Background => {
                self.start_flow(now_ps, number, agenda);
                self.next_flow(now_ps, number, agenda);
            }
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(tag);
        match ticket.step {
            Step::Request => {
                let response = self.fan_out.requested(ticket, timeouts);
                let at_ps = now_ps + self.application_delay_ps;
                agenda.wakes.push((at_ps, response.pack()));
            }
            Step::Response => {
                if let Some((_, record)) = self.fan_out.responded(now_ps, ticket, timeouts) {
                    agenda.queries.push(record);
                    return;
                }
                let (client, tickets) = self.fan_out.next_batch(ticket);
                let jitter = &mut self.servers[client].jitter;
                for ticket in tickets {
                    let ready_ps = now_ps + self.application_delay_ps;
                    let at_ps = ready_ps + jitter.up_to(self.jitter_ps);
                    agenda.wakes.push((at_ps, ticket.pack()));
                }
            }
            Step::Background => {
                let flow = self.flows.remove(ticket.number as usize);
                agenda.flows.push(FlowRecord {
                    class: self.classes.of(flow.bytes),
                    ..FlowRecord::new(
                        flow.start_ps,
                        now_ps + self.application_delay_ps,
                        flow.ends,
                        flow.bytes,
                        timeouts,
                    )
                });
            }
            Step::Turn => unreachable!("a turn is not a message"),
        }
    }

    fn is_complete(&self) -> bool {
        self.fan_out.is_idle() && self.flows.is_empty()
    }

    fn progress(&self) -> Progress {
        Progress::Busy // traffic comes to the end of the measured time
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        agenda.queries.extend(self.fan_out.finish());
        let unfinished = self.flows.iter().map(|(_, flow)| FlowRecord {
            class: self.classes.of(flow.bytes),
            ..FlowRecord::unfinished(flow.start_ps, flow.ends, flow.bytes)
        });
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};

    #[test]
    fn ten_minute_counts_match_the_thesis() {
        let text = "[workload.production]\noutside = 45\n";
        let mut traffic = build(text, 46, "600s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let close = |found: usize, expected: f64| {
            assert!(
                (found as f64 / expected - 1.0).abs() < 0.02,
                "{found} {expected}"
            );
        };
        close(log.queries.len(), 188_000.0);
        close(log.flows.len(), 200_000.0);
        assert!(log.queries.iter().all(|query| query.bytes == 44 * 2000));
        let outside = |f: &&crate::workload::FlowRecord| f.src == 45 || f.dst == 45;
        close(log.flows.iter().filter(outside).count(), 40_000.0);
        close(log.flows.iter().filter(|f| f.src == 45).count(), 20_000.0);
        // Most flows are small, and most bytes are in updates (text of 2.1.2).
        let small = log.flows.iter().filter(|flow| flow.bytes < 50_000).count();
        assert!(2 * small > log.flows.len());
        let bytes = |least: u64| -> u64 {
            let updates = log.flows.iter().filter(|flow| flow.bytes > least);
            updates.map(|flow| flow.bytes).sum()
        };
        assert!(bytes(1_000_000) * 10 > bytes(0) * 8);
        assert!(log.flows.iter().all(|flow| flow.bytes <= 50_000_000));
    }

    /// Jitter delays each request by at most its value, and by half of it on average.
    #[test]
    fn jitter_spreads_a_query() {
        let longest = |jitter: &str| {
            let text = format!("[workload.production]\njitter = \"{jitter}\"\n");
            let mut traffic = build(&text, 45, "20s").expect("good");
            let log = TestNetwork::default().run(&mut traffic);
            let times = log.queries.iter().filter_map(|query| query.completion_ps);
            (times.max().expect("queries"), log.queries.len())
        };
        let (at_once_ps, queries) = longest("0ps");
        let (spread_ps, same) = longest("10ms");
        assert_eq!(queries, same);
        let held_ps = spread_ps - at_once_ps;
        assert!(
            (9_800_000_000..10_000_000_000).contains(&held_ps),
            "{held_ps}"
        );
    }

    #[test]
    fn the_scaled_benchmark_changes_sizes_only() {
        let text = "[workload.production]\noutside = 45\n";
        let scaled = format!("{text}update_factor = 10\nresponse_total = \"1MB\"\n");
        let run =
            |text: &str| TestNetwork::default().run(&mut build(text, 46, "5s").expect("good"));
        let (base, scaled) = (run(text), run(&scaled));
        assert_eq!(base.flows.len(), scaled.flows.len());
        for (one, ten) in base.flows.iter().zip(&scaled.flows) {
            let factor = if one.bytes > 1_000_000 { 10 } else { 1 };
            assert_eq!(
                (one.bytes * factor, one.start_ps),
                (ten.bytes, ten.start_ps)
            );
        }
        assert!(scaled.queries.iter().all(|query| query.bytes == 1_000_000));
    }
}
