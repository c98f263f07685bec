//! IncastTraffic (thesis 2.3.2): a client requests a share of `total` from each of N servers, waits for all
//! responses, and repeats. With `all_to_all` every host is such a client, with its own barrier (figure
//! 2.20). Times ps, sizes bytes.
//!
//! A server answers at once, after the application's delay; the client needs the same delay before its
//! next query. With jitter the client delays each request by a uniform random time, which is part of
//! the query's completion time (thesis 2.1.3). With `batch` it asks so many servers at a time, and the
//! next ones when it has all their responses: "pulling responses in small batches" (thesis 2.4).

mod settings;

use super::context::Context;
use super::fan_out::{FanOut, ResponseBytes, Step, Ticket};
use super::{Agenda, Progress, Workload};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};

pub use settings::Incast;

/// State of an incast.
#[derive(Debug)]
pub(super) struct IncastTraffic {
    fan_out: FanOut,
    /// Remaining queries and jitter stream of each client.
    clients: Vec<(u64, Stream)>,
    planned: Option<u64>,
    start_ps: u64,
    jitter_ps: u64,
    end_ps: u64,
    application_delay_ps: u64,
}

impl IncastTraffic {
    /// Creates the incast that the scenario describes.
    pub fn new(settings: &Incast, context: &Context) -> Result<Self, Problem> {
        let hosts = context.hosts;
        let key = "workload.incast.servers";
        let clients = if settings.all_to_all {
            let all = hosts.set(key, settings.servers.as_ref(), None)?;
            FanOut::check(key, all.len(), all.len())?;
            let others = |client: u32| all.iter().copied().filter(move |&host| host != client);
            all.iter()
                .map(|&client| (client, others(client).collect()))
                .collect()
        } else {
            let client = hosts.client("workload.incast.client", settings.client.as_ref())?;
            let servers = hosts.set(key, settings.servers.as_ref(), Some(client))?;
            vec![(client, servers)]
        };
        let clients = clients
            .into_iter()
            .map(|(client, servers)| Ok((client, asked(settings, servers)?)))
            .collect::<Result<Vec<_>, Problem>>()?;
        let queries = settings.queries.unwrap_or(u64::MAX);
        Ok(IncastTraffic {
            planned: (settings.queries).map(|each| each.saturating_mul(clients.len() as u64)),
            clients: clients
                .iter()
                .map(|&(host, _)| {
                    let jitter = Stream::new(context.seed, Purpose::RequestJitter, host as usize);
                    (queries, jitter)
                })
                .collect(),
            fan_out: FanOut::new(
                clients,
                settings.request_size.0,
                ResponseBytes::Total(settings.total.0),
                settings.deadline.map(|deadline| deadline.0),
                context.application_delay_ps,
            )
            .with_batch(settings.batch),
            start_ps: settings.start.0,
            jitter_ps: settings.jitter.0,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
        })
    }

    fn ask(&mut self, now_ps: u64, client: usize, agenda: &mut Agenda) {
        let (left, jitter) = &mut self.clients[client];
        if *left == 0 || now_ps >= self.end_ps {
            *left = 0;
            return;
        }
        *left -= 1;
        for ticket in self.fan_out.open(now_ps, client) {
            if self.jitter_ps == 0 {
                agenda.sends.push(self.fan_out.request(ticket));
            } else {
                let at_ps = now_ps + jitter.below(self.jitter_ps as usize) as u64;
                agenda.wakes.push((at_ps, ticket.pack()));
            }
        }
    }

    /// Asks the next batch of servers if `answer` completed one.
    fn ask_more(&mut self, now_ps: u64, answer: Ticket, agenda: &mut Agenda) {
        let (client, tickets) = self.fan_out.next_batch(answer);
        let (_, jitter) = &mut self.clients[client];
        let ready_ps = now_ps + self.application_delay_ps;
        for ticket in tickets {
            let at_ps = ready_ps + jitter.up_to(self.jitter_ps);
            agenda.wakes.push((at_ps, ticket.pack()));
        }
    }
}

/// Selects the servers of a query.
fn asked(settings: &Incast, mut servers: Vec<u32>) -> Result<Vec<u32>, Problem> {
    let available = servers.len();
    let fan_in = settings.fan_in.map_or(available, |fan_in| fan_in as usize);
    FanOut::check_fan_in(settings, fan_in, available)?;
    servers.truncate(fan_in);
    Ok(servers)
}

impl Workload for IncastTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        self.fan_out.connections()
    }

    fn planned(&self) -> Option<u64> {
        self.planned
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        let turns = 0..self.fan_out.clients() as u64;
        let turn = |client| (self.start_ps, Ticket::new(Step::Turn, client).pack());
        agenda.wakes.extend(turns.map(turn));
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(token);
        match ticket.step {
            Step::Turn => self.ask(now_ps, ticket.number as usize, agenda),
            Step::Request => agenda.sends.push(self.fan_out.request(ticket)),
            Step::Response => agenda.sends.push(self.fan_out.response(ticket)),
            Step::Background => unreachable!("an incast makes no such ticket"),
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(tag);
        if ticket.step == Step::Request {
            let response = self.fan_out.requested(ticket, timeouts);
            if self.application_delay_ps == 0 {
                agenda.sends.push(self.fan_out.response(response));
            } else {
                let at_ps = now_ps + self.application_delay_ps;
                agenda.wakes.push((at_ps, response.pack()));
            }
            return;
        }
        if let Some((client, record)) = self.fan_out.responded(now_ps, ticket, timeouts) {
            agenda.queries.push(record);
            if self.application_delay_ps == 0 {
                self.ask(now_ps, client, agenda);
            } else {
                let turn = Ticket::new(Step::Turn, client as u64);
                let at_ps = now_ps + self.application_delay_ps;
                agenda.wakes.push((at_ps, turn.pack()));
            }
        } else {
            self.ask_more(now_ps, ticket, agenda);
        }
    }

    fn is_complete(&self) -> bool {
        self.fan_out.is_idle()
    }

    fn progress(&self) -> Progress {
        if self.fan_out.is_idle() && self.clients.iter().all(|&(left, _)| left == 0) {
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
    use super::super::test_network::{TestNetwork, build};

    const BASIC: &str = "[workload.incast]\ntotal = \"1MB\"\nqueries = 3\n";

    /// A network that delivers a request in 10 ns and a response in 1 ps per byte.
    fn network() -> TestNetwork {
        TestNetwork {
            delay_ps: |message| {
                if message.bytes == 100 {
                    10_000
                } else {
                    message.bytes
                }
            },
            ..TestNetwork::default()
        }
    }

    #[test]
    fn next_query_waits_for_the_last() {
        let mut traffic = build(BASIC, 41, "1s").expect("good");
        let log = network().run(&mut traffic);
        // Each query: 10 ns for the requests, then 25,000 ps for 25 KB of each of 40 servers.
        let starts: Vec<u64> = log.queries.iter().map(|query| query.start_ps).collect();
        assert_eq!(starts, [0, 35_000, 70_000]);
        for query in &log.queries {
            assert_eq!(query.completion_ps, Some(35_000));
            assert_eq!((query.servers, query.in_time), (40, 40));
            assert_eq!((query.bytes, query.timeouts), (1_000_000, 0));
            assert_eq!(query.mean_response_ps, 35_000);
        }
        assert_eq!(log.sends.len(), 3 * 80);
        assert_eq!(log.end_ps, 105_000, "the run ends with the last query");
    }

    #[test]
    fn the_slowest_server_and_the_deadline() {
        // Server 2's responses take 90 us and suffer a timeout.
        let network = TestNetwork {
            delay_ps: |message| {
                if message.src == 2 {
                    90_000_000
                } else {
                    1_000_000
                }
            },
            timeouts: |message| u32::from(message.src == 2),
        };
        let text = format!("{BASIC}fan_in = 4\ndeadline = \"50us\"\n");
        let mut traffic = build(&text, 41, "1s").expect("good");
        let log = network.run(&mut traffic);
        assert_eq!(log.queries.len(), 3);
        for query in &log.queries {
            assert_eq!(query.completion_ps, Some(91_000_000));
            assert_eq!((query.servers, query.in_time, query.timeouts), (4, 3, 1));
            assert_eq!(query.mean_response_ps, (3 * 2_000_000 + 91_000_000) / 4);
        }
    }

    /// 41 servers make batches of 16, 16 and 9. Each takes 10 ns for the requests and 25 ns for the
    /// responses of 25 KB.
    #[test]
    fn batches_by_hand() {
        let text = format!("{BASIC}batch = 16\n").replace("1MB", "1025KB");
        let mut traffic = build(&text, 42, "1s").expect("good");
        let log = network().run(&mut traffic);
        assert_eq!(log.queries.len(), 3);
        for query in &log.queries {
            assert_eq!(query.completion_ps, Some(3 * 35_000));
            assert_eq!(
                query.mean_response_ps,
                (16 * 35_000 + 16 * 70_000 + 9 * 105_000) / 41
            );
        }
        let asked = |at_ps: u64| {
            let sends = log.sends.iter();
            sends
                .filter(|(at, m)| (*at, m.bytes) == (at_ps, 100))
                .count()
        };
        assert_eq!([0, 35_000, 70_000, 105_000].map(asked), [16, 16, 9, 16]);
        assert_eq!(log.sends.len(), 3 * 82);
    }

    /// Servers one by one. Each has the request after 10 ns and answers 1 us later; the client has its
    /// 333,333 bytes (one more from the first) after 1 ps per byte, and 1 us later asks the next one.
    #[test]
    fn a_batch_waits_for_the_application() {
        let text = format!(
            "host.application_delay = \"1us\"\n{BASIC}fan_in = 3\nbatch = 1\njitter = \"0s\"\n"
        );
        let mut traffic = build(&text, 41, "1s").expect("good");
        let log = network().run(&mut traffic);
        let each = [333_334, 333_333, 333_333].map(|bytes_ps| 10_000 + bytes_ps + 2_000_000);
        assert_eq!(log.queries[0].completion_ps, Some(each.iter().sum()));
        // As many bytes by random receivers, in the same batches.
        let text = format!("{text}queries_per_second = 1\n");
        let mut traffic = build(&text, 41, "1s").expect("good");
        let log = network().run(&mut traffic);
        assert_eq!(log.queries[0].completion_ps, Some(each.iter().sum()));
    }

    #[test]
    fn all_hosts_at_once() {
        let text = format!("{BASIC}all_to_all = true\n");
        let mut traffic = build(&text, 41, "1s").expect("good");
        let log = network().run(&mut traffic);
        assert_eq!(log.connections.len(), 41 * 40);
        assert_eq!(log.queries.len(), 3 * 41);
        assert!(log.queries.iter().all(|query| query.bytes == 1_000_000));
        let responses = log.sends.iter().filter(|(_, m)| m.bytes == 25_000);
        assert_eq!(responses.count(), 3 * 41 * 40);
    }

    #[test]
    fn jitter_spreads_the_requests() {
        let text = format!("{BASIC}jitter = \"10ms\"\n");
        let mut traffic = build(&text, 41, "1s").expect("good");
        let log = network().run(&mut traffic);
        let first: Vec<f64> = log
            .sends
            .iter()
            .filter(|(at_ps, message)| message.bytes == 100 && *at_ps < 10_000_000_000)
            .map(|(at_ps, _)| *at_ps as f64 / 1e10)
            .collect();
        let mean = first.iter().sum::<f64>() / first.len() as f64;
        assert!((0.35..0.65).contains(&mean), "{mean}");
        assert!(
            log.queries
                .iter()
                .all(|q| q.completion_ps > Some(8_000_000_000))
        );
    }

    #[test]
    fn queries_stop_at_the_end_of_the_measured_time() {
        let text = "[workload.incast]\ntotal = \"1MB\"\n";
        let mut traffic = build(text, 41, "1us").expect("good");
        let log = network().run(&mut traffic);
        // One query begins every 35 ns before 1 us, and the run waits for the last one.
        assert_eq!(log.queries.len(), 29);
    }

    #[test]
    fn more_servers_than_hosts() {
        let (key, problem): (String, String) = build("workload.incast.fan_in = 50", 41, "1s")
            .expect_err("too many")
            .into();
        assert_eq!(key, "workload.incast.fan_in");
        assert!(
            problem.contains("50 is invalid; expected 1 to 40"),
            "{problem}"
        );
    }
}
