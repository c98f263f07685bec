//! A job: a graph of work (a schedule in GOAL's form) whose ranks compute, send and receive on hosts. An
//! operation starts when what it needs has ended, so traffic depends on traffic. Times ps, sizes bytes.
//!
//! Each rank has processors, which do one operation at a time in the order in which they became free to start. A send takes
//! its processor for `overhead`, then its interface has the message; a receive takes it for the same after the
//! message's last byte. A message of more than `eager` is done for its sender when it has arrived and its receive is posted.

mod collective;
mod placement;
mod queue_pairs;
mod record;
mod servers;
mod settings;
mod source;
#[cfg(test)]
mod tests;
mod training;

use std::collections::VecDeque;

use hull_jobs::{Graph, Kind, Matching, Started, stage_of};
use slab::Slab;

use super::{Agenda, Backlog, FlowRecord, Message, Progress, Workload};
pub use record::{Computation, JobRecord, RankRecord, StageRecord, Stuck};
pub use settings::Job;

use crate::units::Size;
use queue_pairs::QueuePairs;
use servers::Inside;
use settings::Gap;

/// When a message ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// With its last byte at the receiver.
    Delivered,
    /// With the acknowledgment of its last byte at the sender, which ends the receive too.
    Acked,
}

/// A message of the schedule.
#[derive(Clone, Copy, Debug)]
struct Sent {
    rank: u32,
    index: u32,
    to: u32,
    tag: u32,
    bytes: u64,
    nic: u8,
    start_ps: u64,
    is_eager: bool,
}

/// A receive that is posted.
#[derive(Clone, Copy, Debug)]
struct Posted {
    rank: u32,
    index: u32,
    cpu: u8,
}

/// What a processor does next.
#[derive(Clone, Copy, Debug)]
enum Task {
    /// A computation, or the handing over of a message.
    Start(Started),
    /// Taking a message that arrived for a receive.
    Take(Posted),
}

/// What happens at a time that was asked for.
#[derive(Clone, Copy, Debug)]
enum Wait {
    /// The job starts.
    Begin,
    /// A processor has done a task.
    Done(Task),
    /// An interface may have its next message.
    Depart(usize),
    /// A message that stayed in its server is there.
    Inside(usize),
}

/// Processor of a rank.
#[derive(Clone, Debug, Default)]
struct Processor {
    is_busy: bool,
    tasks: VecDeque<Task>,
}

/// Posted receives and arrived messages of a rank.
type Receives = Matching<Posted, usize>;

/// State of a job.
#[derive(Debug)]
pub(super) struct JobTraffic {
    graph: Graph,
    matching: Vec<Receives>,
    /// Host of each rank and interface.
    hosts: Vec<u32>,
    cpus: usize,
    nics: usize,
    processors: Vec<Processor>,
    /// When each interface may have its next message, ps.
    next_departure_ps: Vec<u64>,
    /// Links inside servers.
    inside: Inside,
    queue_pairs: QueuePairs,
    messages: Slab<Sent>,
    /// Messages in the network.
    in_network: u64,
    waits: Slab<Wait>,
    /// Operations that may start, in order.
    free: VecDeque<Started>,
    ranks: Vec<RankRecord>,
    /// Operations that have ended.
    ended: u64,
    stages: Vec<StageRecord>,
    /// What the schedule's reader left out or decided by itself.
    remarks: Vec<(String, u64)>,
    /// Computations that take time, if they are asked for.
    computations: Option<Vec<Computation>>,
    classes: Vec<String>,
    overhead_ps: u64,
    eager_bytes: u64,
    start_ps: u64,
    gap: Option<Gap>,
    /// Whether the run ends with the job.
    ends_run: bool,
    end: End,
    /// Messages that cross the network.
    planned: u64,
    /// Why the schedule could not be read on.
    failed: Option<String>,
}

impl JobTraffic {
    fn wait(&mut self, at_ps: u64, wait: Wait, agenda: &mut Agenda) {
        let token = self.waits.insert(wait) as u64;
        agenda.wakes.push((at_ps, token));
    }

    /// Takes what the schedule answers; after an error of its file nothing more starts.
    fn read<T: Default>(
        &mut self,
        read: impl FnOnce(&mut Graph) -> Result<T, hull_jobs::Problem>,
    ) -> T {
        read(&mut self.graph).unwrap_or_else(|problem| {
            self.failed.get_or_insert(problem.to_string());
            T::default()
        })
    }

    /// Starts what may start, in order. Not by recursion: chains of receives whose messages are there can be long.
    fn settle(&mut self, now_ps: u64, agenda: &mut Agenda) {
        while let Some(started) = self.free.pop_front() {
            let Started { rank, index, op } = started;
            if op.kind != Kind::Receive {
                self.give(now_ps, rank, op.cpu, Task::Start(started), agenda);
                continue;
            }
            self.begun(rank, index);
            let posted = Posted {
                rank,
                index,
                cpu: op.cpu,
            };
            let found = self.matching[rank as usize].post(posted, op.peer, op.tag);
            if let Some(arrival) = found {
                self.pair(now_ps, posted, arrival.message, agenda);
            }
        }
    }

    fn begun(&mut self, rank: u32, index: u32) {
        let free = self.read(|graph| graph.begin(rank, index));
        self.free.extend(free);
    }

    fn ended(&mut self, now_ps: u64, rank: u32, index: u32) {
        let record = &mut self.ranks[rank as usize];
        record.end_ps = now_ps;
        record.ended += 1;
        self.ended += 1;
        let free = self.read(|graph| graph.end(rank, index));
        self.free.extend(free);
    }

    fn processor(&mut self, rank: u32, cpu: u8) -> &mut Processor {
        &mut self.processors[rank as usize * self.cpus + usize::from(cpu)]
    }

    /// Gives a task to a processor.
    fn give(&mut self, now_ps: u64, rank: u32, cpu: u8, task: Task, agenda: &mut Agenda) {
        self.processor(rank, cpu).tasks.push_back(task);
        self.work(now_ps, rank, cpu, agenda);
    }

    /// Lets a processor begin its next task if it is idle.
    fn work(&mut self, now_ps: u64, rank: u32, cpu: u8, agenda: &mut Agenda) {
        let processor = self.processor(rank, cpu);
        if processor.is_busy {
            return;
        }
        let Some(task) = processor.tasks.pop_front() else {
            return;
        };
        processor.is_busy = true;
        let mut takes_ps = self.overhead_ps;
        if let Task::Start(Started { rank, index, op }) = task {
            self.begun(rank, index);
            if op.kind == Kind::Compute {
                takes_ps = op.size.saturating_mul(1000);
                let record = &mut self.ranks[rank as usize];
                record.compute_ps = record.compute_ps.saturating_add(takes_ps);
                if let Some(computations) = self.computations.as_mut().filter(|_| takes_ps > 0) {
                    computations.push(Computation {
                        rank,
                        operation: index,
                        begin_ps: now_ps,
                        end_ps: now_ps.saturating_add(takes_ps),
                    });
                }
            }
        }
        self.wait(now_ps.saturating_add(takes_ps), Wait::Done(task), agenda);
    }

    /// A processor has done a task.
    fn done(&mut self, now_ps: u64, task: Task, agenda: &mut Agenda) {
        let (rank, cpu) = match task {
            Task::Start(Started { rank, op, .. }) => (rank, op.cpu),
            Task::Take(Posted { rank, cpu, .. }) => (rank, cpu),
        };
        self.processor(rank, cpu).is_busy = false;
        self.work(now_ps, rank, cpu, agenda);
        match task {
            Task::Start(Started { index, op, .. }) if op.kind == Kind::Send => {
                let sent = Sent {
                    rank,
                    index,
                    to: op.peer,
                    tag: op.tag,
                    bytes: op.size,
                    nic: op.nic,
                    start_ps: now_ps,
                    is_eager: op.size <= self.eager_bytes,
                };
                let message = self.messages.insert(sent);
                self.hand_over(now_ps, message, agenda);
                if sent.is_eager {
                    self.ended(now_ps, rank, index);
                }
            }
            Task::Start(Started { index, op, .. }) => {
                if let Some((stage, is_end)) = stage_of(op.tag)
                    && let Some(stage) = self.stages.get_mut(stage)
                {
                    stage.note(now_ps, is_end);
                }
                self.ended(now_ps, rank, index);
            }
            Task::Take(Posted { index, .. }) => self.ended(now_ps, rank, index),
        }
    }

    /// Gives a message to its interface, which keeps the gap after the message before.
    fn hand_over(&mut self, now_ps: u64, message: usize, agenda: &mut Agenda) {
        let sent = self.messages[message];
        let next =
            &mut self.next_departure_ps[sent.rank as usize * self.nics + usize::from(sent.nic)];
        let at_ps = now_ps.max(*next);
        let gap_ps = self.gap.as_ref().map_or(0, |gap| gap.ps(sent.bytes));
        *next = at_ps.saturating_add(gap_ps);
        if at_ps > now_ps {
            self.wait(at_ps, Wait::Depart(message), agenda);
        } else {
            self.depart(now_ps, message, agenda);
        }
    }

    fn depart(&mut self, now_ps: u64, message: usize, agenda: &mut Agenda) {
        let sent = &mut self.messages[message];
        sent.start_ps = now_ps;
        let sent = *sent;
        if self.inside.has(sent.rank, sent.to) {
            let ends = (sent.rank, sent.to);
            let at_ps = self.inside.arrival_ps(now_ps, ends, Size(sent.bytes));
            self.wait(at_ps, Wait::Inside(message), agenda);
            return;
        }
        self.in_network += 1;
        let ends = self.ends(&sent);
        let channel = self.queue_pairs.take(ends);
        let message = Message::new(message as u64, ends, payload(&sent), channel);
        agenda.sends.push(message);
    }

    /// Hosts of a message.
    fn ends(&self, sent: &Sent) -> (u32, u32) {
        let nic = usize::from(sent.nic);
        let host = |rank: u32| self.hosts[rank as usize * self.nics + nic];
        (host(sent.rank), host(sent.to))
    }

    /// A message has ended: it waits for its receive, or its receive for it.
    fn arrive(&mut self, now_ps: u64, message: usize, agenda: &mut Agenda) {
        let Sent { rank, to, tag, .. } = self.messages[message];
        if let Some(posted) = self.matching[to as usize].arrive(rank, tag, message) {
            self.pair(now_ps, posted, message, agenda);
        }
    }

    /// Receive and message have found each other.
    fn pair(&mut self, now_ps: u64, posted: Posted, message: usize, agenda: &mut Agenda) {
        let sent = self.messages.remove(message);
        if !sent.is_eager {
            self.ended(now_ps, sent.rank, sent.index);
        }
        if self.overhead_ps == 0 {
            self.ended(now_ps, posted.rank, posted.index);
        } else {
            self.give(now_ps, posted.rank, posted.cpu, Task::Take(posted), agenda);
        }
    }

    /// Processes the end of a message in the network.
    fn out_of_network(&mut self, now_ps: u64, tag: u64, agenda: &mut Agenda) {
        self.in_network -= 1;
        self.arrive(now_ps, tag as usize, agenda);
        self.settle(now_ps, agenda);
    }

    /// Whether all operations have ended.
    fn is_over(&self) -> bool {
        self.ranks.iter().all(|rank| rank.ended == rank.operations)
    }

    /// Whether nothing moves any more; before its begin a job waits.
    fn is_still(&self) -> bool {
        self.waits.is_empty() && self.in_network == 0
    }
}

/// Bytes of a message in the network: a message without any takes one.
fn payload(sent: &Sent) -> u64 {
    sent.bytes.max(1)
}

impl Workload for JobTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        self.queue_pairs.ends()
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn backlog(&self) -> Backlog {
        Backlog::default()
    }

    fn planned(&self) -> Option<u64> {
        Some(self.planned)
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.wait(self.start_ps, Wait::Begin, agenda);
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        match self.waits.remove(token as usize) {
            Wait::Begin => {
                for rank in 0..self.graph.schedule().ranks() {
                    let free = self.read(|graph| graph.roots(rank));
                    self.free.extend(free);
                }
            }
            Wait::Done(task) => self.done(now_ps, task, agenda),
            Wait::Depart(message) => self.depart(now_ps, message, agenda),
            Wait::Inside(message) => self.arrive(now_ps, message, agenda),
        }
        self.settle(now_ps, agenda);
        agenda.is_still |= self.is_still();
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let sent = self.messages[tag as usize];
        let ends = self.ends(&sent);
        let record = FlowRecord::new(sent.start_ps, now_ps, ends, payload(&sent), timeouts);
        agenda.flows.push(record);
        if self.end == End::Delivered {
            self.out_of_network(now_ps, tag, agenda);
        }
    }

    fn needs_acked(&self) -> bool {
        self.end == End::Acked
    }

    fn acked(&mut self, now_ps: u64, tag: u64, agenda: &mut Agenda) {
        if self.end == End::Acked {
            self.out_of_network(now_ps, tag, agenda);
        }
    }

    fn is_complete(&self) -> bool {
        self.is_still()
    }

    fn progress(&self) -> Progress {
        if self.is_still() {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn started_share(&self) -> Option<f64> {
        let all: u64 = self
            .ranks
            .iter()
            .map(|rank| u64::from(rank.operations))
            .sum();
        Some(self.ended as f64 / all.max(1) as f64)
    }

    /// A job that can make no progress ends the run too: it has no result.
    fn ends_run(&self) -> bool {
        self.is_still() && (self.ends_run || !self.is_over())
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let in_network = self
            .messages
            .iter()
            .filter(|(_, sent)| !self.inside.has(sent.rank, sent.to));
        let unfinished = in_network
            .map(|(_, sent)| FlowRecord::unfinished(sent.start_ps, self.ends(sent), payload(sent)));
        agenda.unfinished.extend(unfinished);
    }

    fn job(&self) -> Option<JobRecord> {
        Some(JobRecord {
            start_ps: self.start_ps,
            ranks: self.ranks.clone(),
            remarks: self.remarks.clone(),
            stages: self.stages.clone(),
            computations: self.computations.clone().unwrap_or_default(),
            stuck: self.stuck(),
            failed: self.failed.clone(),
        })
    }
}
