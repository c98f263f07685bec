//! A permutation: each host sends one flow of `size` bytes and receives one, all at `start`, drawn
//! uniformly from the permutations without a fixed point. It is the standard pattern for load
//! balancing: no host is oversubscribed, so any time above an uncontended flow's is due to the network.
//! Times ps, sizes bytes.

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

/// Each host sends one flow and receives one; the seed determines the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Bytes of each flow.
    pub size: Size,
    /// Participating hosts (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostList>,
    /// Start time of the flows.
    #[serde(default)]
    pub start: Time,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

impl Settings for Permutation {
    fn check(&self) -> Result<(), Problem> {
        time("workload.permutation.start", self.start)?;
        message("workload.permutation.size", self.size)
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(PermutationTraffic::new(self, context)?))
    }
}

/// State of a permutation.
#[derive(Debug)]
pub(super) struct PermutationTraffic {
    /// Source and destination of each flow.
    ends: Vec<(u32, u32)>,
    start_ps: u64,
    size: u64,
    classes: Vec<String>,
    outstanding: usize,
    open: Open,
    has_started: bool,
    end_ps: u64,
    application_delay_ps: u64,
}

impl PermutationTraffic {
    /// Creates the permutation that the scenario describes.
    pub fn new(settings: &Permutation, context: &Context) -> Result<Self, Problem> {
        let key = "workload.permutation.hosts";
        let hosts = context.hosts.two_or_more(key, settings.hosts.as_ref())?;
        let mut stream = Stream::new(context.seed, Purpose::Permutation, 0);
        let receivers = without_fixed_point(&hosts, &mut stream);
        Ok(PermutationTraffic {
            ends: hosts.into_iter().zip(receivers).collect(),
            start_ps: settings.start.0,
            size: settings.size.0,
            classes: vec![settings.size.to_string()],
            outstanding: 0,
            open: Open::default(),
            has_started: false,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
        })
    }
}

/// Draws a permutation in which no item keeps its place. Shuffles until one is found, 2.7 times on
/// average (e).
fn without_fixed_point(items: &[u32], stream: &mut Stream) -> Vec<u32> {
    let mut shuffled = items.to_vec();
    loop {
        for last in (1..shuffled.len()).rev() {
            shuffled.swap(last, stream.below(last + 1));
        }
        if shuffled.iter().zip(items).all(|(a, b)| a != b) {
            return shuffled;
        }
    }
}

impl Workload for PermutationTraffic {
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
        Backlog::of_flows(self.ends.len() as u64).with_largest(self.size)
    }

    fn planned(&self) -> Option<u64> {
        Some(self.ends.len() as u64)
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        agenda.wakes.push((self.start_ps, 0));
    }

    fn wake(&mut self, now_ps: u64, _: u64, agenda: &mut Agenda) {
        self.has_started = true;
        if now_ps >= self.end_ps {
            return;
        }
        self.outstanding = self.ends.len();
        (0..self.ends.len() as u64).for_each(|tag| self.open.insert(tag));
        let sends = (self.ends.iter().zip(0..))
            .map(|(&ends, tag)| Message::new(tag, ends, self.size, Channel::New));
        agenda.sends.extend(sends);
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        self.outstanding -= 1;
        self.open.remove(tag);
        agenda.flows.push(FlowRecord::new(
            self.start_ps,
            now_ps + self.application_delay_ps,
            self.ends[tag as usize],
            self.size,
            timeouts,
        ));
    }

    fn is_complete(&self) -> bool {
        self.outstanding == 0
    }

    fn progress(&self) -> Progress {
        if self.has_started && self.outstanding == 0 {
            Progress::Done
        } else {
            Progress::Busy
        }
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let unfinished = self
            .open
            .numbers()
            .map(|tag| FlowRecord::unfinished(self.start_ps, self.ends[tag as usize], self.size));
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};
    use super::{Purpose, Stream, without_fixed_point};
    use std::collections::HashMap;

    #[test]
    fn each_host_sends_once_and_receives_once() {
        let text = "workload.permutation = { size = \"1MB\", start = \"1us\" }";
        let mut traffic = build(text, 8, "1s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let mut sources: Vec<u32> = log.flows.iter().map(|f| f.src).collect();
        let mut destinations: Vec<u32> = log.flows.iter().map(|f| f.dst).collect();
        sources.sort_unstable();
        destinations.sort_unstable();
        assert_eq!(sources, (0..8).collect::<Vec<u32>>());
        assert_eq!(destinations, sources);
        assert!(
            log.flows
                .iter()
                .all(|f| f.src != f.dst && f.bytes == 1_000_000 && f.start_ps == 1_000_000)
        );
    }

    #[test]
    fn derangements_of_four_are_equally_likely() {
        let mut stream = Stream::new(1, Purpose::Permutation, 0);
        let mut seen: HashMap<Vec<u32>, u32> = HashMap::new();
        for _ in 0..9_000 {
            *seen
                .entry(without_fixed_point(&[0, 1, 2, 3], &mut stream))
                .or_default() += 1;
        }
        assert_eq!(seen.len(), 9, "4! (1 - 1 + 1/2 - 1/6 + 1/24)");
        // Binomial with mean 1000 and deviation 30: five deviations.
        assert!(seen.values().all(|count| count.abs_diff(1_000) < 150));
    }

    #[test]
    fn one_host_is_too_few() {
        let text = "workload.permutation = { size = \"1MB\", hosts = [3] }";
        let problem = build(text, 8, "1s").expect_err("one host");
        assert_eq!(
            problem.to_string(),
            "workload.permutation.hosts: [3] is invalid; expected at least two hosts"
        );
    }
}
