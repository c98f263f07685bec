//! The end of a workload that makes a fixed number of flows or queries: the time from the start of its
//! first one to the completion of its last one. A collective, an incast or a file transfer is done then.
//! All of them count, also those that start before or after the measured time. Times ps.

use serde::Serialize;

/// Flows and queries of a workload that have completed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ending {
    /// Start of the first one, ps.
    first_ps: Option<u64>,
    /// Completion of the last one, ps.
    last_ps: u64,
    completed: u64,
}

/// Completion of the last flow of a workload, in the summary of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LastFlow {
    /// Flows or queries of the workload.
    pub flows: u64,
    /// Flows or queries that have not completed, or not started.
    pub unfinished: u64,
    /// Time from the start of the first flow, us; `None` if a flow has not completed.
    pub completion_us: Option<f64>,
}

impl Ending {
    /// Adds a flow or a query that has completed.
    pub fn add(&mut self, start_ps: u64, end_ps: u64) {
        self.first_ps = Some(self.first_ps.map_or(start_ps, |first| first.min(start_ps)));
        self.last_ps = self.last_ps.max(end_ps);
        self.completed += 1;
    }

    /// Adds what another part of the run has counted.
    pub fn join(&mut self, other: &Ending) {
        if let Some(first_ps) = other.first_ps {
            self.add(first_ps, other.last_ps);
            self.completed += other.completed - 1;
        }
    }

    /// The end of a workload that makes `planned` flows or queries.
    pub fn of(&self, planned: u64) -> LastFlow {
        let unfinished = planned.saturating_sub(self.completed);
        let first_ps = self.first_ps.filter(|_| unfinished == 0);
        LastFlow {
            completion_us: first_ps.map(|first_ps| (self.last_ps - first_ps) as f64 / 1e6),
            flows: planned,
            unfinished,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{Log, TestNetwork, build};
    use super::*;

    /// Each message takes 1 us and 1 ns per byte.
    fn run(text: &str, duration: &str) -> (Log, Vec<(&'static str, LastFlow)>) {
        let network = TestNetwork {
            delay_ps: |message| 1_000_000 + 1000 * message.bytes,
            ..TestNetwork::default()
        };
        let mut traffic = build(text, 10, duration).expect("good");
        let log = network.run(&mut traffic);
        (log, Vec::from_iter(traffic.last_flows()))
    }

    fn of(text: &str) -> (&'static str, Option<f64>, u64, u64) {
        let (_, found) = run(text, "10ms");
        let [(name, last)] = found[..] else {
            panic!("{found:?}");
        };
        (name, last.completion_us, last.flows, last.unfinished)
    }

    #[test]
    fn last_flows_by_hand() {
        let text = "workload.permutation = { size = \"2KB\", start = \"5us\" }";
        assert_eq!(of(text), ("permutation", Some(3.0), 10, 0));
        let text = "workload.all_to_all = { size = \"2KB\", hosts = \"0-3\" }";
        assert_eq!(of(text), ("all_to_all", Some(3.0), 12, 0));
        // The third starts 20 us after the first.
        let text = "workload.bulk = { flows = 3, size = \"1KB\", start_interval = \"10us\" }";
        assert_eq!(of(text), ("bulk", Some(22.0), 3, 0));
        // A request takes 1.1 us, a response of 1000 bytes 2 us, and the next query follows at once.
        let text = "workload.incast = { total = \"9KB\", queries = 2, start = \"7us\" }";
        assert_eq!(of(text), ("incast", Some(6.2), 2, 0));
        let text = "workload.long_lived.flows = [{ src = 1, dst = 0, size = \"1KB\", start = \"3us\" }, \
                    { src = 2, dst = 0, size = \"5KB\", start = \"1us\" }]";
        assert_eq!(of(text), ("long_lived", Some(6.0), 2, 0));
    }

    #[test]
    fn flows_that_did_not_complete_are_counted() {
        // The third of three would start after the measured 10 ms.
        let text = "workload.bulk = { flows = 3, size = \"1KB\", start_interval = \"6ms\" }";
        assert_eq!(of(text), ("bulk", None, 3, 1));
        let text =
            "workload.flows = { flows_per_second = 1000, count = 500, sizes.fixed = \"1B\" }";
        let (log, found) = run(text, "10ms");
        let unfinished = 500 - log.flows.len() as u64;
        assert_eq!(found[0].1.unfinished, unfinished);
        assert!((470..500).contains(&unfinished) && found[0].1.completion_us.is_none());
    }

    #[test]
    fn only_workloads_that_end_have_a_last_flow() {
        let endless = "[workload.flows]\nflows_per_second = 1000\nsizes.fixed = \"1B\"\n\
                       [workload.bulk]\nflows = 2\n[workload.incast]\n";
        assert_eq!(run(endless, "1ms").1, []);
        let beside = format!("{endless}queries = 1\ntotal = \"9KB\"\n");
        let (_, found) = run(&beside, "1ms");
        assert_eq!((found.len(), found[0].0), (1, "incast"));
        assert_eq!(found[0].1.completion_us, Some(3.1));
    }

    #[test]
    fn parts_of_a_run_have_one_end() {
        let mut one = Ending::default();
        one.join(&Ending::default());
        let mut other = one;
        one.add(4_000_000, 9_000_000);
        other.add(3_000_000, 5_000_000);
        other.add(5_000_000, 7_000_000);
        one.join(&other);
        assert_eq!(one.of(3).completion_us, Some(6.0));
        assert_eq!((one.of(3).unfinished, one.of(5).unfinished), (0, 2));
    }
}
