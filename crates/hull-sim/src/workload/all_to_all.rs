//! A shuffle: each host sends `size` to each other host, once; with jitter each host starts a uniform
//! random time after `start`. Host i sends to i + 1, i + 2, ... in turn, so that hosts begin with
//! different receivers. Times ps, sizes bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::host_list::HostList;
use super::open::Open;
use super::sizes::message;
use super::{
    Agenda, Backlog, Besides, Channel, FlowRecord, Message, Progress, Settings, Workload, time,
};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};
use crate::units::{Size, Time};

/// Each host sends to each other host, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Bytes from each host to each other host.
    pub size: Size,
    /// Participating hosts (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostList>,
    /// Start time of the transfers.
    #[serde(default)]
    pub start: Time,
    /// Largest random delay of a host's start.
    #[serde(default)]
    pub jitter: Time,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

impl Settings for AllToAll {
    fn check(&self) -> Result<(), Problem> {
        time("workload.all_to_all.start", self.start)?;
        time("workload.all_to_all.jitter", self.jitter)?;
        message("workload.all_to_all.size", self.size)
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(AllToAllTraffic::new(self, context)?))
    }
}

/// State of a shuffle.
#[derive(Debug)]
pub(super) struct AllToAllTraffic {
    hosts: Vec<u32>,
    starts_ps: Vec<u64>,
    size: u64,
    classes: Vec<String>,
    outstanding: usize,
    open: Open,
    /// Number of hosts that have not started.
    waiting: usize,
    end_ps: u64,
    application_delay_ps: u64,
}

impl AllToAllTraffic {
    /// Creates the shuffle that the scenario describes.
    pub fn new(settings: &AllToAll, context: &Context) -> Result<Self, Problem> {
        let key = "workload.all_to_all.hosts";
        let hosts = context.hosts.two_or_more(key, settings.hosts.as_ref())?;
        let start_ps = |&host: &u32| match settings.jitter.0 {
            0 => settings.start.0,
            jitter_ps => {
                let mut stream = Stream::new(context.seed, Purpose::ShuffleJitter, host as usize);
                settings.start.0 + stream.below(jitter_ps as usize) as u64
            }
        };
        Ok(AllToAllTraffic {
            starts_ps: hosts.iter().map(start_ps).collect(),
            waiting: hosts.len(),
            hosts,
            size: settings.size.0,
            classes: vec![settings.size.to_string()],
            outstanding: 0,
            open: Open::default(),
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
        })
    }
}

impl AllToAllTraffic {
    /// Start (ps) and ends of a flow.
    fn flow(&self, tag: u64) -> (u64, (u32, u32)) {
        let (i, j) = (
            tag as usize / self.hosts.len(),
            tag as usize % self.hosts.len(),
        );
        (self.starts_ps[i], (self.hosts[i], self.hosts[j]))
    }
}

impl Workload for AllToAllTraffic {
    fn connections(&self) -> &[(u32, u32)] {
        &[]
    }

    fn classes(&self) -> &[String] {
        &self.classes
    }

    fn besides(&self) -> Besides {
        Besides {
            application_ps: self.application_delay_ps,
            ..Besides::default()
        }
    }

    fn backlog(&self) -> Backlog {
        let first_ps = self.starts_ps.first();
        let together = (self.starts_ps.iter()).all(|start_ps| Some(start_ps) == first_ps);
        let hosts = self.hosts.len() as u64;
        let flows = u64::from(together) * hosts * hosts.saturating_sub(1);
        Backlog::of_flows(flows).with_largest(self.size)
    }

    fn planned(&self) -> Option<u64> {
        Some((self.hosts.len() * (self.hosts.len() - 1)) as u64)
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        let starts = self.starts_ps.iter().zip(0..);
        agenda.wakes.extend(starts.map(|(&at_ps, i)| (at_ps, i)));
    }

    fn wake(&mut self, now_ps: u64, host: u64, agenda: &mut Agenda) {
        self.waiting -= 1;
        if now_ps >= self.end_ps {
            return;
        }
        let (i, count) = (host as usize, self.hosts.len());
        for j in (1..count).map(|step| (i + step) % count) {
            let ends = (self.hosts[i], self.hosts[j]);
            let tag = (i * count + j) as u64;
            let message = Message::new(tag, ends, self.size, Channel::New);
            agenda.sends.push(message);
            self.open.insert(tag);
            self.outstanding += 1;
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        self.outstanding -= 1;
        self.open.remove(tag);
        let (start_ps, ends) = self.flow(tag);
        agenda.flows.push(FlowRecord::new(
            start_ps,
            now_ps + self.application_delay_ps,
            ends,
            self.size,
            timeouts,
        ));
    }

    fn is_complete(&self) -> bool {
        self.outstanding == 0
    }

    fn progress(&self) -> Progress {
        if self.waiting == 0 && self.outstanding == 0 {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let unfinished = self.open.numbers().map(|tag| {
            let (start_ps, ends) = self.flow(tag);
            FlowRecord::unfinished(start_ps, ends, self.size)
        });
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};
    use std::collections::HashSet;

    #[test]
    fn each_host_sends_to_each_other_once() {
        let text = "workload.all_to_all = { size = \"1MB\", jitter = \"5us\", start = \"1us\" }";
        let mut traffic = build(text, 8, "1s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let pairs: HashSet<(u32, u32)> = log.flows.iter().map(|f| (f.src, f.dst)).collect();
        assert_eq!((log.flows.len(), pairs.len()), (56, 56));
        assert!(
            log.flows
                .iter()
                .all(|f| f.src != f.dst && f.bytes == 1_000_000)
        );
        let starts: HashSet<u64> = log.flows.iter().map(|f| f.start_ps).collect();
        assert_eq!(starts.len(), 8);
        assert!(starts.iter().all(|s| (1_000_000..6_000_000).contains(s)));
        let first: HashSet<u32> = log.sends.iter().step_by(7).map(|(_, m)| m.dst).collect();
        assert_eq!(first.len(), 8, "each begins with another receiver");
    }
}
