//! Partition/aggregate in levels (thesis 2.1.1, figure 2.1): a client asks aggregators, these ask the
//! hosts of the next level, down to the workers, and each aggregator answers when it has the answers
//! below it. An aggregator may do so in several iterations, one after the other (1 to 4 are typical, 20
//! occur). Times ps, sizes bytes.
//!
//! A deadline limits each iteration. Then "the computation continues without that response, lowering the
//! quality of the result": the aggregator continues with what it has, and drops later answers. A late
//! node is not told; it finishes its work, whose answer uses the network. An answer is in time if the
//! application has it at the deadline; the iteration ends 1 ps later.
//!
//! A host processes one request at a time, in the order of arrival, in all its places in the tree.

mod query;
mod settings;
mod shape;

use slab::Slab;

use self::query::{NONE, Query, Task};
use self::shape::Shape;
use super::answers::{Answers, Quality};
use super::backlog::waiting;
use super::context::Context;
use super::partition_aggregate::Arrivals;
use super::{Agenda, Backlog, Channel, Message, Progress, Workload};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};
use crate::service_time::ServiceTime;

pub use settings::AggregationTree;

/// Settings of a level.
#[derive(Debug)]
struct Level {
    iterations: u32,
    request_bytes: u64,
    response_bytes: u64,
    deadline_ps: Option<u64>,
    service: ServiceTime,
}

/// Processor of a host.
#[derive(Debug)]
struct Processor {
    busy_until_ps: u64,
    service: Stream,
}

/// State of partition/aggregate in levels.
#[derive(Debug)]
pub(super) struct AggregationTreeTraffic {
    shape: Shape,
    levels: Vec<Level>,
    /// Processor of each host in the tree, with the host's number; sorted by it.
    processors: Vec<(u32, Processor)>,
    arrivals: Arrivals,
    interval_ps: u64,
    times: Stream,
    jitter_ps: u64,
    jitter: Stream,
    backlog: Backlog,
    /// Number of queries not yet sent.
    left: u64,
    planned: Option<u64>,
    warmup_ps: u64,
    end_ps: u64,
    application_delay_ps: u64,
    tasks: Slab<Task>,
    queries: Slab<Query>,
    answers: Answers,
}

/// Purpose of a message or a wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Arrival of a query.
    Turn,
    /// Request to the node of a task.
    Request,
    /// End of the service of a request.
    Served,
    /// Answer of a task.
    Response,
    /// Deadline of a round.
    Deadline,
    /// The application has the last answer of a round.
    Complete,
}

impl Step {
    const ALL: [Step; 6] = [
        Step::Turn,
        Step::Request,
        Step::Served,
        Step::Response,
        Step::Deadline,
        Step::Complete,
    ];

    /// Packs the step in 3 bits, the round in 5, the task in the others.
    fn pack(self, task: u32, round: u32) -> u64 {
        u64::from(task) << 8 | u64::from(round) << 3 | self as u64
    }

    fn unpack(packed: u64) -> (Step, u32, u32) {
        let step = Step::ALL[(packed & 7) as usize];
        (step, (packed >> 8) as u32, (packed >> 3) as u32 & 31)
    }
}

impl AggregationTreeTraffic {
    /// Creates the queries that the scenario describes.
    pub fn new(tree: &AggregationTree, context: &Context) -> Result<Self, Problem> {
        let shape = Shape::new(tree, context.hosts)?;
        let levels = tree.levels.iter().enumerate().map(|(i, level)| {
            let key = format!("workload.aggregation_tree.levels[{i}].service");
            Ok(Level {
                iterations: level.iterations,
                request_bytes: level.request_size.0,
                response_bytes: level.response_size.0,
                deadline_ps: level.deadline.map(|deadline| deadline.0),
                service: ServiceTime::new(&key, &level.service)?,
            })
        });
        let levels = levels.collect::<Result<Vec<_>, Problem>>()?;
        let mut hosts: Vec<u32> = shape.nodes.iter().map(|node| node.host).collect();
        hosts.sort_unstable();
        hosts.dedup();
        let processors = hosts.into_iter().map(|host| {
            let service = Stream::new(context.seed, Purpose::TreeService, host as usize);
            let processor = Processor {
                busy_until_ps: 0,
                service,
            };
            (host, processor)
        });
        let left = tree.queries.unwrap_or(u64::MAX);
        Ok(AggregationTreeTraffic {
            processors: processors.collect(),
            arrivals: tree.arrivals,
            interval_ps: tree.interval.0,
            times: Stream::new(context.seed, Purpose::TreeArrivals, 0),
            jitter_ps: tree.jitter.0,
            jitter: Stream::new(context.seed, Purpose::TreeJitter, 0),
            backlog: backlog(&shape, &levels, tree.interval.0 as f64, left, context),
            left,
            planned: tree.queries,
            warmup_ps: context.warmup_ps,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
            tasks: Slab::new(),
            queries: Slab::new(),
            answers: Answers::new(levels.len()),
            shape,
            levels,
        })
    }

    fn next_query(&mut self, now_ps: u64, agenda: &mut Agenda) {
        if self.left > 0 {
            let gap_ps = match self.arrivals {
                Arrivals::Poisson => self.times.exponential(self.interval_ps as f64),
                Arrivals::Fixed => self.interval_ps,
            };
            let at_ps = now_ps.saturating_add(gap_ps);
            agenda.wakes.push((at_ps, Step::Turn.pack(0, 0)));
        }
    }

    fn open(&mut self, now_ps: u64, agenda: &mut Agenda) {
        let query = self.queries.insert(Query::new(now_ps, self.levels.len()));
        let task = Task::new(0, query as u32, NONE, 0);
        let task = self.tasks.insert(task) as u32;
        self.start_round(now_ps, task, agenda);
    }

    /// Asks all nodes below the task's.
    fn start_round(&mut self, now_ps: u64, number: u32, agenda: &mut Agenda) {
        let task = &mut self.tasks[number as usize];
        let node = &self.shape.nodes[task.node as usize];
        let (query, below) = (task.query, node.below.clone());
        let level = &self.levels[node.level];
        task.round += 1;
        let round = task.round;
        task.missing = below.len() as u32;
        task.references += task.missing;
        if let Some(deadline_ps) = level.deadline_ps {
            task.round_ends_ps = now_ps.saturating_add(deadline_ps);
            task.references += 1;
            let at_ps = task.round_ends_ps.saturating_add(1);
            agenda
                .wakes
                .push((at_ps, Step::Deadline.pack(number, round)));
        }
        let of_query = &mut self.queries[query as usize];
        of_query.expected += below.len() as u64;
        of_query.levels[node.level].asked += below.len() as u64;
        for asked in below {
            let asked = Task::new(asked, query, number, round);
            let asked = self.tasks.insert(asked) as u32;
            if self.jitter_ps == 0 {
                agenda.sends.push(self.request(asked));
            } else {
                let at_ps = now_ps + self.jitter.up_to(self.jitter_ps);
                agenda.wakes.push((at_ps, Step::Request.pack(asked, 0)));
            }
        }
    }

    fn request(&self, task: u32) -> Message {
        let (connection, (above, below), level) = self.path_of(task);
        let (tag, bytes) = (Step::Request.pack(task, 0), level.request_bytes);
        Message::new(tag, (above, below), bytes, connection)
    }

    fn response(&self, task: u32) -> Message {
        let (connection, (above, below), level) = self.path_of(task);
        let (tag, bytes) = (Step::Response.pack(task, 0), level.response_bytes);
        Message::new(tag, (below, above), bytes, connection)
    }

    /// Connection of a task's node with the one above, the hosts above and below, and its level.
    fn path_of(&self, task: u32) -> (Channel, (u32, u32), &Level) {
        let node = self.tasks[task as usize].node;
        let connection = node - 1;
        let ends = self.shape.connections[connection as usize];
        let level = &self.levels[self.shape.nodes[node as usize].level - 1];
        (Channel::Connection(connection), ends, level)
    }

    /// Processes the arrival of a request: the host serves it after the earlier ones.
    fn requested(&mut self, now_ps: u64, number: u32, timeouts: u32, agenda: &mut Agenda) {
        let task = &mut self.tasks[number as usize];
        task.timed_out = timeouts > 0;
        let node = &self.shape.nodes[task.node as usize];
        let at = self
            .processors
            .binary_search_by_key(&node.host, |&(host, _)| host);
        let (_, processor) = &mut self.processors[at.expect("every host has one")];
        let begin_ps = (now_ps + self.application_delay_ps).max(processor.busy_until_ps);
        let service = &self.levels[node.level - 1].service;
        let service_ps = service.draw(&mut processor.service);
        processor.busy_until_ps = begin_ps.saturating_add(service_ps);
        let served = Step::Served.pack(number, 0);
        agenda.wakes.push((processor.busy_until_ps, served));
    }

    /// Continues after the service: a worker answers, an aggregator asks the next level.
    fn served(&mut self, now_ps: u64, number: u32, agenda: &mut Agenda) {
        let task = &mut self.tasks[number as usize];
        if self.shape.nodes[task.node as usize].below.is_empty() {
            task.collected = 1;
            agenda.sends.push(self.response(number));
        } else {
            self.start_round(now_ps, number, agenda);
        }
    }

    /// Processes an answer, in time or late.
    fn answered(&mut self, now_ps: u64, number: u32, timeouts: u32, agenda: &mut Agenda) {
        let answer = &self.tasks[number as usize];
        let (above, round_above, collected) = (answer.above, answer.round_above, answer.collected);
        let has_timeout = answer.timed_out || timeouts > 0;
        let (query_number, level) = (
            answer.query,
            self.shape.nodes[answer.node as usize].level - 1,
        );
        let ready_ps = now_ps + self.application_delay_ps;
        let task = &mut self.tasks[above as usize];
        let is_awaited = !task.is_over && task.round == round_above;
        let in_time = is_awaited && ready_ps <= task.round_ends_ps;
        let query = &mut self.queries[query_number as usize];
        query.expected -= 1;
        query.timeouts += u32::from(has_timeout);
        query.bytes += self.levels[level].response_bytes;
        query.levels[level].in_time += u64::from(in_time);
        query.levels[level].late += u64::from(!in_time);
        if task.above == NONE {
            query.to_client += 1;
            query.to_client_ps += u128::from(ready_ps - query.start_ps);
        }
        if in_time {
            task.collected += collected;
            task.missing -= 1;
            if task.missing == 0 {
                task.references += 1;
                let complete = Step::Complete.pack(above, round_above);
                agenda.wakes.push((ready_ps, complete));
            }
        }
        self.release(number);
        self.release(above);
        self.close(query_number, agenda);
    }

    /// Ends a round that has not ended: starts the next one, or answers.
    fn end_round(&mut self, now_ps: u64, number: u32, round: u32, agenda: &mut Agenda) {
        let task = &mut self.tasks[number as usize];
        if !task.is_over && task.round == round {
            let level = self.shape.nodes[task.node as usize].level;
            let query = task.query;
            if round < self.levels[level].iterations {
                self.start_round(now_ps, number, agenda);
            } else {
                task.is_over = true;
                if task.above == NONE {
                    let of_query = &mut self.queries[query as usize];
                    of_query.completion_ps = Some(now_ps - of_query.start_ps);
                    of_query.collected = task.collected;
                    self.release(number);
                    self.close(query, agenda);
                } else {
                    agenda.sends.push(self.response(number));
                }
            }
        }
        self.release(number);
    }

    /// Forgets a task that no message and no wake names any more.
    fn release(&mut self, number: u32) {
        let task = &mut self.tasks[number as usize];
        task.references -= 1;
        if task.references == 0 {
            self.tasks.remove(number as usize);
        }
    }

    /// Records a query that is over.
    fn close(&mut self, number: u32, agenda: &mut Agenda) {
        if self.queries[number as usize].is_over() {
            let query = self.queries.remove(number as usize);
            self.record(&query, agenda);
        }
    }

    fn record(&mut self, query: &Query, agenda: &mut Agenda) {
        let workers = self
            .shape
            .requests
            .last()
            .map_or(0, |&workers| workers as u32);
        if (self.warmup_ps..self.end_ps).contains(&query.start_ps) {
            self.answers.add(query.collected, workers, &query.levels);
        }
        let client = self.shape.nodes[0].host;
        agenda.queries.push(query.record(client, workers));
    }
}

/// Estimates the messages waiting at the end of the run, by the link with the largest load.
fn backlog(
    shape: &Shape,
    levels: &[Level],
    interval_ps: f64,
    queries: u64,
    context: &Context,
) -> Backlog {
    let mut bytes = vec![0.0; context.hosts.from_network_bps.len()];
    for node in shape.nodes.iter().skip(1) {
        let rounds = levels[..node.level].iter();
        let rounds: u32 = rounds.map(|level| level.iterations).product();
        let host = shape.nodes[node.above as usize].host as usize;
        bytes[host] += f64::from(rounds) * levels[node.level - 1].response_bytes as f64;
    }
    let loads = bytes.iter().zip(&context.hosts.from_network_bps);
    let loads = loads.map(|(bytes, &bps)| 8e12 * bytes / interval_ps / bps as f64);
    let asked = (context.end_ps as f64 / interval_ps).min(queries as f64);
    let requests: u64 = shape.requests.iter().sum();
    Backlog::of_messages(waiting(asked * requests as f64, loads.fold(0.0, f64::max)))
}

impl Workload for AggregationTreeTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        &self.shape.connections
    }

    fn quality(&self) -> Option<Quality> {
        self.answers.quality()
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
        let (step, task, round) = Step::unpack(token);
        match step {
            Step::Turn if now_ps >= self.end_ps => self.left = 0,
            Step::Turn => {
                self.left -= 1;
                self.open(now_ps, agenda);
                self.next_query(now_ps, agenda);
            }
            Step::Request => agenda.sends.push(self.request(task)),
            Step::Response => agenda.sends.push(self.response(task)),
            Step::Served => self.served(now_ps, task, agenda),
            Step::Deadline | Step::Complete => self.end_round(now_ps, task, round, agenda),
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let (step, task, _) = Step::unpack(tag);
        if step == Step::Request {
            self.requested(now_ps, task, timeouts, agenda);
        } else {
            self.answered(now_ps, task, timeouts, agenda);
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
        let open = std::mem::take(&mut self.queries);
        for (_, query) in open {
            self.record(&query, agenda);
        }
    }
}

#[cfg(test)]
mod tests;
