//! All workloads of a run as one. The highest byte of tags and tokens is the number of their workload;
//! connections and classes are numbered consecutively. Priorities (paper 6.2.2) and the measured time
//! are applied here, to all workloads alike.

use std::ops::Range;

use super::answers::Quality;
use super::context::Context;
use super::ending::{Ending, LastFlow};
use super::{
    Agenda, Backlog, Besides, Channel, Groups, JobRecord, Listed, NO_CONNECTION, Progress,
    Workload, Workloads,
};
use crate::memory::block_of;
use crate::problem::Problem;

/// Number of bits of a tag that belong to the workload.
const OWN_BITS: u32 = 56;

/// Workload, with its first connection and its first class in the run.
#[derive(Debug)]
struct Table {
    /// Name of its table.
    name: &'static str,
    workload: Box<dyn Workload>,
    first_connection: u32,
    first_class: u16,
    transport: u16,
    ending: Ending,
}

/// Traffic of a run: one workload or several.
#[derive(Debug)]
pub struct Traffic {
    tables: Vec<Table>,
    connections: Vec<(u32, u32)>,
    classes: Vec<String>,
    high_priority_below: u64,
    groups: Groups,
    pub(super) measured_ps: Range<u64>,
}

/// Builds the traffic of a run. An error names the key. This reads the files that workloads name, so it
/// also checks what the scenario cannot know.
pub fn build(workloads: &Workloads, context: &Context) -> Result<Traffic, Problem> {
    let mut traffic = Traffic {
        tables: Vec::new(),
        connections: Vec::new(),
        classes: Vec::new(),
        high_priority_below: workloads.high_priority_below.map_or(0, |limit| limit.0),
        groups: context.groups.clone(),
        measured_ps: context.warmup_ps..context.end_ps,
    };
    for (name, settings) in workloads.tables() {
        let transport = context.transport(settings.transport());
        traffic.add(name, transport, settings.build(context)?)?;
    }
    if let Some(listed) = traffic.listed() {
        // The flows of other workloads are not known beforehand.
        if let [table] = &traffic.tables[..] {
            context.groups.check_used(table.name, listed)?;
        }
        traffic.groups = context.groups.clone().with_names(&listed.group_names);
    }
    Ok(traffic)
}

impl Traffic {
    /// Adds a workload. A class whose name is taken is prefixed with the workload's name.
    fn add(
        &mut self,
        name: &'static str,
        transport: u16,
        workload: Box<dyn Workload>,
    ) -> Result<(), Problem> {
        let first_connection = u32::try_from(self.connections.len()).unwrap_or(u32::MAX);
        let connections = workload.connections();
        if connections.len() >= (NO_CONNECTION - first_connection) as usize {
            let found = self.connections.len() + connections.len();
            return Err(Problem::new(
                format!("workload.{name}"),
                format!("found {found} connections; expected fewer than {NO_CONNECTION}"),
            ));
        }
        self.connections.extend(connections);
        let first_class = self.classes.len() as u16;
        for class in workload.classes() {
            let taken = self.classes.contains(class);
            self.classes.push(if taken {
                format!("{name} {class}")
            } else {
                class.clone()
            });
        }
        self.tables.push(Table {
            name,
            workload,
            first_connection,
            first_class,
            transport,
            ending: Ending::default(),
        });
        Ok(())
    }

    /// Number of the transport of a connection.
    pub fn transport_of_connection(&self, connection: usize) -> u16 {
        let mut before = self.tables.iter().rev();
        let table = before.find(|table| table.first_connection as usize <= connection);
        table.map_or(0, |table| {
            let own = connection - table.first_connection as usize;
            let own = table.workload.transport_of(own);
            own.unwrap_or(table.transport)
        })
    }

    /// Whether flows of a list must pass given switches.
    pub fn has_pins(&self) -> bool {
        self.tables
            .iter()
            .any(|table| table.workload.pins().is_some())
    }

    /// Switch that the data of a message's flow must pass.
    pub fn via(&self, tag: u64) -> Option<u32> {
        let (table, tag) = split(tag);
        self.tables[table].workload.pins()?.flow(tag as usize)
    }

    /// Switch that the data of a connection must pass.
    pub fn via_of_connection(&self, connection: usize) -> Option<u32> {
        let mut before = self.tables.iter().rev();
        let table = before.find(|table| table.first_connection as usize <= connection)?;
        let own = connection - table.first_connection as usize;
        table.workload.pins()?.connection(own)
    }

    /// Names of the groups of its flows by number; empty if there are no groups.
    pub fn groups(&self) -> Vec<String> {
        self.groups.all_names()
    }

    /// Table of the workload with the largest concurrency, without idle persistent connections.
    pub fn heaviest(&self) -> &'static str {
        let under_way = |table: &&Table| {
            let Backlog {
                flows, messages, ..
            } = table.workload.backlog();
            flows.saturating_add(messages)
        };
        let heaviest = self.tables.iter().rev().max_by_key(under_way);
        heaviest.map_or("flows", |table| table.name)
    }

    /// Completion of the last flow of each workload that ends by itself, by the name of its table.
    pub fn last_flows(&self) -> impl Iterator<Item = (&'static str, LastFlow)> {
        self.tables.iter().filter_map(|table| {
            let planned = table.workload.planned()?;
            Some((table.name, table.ending.of(planned)))
        })
    }

    /// Adds the flows that have completed in another part of the run.
    pub fn join_endings(&mut self, other: &Traffic) {
        for (own, other) in self.tables.iter_mut().zip(&other.tables) {
            own.ending.join(&other.ending);
        }
    }

    /// Parts of the completion time of a message's flow besides the transfer of its bytes.
    pub fn besides(&self, tag: u64) -> Besides {
        let (table, _) = split(tag);
        self.tables[table].workload.besides()
    }

    /// Calls a workload and converts its numbers to the run's.
    #[inline]
    fn call(
        &mut self,
        table: usize,
        agenda: &mut Agenda,
        call: impl FnOnce(&mut dyn Workload, &mut Agenda),
    ) {
        let sends = agenda.sends.len();
        let wakes = agenda.wakes.len();
        let stops = agenda.stops.len();
        let flows = agenda.flows.len();
        let queries = agenda.queries.len();
        let unfinished = agenda.unfinished.len();
        let Table {
            workload,
            first_connection,
            first_class,
            transport,
            ending,
            ..
        } = &mut self.tables[table];
        call(workload.as_mut(), agenda);
        let prefix = (table as u64) << OWN_BITS;
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
                let own = workload.transport_of(own);
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

/// Splits a tag or token into the number of the workload and the workload's own number.
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
        let mut of_tables = self.tables.iter();
        of_tables.find_map(|table| table.workload.quality())
    }

    fn job(&self) -> Option<JobRecord> {
        self.tables.iter().find_map(|table| table.workload.job())
    }

    fn heap_bytes(&self) -> u64 {
        let tables = self.tables.iter();
        let of_tables = tables.map(|table| table.workload.heap_bytes());
        of_tables.sum::<u64>() + 2 * block_of::<(u32, u32)>(self.connections.len())
    }

    fn backlog(&self) -> Backlog {
        let of_each = self.tables.iter().map(|table| table.workload.backlog());
        of_each.fold(Backlog::default(), Backlog::and)
    }

    /// Sum over the workloads; `None` if one of them does not end.
    fn planned(&self) -> Option<u64> {
        let planned = |table: &Table| table.workload.planned();
        self.tables.iter().map(planned).sum()
    }

    fn listed(&self) -> Option<&Listed> {
        self.tables.iter().find_map(|table| table.workload.listed())
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        for table in 0..self.tables.len() {
            self.call(table, agenda, |workload, agenda| {
                workload.begin(agenda);
            });
        }
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        let (table, token) = split(token);
        self.call(table, agenda, |workload, agenda| {
            workload.wake(now_ps, token, agenda);
        });
    }

    fn is_open(&self) -> bool {
        let is_open = |table: &Table| table.workload.is_open();
        self.tables.iter().all(is_open)
    }

    fn leave(&mut self, tag: u64) {
        let (table, tag) = split(tag);
        self.tables[table].workload.leave(tag);
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let (table, tag) = split(tag);
        self.call(table, agenda, |workload, agenda| {
            workload.delivered(now_ps, tag, timeouts, agenda);
        });
    }

    fn needs_acked(&self) -> bool {
        let needs = |table: &Table| table.workload.needs_acked();
        self.tables.iter().any(needs)
    }

    fn acked(&mut self, now_ps: u64, tag: u64, agenda: &mut Agenda) {
        let (table, tag) = split(tag);
        self.call(table, agenda, |workload, agenda| {
            workload.acked(now_ps, tag, agenda);
        });
    }

    fn is_complete(&self) -> bool {
        let complete = |table: &Table| table.workload.is_complete();
        self.tables.iter().all(complete)
    }

    /// Busy if one of the workloads is; done if at least one is done and the others are done or
    /// lasting.
    fn progress(&self) -> Progress {
        let mut all = Progress::Lasting;
        for table in &self.tables {
            match table.workload.progress() {
                Progress::Busy => return Progress::Busy,
                Progress::Done => all = Progress::Done,
                Progress::Lasting => {}
            }
        }
        all
    }

    fn ends_run(&self) -> bool {
        self.tables.iter().any(|table| table.workload.ends_run())
    }

    /// Smallest share of the workloads; `None` if one of them does not know its share.
    fn started_share(&self) -> Option<f64> {
        let shares = self.tables.iter();
        let mut shares = shares.map(|table| table.workload.started_share());
        shares.try_fold(1.0, |least: f64, share| Some(least.min(share?)))
    }

    fn late(&self) -> u64 {
        let tables = self.tables.iter();
        tables.map(|table| table.workload.late()).sum()
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        for table in 0..self.tables.len() {
            self.call(table, agenda, |workload, agenda| {
                workload.finish(agenda);
            });
        }
    }
}

#[cfg(test)]
mod tests;
