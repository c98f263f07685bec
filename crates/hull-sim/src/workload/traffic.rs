//! All workloads of a run as one. The highest byte of tags and tokens is the number of their workload;
//! connections and classes are numbered consecutively. Priorities (paper 6.2.2) and the measured time
//! are applied here, to all workloads alike.

use std::ops::Range;

use super::aggregation_tree::AggregationTree;
use super::all_to_all::AllToAll;
use super::answers::Quality;
use super::bulk::Bulk;
use super::context::Context;
use super::ending::{Ending, LastFlow};
use super::incast::Incast;
use super::long_lived::LongLived;
use super::partition_aggregate::PartitionAggregate;
use super::permutation::Permutation;
use super::poisson_flows::PoissonFlows;
use super::poisson_incast::PoissonIncast;
use super::production::Production;
use super::replay::Replay;
use super::request_response::RequestResponse;
use super::{
    Agenda, Backlog, Besides, Channel, Groups, HostNames, NO_CONNECTION, Progress, Workload,
};
use crate::memory::block_of;
use crate::problem::Problem;
use crate::scenario::{Flows, Scenario};

/// Number of bits of a tag that belong to the workload.
const OWN_BITS: u32 = 56;

/// One of the workloads.
#[derive(Debug)]
enum Kind {
    Requests(Box<RequestResponse>),
    Bulk(Bulk),
    LongLived(LongLived),
    Flows(Box<PoissonFlows>),
    Replay(Box<Replay>),
    Incast(Incast),
    PoissonIncast(Box<PoissonIncast>),
    PartitionAggregate(Box<PartitionAggregate>),
    AggregationTree(Box<AggregationTree>),
    AllToAll(AllToAll),
    Permutation(Permutation),
    Production(Box<Production>),
}

/// Calls a method of the workload.
macro_rules! each {
    ($kind:expr, $workload:ident => $call:expr) => {
        match $kind {
            Kind::Requests($workload) => $call,
            Kind::Bulk($workload) => $call,
            Kind::LongLived($workload) => $call,
            Kind::Flows($workload) => $call,
            Kind::Replay($workload) => $call,
            Kind::Incast($workload) => $call,
            Kind::PoissonIncast($workload) => $call,
            Kind::PartitionAggregate($workload) => $call,
            Kind::AggregationTree($workload) => $call,
            Kind::AllToAll($workload) => $call,
            Kind::Permutation($workload) => $call,
            Kind::Production($workload) => $call,
        }
    };
}

/// Workload, with its first connection and its first class in the run.
#[derive(Debug)]
struct Part {
    /// Name of its table.
    name: &'static str,
    kind: Kind,
    first_connection: u32,
    first_class: u16,
    transport: u16,
    ending: Ending,
}

/// Traffic of a run: one workload or several.
#[derive(Debug)]
pub struct Traffic {
    parts: Vec<Part>,
    connections: Vec<(u32, u32)>,
    classes: Vec<String>,
    high_priority_below: u64,
    groups: Groups,
    pub(super) measured_ps: Range<u64>,
}

/// Builds the traffic of a scenario. An error names the key. This reads the files that the scenario
/// names, so it also checks what [`crate::scenario`] cannot know.
pub fn build(scenario: &Scenario, hosts: &HostNames, seed: u64) -> Result<Traffic, Problem> {
    let warmup_ps = scenario.run.warmup.0;
    let end_ps = warmup_ps + scenario.run.duration.0;
    let context = Context {
        hosts,
        seed,
        warmup_ps,
        end_ps,
        application_delay_ps: scenario.host.application_delay.0,
        transports: &scenario.transports,
    };
    let workload = &scenario.workload;
    let mut groups = Groups::new(&scenario.groups, hosts)?;
    let mut kinds = Vec::new();
    let mut add = |name: &'static str, transport: Option<&String>, kind: Kind| {
        kinds.push((name, context.transport(transport), kind));
    };
    if let Some(settings) = &workload.requests {
        let requests = Box::new(RequestResponse::new(settings, &context)?);
        add(
            "requests",
            settings.transport.as_ref(),
            Kind::Requests(requests),
        );
    }
    if let Some(settings) = &workload.bulk {
        let bulk = Bulk::new(settings, &context);
        add("bulk", settings.transport.as_ref(), Kind::Bulk(bulk));
    }
    if let Some(settings) = &workload.long_lived {
        let flows = LongLived::new(settings, &context)?;
        add("long_lived", None, Kind::LongLived(flows));
    }
    if let Some(Flows::Poisson(settings)) = &workload.flows {
        let flows = Box::new(PoissonFlows::new(settings, &context)?);
        add("flows", settings.transport.as_ref(), Kind::Flows(flows));
    }
    let list = match &workload.flows {
        Some(Flows::Replay(path)) => Some(("flows", path)),
        _ => workload.list.as_ref().map(|path| ("list", path)),
    };
    if let Some((name, path)) = list {
        let key = format!("workload.{name}");
        let replay = Replay::new((&key, path), &Flows::bounds_of_list(), &context, &groups)?;
        groups = groups.with_names(replay.group_names());
        scenario.check_listed(&replay.transports)?;
        add(name, None, Kind::Replay(Box::new(replay)));
    }
    if let Some(settings) = &workload.incast {
        let incast = match settings.is_poisson() {
            true => Kind::PoissonIncast(Box::new(PoissonIncast::new(settings, &context)?)),
            false => Kind::Incast(Incast::new(settings, &context)?),
        };
        add("incast", settings.transport.as_ref(), incast);
    }
    if let Some(settings) = &workload.partition_aggregate {
        let queries =
            Kind::PartitionAggregate(Box::new(PartitionAggregate::new(settings, &context)?));
        add("partition_aggregate", settings.transport.as_ref(), queries);
    }
    if let Some(settings) = &workload.aggregation_tree {
        let tree = Kind::AggregationTree(Box::new(AggregationTree::new(settings, &context)?));
        add("aggregation_tree", settings.transport.as_ref(), tree);
    }
    if let Some(settings) = &workload.all_to_all {
        let all = Kind::AllToAll(AllToAll::new(settings, &context)?);
        add("all_to_all", settings.transport.as_ref(), all);
    }
    if let Some(settings) = &workload.permutation {
        let permutation = Kind::Permutation(Permutation::new(settings, &context)?);
        add("permutation", settings.transport.as_ref(), permutation);
    }
    if let Some(settings) = &workload.production {
        let production = Kind::Production(Box::new(Production::new(settings, &context)?));
        add("production", settings.transport.as_ref(), production);
    }
    // The flows of other workloads are not known beforehand.
    if let [(name, _, Kind::Replay(replay))] = &kinds[..] {
        let (numbers, flows) = &replay.groups;
        groups.check_used(&scenario.groups, numbers, (name, *flows))?;
    }
    let mut traffic = Traffic {
        parts: Vec::new(),
        connections: Vec::new(),
        classes: Vec::new(),
        high_priority_below: workload.high_priority_below.map_or(0, |limit| limit.0),
        groups,
        measured_ps: warmup_ps..end_ps,
    };
    for (name, transport, kind) in kinds {
        traffic.add(name, transport, kind)?;
    }
    Ok(traffic)
}

impl Traffic {
    /// Adds a workload. A class whose name is taken is prefixed with the workload's name.
    fn add(&mut self, name: &'static str, transport: u16, kind: Kind) -> Result<(), Problem> {
        let first_connection = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
        let connections = each!(&kind, workload => workload.connections());
        if connections.len() >= (NO_CONNECTION - first_connection) as usize {
            let found = self.connections.len() + connections.len();
            return Err(Problem::new(
                format!("workload.{name}"),
                format!("found {found} connections; expected fewer than {NO_CONNECTION}"),
            ));
        }
        self.connections.extend(connections);
        let first_class = self.classes.len() as u16;
        for class in each!(&kind, workload => workload.classes()) {
            let taken = self.classes.contains(class);
            self.classes.push(if taken {
                format!("{name} {class}")
            } else {
                class.clone()
            });
        }
        self.parts.push(Part {
            name,
            kind,
            first_connection,
            first_class,
            transport,
            ending: Ending::default(),
        });
        Ok(())
    }

    /// Number of the transport of a connection.
    pub fn transport_of_connection(&self, connection: usize) -> u16 {
        let mut before = self.parts.iter().rev();
        let part = before.find(|part| part.first_connection as usize <= connection);
        part.map_or(0, |part| {
            let own = connection - part.first_connection as usize;
            let own = each!(&part.kind, workload => workload.transport_of(own));
            own.unwrap_or(part.transport)
        })
    }

    /// Names of the groups of its flows by number; empty if there are no groups.
    pub fn groups(&self) -> Vec<String> {
        self.groups.all_names()
    }

    /// Table of the workload with the largest concurrency, without idle persistent connections.
    pub fn heaviest(&self) -> &'static str {
        let under_way = |part: &&Part| {
            let Backlog {
                flows, messages, ..
            } = each!(&part.kind, workload => workload.backlog());
            flows.saturating_add(messages)
        };
        let heaviest = self.parts.iter().rev().max_by_key(under_way);
        heaviest.map_or("flows", |part| part.name)
    }

    /// Completion of the last flow of each workload that ends by itself, by the name of its table.
    pub fn last_flows(&self) -> impl Iterator<Item = (&'static str, LastFlow)> {
        self.parts.iter().filter_map(|part| {
            let planned = each!(&part.kind, workload => workload.planned())?;
            Some((part.name, part.ending.of(planned)))
        })
    }

    /// Adds the flows that have completed in another part of the run.
    pub fn join_endings(&mut self, other: &Traffic) {
        for (own, other) in self.parts.iter_mut().zip(&other.parts) {
            own.ending.join(&other.ending);
        }
    }

    /// Parts of the completion time of a message's flow besides the transfer of its bytes.
    pub fn besides(&self, tag: u64) -> Besides {
        let (part, _) = split(tag);
        each!(&self.parts[part].kind, workload => workload.besides())
    }

    /// Calls a workload and converts its numbers to the run's.
    #[inline]
    fn call(
        &mut self,
        part: usize,
        agenda: &mut Agenda,
        call: impl FnOnce(&mut Kind, &mut Agenda),
    ) {
        let sends = agenda.sends.len();
        let wakes = agenda.wakes.len();
        let stops = agenda.stops.len();
        let flows = agenda.flows.len();
        let queries = agenda.queries.len();
        let unfinished = agenda.unfinished.len();
        let Part {
            kind,
            first_connection,
            first_class,
            transport,
            ending,
            ..
        } = &mut self.parts[part];
        call(kind, agenda);
        let prefix = (part as u64) << OWN_BITS;
        for message in &mut agenda.sends[sends..] {
            message.tag |= prefix;
            if let Channel::Connection(connection) = &mut message.channel {
                *connection += *first_connection;
            }
            message.transport = message.transport.max(*transport);
            if message.bytes < self.high_priority_below {
                message.priority = 0;
            }
        }
        for (_, token) in &mut agenda.wakes[wakes..] {
            *token |= prefix;
        }
        for tag in &mut agenda.stops[stops..] {
            *tag |= prefix;
        }
        for query in &agenda.queries[queries..] {
            if let Some(completion_ps) = query.completion_ps {
                ending.add(query.start_ps, query.start_ps + completion_ps);
            }
        }
        for record in &mut agenda.flows[flows..] {
            ending.add(record.start_ps, record.start_ps + record.fct_ps);
            record.class += *first_class;
            if record.connection != NO_CONNECTION {
                record.connection += *first_connection;
            }
            self.groups.label(record);
        }
        agenda.has_ended |= agenda.flows.len() > flows || agenda.queries.len() > queries;
        for record in &mut agenda.unfinished[unfinished..] {
            record.class += *first_class;
            record.transport = record.transport.max(*transport);
            if record.connection != NO_CONNECTION {
                let own = record.connection as usize;
                let own = each!(&*kind, workload => workload.transport_of(own));
                record.transport = own.unwrap_or(*transport);
                record.connection += *first_connection;
            }
            self.groups.label(record);
        }
        let measured_ps = &self.measured_ps;
        keep_from(&mut agenda.unfinished, unfinished, |record| {
            measured_ps.contains(&record.start_ps)
        });
        keep_from(&mut agenda.flows, flows, |record| {
            measured_ps.contains(&record.start_ps)
        });
        keep_from(&mut agenda.queries, queries, |record| {
            measured_ps.contains(&record.start_ps)
        });
    }
}

/// Removes the unwanted records from `first` on.
fn keep_from<T: Copy>(records: &mut Vec<T>, first: usize, wanted: impl Fn(&T) -> bool) {
    let mut kept = first;
    for i in first..records.len() {
        if wanted(&records[i]) {
            records[kept] = records[i];
            kept += 1;
        }
    }
    records.truncate(kept);
}

/// Splits a tag or token into the number of the workload and the workload's part.
fn split(packed: u64) -> (usize, u64) {
    (
        (packed >> OWN_BITS) as usize,
        packed & ((1 << OWN_BITS) - 1),
    )
}

impl Workload for Traffic {
    fn connections(&self) -> &[(u32, u32)] {
        &self.connections
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn quality(&self) -> Option<Quality> {
        let mut of_parts = self.parts.iter();
        of_parts.find_map(|part| each!(&part.kind, workload => workload.quality()))
    }

    fn heap_bytes(&self) -> u64 {
        let parts = self.parts.iter();
        let of_parts = parts.map(|part| each!(&part.kind, workload => workload.heap_bytes()));
        of_parts.sum::<u64>() + 2 * block_of::<(u32, u32)>(self.connections.len())
    }

    fn backlog(&self) -> Backlog {
        let kinds = self.parts.iter().map(|part| &part.kind);
        let of_each = kinds.map(|kind| each!(kind, workload => workload.backlog()));
        of_each.fold(Backlog::default(), Backlog::and)
    }

    /// Sum over the workloads; `None` if one of them does not end.
    fn planned(&self) -> Option<u64> {
        let planned = |part: &Part| each!(&part.kind, workload => workload.planned());
        self.parts.iter().map(planned).sum()
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        for part in 0..self.parts.len() {
            self.call(part, agenda, |kind, agenda| {
                each!(kind, workload => workload.begin(agenda));
            });
        }
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        let (part, token) = split(token);
        self.call(part, agenda, |kind, agenda| {
            each!(kind, workload => workload.wake(now_ps, token, agenda));
        });
    }

    fn is_open(&self) -> bool {
        let is_open = |part: &Part| each!(&part.kind, workload => workload.is_open());
        self.parts.iter().all(is_open)
    }

    fn leave(&mut self, tag: u64) {
        let (part, tag) = split(tag);
        each!(&mut self.parts[part].kind, workload => workload.leave(tag));
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let (part, tag) = split(tag);
        self.call(part, agenda, |kind, agenda| {
            each!(kind, workload => workload.delivered(now_ps, tag, timeouts, agenda));
        });
    }

    fn hears_acked(&self) -> bool {
        let hears = |part: &Part| each!(&part.kind, workload => workload.hears_acked());
        self.parts.iter().any(hears)
    }

    fn acked(&mut self, now_ps: u64, tag: u64, agenda: &mut Agenda) {
        let (part, tag) = split(tag);
        self.call(part, agenda, |kind, agenda| {
            each!(kind, workload => workload.acked(now_ps, tag, agenda));
        });
    }

    fn is_complete(&self) -> bool {
        let complete = |part: &Part| each!(&part.kind, workload => workload.is_complete());
        self.parts.iter().all(complete)
    }

    /// Busy if one of the workloads is; done if at least one is done and the others are done or
    /// lasting.
    fn progress(&self) -> Progress {
        let mut all = Progress::Lasting;
        for part in &self.parts {
            match each!(&part.kind, workload => workload.progress()) {
                Progress::Busy => return Progress::Busy,
                Progress::Done => all = Progress::Done,
                Progress::Lasting => {}
            }
        }
        all
    }

    /// Smallest share of the workloads; `None` if one of them does not know its share.
    fn started_share(&self) -> Option<f64> {
        let shares = self.parts.iter();
        let mut shares = shares.map(|part| each!(&part.kind, workload => workload.started_share()));
        shares.try_fold(1.0, |least: f64, share| Some(least.min(share?)))
    }

    fn late(&self) -> u64 {
        let parts = self.parts.iter();
        parts
            .map(|part| each!(&part.kind, workload => workload.late()))
            .sum()
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        for part in 0..self.parts.len() {
            self.call(part, agenda, |kind, agenda| {
                each!(kind, workload => workload.finish(agenda));
            });
        }
    }
}

#[cfg(test)]
mod tests;
