//! Arrivals of requests (paper 6.2: Poisson, "in an open loop fashion; that is, new requests are triggered
//! independently of prior outstanding requests").
//!
//! The simulator's random streams draw the sequence in the simulator's order. With the same
//! `[workload.requests]` and seed, requests therefore have the same sizes and times as in `hull run`, and,
//! with `pick = "random"` or `"round_robin"`, the same connections. Times are ps from the start of the run.

use hull_sim::problem::Problem;
use hull_sim::random::{Purpose, Stream};
use hull_sim::scenario::{Pick, Requests};
use hull_sim::service_time::ServiceTime;
use hull_sim::units::{Rate, Share};

use crate::protocol::MAX_SERVICE_NS;

/// Future request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Time at which it is due, ps.
    pub at_ps: u64,
    /// Size class.
    pub class: u16,
    /// Bytes of the response.
    pub bytes: u64,
    /// Time that the server waits before it answers, ns.
    pub service_ns: u64,
    /// Number of its group of connections; the first free connection takes the request.
    pub group: usize,
}

#[derive(Debug)]
struct Class {
    bytes: u64,
    mean_gap_ps: f64,
    next_ps: u64,
    times: Stream,
    choice: Stream,
    next_server: usize,
}

/// Requests of a run in the order of their times; an endless iterator.
#[derive(Debug)]
pub struct Arrivals {
    classes: Vec<Class>,
    service: Option<(ServiceTime, Stream)>,
    pick: Pick,
    servers: usize,
    per_server: usize,
    separate_classes: bool,
}

impl Arrivals {
    /// Creates the requests to `servers` servers over a link of `rate`.
    pub fn new(
        requests: &Requests,
        servers: usize,
        rate: Rate,
        seed: u64,
    ) -> Result<Self, Problem> {
        let parts = requests
            .classes
            .iter()
            .map(|class| class.size.0 as f64 * class.share.value());
        let mean_bytes: f64 = parts.sum();
        let per_ps = requests.load.value() * rate.0 as f64 / 8.0 / mean_bytes * 1e-12;
        let classes = requests.classes.iter().enumerate().map(|(i, class)| {
            let mut times = Stream::new(seed, Purpose::Arrivals, i);
            let mean_gap_ps = 1.0 / (per_ps * class.share.0 as f64 / Share::ONE as f64);
            Class {
                bytes: class.size.0,
                mean_gap_ps,
                // Without load the mean interval is infinite, so no request arrives.
                next_ps: times.exponential(mean_gap_ps),
                times,
                choice: Stream::new(seed, Purpose::Connections, i),
                next_server: 0,
            }
        });
        let service = match &requests.service {
            Some(service) => Some((
                ServiceTime::new("workload.requests.service", service)?,
                Stream::new(seed, Purpose::RequestService, 0),
            )),
            None => None,
        };
        Ok(Arrivals {
            classes: classes.collect(),
            service,
            pick: requests.pick,
            servers,
            per_server: requests.connections_per_server as usize,
            separate_classes: requests.separate_classes,
        })
    }

    /// Connections of each group, of which the first free one takes a request. Connections are
    /// numbered server by server; with separate classes, class by class. With `random_idle` the
    /// connections of a server form a group; otherwise each connection is its own group.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let pools = if self.separate_classes {
            self.classes.len()
        } else {
            1
        };
        let connections: Vec<usize> = (0..pools * self.servers * self.per_server).collect();
        let size = match self.pick {
            Pick::RandomIdle => self.per_server,
            Pick::Random | Pick::RoundRobin => 1,
        };
        connections.chunks(size).map(<[usize]>::to_vec).collect()
    }

    /// Number of a connection's server, from 0.
    pub fn server_of(&self, connection: usize) -> usize {
        (connection / self.per_server) % self.servers
    }

    fn group(&mut self, class: usize) -> usize {
        let (servers, per_server) = (self.servers, self.per_server);
        let pool = if self.separate_classes { class } else { 0 };
        let chooser = &mut self.classes[class];
        match self.pick {
            Pick::Random => {
                pool * servers * per_server + chooser.choice.below(servers * per_server)
            }
            Pick::RandomIdle => pool * servers + chooser.choice.below(servers),
            Pick::RoundRobin => {
                let server = chooser.next_server;
                chooser.next_server = (server + 1) % servers;
                (pool * servers + server) * per_server + chooser.choice.below(per_server)
            }
        }
    }
}

impl Iterator for Arrivals {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let numbers = 0..self.classes.len();
        let class = numbers.min_by_key(|&i| self.classes[i].next_ps)?;
        let at_ps = self.classes[class].next_ps;
        if at_ps == u64::MAX {
            return None;
        }
        let group = self.group(class);
        let state = &mut self.classes[class];
        let gap_ps = state.times.exponential(state.mean_gap_ps);
        state.next_ps = at_ps.saturating_add(gap_ps);
        let service_ns = self.service.as_mut().map_or(0, |(time, stream)| {
            (time.draw(stream) / 1000).min(MAX_SERVICE_NS)
        });
        Some(Arrival {
            at_ps,
            class: class as u16,
            bytes: state.bytes,
            service_ns,
            group,
        })
    }
}
