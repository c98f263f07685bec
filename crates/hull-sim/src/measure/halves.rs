//! Halves of the measured time: completion times of the flows that start in each, by size class, in ps.
//! If the two differ, queues or a backlog of flows still grow, and a longer run has other results.

use serde::Serialize;

use crate::workload::FlowRecord;

/// Flows that start in one half.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    flows: u64,
    sum_ps: u128,
}

/// Completed flows of a run by size class and half.
#[derive(Debug)]
pub struct HalfLog {
    /// Time at which the second half begins, ps.
    middle_ps: u64,
    classes: Vec<[Half; 2]>,
}

/// Flows of one half.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HalfSummary {
    /// Number of completed flows.
    pub flows: u64,
    /// Mean completion time, us; `None` without flows.
    pub mean_us: Option<f64>,
}

/// Both halves of a size class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HalvesSummary {
    /// Name of the class.
    pub class: String,
    /// Flows that start in the first half of the measured time.
    pub first: HalfSummary,
    /// Flows that start in the second half.
    pub second: HalfSummary,
}

impl HalfLog {
    /// Creates the log of this number of size classes.
    pub fn new(classes: usize, middle_ps: u64) -> Self {
        HalfLog {
            middle_ps,
            classes: vec![[Half::default(); 2]; classes],
        }
    }

    /// Adds a completed flow.
    pub fn add(&mut self, record: &FlowRecord) {
        let half = usize::from(record.start_ps >= self.middle_ps);
        let half = &mut self.classes[usize::from(record.class)][half];
        half.flows += 1;
        half.sum_ps += u128::from(record.fct_ps);
    }

    /// Adds the flows of another part of the run.
    pub fn join(&mut self, other: &HalfLog) {
        let pairs = self.classes.iter_mut().zip(&other.classes);
        for (here, there) in pairs.flat_map(|(here, there)| here.iter_mut().zip(there)) {
            here.flows += there.flows;
            here.sum_ps += there.sum_ps;
        }
    }

    /// Both halves of each class; `classes` are the names.
    pub fn summary(&self, classes: &[String]) -> Vec<HalvesSummary> {
        let named = classes.iter().zip(&self.classes);
        named
            .map(|(name, [first, second])| HalvesSummary {
                class: name.clone(),
                first: first.summary(),
                second: second.summary(),
            })
            .collect()
    }
}

impl Half {
    fn summary(self) -> HalfSummary {
        let mean_us = self.sum_ps as f64 * 1e-6 / self.flows as f64;
        HalfSummary {
            flows: self.flows,
            mean_us: (self.flows > 0).then_some(mean_us),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_belong_to_the_half_in_which_they_start() {
        let us = 1_000_000;
        let mut logs = [HalfLog::new(2, 50 * us), HalfLog::new(2, 50 * us)];
        for (log, start_us, fct_us) in [(0, 0, 10), (1, 49, 30), (1, 50, 7)] {
            let end_ps = (start_us + fct_us) * us;
            let mut record = FlowRecord::new(start_us * us, end_ps, (0, 1), 1000, 1);
            record.class = 1;
            logs[log].add(&record);
        }
        let [mut log, other] = logs;
        log.join(&other);
        let found = log.summary(&["small".to_owned(), "large".to_owned()]);
        // Means in ns, to the nearest.
        let halves = |class: usize| {
            let of: &HalvesSummary = &found[class];
            let ns = |us: f64| (us * 1e3).round() as u64;
            [of.first, of.second].map(|half| (half.flows, half.mean_us.map(ns)))
        };
        assert_eq!(halves(0), [(0, None), (0, None)]);
        assert_eq!(halves(1), [(2, Some(20_000)), (1, Some(7_000))]);
    }
}
