//! Requests over persistent connections (paper 6.2, report III-A): a client requests files from servers
//! in an open loop with Poisson arrivals and a mix of sizes. Times are ps, sizes bytes.
//!
//! As in the paper, load is the response bytes over the rate of the client's link: 100 KB at 40% of 1
//! Gbps are 500 requests a second. Size classes are independent Poisson processes, which together are
//! the paper's one process with random sizes and the report's two.
//!
//! The completion time runs from the request until the client's application has the response: the
//! application's delay counts at the server before it answers and at the client at the end. A service
//! time represents the variable time at the hosts (paper 6.2.1: most of the 380 us of a 1 KB flow). It
//! is drawn for each request, and a server processes any number at once. `pools` has the connections of
//! each class.

mod settings;

use slab::Slab;

use super::context::Context;
use super::pools::Pools;
use super::{Agenda, Besides, Channel, FlowRecord, Message, Progress, Workload, few};
use crate::limits;
use crate::problem::Problem;
use crate::random::{Purpose, Stream};
use crate::service_time::ServiceTime;
use crate::units::Share;

pub use settings::{Pick, Requests, SizeClass, check_requests};

#[derive(Debug)]
struct Class {
    bytes: u64,
    mean_gap_ps: f64,
    arrivals: Stream,
    choice: Stream,
    next_server: usize,
}

/// Request in progress.
#[derive(Debug)]
struct Request {
    start_ps: u64,
    connection: u32,
    class: u16,
    timeouts: u16,
}

/// State of a request workload.
#[derive(Debug)]
pub(super) struct RequestResponse {
    servers: usize,
    connections_per_server: usize,
    pools: Pools,
    pick: Pick,
    request_bytes: u64,
    application_delay_ps: u64,
    service: Option<(ServiceTime, Stream)>,
    end_ps: u64,
    classes: Vec<Class>,
    class_names: Vec<String>,
    /// Client and server of each connection.
    connections: Vec<(u32, u32)>,
    /// Number of requests in progress on each connection.
    pending: Vec<u32>,
    requests: Slab<Request>,
}

/// Meaning of a tag or token: a class's next arrival or a request in progress; or a response.
enum What {
    ArrivalOrRequest(usize),
    Answer(usize),
}

impl What {
    fn pack(self) -> u64 {
        match self {
            What::ArrivalOrRequest(index) => 2 * index as u64,
            What::Answer(index) => 2 * index as u64 + 1,
        }
    }

    fn unpack(packed: u64) -> Self {
        let index = (packed / 2) as usize;
        if packed.is_multiple_of(2) {
            What::ArrivalOrRequest(index)
        } else {
            What::Answer(index)
        }
    }
}

impl RequestResponse {
    /// Creates the requests that the scenario describes.
    pub fn new(settings: &Requests, context: &Context) -> Result<Self, Problem> {
        let hosts = context.hosts;
        let client = hosts.client("workload.requests.client", settings.client.as_ref())?;
        let servers = hosts.set(
            "workload.requests.servers",
            settings.servers.as_ref(),
            Some(client),
        )?;
        let link_bps = hosts.from_network_bps[client as usize];
        let mean_bytes: f64 = settings
            .classes
            .iter()
            .map(|c| c.size.0 as f64 * c.share.value())
            .sum();
        let rate_per_ps = settings.load.value() * link_bps as f64 / 8.0 / mean_bytes * 1e-12;
        let classes: Vec<Class> = settings
            .classes
            .iter()
            .enumerate()
            .map(|(i, class)| Class {
                bytes: class.size.0,
                mean_gap_ps: 1.0 / (rate_per_ps * class.share.0 as f64 / Share::ONE as f64),
                arrivals: Stream::new(context.seed, Purpose::Arrivals, i),
                choice: Stream::new(context.seed, Purpose::Connections, i),
                next_server: 0,
            })
            .collect();
        let per_server = settings.connections_per_server as usize;
        let pools = Pools::new(settings, servers.len() * per_server, context);
        let count = pools.connections();
        if count > limits::CONNECTIONS {
            let most = limits::CONNECTIONS;
            return Err(Problem::new(
                "workload.requests.connections_per_server".to_owned(),
                format!("{count} connections in all are invalid; expected at most {most}"),
            ));
        }
        let server_of = |connection: usize| servers[(connection / per_server) % servers.len()];
        let service = match &settings.service {
            Some(service) => Some((
                ServiceTime::new("workload.requests.service", service)?,
                Stream::new(context.seed, Purpose::RequestService, 0),
            )),
            None => None,
        };
        Ok(RequestResponse {
            servers: servers.len(),
            connections_per_server: per_server,
            pools,
            pick: settings.pick,
            request_bytes: settings.request_size.0,
            application_delay_ps: context.application_delay_ps,
            service,
            end_ps: context.end_ps,
            class_names: class_names(&settings.classes),
            classes,
            connections: (0..count).map(|c| (client, server_of(c))).collect(),
            pending: vec![0; count],
            requests: Slab::new(),
        })
    }

    fn next_arrival(&mut self, now_ps: u64, class: usize, agenda: &mut Agenda) {
        let state = &mut self.classes[class];
        let gap_ps = state.arrivals.exponential(state.mean_gap_ps);
        let at_ps = now_ps.saturating_add(gap_ps);
        let token = What::ArrivalOrRequest(class).pack();
        agenda.wakes.push((at_ps, token));
    }

    fn arrive(&mut self, now_ps: u64, class: usize, agenda: &mut Agenda) {
        let connection = self.choose(class);
        self.pending[connection] += 1;
        let request = self.requests.insert(Request {
            start_ps: now_ps,
            connection: connection as u32,
            class: class as u16,
            timeouts: 0,
        });
        agenda.sends.push(Message::new(
            What::ArrivalOrRequest(request).pack(),
            self.connections[connection],
            self.request_bytes,
            Channel::Connection(connection as u32),
        ));
    }

    fn choose(&mut self, class: usize) -> usize {
        let per_server = self.connections_per_server;
        let pool = self.servers * per_server;
        let first = self.pools.first(class);
        let chooser = &mut self.classes[class];
        match self.pick {
            Pick::Random => first + chooser.choice.below(pool),
            Pick::RandomIdle => {
                let pending = &self.pending[first..first + pool];
                let idle = pending.iter().filter(|&&count| count == 0).count();
                if idle == 0 {
                    return first + chooser.choice.below(pool);
                }
                let nth = chooser.choice.below(idle);
                let mut free = (0..pool).filter(|&i| pending[i] == 0);
                first + free.nth(nth).unwrap_or(0)
            }
            Pick::RoundRobin => {
                let server = chooser.next_server;
                chooser.next_server = (server + 1) % self.servers;
                first + server * per_server + chooser.choice.below(per_server)
            }
        }
    }

    /// Sends the response to a request.
    fn answer(&self, request: usize, agenda: &mut Agenda) {
        let state = &self.requests[request];
        let (client, server) = self.connections[state.connection as usize];
        agenda.sends.push(Message::new(
            What::Answer(request).pack(),
            (server, client),
            self.classes[usize::from(state.class)].bytes,
            Channel::Connection(state.connection),
        ));
    }
}

/// Names of the classes: the size, and the transport if the name is taken.
fn class_names(classes: &[SizeClass]) -> Vec<String> {
    let mut names: Vec<String> = Vec::with_capacity(classes.len());
    for class in classes {
        let size = class.size.to_string();
        names.push(match &class.transport {
            Some(transport) if names.contains(&size) => format!("{size} {transport}"),
            _ => size,
        });
    }
    names
}

impl Workload for RequestResponse {
    fn connections(&self) -> &[(u32, u32)] {
        &self.connections
    }

    fn transport_of(&self, connection: usize) -> Option<u16> {
        Some(self.pools.transport_of(connection))
    }

    fn classes(&self) -> &[String] {
        &self.class_names
    }

    fn besides(&self) -> Besides {
        let service_ps = self.service.as_ref().map_or(0, |(time, _)| time.least_ps());
        Besides {
            request_bytes: self.request_bytes,
            server_ps: self.application_delay_ps + service_ps,
            application_ps: self.application_delay_ps,
        }
    }

    fn planned(&self) -> Option<u64> {
        None // requests come to the end of the measured time
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        for class in 0..self.classes.len() {
            // Without load the mean gap is infinite.
            if self.classes[class].mean_gap_ps.is_finite() {
                self.next_arrival(0, class, agenda);
            }
        }
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        match What::unpack(token) {
            What::ArrivalOrRequest(class) => {
                if now_ps < self.end_ps {
                    self.arrive(now_ps, class, agenda);
                    self.next_arrival(now_ps, class, agenda);
                }
            }
            What::Answer(request) => self.answer(request, agenda),
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        match What::unpack(tag) {
            What::ArrivalOrRequest(request) => {
                self.requests[request].timeouts = few(timeouts);
                let service_ps = match &mut self.service {
                    Some((time, stream)) => time.draw(stream),
                    None => 0,
                };
                let at_ps = now_ps + self.application_delay_ps + service_ps;
                if at_ps == now_ps {
                    self.answer(request, agenda);
                } else {
                    agenda.wakes.push((at_ps, What::Answer(request).pack()));
                }
            }
            What::Answer(request) => {
                let request = self.requests.remove(request);
                let connection = request.connection as usize;
                self.pending[connection] -= 1;
                let (client, server) = self.connections[connection];
                agenda.flows.push(FlowRecord {
                    class: request.class,
                    connection: request.connection,
                    timeouts: request.timeouts.saturating_add(few(timeouts)),
                    ..FlowRecord::new(
                        request.start_ps,
                        now_ps + self.application_delay_ps,
                        (server, client),
                        self.classes[usize::from(request.class)].bytes,
                        timeouts,
                    )
                });
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.requests.is_empty()
    }

    fn progress(&self) -> Progress {
        Progress::Busy // requests come to the end of the measured time
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let unfinished = self.requests.iter().map(|(_, request)| {
            let (client, server) = self.connections[request.connection as usize];
            let bytes = self.classes[usize::from(request.class)].bytes;
            FlowRecord {
                class: request.class,
                connection: request.connection,
                ..FlowRecord::unfinished(request.start_ps, (server, client), bytes)
            }
        });
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{SEED, TestNetwork, build};
    use super::*;

    const TABLE_4: &str = r#"
        host.application_delay = "10us"
        [workload.requests]
        load = "40%"
        connections_per_server = 16
        classes = [{ size = "1KB", share = "80%" }, { size = "10MB", share = "20%" }]
    "#;

    /// A network with 8 ns per byte, as at 1 Gbps, plus 100 us per message.
    fn network() -> TestNetwork {
        TestNetwork {
            delay_ps: |message| 100_000_000 + 8000 * message.bytes,
            timeouts: |message| u32::from(message.bytes == 100),
        }
    }

    #[test]
    fn arrivals_and_connections_follow_their_streams() {
        let mut traffic = build(TABLE_4, 10, "20s").expect("good");
        let log = network().run(&mut traffic);
        assert_eq!(log.connections.len(), 144);
        assert_eq!(log.connections[15..17], [(0, 1), (0, 2)]);
        let mean_bytes = 0.8 * 1e3 + 0.2 * 1e7;
        for (class, share) in [(0, 0.8), (1, 0.2)] {
            let mut arrivals = Stream::new(SEED, Purpose::Arrivals, class);
            let mut choice = Stream::new(SEED, Purpose::Connections, class);
            let mean_gap_ps = 1e12 / (0.4e9 / 8.0 / mean_bytes * share);
            let mut records: Vec<FlowRecord> = log.flows.clone();
            records.retain(|record| usize::from(record.class) == class);
            records.sort_by_key(|record| record.start_ps);
            assert!(records.len() > 80);
            let mut now_ps = 0;
            for record in records {
                now_ps += arrivals.exponential(mean_gap_ps);
                assert!(record.start_ps.abs_diff(now_ps) < 1000, "{now_ps}");
                assert_eq!(record.connection as usize, choice.below(144));
                let (client, server) = log.connections[record.connection as usize];
                assert_eq!((record.dst, record.src), (client, server));
            }
        }
    }

    #[test]
    fn a_completion_time_by_hand() {
        let mut traffic = build(TABLE_4, 10, "20s").expect("good");
        for record in network().run(&mut traffic).flows {
            // Two messages, plus the application's delay at both ends.
            let fct_ps = 2 * 100_000_000 + 8000 * (100 + record.bytes) + 2 * 10_000_000;
            assert_eq!(record.fct_ps, fct_ps);
            assert_eq!(record.timeouts, 1, "the request's");
        }
    }

    #[test]
    fn zero_load_sends_no_requests() {
        let text = TABLE_4.replace("40%", "0%");
        let mut traffic = build(&text, 10, "20s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        assert!(log.flows.is_empty());
    }

    #[test]
    fn service_times_change_nothing_else() {
        let text = format!("{TABLE_4}service = {{ offset = \"5us\", exponential = \"50us\" }}\n");
        let served = network().run(&mut build(&text, 10, "20s").expect("good"));
        let plain = network().run(&mut build(TABLE_4, 10, "20s").expect("good"));
        let times = |log: &super::super::test_network::Log| {
            let mut flows = log.flows.clone();
            flows.sort_by_key(|record| (record.start_ps, record.connection));
            let times: Vec<(u64, u64)> = flows.iter().map(|r| (r.start_ps, r.fct_ps)).collect();
            times
        };
        let (served, plain) = (times(&served), times(&plain));
        assert_eq!(served.len(), plain.len());
        let drawn: Vec<f64> = served
            .iter()
            .zip(&plain)
            .map(|(with, without)| {
                assert_eq!(with.0, without.0, "the same requests");
                (with.1 - without.1) as f64 * 1e-6
            })
            .collect();
        assert!(drawn.iter().all(|&us| us >= 5.0));
        let mean = drawn.iter().sum::<f64>() / drawn.len() as f64;
        let limit = 4.0 * 50.0 / (drawn.len() as f64).sqrt();
        assert!((mean - 55.0).abs() < limit, "{mean}");
    }

    #[test]
    fn the_requests_carry_the_load() {
        let text = TABLE_4.replace("10MB", "20KB");
        let mut traffic = build(&text, 10, "20s").expect("good");
        let log = network().run(&mut traffic);
        let bytes: u64 = log.flows.iter().map(|record| record.bytes).sum();
        let load = bytes as f64 * 8.0 / 20.0 / 1e9;
        assert!((load / 0.4 - 1.0).abs() < 0.01, "{load}");
    }

    #[test]
    fn another_client_and_fewer_servers() {
        let text = format!("{TABLE_4}client = \"h3\"\nservers = [\"4-5\", 0]\n");
        let mut traffic = build(&text, 10, "1s").expect("good");
        let log = network().run(&mut traffic);
        assert_eq!(log.connections.len(), 48);
        assert_eq!(log.connections[0..33].last(), Some(&(3, 0)));
        let text = format!("{TABLE_4}client = 3\nservers = \"0-5\"\n");
        let (key, problem): (String, String) = build(&text, 10, "1s")
            .expect_err("the client as a server")
            .into();
        assert_eq!(key, "workload.requests.servers");
        assert!(problem.contains("host 3"), "{problem}");
    }

    #[test]
    fn idle_connections_are_preferred() {
        let text = format!("{TABLE_4}pick = \"random_idle\"\n");
        let mut traffic = build(&text, 10, "5s").expect("good");
        let log = network().run(&mut traffic);
        let mut ends_ps = [0; 144];
        for record in &log.flows {
            assert!(record.connection < 144);
        }
        let mut records = log.flows.clone();
        records.sort_by_key(|record| record.start_ps);
        for record in records {
            let end_ps = &mut ends_ps[record.connection as usize];
            assert!(record.start_ps >= *end_ps, "two at once");
            *end_ps = record.start_ps + record.fct_ps - 10_000_000;
        }
    }
}
