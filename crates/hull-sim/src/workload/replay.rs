//! Replay of a flow list: each flow starts when its row says so, on a connection of its own.
//! Flows that would start after the measured time are left out. Times ps, sizes bytes.

use super::context::Context;
use super::flow_list::{FlowList, ListedFlow};
use super::size_class::SizeClasses;
use super::{
    Acked, Agenda, Backlog, Besides, Channel, FlowRecord, Groups, Message, NO_CONNECTION, Progress,
    Workload, few,
};
use crate::problem::Problem;
use crate::units::Size;

/// The state of a replay.
#[derive(Debug)]
pub(super) struct Replay {
    list: FlowList,
    /// The transports that the list names, by number.
    pub transports: Vec<u16>,
    /// The groups that its flows are of, by number, and how many flows there are.
    pub groups: (Vec<u16>, usize),
    classes: SizeClasses,
    application_delay_ps: u64,
    started: usize,
    completed: usize,
}

impl Replay {
    /// Of the file at `path`.
    pub fn new(
        path: &str,
        class_bounds: &[Size],
        context: &Context,
        groups: &Groups,
    ) -> Result<Self, Problem> {
        let list = FlowList::read(path, context.hosts, context.transports, groups);
        let mut list = list.map_err(|problem| ("workload.flows".to_owned(), problem))?;
        let transports = list.transports();
        let groups = (groups_of(&list, groups), list.flows().len());
        list.cut(context.end_ps);
        Ok(Replay {
            list,
            transports,
            groups,
            classes: SizeClasses::new(class_bounds),
            application_delay_ps: context.application_delay_ps,
            started: 0,
            completed: 0,
        })
    }

    /// Names of the groups of its list, from number 1.
    pub fn group_names(&self) -> &[String] {
        self.list.group_names()
    }

    /// Starts the flows that are due; the next wake is for the one after them.
    fn start(&mut self, now_ps: u64, agenda: &mut Agenda) {
        while let Some(flow) = self.list.flows().get(self.started) {
            if flow.start_ps > now_ps {
                agenda.wakes.push((flow.start_ps, 0));
                return;
            }
            let ends = (flow.src, flow.dst);
            let mut message = Message::new(self.started as u64, ends, flow.bytes, Channel::New);
            message.transport = self.list.transport(self.started);
            agenda.sends.push(message);
            self.started += 1;
        }
    }
}

/// The groups of a list's flows, by number, each once.
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
    fn connections(&self) -> &[(u32, u32)] {
        &[]
    }

    fn classes(&self) -> &[String] {
        self.classes.names()
    }

    fn backlog(&self) -> Backlog {
        let flows = self.list.flows();
        let together = flows.partition_point(|flow| flow.start_ps == flows[0].start_ps);
        let bytes = flows[..together].iter().map(|flow| flow.bytes);
        Backlog::of_flows(together as u64).with_bytes(bytes.fold(0, u64::saturating_add))
    }

    fn besides(&self) -> Besides {
        Besides {
            application_ps: self.application_delay_ps,
            ..Besides::default()
        }
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.start(0, agenda);
    }

    fn wake(&mut self, now_ps: u64, _: u64, agenda: &mut Agenda) {
        self.start(now_ps, agenda);
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        self.completed += 1;
        let flow = &self.list.flows()[tag as usize];
        agenda.flows.push(FlowRecord {
            start_ps: flow.start_ps,
            fct_ps: now_ps + self.application_delay_ps - flow.start_ps,
            ideal_ps: None,
            bytes: flow.bytes,
            class: self.classes.of(flow.bytes),
            src: flow.src,
            dst: flow.dst,
            connection: NO_CONNECTION,
            transport: 0,
            group: self.list.group(tag as usize),
            timeouts: few(timeouts),
            acked: Acked::Pending,
        });
    }

    fn is_complete(&self) -> bool {
        self.completed == self.started
    }

    fn progress(&self) -> Progress {
        if self.completed == self.list.flows().len() {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn started_share(&self) -> Option<f64> {
        Some(self.completed as f64 / self.list.flows().len().max(1) as f64)
    }

    fn finish(&mut self, _: &mut Agenda) {}
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};

    #[test]
    fn flows_start_when_their_rows_say() {
        let path = std::env::temp_dir().join(format!("hull-replay-{}.csv", std::process::id()));
        let rows = "start_ps,src,dst,bytes\n0,0,1,10\n7,h2,1,20000\n7,1,2,30\n5,1,0,40\n1000000000000,0,1,50\n";
        std::fs::write(&path, rows).expect("a temporary file");
        let text = format!("workload.flows = \"{}\"", path.display());
        let traffic = build(&text, 3, "1s");
        std::fs::remove_file(&path).expect("it was there");
        let log = TestNetwork::default().run(&mut traffic.expect("good"));
        let sent: Vec<(u64, u32, u32, u64)> = log
            .sends
            .iter()
            .map(|(at_ps, m)| (*at_ps, m.src, m.dst, m.bytes))
            .collect();
        // The last row starts when the measured second is over.
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

    #[test]
    fn the_key_and_the_file_are_named() {
        let (key, problem): (String, String) = build("workload.flows = \"no/list.csv\"", 3, "1s")
            .expect_err("no")
            .into();
        assert_eq!(key, "workload.flows");
        assert!(problem.contains("no/list.csv"), "{problem}");
    }
}
