//! Long-lived flows with start and stop times (thesis 2.3.1; figure 2.16 starts and stops five of
//! them 30 seconds apart). Times ps, sizes bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::host_list::HostList;
use super::sizes::message;
use super::{
    Agenda, Backlog, Besides, Channel, FlowRecord, LASTING, Message, Progress, Settings, Workload,
};
use crate::problem::{Problem, quoted, require};
use crate::units::{Size, Time};

/// Long-lived flows with start and stop times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongLived {
    /// The flows, or groups of flows.
    pub flows: Vec<LongFlows>,
}

/// A flow, or a group of flows that start and stop one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LongFlows {
    /// Sending hosts.
    pub src: HostList,
    /// Receiving hosts: as many as sending ones, or one for all; one sender may have several.
    pub dst: HostList,
    /// Start time of the first flow.
    #[serde(default)]
    pub start: Time,
    /// Time between the starts of two flows of the group.
    #[serde(default)]
    pub start_interval: Time,
    /// Stop time of the first flow; unset: the flows do not stop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<Time>,
    /// Time between the stops of two flows of the group.
    #[serde(default)]
    pub stop_interval: Time,
    /// Bytes of each flow; unset: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

impl Settings for LongLived {
    fn check(&self) -> Result<(), Problem> {
        require(
            !self.flows.is_empty(),
            "workload.long_lived.flows",
            "an empty list",
            "at least one flow",
        )?;
        for (i, flow) in self.flows.iter().enumerate() {
            let key = |name: &str| format!("workload.long_lived.flows[{i}].{name}");
            if let Some(stop) = flow.stop {
                require(
                    stop > flow.start,
                    &key("stop"),
                    quoted(stop),
                    "a time after the start",
                )?;
            }
            if let Some(size) = flow.size {
                message(&key("size"), size)?;
            }
        }
        Ok(())
    }

    fn other_transports(&self) -> Vec<(String, Option<&str>)> {
        let flows = self.flows.iter().enumerate();
        let named = flows.map(|(i, flows)| (format!("flows[{i}]"), flows.transport.as_deref()));
        named.collect()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(LongLivedTraffic::new(self, context)?))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Waiting,
    Running,
    Ended,
}

#[derive(Debug)]
struct Flow {
    ends: (u32, u32),
    start_ps: u64,
    stop_ps: Option<u64>,
    size: Option<u64>,
    class: u16,
    transport: u16,
    state: State,
}

/// State of long-lived flows.
#[derive(Debug)]
pub(super) struct LongLivedTraffic {
    flows: Vec<Flow>,
    classes: Vec<String>,
    end_ps: u64,
    application_delay_ps: u64,
}

impl LongLivedTraffic {
    /// Creates the flows that the scenario describes.
    pub fn new(settings: &LongLived, context: &Context) -> Result<Self, Problem> {
        let mut flows = Vec::new();
        let mut classes: Vec<String> = Vec::new();
        for (i, group) in settings.flows.iter().enumerate() {
            let class = group.size.map_or(0, |size| {
                let name = size.to_string();
                let known = classes.iter().position(|class| *class == name);
                known.unwrap_or_else(|| {
                    classes.push(name);
                    classes.len() - 1
                })
            });
            for (n, ends) in ends(i, group, context)?.into_iter().enumerate() {
                let nth = |first: Time, interval: Time| {
                    first.0.saturating_add(interval.0.saturating_mul(n as u64))
                };
                let start_ps = nth(group.start, group.start_interval);
                let stop_ps = group.stop.map(|stop| nth(stop, group.stop_interval));
                if stop_ps.is_some_and(|stop_ps| stop_ps <= start_ps) {
                    return Err(Problem::new(
                        format!("workload.long_lived.flows[{i}].stop_interval"),
                        format!(
                            "found \"{}\", so that flow {n} stops before it starts; expected a stop after the start",
                            group.stop_interval
                        ),
                    ));
                }
                flows.push(Flow {
                    ends,
                    start_ps,
                    stop_ps,
                    size: group.size.map(|size| size.0),
                    class: class as u16,
                    transport: context.transport(group.transport.as_deref()),
                    state: State::Waiting,
                });
            }
        }
        Ok(LongLivedTraffic {
            flows,
            classes,
            end_ps: context.end_ps,
            application_delay_ps: context.application_delay_ps,
        })
    }
}

/// Pairs of source and destination of a group: one to many, many to one, or as many to as many.
fn ends(i: usize, group: &LongFlows, context: &Context) -> Result<Vec<(u32, u32)>, Problem> {
    let key = |name: &str| format!("workload.long_lived.flows[{i}].{name}");
    let src = context.hosts.many(&key("src"), &group.src)?;
    let dst = context.hosts.many(&key("dst"), &group.dst)?;
    let count = src.len().max(dst.len());
    let allowed = format!("1 or {count} hosts");
    for (name, hosts) in [("src", &src), ("dst", &dst)] {
        if hosts.len() != 1 && hosts.len() != count {
            let found = hosts.len();
            return Err(Problem::new(
                key(name),
                format!("found {found} hosts; expected {allowed}"),
            ));
        }
    }
    let pairs: Vec<(u32, u32)> = (0..count)
        .map(|n| (src[n % src.len()], dst[n % dst.len()]))
        .collect();
    match pairs.iter().find(|(src, dst)| src == dst) {
        Some((src, _)) => Err(Problem::new(
            key("dst"),
            format!("found a flow from host {src} to itself; expected another host"),
        )),
        None => Ok(pairs),
    }
}

impl Workload for LongLivedTraffic {
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
        let first_ps = self.flows.iter().map(|flow| flow.start_ps).min();
        let first = |flow: &&Flow| Some(flow.start_ps) == first_ps;
        let flows = self.flows.iter().filter(first).count() as u64;
        // The bytes in flight of an endless flow are bounded by marks and losses.
        let sizes = self.flows.iter().filter(first).filter_map(|flow| flow.size);
        let largest = self.flows.iter().filter(first);
        let largest = largest.map(|flow| flow.size.unwrap_or(LASTING)).max();
        Backlog::of_flows(flows)
            .with_bytes(sizes.fold(0, u64::saturating_add))
            .with_largest(largest.unwrap_or(0))
    }

    fn planned(&self) -> Option<u64> {
        let is_finite = self.flows.iter().all(|flow| flow.size.is_some());
        is_finite.then_some(self.flows.len() as u64)
    }

    fn begin(&mut self, agenda: &mut Agenda) {
        for (i, flow) in self.flows.iter().enumerate() {
            let start = (flow.start_ps, 2 * i as u64);
            let stop = flow.stop_ps.map(|stop_ps| (stop_ps, 2 * i as u64 + 1));
            let wakes = [Some(start), stop].into_iter().flatten();
            agenda
                .wakes
                .extend(wakes.filter(|&(at_ps, _)| at_ps < self.end_ps));
        }
    }

    fn wake(&mut self, _: u64, token: u64, agenda: &mut Agenda) {
        let (tag, starts) = (token / 2, token.is_multiple_of(2));
        let flow = &mut self.flows[tag as usize];
        if starts {
            flow.state = State::Running;
            let bytes = flow.size.unwrap_or(LASTING);
            let mut message = Message::new(tag, flow.ends, bytes, Channel::New);
            message.transport = flow.transport;
            agenda.sends.push(message);
        } else if flow.state == State::Running {
            flow.state = State::Ended;
            agenda.stops.push(tag);
        }
    }

    fn delivered(&mut self, now_ps: u64, tag: u64, timeouts: u32, agenda: &mut Agenda) {
        let flow = &mut self.flows[tag as usize];
        let completes = flow.state == State::Running;
        flow.state = State::Ended;
        let Some(bytes) = flow.size.filter(|_| completes) else {
            return; // it was stopped: it has no completion time
        };
        agenda.flows.push(FlowRecord {
            class: flow.class,
            ..FlowRecord::new(
                flow.start_ps,
                now_ps + self.application_delay_ps,
                flow.ends,
                bytes,
                timeouts,
            )
        });
    }

    fn is_complete(&self) -> bool {
        let runs = |flow: &Flow| flow.size.is_some() && flow.state == State::Running;
        !self.flows.iter().any(runs)
    }

    fn progress(&self) -> Progress {
        let open = |flow: &Flow| flow.state != State::Ended;
        let lasts = |flow: &Flow| flow.size.is_none() && flow.stop_ps.is_none();
        if self.flows.iter().any(|flow| open(flow) && !lasts(flow)) {
            Progress::Busy
        } else if self.flows.iter().any(open) {
            Progress::Lasting
        } else {
            Progress::Done
        }
    }

    fn finish(&mut self, agenda: &mut Agenda) {
        let running = (self.flows.iter()).filter(|flow| flow.state == State::Running);
        let unfinished = running.filter_map(|flow| {
            Some(FlowRecord {
                class: flow.class,
                transport: flow.transport,
                ..FlowRecord::unfinished(flow.start_ps, flow.ends, flow.size?)
            })
        });
        agenda.unfinished.extend(unfinished);
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build};

    #[test]
    fn figure_2_16_as_a_scenario() {
        let text = r#"
            [[workload.long_lived.flows]]
            src = 1
            dst = 0
            [[workload.long_lived.flows]]
            src = "2-5"
            dst = 0
            start = "30s"
            start_interval = "30s"
            stop = "150s"
            stop_interval = "30s"
        "#;
        let mut traffic = build(text, 6, "250s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let second = 1_000_000_000_000;
        let starts: Vec<(u64, u32)> = log
            .sends
            .iter()
            .map(|(at_ps, message)| (at_ps / second, message.src))
            .collect();
        assert_eq!(starts, [(0, 1), (30, 2), (60, 3), (90, 4), (120, 5)]);
        let stops: Vec<(u64, u64)> = log
            .stops
            .iter()
            .map(|(at_ps, tag)| (at_ps / second, *tag))
            .collect();
        assert_eq!(stops, [(150, 1), (180, 2), (210, 3), (240, 4)]);
    }

    #[test]
    fn groups_of_many_to_one_one_to_many_and_pairs() {
        let text = r#"
            workload.long_lived.flows = [
                { src = "0-1", dst = 4, size = "1MB" },
                { src = 5, dst = ["2", "h3"], size = "2MB" },
                { src = "0-1", dst = "2-3", size = "1MB", start = "1us" },
            ]
        "#;
        let mut traffic = build(text, 6, "1s").expect("good");
        let log = TestNetwork::default().run(&mut traffic);
        let ends: Vec<(u32, u32)> = log.sends.iter().map(|(_, m)| (m.src, m.dst)).collect();
        assert_eq!(ends, [(0, 4), (1, 4), (5, 2), (5, 3), (0, 2), (1, 3)]);
        assert_eq!(log.classes, ["1MB", "2MB"]);
        let classes: Vec<u16> = log.flows.iter().map(|record| record.class).collect();
        assert_eq!(classes, [0, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn groups_that_do_not_fit() {
        for (flow, key, part) in [
            (
                r#"{ src = "0-2", dst = "3-4" }"#,
                "[0].dst",
                "found 2 hosts",
            ),
            (r#"{ src = "0-2", dst = 1 }"#, "[0].dst", "to itself"),
            (r#"{ src = 0, dst = "h9" }"#, "[0].dst", "\"h9\" is invalid"),
            (
                r#"{ src = "0-2", dst = 4, start_interval = "1s", stop = "1s" }"#,
                "[0].stop_interval",
                "flow 1 stops before it starts",
            ),
        ] {
            let text = format!("workload.long_lived.flows = [{flow}]");
            let (found, problem): (String, String) = build(&text, 6, "1s").expect_err(flow).into();
            assert!(found.ends_with(key), "{found}");
            assert!(problem.contains(part), "{problem}");
        }
    }
}
