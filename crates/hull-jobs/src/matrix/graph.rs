//! The graph of work of a matrix: each flow is a send and a receive. A trigger is the dependency of the flows that it begins on the
//! send or the receive of those that fire it; to another host a message of 1 byte carries it.

use std::collections::{BTreeMap, HashMap};

use super::{Begin, Flow, Matrix, TriggerKind};
use crate::choices::Choices;
use crate::form::Form;
use crate::job::Job;
use crate::maker::Maker;
use crate::problem::Problem;
use crate::program::After;

/// Latest start of a flow, ns: more than 100 days.
const LATEST_NS: f64 = 9e15;

/// Makes a job of a matrix.
///
/// # Errors
/// What a graph of work cannot say: flows without end, a trigger that the first of several flows fires; triggers that are not fired
/// as often as they need.
pub fn job(matrix: &Matrix, choices: &Choices) -> Result<Job, Problem> {
    let hosts = matrix.flows.iter().map(|flow| flow.from.max(flow.to) + 1);
    let needed = hosts.max().unwrap_or(1);
    let ranks = choices.ranks.unwrap_or(needed.max(matrix.nodes));
    if ranks < needed {
        let told = format!("{ranks} ranks; expected {needed} or more, by the hosts of the flows");
        return Err(Problem::new("", told));
    }
    let mut graph = Graph {
        maker: Maker::new("", ranks, choices)?,
        kinds: matrix.triggers.iter().map(|it| (it.id, it.kind)).collect(),
        fired: HashMap::new(),
    };
    graph.remark(matrix, choices);
    let order = order(matrix)?;
    let delays = graph.delays(matrix, choices)?;
    for index in order {
        graph.flow(matrix, index, &delays)?;
    }
    graph.maker.finish(Form::HtsimMatrix)
}

fn place(flow: &Flow) -> String {
    format!("line {}", flow.line)
}

/// Triggers that a flow fires.
fn fires(flow: &Flow) -> impl Iterator<Item = u64> {
    [flow.when_sent, flow.when_received].into_iter().flatten()
}

/// The flows, each behind those that fire its trigger.
fn order(matrix: &Matrix) -> Result<Vec<usize>, Problem> {
    let mut missing: HashMap<u64, u64> = HashMap::new();
    let mut begun: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut order = Vec::new();
    for (index, flow) in matrix.flows.iter().enumerate() {
        for trigger in fires(flow) {
            *missing.entry(trigger).or_default() += 1;
        }
        match flow.begin {
            Begin::Start(_) => order.push(index),
            Begin::Trigger(trigger) => begun.entry(trigger).or_default().push(index),
        }
    }
    let mut next = 0;
    while let Some(&index) = order.get(next) {
        next += 1;
        for trigger in fires(&matrix.flows[index]) {
            let Some(left) = missing.get_mut(&trigger) else {
                continue;
            };
            *left -= 1;
            if *left == 0 {
                order.extend(begun.remove(&trigger).unwrap_or_default());
            }
        }
    }
    let Some((trigger, flows)) = begun.into_iter().min_by_key(|(_, flows)| flows[0]) else {
        return Ok(order);
    };
    let told = match missing.get(&trigger) {
        None => format!("trigger {trigger}, which no flow fires; expected one"),
        Some(_) => format!(
            "trigger {trigger}, which waits for flows that wait for it; expected an order without circles"
        ),
    };
    Err(Problem::new(place(&matrix.flows[flows[0]]), told))
}

/// A send or a receive that fires a trigger: its host and operation.
#[derive(Clone, Copy, Debug)]
struct Event {
    host: u32,
    op: u32,
}

struct Graph {
    maker: Maker,
    /// When each trigger begins flows.
    kinds: HashMap<u64, TriggerKind>,
    /// Per trigger, what fires it.
    fired: HashMap<u64, Vec<Event>>,
}

impl Graph {
    fn remark(&mut self, matrix: &Matrix, choices: &Choices) {
        let count =
            |is: &dyn Fn(&Flow) -> bool| matrix.flows.iter().filter(|flow| is(flow)).count() as u64;
        let remarks = &mut self.maker.remarks;
        remarks.add("failed links without effect", matrix.failures);
        remarks.add(
            "priorities without effect",
            count(&|flow| flow.has_priority),
        );
        let messages = count(&|flow| flow.is_message);
        remarks.add("messages of connections, each a flow of its own", messages);
        let late = count(&|flow| !matches!(flow.begin, Begin::Start(0.0) | Begin::Trigger(_)));
        let unit = format!(
            "starts in units of {} ps; the file does not name its unit",
            choices.start_unit_ps
        );
        remarks.add(&unit, late);
    }

    /// Adds what begins the flows with a start: per host, delays one after another. By host and ns, the operation.
    fn delays(
        &mut self,
        matrix: &Matrix,
        choices: &Choices,
    ) -> Result<BTreeMap<usize, After>, Problem> {
        let mut starts: BTreeMap<(u32, u64), Vec<usize>> = BTreeMap::new();
        let mut rounded = 0;
        for (index, flow) in matrix.flows.iter().enumerate() {
            let Begin::Start(start) = flow.begin else {
                continue;
            };
            let ns = start * choices.start_unit_ps as f64 / 1000.0;
            if ns > LATEST_NS {
                let told = format!("start {start}, {ns:.0} ns; expected at most {LATEST_NS:.0} ns");
                return Err(Problem::new(place(flow), told));
            }
            rounded += u64::from(ns.round() != ns);
            starts
                .entry((flow.from, ns.round() as u64))
                .or_default()
                .push(index);
        }
        let remark = "starts that are rounded to whole ns";
        self.maker.remarks.add(remark, rounded);
        let mut delays = BTreeMap::new();
        let mut last: (u32, u64, After) = (0, 0, None);
        for ((host, ns), flows) in starts {
            if last.0 != host {
                last = (host, 0, None);
            }
            if ns > last.1 {
                self.maker.grow(&place(&matrix.flows[flows[0]]), 1)?;
                let program = &mut self.maker.program;
                let delay = program.compute_beside(host, ns - last.1, &[last.2]);
                last = (host, ns, Some(delay));
            }
            for flow in flows {
                delays.insert(flow, last.2);
            }
        }
        Ok(delays)
    }

    /// Adds a flow, as often as it begins.
    fn flow(
        &mut self,
        matrix: &Matrix,
        index: usize,
        delays: &BTreeMap<usize, After>,
    ) -> Result<(), Problem> {
        let flow = &matrix.flows[index];
        if flow.bytes == 0 {
            let told = "size 0, a flow without end; expected 1 or more in a graph of work, which has an end";
            return Err(Problem::new(place(flow), told));
        }
        let begins = match flow.begin {
            Begin::Start(_) => {
                let delay = delays.get(&index).copied().flatten();
                let events = delay.map(|op| Event {
                    host: flow.from,
                    op,
                });
                vec![Vec::from_iter(events)]
            }
            Begin::Trigger(trigger) => self.begins(flow, trigger)?,
        };
        for events in begins {
            self.maker.grow(&place(flow), 2 + 2 * events.len() as u64)?;
            let mut after = Vec::with_capacity(events.len());
            for event in events {
                after.push(Some(self.carry(event, flow.from)));
            }
            let program = &mut self.maker.program;
            let tag = program.tags(1);
            let sent = program.send((flow.from, flow.to), flow.bytes, tag, &after);
            let received = program.receive((flow.to, flow.from), flow.bytes, tag, &[]);
            for (trigger, host, op) in [
                (flow.when_sent, flow.from, sent),
                (flow.when_received, flow.to, received),
            ] {
                if let Some(trigger) = trigger {
                    self.fired
                        .entry(trigger)
                        .or_default()
                        .push(Event { host, op });
                }
            }
        }
        Ok(())
    }

    /// What a flow waits for, each time that a trigger begins it.
    fn begins(&self, flow: &Flow, trigger: u64) -> Result<Vec<Vec<Event>>, Problem> {
        let fired = self.fired.get(&trigger).cloned().unwrap_or_default();
        let count = fired.len() as u64;
        let needed = match self.kinds.get(&trigger) {
            Some(TriggerKind::MultiShot) => {
                return Ok(fired.into_iter().map(|event| vec![event]).collect());
            }
            Some(&TriggerKind::Barrier(needed)) => needed,
            Some(TriggerKind::OneShot) | None => 1,
        };
        if count == needed {
            return Ok(vec![fired]);
        }
        let told = format!(
            "trigger {trigger} is fired {count} times; expected {needed}: a graph of work waits for all, not for the first"
        );
        Err(Problem::new(place(flow), told))
    }

    /// The operation of a host that ends when it knows of an event.
    fn carry(&mut self, event: Event, host: u32) -> u32 {
        if event.host == host {
            return event.op;
        }
        self.maker
            .remarks
            .add("triggers of other hosts, each carried by 1 byte", 1);
        let program = &mut self.maker.program;
        let tag = program.tags(1);
        program.send((event.host, host), 1, tag, &[Some(event.op)]);
        program.receive((host, event.host), 1, tag, &[])
    }
}
