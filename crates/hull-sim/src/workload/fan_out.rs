//! Queries that fan out to servers and wait for all responses (thesis 2.3.2, report III-B, figure 3):
//! the common part of incast, partition/aggregate and the production benchmark. Each client has its own
//! connection to each of its servers. Times in ps, sizes in bytes.

use std::ops::Range;

use slab::Slab;

use super::backlog::waiting;
use super::context::Context;
use super::incast::Incast;
use super::query::Query;
use super::{Backlog, Channel, Message, QueryRecord};
use crate::limits;
use crate::problem::Problem;

/// Purpose of a message or a wake, packed into its tag or token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ticket {
    pub step: Step,
    /// Whether the response has already suffered a timeout.
    pub timed_out: bool,
    /// Index among the client's servers.
    pub server: u32,
    /// Number of the query, of the client ([`Step::Turn`]), or of the flow ([`Step::Background`]).
    pub number: u64,
}

/// Step of a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Request from the client to a server.
    Request,
    /// Response of a server.
    Response,
    /// A client's turn to send a query.
    Turn,
    /// Background flow outside of any query.
    Background,
}

impl Ticket {
    const SERVER_BITS: u32 = 20;

    pub fn new(step: Step, number: u64) -> Self {
        Ticket {
            step,
            timed_out: false,
            server: 0,
            number,
        }
    }

    /// Packs the ticket: the step in 2 bits, `timed_out` in 1, the server in 20, the number in the
    /// others.
    pub fn pack(self) -> u64 {
        let low = u64::from(self.server) << 3 | u64::from(self.timed_out) << 2 | self.step as u64;
        self.number << (Self::SERVER_BITS + 3) | low
    }

    pub fn unpack(packed: u64) -> Self {
        Ticket {
            step: match packed & 3 {
                0 => Step::Request,
                1 => Step::Response,
                2 => Step::Turn,
                _ => Step::Background,
            },
            timed_out: packed & 4 != 0,
            server: (packed >> 3) as u32 & ((1 << Self::SERVER_BITS) - 1),
            number: packed >> (Self::SERVER_BITS + 3),
        }
    }
}

/// Bytes of the responses to a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseBytes {
    /// Bytes of each server's response.
    Each(u64),
    /// Bytes of all responses, shared equally; the first servers send the remainder.
    Total(u64),
}

impl ResponseBytes {
    /// Bytes of the response of this server, one of `servers`.
    pub fn of(self, server: u32, servers: u64) -> u64 {
        match self {
            ResponseBytes::Each(bytes) => bytes,
            ResponseBytes::Total(total) => {
                total / servers + u64::from(u64::from(server) < total % servers)
            }
        }
    }
}

#[derive(Debug)]
struct Client {
    host: u32,
    servers: Vec<u32>,
    first_connection: u32,
}

/// Query that not all servers have answered.
#[derive(Debug)]
struct Open {
    /// Index of the client.
    client: u32,
    query: Query,
}

/// Clients with their servers and open queries.
#[derive(Debug)]
pub(super) struct FanOut {
    clients: Vec<Client>,
    connections: Vec<(u32, u32)>,
    request_bytes: u64,
    response: ResponseBytes,
    deadline_ps: u64,
    application_delay_ps: u64,
    /// Number of servers of a query that are asked at the same time.
    batch: u32,
    queries: Slab<Open>,
}

impl FanOut {
    /// Largest number of servers of a client.
    pub const MAX_SERVERS: usize = 1 << Ticket::SERVER_BITS;

    /// Creates clients, each with its servers.
    pub fn new(
        clients: Vec<(u32, Vec<u32>)>,
        request_bytes: u64,
        response: ResponseBytes,
        deadline_ps: Option<u64>,
        application_delay_ps: u64,
    ) -> Self {
        let mut connections = Vec::new();
        let clients = clients
            .into_iter()
            .map(|(host, servers)| {
                let first_connection = connections.len() as u32;
                connections.extend(servers.iter().map(|&server| (host, server)));
                Client {
                    host,
                    servers,
                    first_connection,
                }
            })
            .collect();
        FanOut {
            clients,
            connections,
            request_bytes,
            response,
            deadline_ps: deadline_ps.unwrap_or(u64::MAX),
            application_delay_ps,
            batch: u32::MAX,
            queries: Slab::new(),
        }
    }

    /// Sets the number of servers of a query that are asked at the same time (default: all).
    #[must_use]
    pub fn with_batch(self, batch: Option<u32>) -> Self {
        FanOut {
            batch: batch.unwrap_or(u32::MAX),
            ..self
        }
    }

    /// Rejects more connections than a run may have, before they are created.
    pub fn check(key: &str, clients: usize, servers: usize) -> Result<(), Problem> {
        let connections = clients.saturating_mul(servers);
        let most = limits::CONNECTIONS;
        match connections > most {
            true => Err(Problem::new(
                key.to_owned(),
                format!(
                    "{clients} clients with {servers} servers each are invalid; expected at most {most} \
                     connections in all"
                ),
            )),
            false => Ok(()),
        }
    }

    /// Rejects an incast from fewer servers than it asks, or with less than a byte from each.
    pub fn check_fan_in(settings: &Incast, fan_in: usize, available: usize) -> Result<(), Problem> {
        if fan_in > available {
            return Err(Problem::new(
                "workload.incast.fan_in".to_owned(),
                format!("{fan_in} is invalid; expected 1 to {available}, the servers there are"),
            ));
        }
        if fan_in == 0 || fan_in > FanOut::MAX_SERVERS.min(settings.total.0 as usize) {
            return Err(Problem::new(
                "workload.incast.total".to_owned(),
                format!(
                    "found \"{}\" from {fan_in} servers; expected at least 1B from at least one",
                    settings.total
                ),
            ));
        }
        Ok(())
    }

    /// Estimates the messages waiting at the end if each client sends a query every `interval_ps`,
    /// at most `queries` in total.
    pub fn backlog(&self, interval_ps: f64, queries: u64, context: &Context) -> Backlog {
        let messages = self.clients.iter().map(|client| {
            let servers = client.servers.len() as f64;
            let bytes = match self.response {
                ResponseBytes::Each(bytes) => bytes as f64 * servers,
                ResponseBytes::Total(bytes) => bytes as f64,
            };
            let link_bps = context.hosts.from_network_bps[client.host as usize] as f64;
            let asked = (context.end_ps as f64 / interval_ps).min(queries as f64);
            waiting(asked * servers, 8e12 * bytes / interval_ps / link_bps)
        });
        Backlog::of_messages(messages.fold(0, u64::saturating_add))
    }

    /// Ends of the connections, the client first.
    pub fn connections(&self) -> &[(u32, u32)] {
        &self.connections
    }

    /// Number of clients.
    pub fn clients(&self) -> usize {
        self.clients.len()
    }

    /// Whether no query is open.
    pub fn is_idle(&self) -> bool {
        self.queries.is_empty()
    }

    /// Opens a query of a client. Returns the tickets of its first requests.
    pub fn open(&mut self, now_ps: u64, client: usize) -> impl Iterator<Item = Ticket> + use<> {
        let Client { host, servers, .. } = &self.clients[client];
        let servers = servers.len() as u32;
        let number = self.queries.insert(Open {
            client: client as u32,
            query: Query::new(now_ps, *host, servers),
        }) as u64;
        requests(number, 0..servers.min(self.batch))
    }

    /// After a response that left its query open: the client, and the tickets of the next batch if
    /// that response completed one.
    pub fn next_batch(&self, ticket: Ticket) -> (usize, impl Iterator<Item = Ticket> + use<>) {
        let Open { client, query } = &self.queries[ticket.number as usize];
        let servers = self.clients[*client as usize].servers.len() as u32;
        let next = batch_after(query.answered(), self.batch, servers);
        (*client as usize, requests(ticket.number, next))
    }

    /// Request of a ticket.
    pub fn request(&self, ticket: Ticket) -> Message {
        let (client, connection) = self.place(ticket);
        let ends = (client.host, client.servers[ticket.server as usize]);
        let ticket = Ticket {
            step: Step::Request,
            ..ticket
        };
        Message::new(ticket.pack(), ends, self.request_bytes, connection)
    }

    /// Processes the arrival of a request at its server. Returns the ticket of the response.
    pub fn requested(&self, ticket: Ticket, timeouts: u32) -> Ticket {
        Ticket {
            step: Step::Response,
            timed_out: timeouts > 0,
            ..ticket
        }
    }

    /// Response of a ticket.
    pub fn response(&self, ticket: Ticket) -> Message {
        let (client, connection) = self.place(ticket);
        let ends = (client.servers[ticket.server as usize], client.host);
        let bytes = self.response_bytes(client, ticket.server);
        Message::new(ticket.pack(), ends, bytes, connection)
    }

    /// Processes the arrival of a response at the client. If it completes the query, returns the
    /// client and the record of the query.
    pub fn responded(
        &mut self,
        now_ps: u64,
        ticket: Ticket,
        timeouts: u32,
    ) -> Option<(usize, QueryRecord)> {
        let number = ticket.number as usize;
        let (client, _) = self.place(ticket);
        let bytes = self.response_bytes(client, ticket.server);
        let done_ps = now_ps + self.application_delay_ps;
        let timed_out = ticket.timed_out || timeouts > 0;
        let query = &mut self.queries[number].query;
        let record = query.answer(done_ps, bytes, timed_out, self.deadline_ps)?;
        let open = self.queries.remove(number);
        Some((open.client as usize, record))
    }

    /// Records of the queries that are open at the end, in arbitrary order.
    pub fn finish(&mut self) -> Vec<QueryRecord> {
        let open = std::mem::take(&mut self.queries);
        open.iter()
            .map(|(_, open)| open.query.record(None))
            .collect()
    }

    fn place(&self, ticket: Ticket) -> (&Client, Channel) {
        let open = &self.queries[ticket.number as usize];
        let client = &self.clients[open.client as usize];
        let connection = client.first_connection + ticket.server;
        (client, Channel::Connection(connection))
    }

    fn response_bytes(&self, client: &Client, server: u32) -> u64 {
        self.response.of(server, client.servers.len() as u64)
    }
}

/// Tickets of the requests of a query to these servers.
pub(super) fn requests(number: u64, servers: Range<u32>) -> impl Iterator<Item = Ticket> + use<> {
    servers.map(move |server| Ticket {
        server,
        ..Ticket::new(Step::Request, number)
    })
}

/// Servers to ask after the response that is number `answered`: none before a batch is complete.
pub(super) fn batch_after(answered: u32, batch: u32, servers: u32) -> Range<u32> {
    match answered % batch {
        0 => answered..servers.min(answered.saturating_add(batch)),
        _ => answered..answered,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_unpack_as_packed() {
        for step in [Step::Request, Step::Response, Step::Turn, Step::Background] {
            for timed_out in [false, true] {
                let ticket = Ticket {
                    step,
                    timed_out,
                    server: (1 << 20) - 1,
                    number: (1 << 33) - 1,
                };
                assert_eq!(Ticket::unpack(ticket.pack()), ticket);
                assert!(ticket.pack() < 1 << 56);
            }
        }
    }

    #[test]
    fn shares_of_a_total_add_up_to_it() {
        for (total, servers) in [(1_000_000, 40), (1_000_003, 41), (7, 3)] {
            let hosts = (1..=servers).collect();
            let mut fan_out =
                FanOut::new(vec![(0, hosts)], 100, ResponseBytes::Total(total), None, 0);
            let tickets: Vec<Ticket> = fan_out.open(5, 0).collect();
            let bytes = tickets.iter().map(|&t| fan_out.response(t).bytes);
            assert_eq!(bytes.sum::<u64>(), total);
        }
    }

    #[test]
    fn query_record_by_hand() {
        let mut fan_out = FanOut::new(
            vec![(9, vec![4, 5, 6])],
            100,
            ResponseBytes::Each(2000),
            Some(40),
            1,
        );
        let tickets: Vec<Ticket> = fan_out.open(100, 0).collect();
        assert_eq!(
            fan_out.request(tickets[2]),
            Message::new(tickets[2].pack(), (9, 6), 100, Channel::Connection(2))
        );
        let responses: Vec<Ticket> = [0, 1, 0]
            .iter()
            .zip(&tickets)
            .map(|(&timeouts, &ticket)| fan_out.requested(ticket, timeouts))
            .collect();
        // 19 + 1, 39 + 1 (just in time, its request timed out), 49 + 1 after the start.
        assert_eq!(fan_out.responded(119, responses[0], 0), None);
        assert_eq!(fan_out.responded(139, responses[1], 0), None);
        let (client, record) = fan_out.responded(149, responses[2], 0).expect("all");
        assert_eq!(client, 0);
        assert_eq!(
            record,
            QueryRecord {
                start_ps: 100,
                completion_ps: Some(50),
                client: 9,
                servers: 3,
                in_time: 2,
                timeouts: 1,
                bytes: 6000,
                mean_response_ps: (20 + 40 + 50) / 3,
            }
        );
        assert!(fan_out.is_idle());
    }
}
