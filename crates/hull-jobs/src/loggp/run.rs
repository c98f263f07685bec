//! A run of a schedule on LogGP. One queue of events by time; an operation that finds its processor or interface busy
//! comes back when it is free.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Charge, Params, per_byte};
use crate::graph::{Graph, Started};
use crate::matching::Matching;
use crate::op::{Kind, Op};
use crate::problem::Problem;
use crate::schedule::Schedule;

/// Result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Per rank the time at which its last processor is free, ns.
    pub ends: Vec<End>,
    /// Messages that were received.
    pub messages: u64,
    /// What could not end: nothing if all did.
    pub waiting: Vec<Waiting>,
    /// Messages that no receive took.
    pub unreceived: u64,
}

/// End of a rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct End {
    /// Time at which its last processor is free, ns.
    pub at_ns: u64,
    /// Operations that have not ended.
    pub left: u32,
}

/// A receive that waits at the end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// Rank that waits.
    pub rank: u32,
    /// Its receive.
    pub index: u32,
    /// Rank that it waits for, or [`crate::ANY`].
    pub from: u32,
    /// Tag that it waits for, or [`crate::ANY`].
    pub tag: u32,
}

/// A receive that waits for its message.
#[derive(Clone, Copy, Debug)]
struct Posted {
    rank: u32,
    index: u32,
    cpu: u8,
}

/// A message on its way.
#[derive(Clone, Copy, Debug)]
struct Message {
    rank: u32,
    index: u32,
    op: Op,
    /// When the receiver is done with it, ns: set at its arrival if the receiver pays for its bytes.
    done_ns: u64,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Free(Started),
    Arrive(Message),
    End { rank: u32, index: u32 },
}

impl Event {
    /// What takes no time comes first: an end, and the receive that is posted by it.
    fn takes_time(&self) -> bool {
        match self {
            Event::End { .. } => false,
            Event::Free(started) => started.op.kind != Kind::Receive,
            Event::Arrive(_) => true,
        }
    }
}

/// Event with its time and, among equal times, its number.
#[derive(Clone, Copy, Debug)]
struct Due {
    at_ns: u64,
    number: u64,
    event: Event,
}

impl PartialEq for Due {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Due {}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let order = |due: &Due| (due.at_ns, due.event.takes_time(), due.number);
        order(self).cmp(&order(other))
    }
}

/// When the processors and interfaces of a rank are free, ns.
#[derive(Clone, Debug)]
struct Busy {
    processors: Vec<u64>,
    sending: Vec<u64>,
    receiving: Vec<u64>,
}

struct Run {
    params: Params,
    graph: Graph,
    busy: Vec<Busy>,
    matching: Vec<Matching<Posted, Message>>,
    due: BinaryHeap<Reverse<Due>>,
    number: u64,
    messages: u64,
}

/// Runs a schedule on a LogGP network.
///
/// # Errors
/// The schedule's file cannot be read.
pub fn run(schedule: Schedule, params: Params) -> Result<Report, Problem> {
    let ranks = schedule.ranks();
    let busy = Busy {
        processors: vec![0; schedule.cpus() as usize],
        sending: vec![0; schedule.nics() as usize],
        receiving: vec![0; schedule.nics() as usize],
    };
    let mut run = Run {
        params,
        graph: Graph::new(schedule),
        busy: vec![busy; ranks as usize],
        matching: (0..ranks).map(|_| Matching::default()).collect(),
        due: BinaryHeap::new(),
        number: 0,
        messages: 0,
    };
    for rank in 0..ranks {
        for started in run.graph.roots(rank)? {
            run.at(0, Event::Free(started));
        }
    }
    while let Some(Reverse(due)) = run.due.pop() {
        run.handle(due)?;
    }
    Ok(run.report())
}

impl Run {
    fn at(&mut self, at_ns: u64, event: Event) {
        self.number += 1;
        let number = self.number;
        self.due.push(Reverse(Due {
            at_ns,
            number,
            event,
        }));
    }

    fn handle(&mut self, due: Due) -> Result<(), Problem> {
        let now = due.at_ns;
        match due.event {
            Event::End { rank, index } => {
                let free = self.graph.end(rank, index)?;
                self.start_all(now, free);
            }
            Event::Arrive(message) => self.arrive(now, message),
            Event::Free(started) => {
                let free_ns = self.free_ns(&started);
                if free_ns > now {
                    self.at(free_ns, due.event);
                    return Ok(());
                }
                self.start(now, &started);
                let free = self.graph.begin(started.rank, started.index)?;
                self.start_all(now, free);
            }
        }
        Ok(())
    }

    fn start_all(&mut self, now: u64, free: Vec<Started>) {
        for started in free {
            self.at(now, Event::Free(started));
        }
    }

    /// When what an operation needs is free.
    fn free_ns(&self, started: &Started) -> u64 {
        let busy = &self.busy[started.rank as usize];
        let processor = busy.processors[usize::from(started.op.cpu)];
        match started.op.kind {
            Kind::Compute | Kind::Receive => processor,
            Kind::Send => processor.max(busy.sending[usize::from(started.op.nic)]),
        }
    }

    fn start(&mut self, now: u64, started: &Started) {
        let &Started { rank, index, op } = started;
        let busy = &mut self.busy[rank as usize];
        let processor = &mut busy.processors[usize::from(op.cpu)];
        match op.kind {
            Kind::Compute => {
                *processor = now + op.size;
                let end = *processor;
                self.at(end, Event::End { rank, index });
            }
            Kind::Send => {
                let spent = self.params.processor_ns(op.size);
                *processor = now + spent;
                busy.sending[usize::from(op.nic)] = now + self.params.interface_ns(op.size);
                if op.size <= self.params.eager_bytes {
                    self.at(now + spent, Event::End { rank, index });
                }
                let message = Message {
                    rank,
                    index,
                    op,
                    done_ns: 0,
                };
                let on_the_way = match self.params.charge {
                    Charge::Receiver => self.params.overhead_ns + self.params.latency_ns,
                    Charge::Wire => {
                        spent
                            + self.params.latency_ns
                            + per_byte(op.size, self.params.gap_per_byte_ns)
                    }
                };
                self.at(now + on_the_way, Event::Arrive(message));
            }
            Kind::Receive => {
                let posted = Posted {
                    rank,
                    index,
                    cpu: op.cpu,
                };
                if let Some(found) = self.matching[rank as usize].post(posted, op.peer, op.tag) {
                    self.pair(now, posted, found.message);
                }
            }
        }
    }

    /// A message is at its receiver.
    fn arrive(&mut self, now: u64, mut message: Message) {
        let to = message.op.peer;
        if self.params.charge == Charge::Receiver {
            let busy = &mut self.busy[to as usize];
            // The processor and interface that the sender names.
            let processor = &mut busy.processors[usize::from(message.op.cpu)];
            let interface = &mut busy.receiving[usize::from(message.op.nic)];
            let free = (*processor).max(*interface);
            if free > now {
                self.at(free, Event::Arrive(message));
                return;
            }
            let each = self
                .params
                .overhead_per_byte_ns
                .max(self.params.gap_per_byte_ns);
            message.done_ns = now + self.params.overhead_ns + per_byte(message.op.size, each);
            *processor = message.done_ns;
            *interface = now + self.params.interface_ns(message.op.size);
        }
        let matching = &mut self.matching[to as usize];
        if let Some(posted) = matching.arrive(message.rank, message.op.tag, message) {
            self.pair(now, posted, message);
        }
    }

    /// Receive and message have found each other.
    fn pair(&mut self, now: u64, receive: Posted, message: Message) {
        let Posted { rank, index, cpu } = receive;
        self.messages += 1;
        let done_ns = match self.params.charge {
            Charge::Receiver => message.done_ns.max(now),
            Charge::Wire => {
                let busy = &mut self.busy[rank as usize];
                let processor = &mut busy.processors[usize::from(cpu)];
                let interface = &mut busy.receiving[usize::from(message.op.nic)];
                let start = now.max(*processor).max(*interface);
                *interface = start + self.params.gap_ns;
                *processor = *interface + self.params.processor_ns(message.op.size);
                *processor
            }
        };
        self.at(done_ns, Event::End { rank, index });
        if message.op.size > self.params.eager_bytes {
            let released = match self.params.charge {
                Charge::Receiver => now,
                Charge::Wire => done_ns,
            };
            let sender = &mut self.busy[message.rank as usize];
            let processor = &mut sender.processors[usize::from(message.op.cpu)];
            *processor = released.max(*processor);
            let interface = &mut sender.sending[usize::from(message.op.nic)];
            *interface = released.max(*interface);
            let end = released.max(now);
            self.at(
                end,
                Event::End {
                    rank: message.rank,
                    index: message.index,
                },
            );
        }
    }

    fn report(&self) -> Report {
        let mut report = Report {
            messages: self.messages,
            ..Report::default()
        };
        for (rank, busy) in (0_u32..).zip(&self.busy) {
            report.ends.push(End {
                at_ns: busy.processors.iter().copied().max().unwrap_or_default(),
                left: self.graph.left(rank),
            });
            let matching = &self.matching[rank as usize];
            report.unreceived += matching.arrived() as u64;
            for (posted, from, tag) in matching.waiting() {
                report.waiting.push(Waiting {
                    rank,
                    index: posted.index,
                    from,
                    tag,
                });
            }
        }
        report
    }
}
