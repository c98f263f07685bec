//! Replay of a flow list: each flow starts at its row's time, on its own connection or, with the column
//! `reuse`, on a shared one. A flow with rows in `after` starts when their senders are done. Flows that
//! would start after the measured time are omitted. Times ps, sizes bytes.

use std::sync::Arc;

use super::context::Context;
use super::flow_chains::Chains;
use super::flow_list::{FlowList, ListedFlow};
use super::open::Open;
use super::size_class::SizeClasses;
use super::{
    Agenda, Backlog, Besides, Channel, FlowRecord, Groups, Listed, Message, NO_CONNECTION, Pins,
    Progress, Workload, default, few,
};
use crate::problem::Problem;
use crate::quote;
use crate::units::Time;

/// State of a replay.
#[derive(Debug)]
pub(super) struct Replay {
    list: Arc<FlowList>,
    /// Number of its flows that take part.
    count: usize,
    listed: Listed,
    classes: SizeClasses,
    application_delay_ps: u64,
    end_ps: u64,
    /// Index of the next flow whose time may come.
    next: usize,
    started: usize,
    completed: usize,
    /// Number of flows of the list that would start after the measured time.
    late: usize,
    open: Open,
    chains: Chains,
    /// Start time of each flow if flows have dependencies, ps.
    starts_ps: Vec<u64>,
}

/// Token of the wake for the next flow; other tokens are indices of flows.
const NEXT: u64 = 1 << 40;

impl Replay {
    /// Creates the replay of the file at `path`, which is the value of `key`.
    pub fn new((key, path): (&str, &str), context: &Context) -> Result<Self, Problem> {
        let groups = context.groups;
        let lists = context.lists;
        let list = lists.read(path, context.hosts, context.transports, groups);
        let list = list.map_err(|problem| (key.to_owned(), problem))?;
        let listed = Listed {
            transports: list.transports(),
            groups: groups_of(&list, groups),
            group_names: list.group_names().to_vec(),
            flows: list.flows().len(),
            beyond: list.beyond(),
        };
        let count = list.count_before(context.end_ps);
        let mut chains = list.chains().clone();
        let mut late = list.flows().len() - count;
        for place in list
            .flows()
            .partition_point(|flow| flow.start_ps < context.end_ps)..count
        {
            if chains.is_free(place) {
                late += 1 + chains.give_up(place as u32);
            }
        }
        if late == list.flows().len() {
            return Err(no_flow_in_time(&list, (key, path), context.end_ps));
        }
        let starts = if chains.is_empty() { 0 } else { count };
        Ok(Replay {
            list,
            count,
            end_ps: context.end_ps,
            next: 0,
            starts_ps: vec![0; starts],
            chains,
            listed,
            classes: SizeClasses::new(&default::class_bounds()),
            application_delay_ps: context.application_delay_ps,
            started: 0,
            completed: 0,
            late,
            open: Open::default(),
        })
    }

    /// Flows that take part, in the order of their start times.
    fn flows(&self) -> &[ListedFlow] {
        &self.list.flows()[..self.count]
    }

    /// Starts the flows that are due. The next wake is for the first later one.
    fn start(&mut self, now_ps: u64, agenda: &mut Agenda) {
        while let Some(flow) = self.flows().get(self.next) {
            if flow.start_ps >= self.end_ps {
                return;
            }
            if self.list.chains().is_free(self.next) {
                if flow.start_ps > now_ps {
                    agenda.wakes.push((flow.start_ps, NEXT));
                    return;
                }
                self.send(now_ps, self.next, agenda);
            }
            self.next += 1;
        }
    }

    /// Record of a flow that has started.
    fn unfinished(&self, place: usize) -> FlowRecord {
        let flow = &self.flows()[place];
        let start_ps = self.starts_ps.get(place).copied();
        FlowRecord {
            class: self.classes.of(flow.bytes),
            connection: self.list.connection(place).unwrap_or(NO_CONNECTION),
            group: self.list.group(place),
            transport: self.list.transport(place),
            ..FlowRecord::unfinished(
                start_ps.unwrap_or(flow.start_ps),
                (flow.src, flow.dst),
                flow.bytes,
            )
        }
    }

    /// Starts a flow.
    fn send(&mut self, now_ps: u64, place: usize, agenda: &mut Agenda) {
        let flow = &self.flows()[place];
        let ends = (flow.src, flow.dst);
        let channel = self
            .list
            .connection(place)
            .map_or(Channel::New, Channel::Connection);
        let mut message = Message::new(place as u64, ends, flow.bytes, channel);
        message.transport = self.list.transport(place);
        agenda.sends.push(message);
        if let Some(start_ps) = self.starts_ps.get_mut(place) {
            *start_ps = now_ps;
        }
        self.open.insert(place as u64);
        self.started += 1;
    }
}

/// Problem of a list without a flow in the measured time.
fn no_flow_in_time(list: &FlowList, (key, path): (&str, &str), end_ps: u64) -> Problem {
    let first_ps = list.flows().iter().map(|flow| flow.start_ps).min();
    let problem = format!(
        "{}: the first flow starts at {}; expected one before the end of the measured time, {}",
        quote::name(path),
        Time(first_ps.unwrap_or(0)),
        Time(end_ps)
    );
    (key.to_owned(), problem).into()
}

/// Numbers of the groups of a list's flows, each once.
fn groups_of(list: &FlowList, groups: &Groups) -> Vec<u16> {
    let number = |(i, flow): (usize, &ListedFlow)| match list.group(i) {
        0 => groups.of(flow.src, flow.dst, flow.bytes),
        own => own,
    };
    let mut seen = vec![false; 1 + list.group_names().len()];
    let flows = list.flows().iter().enumerate();
    flows.for_each(|flow| seen[usize::from(number(flow))] = true);
    (0..)
        .zip(seen)
        .filter_map(|(group, seen)| seen.then_some(group))
        .collect()
}

impl Workload for Replay {
    fn listed(&self) -> Option<&Listed> {
        Some(&self.listed)
    }

    fn pins(&self) -> Option<&Pins> {
        Some(self.list.pins()).filter(|pins| !pins.is_empty())
    }

    fn connections(&self) -> &[(u32, u32)] {
        self.list.connection_ends()
    }

    fn transport_of(&self, connection: usize) -> Option<u16> {
        Some(self.list.connection_transport(connection))
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn heap_bytes(&self) -> u64 {
        self.list.heap_bytes()
    }

    fn backlog(&self) -> Backlog {
        let flows = self.flows();
        let together = flows.partition_point(|flow| flow.start_ps == flows[0].start_ps);
        let bytes = flows[..together].iter().map(|flow| flow.bytes);
        let largest = bytes.clone().max().unwrap_or(0);
        Backlog::of_flows(together as u64)
            .with_bytes(bytes.fold(0, u64::saturating_add))
            .with_largest(largest)
    }

    fn besides(&self) -> Besides {
        Besides {
            application_ps: self.application_delay_ps,
            ..Besides::default()
        }
    }

    fn planned(&self) -> Option<u64> {
        Some(self.list.flows().len() as u64)
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.start(0, agenda);
    }

    fn wake(&mut self, now_ps: u64, token: u64, agenda: &mut Agenda) {
        match token {
            NEXT => self.start(now_ps, agenda),
            place => self.send(now_ps, place as usize, agenda),
        }
    }

    fn needs_acked(&self) -> bool {
        !self.chains.is_empty()
    }

    fn acked(&mut self, now_ps: u64, tag: u64, agenda: &mut Agenda) {
        for place in self.chains.acked(tag as u32) {
            let later_ps = self.flows()[place as usize].start_ps;
            if now_ps + later_ps >= self.end_ps {
                self.late += 1 + self.chains.give_up(place);
            } else if later_ps == 0 {
                self.send(now_ps, place as usize, agenda);
            } else {
                agenda.wakes.push((now_ps + later_ps, u64::from(place)));
            }
        }
    }

    fn is_open(&self) -> bool {
        self.chains.is_empty() && self.list.connection_ends().is_empty()
    }

    fn leave(&mut self, tag: u64) {
        self.open.remove(tag);
        self.completed += 1;
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        self.completed += 1;
        self.open.remove(tag);
        let started = self.unfinished(tag as usize);
        agenda.flows.push(FlowRecord {
            fct_ps: now_ps + self.application_delay_ps - started.start_ps,
            timeouts: few(timeouts),
            ..started
        });
    }

    fn is_complete(&self) -> bool {
        self.completed == self.started
    }

    fn progress(&self) -> Progress {
        if self.completed + self.late == self.list.flows().len() {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn started_share(&self) -> Option<f64> {
        Some(self.completed as f64 / self.count.max(1) as f64)
    }

    fn late(&self) -> u64 {
        self.late as u64
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let unfinished = (self.open.numbers()).map(|place| self.unfinished(place as usize));
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};
    use super::super::{Agenda, Progress, Workload};

    #[test]
    fn flows_start_at_the_times_of_their_rows() {
        let path = std::env::temp_dir().join(format!("hull-replay-{}.csv", std::process::id()));
        let rows = "start_ps,src,dst,bytes\n0,0,1,10\n7,h2,1,20000\n7,1,2,30\n5,1,0,40\n1000000000000,0,1,50\n";
        std::fs::write(&path, rows).expect("a temporary file");
        let text = format!("workload.flows = \"{}\"", path.display());
        let traffic = build(&text, 3, "1s");
        std::fs::remove_file(&path).expect("file exists");
        let log = TestNetwork::default().run(&mut traffic.expect("good"));
        let sent: Vec<(u64, u32, u32, u64)> = log
            .sends
            .iter()
            .map(|(at_ps, m)| (*at_ps, m.src, m.dst, m.bytes))
            .collect();
        // The last row starts after the measured second.
        assert_eq!(
            sent,
            [
                (0, 0, 1, 10),
                (5, 1, 0, 40),
                (7, 2, 1, 20_000),
                (7, 1, 2, 30)
            ]
        );
        assert_eq!(log.flows[2].class, 1);
        assert_eq!(log.flows.len(), 4);
    }

    /// A row that waits, and those that wait for it, start after the measured second: the run need
    /// not wait for them.
    #[test]
    fn rows_after_the_measured_time_are_given_up() {
        let path = std::env::temp_dir().join(format!("hull-late-{}.csv", std::process::id()));
        let text = format!("workload.flows = \"{}\"", path.display());
        let replay = |rows: &str| {
            let rows = format!("start_ps,src,dst,bytes,after\n{rows}");
            std::fs::write(&path, rows).expect("a temporary file");
            build(&text, 3, "1s")
        };
        let mut traffic = replay(
            "0,0,1,10,\n999000000000,1,2,20,1\n999999999999,0,1,30,2\n0,0,1,40,3\n\
             0,0,1,50,3 4\n5000000000000,0,1,60,\n0,0,1,70,6 1\n",
        )
        .expect("good");
        let mut agenda = Agenda::default();
        traffic.begin(&mut agenda);
        let mut sent = Vec::new();
        for (now_ps, acked_ps) in [(0, 500), (999_000_000_500, 999_500_000_000)] {
            let message = agenda.sends.pop().expect("one flow at a time");
            sent.push(message.bytes);
            assert!(agenda.sends.is_empty() && traffic.progress() == Progress::Busy);
            traffic.delivered(now_ps + 100, message.tag, 0, &mut agenda);
            traffic.acked(acked_ps, message.tag, &mut agenda);
            if let Some((at_ps, token)) = agenda.wakes.pop() {
                assert_eq!(at_ps, 999_000_000_500);
                traffic.wake(at_ps, token, &mut agenda);
            }
        }
        assert_eq!(sent, [10, 20]);
        assert!(agenda.sends.is_empty() && agenda.wakes.is_empty());
        assert_eq!((traffic.late(), traffic.progress()), (5, Progress::Done));
        let (_, problem) = replay("1000000000000,0,1,10,\n0,0,1,20,1\n")
            .expect_err("late")
            .into();
        std::fs::remove_file(&path).expect("file exists");
        assert!(problem.contains("the first flow starts at"), "{problem}");
    }

    #[test]
    fn error_names_key_and_file() {
        let (key, problem): (String, String) = build("workload.flows = \"no/list.csv\"", 3, "1s")
            .expect_err("no")
            .into();
        assert_eq!(key, "workload.flows");
        assert!(problem.contains("no/list.csv"), "{problem}");
        let beside = build("workload.list = \"no/list.csv\"", 3, "1s");
        let (key, _): (String, String) = beside.expect_err("no").into();
        assert_eq!(key, "workload.list");
    }
}
