//! Requests over persistent connections (paper 6.2, report III-A): a client asks servers for files
//! in an open loop, Poisson arrivals, a mix of sizes. Times are ps, sizes bytes.
//!
//! Load is the response bytes over the rate of the client's link, as the paper counts it: 100 KB
//! at 40% of 1 Gbps are 500 requests a second. Classes of sizes are independent Poisson processes,
//! which together are the paper's one process with random sizes and the report's two.

use std::collections::VecDeque;

use crate::random::{Purpose, Stream};
use crate::scenario::{Pick, Requests};
use crate::units::{Rate, Share};

/// A request under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When the client asked, ps.
    pub start_ps: u64,
    /// Size class, an index.
    pub class: usize,
    /// Connection, an index.
    pub connection: usize,
}

#[derive(Debug)]
struct Class {
    bytes: u64,
    mean_gap_ps: f64,
    arrivals: Stream,
    choice: Stream,
    next_server: usize,
}

/// Requests of one connection, in order: those the server has not answered yet come last.
#[derive(Debug, Default)]
struct Connection {
    pending: VecDeque<Request>,
    answered: usize,
    /// Stream position at which the next request ends, and that of the next response.
    request_end: u64,
    response_end: u64,
}

/// The state of a request workload.
#[derive(Debug)]
pub struct RequestPlan {
    servers: usize,
    connections_per_server: usize,
    separate_classes: bool,
    pick: Pick,
    request_bytes: u64,
    classes: Vec<Class>,
    connections: Vec<Connection>,
    outstanding: usize,
}

impl RequestPlan {
    /// For a client with a link of `link` and `servers` servers.
    pub fn new(settings: &Requests, link: Rate, servers: usize, seed: u64) -> Self {
        let mean_bytes: f64 = settings
            .classes
            .iter()
            .map(|c| c.size.0 as f64 * c.share.value())
            .sum();
        let rate_per_ps = settings.load.value() * link.0 as f64 / 8.0 / mean_bytes * 1e-12;
        let classes: Vec<Class> = settings
            .classes
            .iter()
            .enumerate()
            .map(|(i, class)| Class {
                bytes: class.size.0,
                mean_gap_ps: 1.0 / (rate_per_ps * class.share.0 as f64 / Share::ONE as f64),
                arrivals: Stream::new(seed, Purpose::Arrivals, i),
                choice: Stream::new(seed, Purpose::Connections, i),
                next_server: 0,
            })
            .collect();
        let connections_per_server = settings.connections_per_server as usize;
        let pools = if settings.separate_classes {
            classes.len()
        } else {
            1
        };
        let count = servers * connections_per_server * pools;
        RequestPlan {
            servers,
            connections_per_server,
            separate_classes: settings.separate_classes,
            pick: settings.pick,
            request_bytes: settings.request_size.0,
            classes,
            connections: (0..count).map(|_| Connection::default()).collect(),
            outstanding: 0,
        }
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes.len()
    }

    /// Number of connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// The server of a connection, 0 to servers - 1.
    pub fn server_of(&self, connection: usize) -> usize {
        (connection / self.connections_per_server) % self.servers
    }

    /// Requests that have not completed.
    pub fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// The time to the next arrival of a class, ps.
    pub fn next_gap_ps(&mut self, class: usize) -> u64 {
        let class = &mut self.classes[class];
        class.arrivals.exponential(class.mean_gap_ps)
    }

    /// A request of `class` at `now_ps`: the connection it takes and the bytes that the client
    /// writes on it.
    pub fn arrive(&mut self, now_ps: u64, class: usize) -> (usize, u64) {
        let connection = self.choose(class);
        let state = &mut self.connections[connection];
        state.pending.push_back(Request {
            start_ps: now_ps,
            class,
            connection,
        });
        self.outstanding += 1;
        (connection, self.request_bytes)
    }

    fn choose(&mut self, class: usize) -> usize {
        let per_server = self.connections_per_server;
        let pool = self.servers * per_server;
        let first = if self.separate_classes {
            class * pool
        } else {
            0
        };
        let chooser = &mut self.classes[class];
        match self.pick {
            Pick::Random => first + chooser.choice.below(pool),
            Pick::RandomIdle => {
                let connections = &self.connections[first..first + pool];
                let idle = connections.iter().filter(|c| c.pending.is_empty()).count();
                if idle == 0 {
                    return first + chooser.choice.below(pool);
                }
                let nth = chooser.choice.below(idle);
                let mut free = (0..pool).filter(|&i| connections[i].pending.is_empty());
                first + free.nth(nth).unwrap_or(0)
            }
            Pick::RoundRobin => {
                let server = chooser.next_server;
                chooser.next_server = (server + 1) % self.servers;
                first + server * per_server + chooser.choice.below(per_server)
            }
        }
    }

    /// The server has received the request stream of `connection` up to `position`: the number
    /// of requests that are complete now.
    #[inline]
    pub fn requests_completed(&mut self, connection: usize, position: u64) -> usize {
        let state = &mut self.connections[connection];
        let mut count = 0;
        while state.request_end + self.request_bytes <= position {
            state.request_end += self.request_bytes;
            count += 1;
        }
        count
    }

    /// The server answers the oldest unanswered request of `connection`: bytes of the response.
    pub fn answer(&mut self, connection: usize) -> u64 {
        let state = &mut self.connections[connection];
        let request = state.pending[state.answered];
        state.answered += 1;
        self.classes[request.class].bytes
    }

    /// The client has received the response stream of `connection` up to `position`: a request
    /// that is complete now, call until `None`.
    #[inline]
    pub fn response_completed(&mut self, connection: usize, position: u64) -> Option<Request> {
        let state = &mut self.connections[connection];
        let request = *state.pending.front()?;
        let end = state.response_end + self.classes[request.class].bytes;
        if state.answered == 0 || end > position {
            return None;
        }
        state.response_end = end;
        state.answered -= 1;
        state.pending.pop_front();
        self.outstanding -= 1;
        Some(request)
    }
}
