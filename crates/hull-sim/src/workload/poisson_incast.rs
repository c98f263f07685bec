//! Incast to random receivers: queries arrive as a Poisson process, each from a random client to random
//! other hosts, which answer at once with equal shares of `total`. This is the incast that evaluations
//! of DCQCN, HPCC or Homa run beside other flows ("60 to 1 at 2% load"). Times ps, sizes bytes.
//!
//! With `load`, the responses' bytes are on average that share of what the clients' links carry: the
//! rate is load times the sum of the rates of the links to the clients over 8 `total`. A message has a
//! connection of its own, as a Poisson flow does.

use slab::Slab;

use super::backlog::waiting;
use super::context::Context;
use super::fan_out::{FanOut, ResponseBytes, Step, Ticket, batch_after, requests};
use super::incast::Incast;
use super::query::Query;
use super::{Agenda, Backlog, Channel, Message, Progress, Workload};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};

/// Query with its servers, in the order of the shares of `total`.
#[derive(Debug)]
struct Open {
    client: u32,
    servers: Box<[u32]>,
    query: Query,
}

/// State of an incast to random receivers.
#[derive(Debug)]
pub(super) struct PoissonIncast {
    arrivals: Stream,
    endpoints: Stream,
    jitter: Stream,
    mean_gap_ps: f64,
    clients: Vec<u32>,
    /// Hosts that may respond, in the random order that the last draw left.
    servers: Vec<u32>,
    fan_in: usize,
    request_bytes: u64,
    response: ResponseBytes,
    deadline_ps: u64,
    start_ps: u64,
    jitter_ps: u64,
    /// Number of servers of a query that are asked at the same time.
    batch: u32,
    backlog: Backlog,
    /// Number of queries not yet sent.
    left: u64,
    planned: Option<u64>,
    end_ps: u64,
    application_delay_ps: u64,
    queries: Slab<Open>,
}

impl PoissonIncast {
    /// Creates the incast that the scenario describes.
    pub fn new(settings: &Incast, context: &Context) -> Result<Self, Problem> {
        let hosts = context.hosts;
        let clients = hosts.set("workload.incast.clients", settings.clients.as_ref(), None)?;
        let servers = hosts.set("workload.incast.servers", settings.servers.as_ref(), None)?;
        let places = hosts.places(&servers);
        let is_server = |&client: &u32| places[client as usize].is_some();
        let available = servers.len() - usize::from(clients.iter().any(is_server));
        let fan_in = settings.fan_in.map_or(available, |fan_in| fan_in as usize);
        FanOut::check_fan_in(settings, fan_in, available)?;
        let of_clients = |&client: &u32| hosts.from_network_bps[client as usize] as f64;
        let clients_bps: f64 = clients.iter().map(of_clients).sum();
        let total_bits = 8.0 * settings.total.0 as f64;
        let per_second = match settings.queries_per_second {
            Some(rate) => rate,
            None => {
                let load = settings.load.unwrap_or_default().value();
                check_load(load * clients_bps, &clients, &servers, context)?;
                load * clients_bps / total_bits
            }
        };
        let left = settings.queries.unwrap_or(u64::MAX);
        let asked = (context.end_ps as f64 * 1e-12 * per_second).min(left as f64);
        let flows = waiting(asked * fan_in as f64, per_second * total_bits / clients_bps);
        Ok(PoissonIncast {
            arrivals: Stream::new(context.seed, Purpose::IncastArrivals, 0),
            endpoints: Stream::new(context.seed, Purpose::IncastEndpoints, 0),
            jitter: Stream::new(context.seed, Purpose::RequestJitter, 0),
            mean_gap_ps: 1e12 / per_second,
            clients,
            servers,
            fan_in,
            request_bytes: settings.request_size.0,
            response: ResponseBytes::Total(settings.total.0),
            deadline_ps: settings.deadline.map_or(u64::MAX, |deadline| deadline.0),
            start_ps: settings.start.0,
            jitter_ps: settings.jitter.0,
            batch: settings.batch.unwrap_or(u32::MAX),
            backlog: Backlog::of_flows(flows),
            left,
            planned: settings.queries,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
            queries: Slab::new(),
        })
    }

    /// Draws `fan_in` servers without `client`: the first ones of a random order.
    fn draw_servers(&mut self, client: u32) -> Box<[u32]> {
        let mut drawn = Vec::with_capacity(self.fan_in);
        for i in 0..self.servers.len() {
            if drawn.len() == self.fan_in {
                break;
            }
            let other = i + self.endpoints.below(self.servers.len() - i);
            self.servers.swap(i, other);
            if self.servers[i] != client {
                drawn.push(self.servers[i]);
            }
        }
        drawn.into_boxed_slice()
    }

    fn ask(&mut self, now_ps: u64, agenda: &mut Agenda) {
        let client = self.clients[self.endpoints.below(self.clients.len())];
        let servers = self.draw_servers(client);
        let count = servers.len() as u32;
        let number = self.queries.insert(Open {
            client,
            servers,
            query: Query::new(now_ps, client, count),
        });
        for ticket in requests(number as u64, 0..count.min(self.batch)) {
            if self.jitter_ps == 0 {
                agenda.sends.push(self.request(ticket));
            } else {
                let at_ps = now_ps + self.jitter.below(self.jitter_ps as usize) as u64;
                agenda.wakes.push((at_ps, ticket.pack()));
            }
        }
    }

    fn request(&self, ticket: Ticket) -> Message {
        let open = &self.queries[ticket.number as usize];
        let ends = (open.client, open.servers[ticket.server as usize]);
        Message::new(ticket.pack(), ends, self.request_bytes, Channel::New)
    }

    fn response(&self, ticket: Ticket) -> Message {
        let open = &self.queries[ticket.number as usize];
        let ends = (open.servers[ticket.server as usize], open.client);
        let bytes = self.response.of(ticket.server, open.servers.len() as u64);
        Message::new(ticket.pack(), ends, bytes, Channel::New)
    }

    fn next_arrival(&mut self, now_ps: u64, agenda: &mut Agenda) {
        if self.left > 0 {
            let gap_ps = self.arrivals.exponential(self.mean_gap_ps);
            let turn = Ticket::new(Step::Turn, 0);
            agenda
                .wakes
                .push((now_ps.saturating_add(gap_ps), turn.pack()));
        }
    }
}

/// Rejects a load that a client's or a server's link cannot carry. `offered_bps` is the load of the
/// whole workload, which clients share equally, and servers too.
fn check_load(
    offered_bps: f64,
    clients: &[u32],
    servers: &[u32],
    context: &Context,
) -> Result<(), Problem> {
    let hosts = context.hosts;
    let links = [
        (clients, &hosts.from_network_bps, "to client"),
        (servers, &hosts.to_network_bps, "of server"),
    ];
    for (list, rates_bps, whose) in links {
        let each_bps = offered_bps / list.len() as f64;
        for &host in list {
            let share = each_bps / rates_bps[host as usize] as f64;
            if share >= 1.0 {
                let told = format!(
                    "found a load that is {:.0}% of the link {whose} {host}; expected below 100%",
                    100.0 * share
                );
                return Err(Problem::new("workload.incast.load".to_owned(), told));
            }
        }
    }
    Ok(())
}

impl Workload for PoissonIncast {
    fn connections(&self) -> &[(u32, u32)] {
        &[]
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn planned(&self) -> Option<u64> {
        self.planned
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.next_arrival(self.start_ps, agenda);
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(token);
        match ticket.step {
            Step::Turn if now_ps >= self.end_ps => self.left = 0,
            Step::Turn => {
                self.left -= 1;
                self.ask(now_ps, agenda);
                self.next_arrival(now_ps, agenda);
            }
            Step::Request => agenda.sends.push(self.request(ticket)),
            Step::Response => agenda.sends.push(self.response(ticket)),
            Step::Background => unreachable!("an incast makes no such ticket"),
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let ticket = Ticket::unpack(tag);
        let timed_out = ticket.timed_out || timeouts > 0;
        if ticket.step == Step::Request {
            let response = Ticket {
                step: Step::Response,
                timed_out,
                ..ticket
            };
            if self.application_delay_ps == 0 {
                agenda.sends.push(self.response(response));
            } else {
                let at_ps = now_ps + self.application_delay_ps;
                agenda.wakes.push((at_ps, response.pack()));
            }
            return;
        }
        let number = ticket.number as usize;
        let open = &mut self.queries[number];
        let bytes = self.response.of(ticket.server, open.servers.len() as u64);
        let done_ps = now_ps + self.application_delay_ps;
        let record = open
            .query
            .answer(done_ps, bytes, timed_out, self.deadline_ps);
        if let Some(record) = record {
            self.queries.remove(number);
            agenda.queries.push(record);
            return;
        }
        let servers = open.servers.len() as u32;
        let next = batch_after(open.query.answered(), self.batch, servers);
        for ticket in requests(ticket.number, next) {
            let at_ps = done_ps + self.jitter.up_to(self.jitter_ps);
            agenda.wakes.push((at_ps, ticket.pack()));
        }
    }

    fn is_complete(&self) -> bool {
        self.queries.is_empty()
    }

    fn progress(&self) -> Progress {
        if self.left == 0 && self.queries.is_empty() {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let open = self.queries.iter();
        agenda
            .queries
            .extend(open.map(|(_, open)| open.query.record(None)));
    }
}

#[cfg(test)]
mod tests;
