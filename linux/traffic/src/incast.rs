//! Incast (thesis 2.3.2): the client requests 1/N of `total` from each of N servers at once, waits for all
//! bytes, and repeats. With jitter each request is delayed by a uniform random time, which is part of the
//! query's completion time (thesis 2.1.3). Times in ps, sizes in bytes.

use std::time::{Duration, Instant};

use hull_sim::random::{Purpose, Stream};
use hull_sim::workload::QueryRecord;
use tokio::task::JoinSet;

use crate::alarm::Alarm;
use crate::connect::{Connector, Server};
use crate::failure::Failure;
use crate::link::{Delivered, Link, Losses};
use crate::open_loop::{LAST_WORDS, ps};
use crate::outcome::{End, Ends, Outcome, Window};

/// Incast of one client.
#[derive(Debug)]
pub struct Incast {
    /// The servers.
    pub servers: Vec<Server>,
    /// Total bytes of the responses to a query.
    pub total_bytes: u64,
    /// Size of a request, bytes.
    pub request_bytes: usize,
    /// Number of queries.
    pub queries: u64,
    /// Time after which no query starts.
    pub duration: Duration,
    /// Longest wait for the last query at the end.
    pub drain: Duration,
    /// Largest random delay of a request, ps.
    pub jitter_ps: u64,
    /// Deadline of the responses, from the query's start, ps.
    pub deadline_ps: Option<u64>,
    /// Seed of the jitter.
    pub seed: u64,
}

/// Connection to a server, with an alarm for the jitter.
#[derive(Debug)]
struct Asker {
    number: usize,
    link: Link,
    alarm: Alarm,
    bytes: u64,
    /// Whether the last response is known to have suffered a timeout.
    suffered: bool,
}

/// Query, open or complete.
#[derive(Debug, Default)]
struct Query {
    start_ps: u64,
    responses_ps: Vec<u64>,
    bytes: u64,
    timeouts: u32,
}

impl Query {
    fn record(&self, incast: &Incast) -> QueryRecord {
        let came = self.responses_ps.len();
        let servers = incast.servers.len();
        let in_time = |&&ps: &&u64| incast.deadline_ps.is_none_or(|deadline| ps <= deadline);
        QueryRecord {
            start_ps: self.start_ps,
            completion_ps: (came == servers)
                .then(|| self.responses_ps.iter().copied().max().unwrap_or(0)),
            client: 0,
            servers: servers as u32,
            in_time: self.responses_ps.iter().filter(in_time).count() as u32,
            timeouts: self.timeouts,
            bytes: self.bytes,
            mean_response_ps: self.responses_ps.iter().sum::<u64>() / came.max(1) as u64,
        }
    }
}

/// Size of the response of server `number` of `servers`, bytes.
fn share(total: u64, servers: usize, number: usize) -> u64 {
    let servers = servers as u64;
    total / servers + u64::from((number as u64) < total % servers)
}

impl Incast {
    /// Runs the queries. When `stop` is ready, the run ends early with the queries so far; an open
    /// query has no completion time.
    pub async fn run(
        &self,
        connector: &Connector,
        stop: impl Future<Output = ()>,
    ) -> Result<Outcome, Failure> {
        tokio::pin!(stop);
        let delivered = Delivered::default();
        let mut askers = Vec::with_capacity(self.servers.len());
        for (number, server) in self.servers.iter().enumerate() {
            let link = tokio::select! {
                link = Link::open(connector, server, &delivered) => link?,
                () = &mut stop => return Ok(Outcome::nothing(&[])),
            };
            askers.push(Asker {
                number,
                link,
                alarm: Alarm::new()?,
                bytes: share(self.total_bytes, self.servers.len(), number),
                suffered: false,
            });
        }
        let mut jitter = Stream::new(self.seed, Purpose::RequestJitter, 0);
        let mut queries: Vec<Query> = Vec::new();
        let mut window = Window::default();
        window.open(&delivered);
        let start = Instant::now();
        let end = start + self.duration;
        let mut interrupted = false;
        while (queries.len() as u64) < self.queries && Instant::now() < end && !interrupted {
            let query_start = Instant::now();
            queries.push(Query {
                start_ps: ps(query_start - start),
                ..Query::default()
            });
            let mut tasks = JoinSet::new();
            for mut asker in askers.drain(..) {
                let hold_ps = match self.jitter_ps {
                    0 => 0,
                    below => jitter.below(below as usize) as u64,
                };
                let at = query_start + Duration::from_nanos(hold_ps / 1000);
                let frame_bytes = self.request_bytes;
                tasks.spawn(async move {
                    let answer = asker.ask(at, frame_bytes).await;
                    (asker, answer, query_start.elapsed())
                });
            }
            let last = end + self.drain;
            loop {
                let ended = tokio::select! {
                    ended = tasks.join_next() => ended,
                    () = &mut stop => {
                        interrupted = true;
                        break;
                    }
                    () = tokio::time::sleep_until(last.into()) => break,
                };
                let Some(ended) = ended else { break };
                let (mut asker, losses, elapsed) =
                    ended.map_err(|error| Failure::Run(error.to_string()))?;
                let losses = losses?;
                asker.blame(&mut queries, losses);
                if let Some(query) = queries.last_mut() {
                    query.responses_ps.push(ps(elapsed));
                    query.bytes += asker.bytes;
                }
                askers.push(asker);
            }
            askers.sort_by_key(|asker| asker.number);
            if askers.len() < self.servers.len() {
                break; // a response is missing: its connection is of no more use
            }
        }
        window.close(&delivered);
        let mut ends = Ends::default();
        for asker in &mut askers {
            let server = asker.last_words(&mut queries).await;
            let own = asker.link.own_info();
            ends.push(End { own, server });
        }
        Ok(Outcome {
            queries: queries.iter().map(|query| query.record(self)).collect(),
            connections: self.servers.len(),
            window,
            ends,
            interrupted,
            ..Outcome::nothing(&[])
        })
    }
}

impl Asker {
    async fn ask(&mut self, at: Instant, frame_bytes: usize) -> Result<Losses, Failure> {
        self.alarm.until(at).await?;
        self.link.ask(self.bytes, 0, frame_bytes).await?;
        self.link.answer(self.bytes).await
    }

    /// Counts a response with a timeout once: in the previous query, for which the server reports
    /// it only now, or in the last one if the request was lost.
    fn blame(&mut self, queries: &mut [Query], losses: Losses) {
        let before = queries.len().wrapping_sub(2);
        if losses.before > 0
            && !self.suffered
            && let Some(query) = queries.get_mut(before)
        {
            query.timeouts += 1;
        }
        self.suffered = losses.own > 0;
        if self.suffered
            && let Some(query) = queries.last_mut()
        {
            query.timeouts += 1;
        }
    }

    /// Requests the server's TCP state after the last query.
    async fn last_words(&mut self, queries: &mut [Query]) -> Option<crate::tcp_info::TcpInfo> {
        let asked = self.link.server_info();
        let answer = tokio::time::timeout(LAST_WORDS, asked).await;
        let (info, lost) = answer.ok()?.ok()?;
        if lost > 0
            && !self.suffered
            && let Some(query) = queries.last_mut()
        {
            query.timeouts += 1;
        }
        Some(info)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up() {
        for (total, servers) in [(1_000_000, 40), (1_000_003, 7), (5, 5)] {
            let shares = (0..servers).map(|number| share(total, servers, number));
            assert_eq!(shares.clone().sum::<u64>(), total);
            assert!(shares.clone().max() <= shares.min().map(|least| least + 1));
        }
    }

    #[test]
    fn query_record_by_hand() {
        let server = Server::parse("--server", "127.0.0.1:1").expect("an address");
        let incast = Incast {
            servers: vec![server; 3],
            total_bytes: 30,
            request_bytes: 100,
            queries: 1,
            duration: Duration::ZERO,
            drain: Duration::ZERO,
            jitter_ps: 0,
            deadline_ps: Some(20),
            seed: 1,
        };
        let mut query = Query {
            start_ps: 5,
            responses_ps: vec![10, 30],
            bytes: 20,
            timeouts: 1,
        };
        let record = query.record(&incast);
        assert_eq!((record.completion_ps, record.in_time), (None, 1));
        assert_eq!((record.mean_response_ps, record.bytes), (20, 20));
        query.responses_ps.push(20);
        let record = query.record(&incast);
        assert_eq!((record.completion_ps, record.in_time), (Some(30), 2));
        assert_eq!(
            (record.start_ps, record.servers, record.timeouts),
            (5, 3, 1)
        );
    }
}
