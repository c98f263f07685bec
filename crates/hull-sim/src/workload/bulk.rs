//! Flows to the client that start one after the other and send `size` bytes, or as much as time allows
//! (paper 6.1). Flow i comes from host 1 + i mod (hosts - 1). Times ps, sizes bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::open::Open;
use super::sizes::message;
use super::{
    Agenda, Backlog, Channel, FlowRecord, LASTING, Message, Progress, Settings, Workload, time,
};
use crate::problem::{Problem, require};
use crate::units::{Size, Time};

/// Flows from as many hosts to the client that start with the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// Number of flows; flow i comes from host 1 + i mod (hosts - 1).
    pub flows: u32,
    /// Bytes of each flow; unset: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Time between the starts of two flows.
    #[serde(default)]
    pub start_interval: Time,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

impl Settings for Bulk {
    fn check(&self) -> Result<(), Problem> {
        let flows = self.flows;
        require(flows > 0, "workload.bulk.flows", flows, "at least 1")?;
        time("workload.bulk.start_interval", self.start_interval)?;
        match self.size {
            Some(size) => message("workload.bulk.size", size),
            None => Ok(()),
        }
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(BulkTraffic::new(self, context)))
    }
}

/// State of bulk flows.
#[derive(Debug)]
pub(super) struct BulkTraffic {
    flows: u64,
    others: u64,
    size: Option<u64>,
    start_interval_ps: u64,
    end_ps: u64,
    classes: Vec<String>,
    started: u64,
    completed: u64,
    open: Open,
}

impl BulkTraffic {
    /// Creates the flows that the scenario describes.
    pub fn new(settings: &Bulk, context: &Context) -> Self {
        BulkTraffic {
            flows: u64::from(settings.flows),
            others: u64::from(context.hosts.count()) - 1,
            size: settings.size.map(|size| size.0),
            start_interval_ps: settings.start_interval.0,
            end_ps: context.end_ps,
            classes: settings.size.iter().map(ToString::to_string).collect(),
            started: 0,
            completed: 0,
            open: Open::default(),
        }
    }

    fn src(&self, flow: u64) -> u32 {
        (1 + flow % self.others) as u32
    }

    /// Starts the flows that are due. The next wake is for the first later one.
    fn start(&mut self, now_ps: u64, agenda: &mut Agenda) {
        while self.started < self.flows && now_ps < self.end_ps {
            let at_ps = self.started.saturating_mul(self.start_interval_ps);
            if at_ps > now_ps {
                agenda.wakes.push((at_ps, 0));
                return;
            }
            let bytes = self.size.unwrap_or(LASTING);
            let ends = (self.src(self.started), 0);
            let message = Message::new(self.started, ends, bytes, Channel::New);
            agenda.sends.push(message);
            self.open.insert(self.started);
            self.started += 1;
        }
    }
}

impl Workload for BulkTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        &[]
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn backlog(&self) -> Backlog {
        Backlog::of_flows(match (self.size, self.start_interval_ps) {
            (_, 0) => self.flows,
            (None, interval_ps) => self.flows.min(self.end_ps / interval_ps),
            (Some(_), _) => 0,
        })
        .with_largest(self.size.unwrap_or(LASTING))
    }

    fn planned(&self) -> Option<u64> {
        self.size.map(|_| self.flows)
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        self.start(0, agenda);
    }

    fn wake(&mut self, now_ps: u64, _: u64, agenda: &mut Agenda) {
        self.start(now_ps, agenda);
    }

    fn delivered(&mut self, now_ps: u64, flow: u64, timeouts: u32, agenda: &mut Agenda) {
        self.completed += 1;
        self.open.remove(flow);
        let start_ps = flow * self.start_interval_ps;
        agenda.flows.push(FlowRecord::new(
            start_ps,
            now_ps,
            (self.src(flow), 0),
            self.size.unwrap_or(LASTING),
            timeouts,
        ));
    }

    fn is_complete(&self) -> bool {
        self.size.is_none() || self.completed == self.started
    }

    fn progress(&self) -> Progress {
        match self.size {
            None => Progress::Lasting,
            Some(_) if self.completed == self.flows => Progress::Done,
            Some(_) => Progress::Busy,
        }
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let Some(bytes) = self.size else {
            return;
        };
        let unfinished = self.open.numbers().map(|flow| {
            let start_ps = flow * self.start_interval_ps;
            FlowRecord::unfinished(start_ps, (self.src(flow), 0), bytes)
        });
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};
    use crate::workload::{LASTING, Progress};

    #[test]
    fn flows_start_one_after_the_other() {
        let text = "workload.bulk = { flows = 4, size = \"1MB\", start_interval = \"2us\" }";
        let mut traffic = build(text, 4, "1s").expect("good");
        let log = TestNetwork {
            delay_ps: |_| 5_000_000,
            ..TestNetwork::default()
        }
        .run(&mut traffic);
        let sent: Vec<(u64, u32)> = log.sends.iter().map(|(at_ps, m)| (*at_ps, m.src)).collect();
        assert_eq!(
            sent,
            [(0, 1), (2_000_000, 2), (4_000_000, 3), (6_000_000, 1)]
        );
        assert!(log.flows.iter().all(|flow| flow.fct_ps == 5_000_000));
        assert_eq!((log.flows.len(), log.progress), (4, Progress::Done));
    }

    #[test]
    fn flows_without_a_size_never_end() {
        let mut traffic = build("workload.bulk.flows = 3", 4, "1s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        assert!(
            log.sends
                .iter()
                .all(|(at_ps, m)| (*at_ps, m.bytes) == (0, LASTING))
        );
        assert_eq!((log.sends.len(), log.progress), (3, Progress::Lasting));
    }
}
