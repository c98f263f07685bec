//! A network for tests of workloads: it delivers each message after a time that the test chooses.

use std::collections::BTreeMap;

use super::{
    Agenda, FlowRecord, HostNames, LASTING, Message, Progress, QueryRecord, Traffic, Workload,
};
use crate::problem::Problem;
use crate::scenario::expand;

/// Seed of all tests.
pub(super) const SEED: u64 = 1;

/// Creates hosts h0, h1, ... with links of `gbps`.
pub(super) fn hosts(count: usize, gbps: u64) -> HostNames {
    HostNames {
        names: (0..count).map(|host| format!("h{host}")).collect(),
        to_network_bps: vec![gbps * 1_000_000_000; count],
        from_network_bps: vec![gbps * 1_000_000_000; count],
        graph: None,
    }
}

/// Builds the traffic of a scenario with these keys, `count` hosts at 1 Gbps and this duration.
pub(super) fn build(text: &str, count: usize, duration: &str) -> Result<Traffic, Problem> {
    let base = format!(
        r#"
        name = "test"
        run.duration = "{duration}"
        topology.star.hosts = {count}
        host.rate = "1Gbps"
        host.delay = "1us"
        switch.rate = "1Gbps"
        switch.delay = "1us"
        switch.buffer = "100KB"
        "#
    );
    let cells = expand(&format!("{base}{text}"), "test.toml", &[]).expect("a good scenario");
    cells[0].scenario.traffic(&hosts(count, 1), SEED)
}

/// Treatment of messages in the network.
pub(super) struct TestNetwork {
    /// Delivery time of a message, ps; `u64::MAX` for never.
    pub delay_ps: fn(&Message) -> u64,
    /// Number of timeouts of a message.
    pub timeouts: fn(&Message) -> u32,
}

impl Default for TestNetwork {
    fn default() -> Self {
        TestNetwork {
            delay_ps: |_| 0,
            timeouts: |_| 0,
        }
    }
}

/// Events of a run.
pub(super) struct Log {
    pub sends: Vec<(u64, Message)>,
    pub stops: Vec<(u64, u64)>,
    pub flows: Vec<FlowRecord>,
    pub queries: Vec<QueryRecord>,
    pub connections: Vec<(u32, u32)>,
    pub classes: Vec<String>,
    pub progress: Progress,
    pub end_ps: u64,
}

impl Log {
    /// Times between the starts of queries, ps.
    pub fn query_gaps(&self) -> Vec<f64> {
        let mut starts: Vec<u64> = self.queries.iter().map(|query| query.start_ps).collect();
        starts.sort_unstable();
        let pairs = starts.windows(2);
        pairs.map(|pair| (pair[1] - pair[0]) as f64).collect()
    }
}

enum Event {
    Wake(u64),
    Delivery(Message),
}

impl TestNetwork {
    /// Runs like the simulation: until everything is done, or after the measured time until it is
    /// complete.
    pub fn run(&self, traffic: &mut Traffic) -> Log {
        let mut log = Log {
            sends: Vec::new(),
            stops: Vec::new(),
            flows: Vec::new(),
            queries: Vec::new(),
            connections: traffic.connections().to_vec(),
            classes: traffic.classes().to_vec(),
            progress: Progress::Busy,
            end_ps: 0,
        };
        let mut events: BTreeMap<(u64, u64), Event> = BTreeMap::new();
        let mut number = 0;
        let mut agenda = Agenda::default();
        traffic.begin(&mut agenda);
        loop {
            let now_ps = log.end_ps;
            let wakes = agenda.wakes.drain(..);
            let sends = agenda.sends.drain(..).inspect(|message| {
                assert_ne!(message.src, message.dst);
                log.sends.push((now_ps, *message));
            });
            let delivered = |message: &Message| now_ps.checked_add((self.delay_ps)(message));
            let due: Vec<(u64, Event)> = wakes
                .map(|(at_ps, token)| (at_ps, Event::Wake(token)))
                .chain(
                    sends
                        .filter(|message| message.bytes < LASTING)
                        .filter_map(|message| {
                            Some((delivered(&message)?, Event::Delivery(message)))
                        }),
                )
                .collect();
            for (at_ps, event) in due {
                assert!(at_ps >= now_ps, "a wish for the past");
                number += 1;
                events.insert((at_ps, number), event);
            }
            log.stops
                .extend(agenda.stops.drain(..).map(|tag| (now_ps, tag)));
            log.flows.append(&mut agenda.flows);
            log.queries.append(&mut agenda.queries);
            log.progress = traffic.progress();
            let Some(((at_ps, _), event)) = events.pop_first() else {
                break;
            };
            let over = at_ps >= traffic.measured_ps.end && traffic.is_complete();
            if over || log.progress == Progress::Done {
                break;
            }
            log.end_ps = at_ps;
            match event {
                Event::Wake(token) => traffic.wake(at_ps, token, &mut agenda),
                Event::Delivery(message) => {
                    let timeouts = (self.timeouts)(&message);
                    traffic.delivered(at_ps, message.tag, timeouts, &mut agenda);
                }
            }
        }
        traffic.finish(&mut agenda);
        log.queries.append(&mut agenda.queries);
        log
    }
}
