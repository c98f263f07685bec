//! A live run: it advances to a simulated time, and each look takes and clears the observations since
//! the last look. It is the run that [`super::build()`] builds from the same scenario and seed: looking
//! is one more sampler, which does not perturb it.
//!
//! Samples are taken every `measure.sample_interval` from time 0 on. Statistics restart at the end
//! of the warm-up, as in a result folder.

mod digits;
mod pauses;
mod shown;

use hdrhistogram::Histogram;

use super::instruments::intervals::LIVE;
use super::instruments::look::Look;
use super::{Control, Failure, Simulation, build_with_external};
use crate::engine::Kind;
use crate::measure::Logs;
use crate::problem::Problem;
use crate::scenario::Resolved;

pub use shown::Shown;

/// Packet-hops between two checks of the limit of [`Live::advance`]: less than a millisecond of
/// work.
const STEP_HOPS: u64 = 2000;

/// Run in progress.
#[derive(Debug)]
pub struct Live {
    simulation: Simulation,
    control: Control,
    /// Time up to which the run is simulated, ps.
    reached_ps: u64,
    /// Simulated time that takes about [`STEP_HOPS`] packet-hops, ps.
    step_ps: u64,
    /// Latencies for which shares of time are reported, s.
    edges_s: Vec<f64>,
    /// Completion times by size class, ns.
    completions: Vec<Histogram<u64>>,
    /// Numbers of the long flows, whose goodput is reported.
    long: std::ops::Range<u64>,
    /// Pauses at the last sample that was taken.
    before: pauses::Before,
}

impl Live {
    /// Creates a run at time 0. It shows the flows with numbers in `flows`, the throughput as the
    /// mean of the last `average_ps`, and the share of time with at most each latency of `edges_s`,
    /// which must ascend. `long` are the flows whose goodput is reported. Both ranges include only
    /// flows that `measure.flows` follows.
    pub fn new(
        scenario: &Resolved,
        seed: u64,
        flows: std::ops::Range<u64>,
        long: std::ops::Range<u64>,
        average_ps: u64,
        edges_s: Vec<f64>,
    ) -> Result<Self, Problem> {
        let mut simulation = build_with_external(&scenario.on_one_thread(), None, seed, None)?;
        let interval_ps = scenario.measure.sample_interval.0;
        // The run's tables are not read.
        simulation.instruments.logs = Logs::default();
        simulation.instruments.live = Some(Box::new(Look::new(interval_ps, flows, average_ps)));
        simulation.clock.schedule(0, Kind::Sample, LIVE);
        let classes = simulation.instruments.records.flows.classes().len();
        let histogram = || match Histogram::new(3) {
            Ok(histogram) => histogram,
            Err(_) => unreachable!("3 significant digits are allowed"),
        };
        Ok(Live {
            simulation,
            control: Control::default(),
            reached_ps: 0,
            step_ps: interval_ps,
            edges_s,
            completions: (0..classes).map(|_| histogram()).collect(),
            long,
            before: pauses::Before::default(),
        })
    }

    /// Simulates up to `until_ps`, but at most to the end of the measured time, or for about `hops`
    /// packet-hops. Returns the time reached, ps.
    pub fn advance(&mut self, until_ps: u64, hops: u64) -> Result<u64, Failure> {
        let until_ps = until_ps.min(self.simulation.clock.end_ps);
        let begun = self.simulation.fabric.packet_hops;
        while self.reached_ps < until_ps && self.simulation.fabric.packet_hops - begun < hops {
            let before = self.simulation.fabric.packet_hops;
            let bound_ps = self.reached_ps.saturating_add(self.step_ps).min(until_ps);
            self.simulation.serve_before(bound_ps, &self.control)?;
            self.simulation.clock.now_ps = bound_ps;
            self.reached_ps = bound_ps;
            let made = self.simulation.fabric.packet_hops - before;
            if made > STEP_HOPS {
                self.step_ps = (self.step_ps / 2).max(1);
            } else if made < STEP_HOPS / 4 {
                self.step_ps = self.step_ps.saturating_mul(2);
            }
        }
        self.forget();
        Ok(self.reached_ps)
    }

    /// Time up to which the run is simulated, ps.
    pub fn reached_ps(&self) -> u64 {
        self.reached_ps
    }

    /// Number of packets carried so far, counted at each link.
    pub fn packet_hops(&self) -> u64 {
        self.simulation.fabric.packet_hops
    }

    /// Discards the rows that a run would keep for its tables, and counts completed flows.
    fn forget(&mut self) {
        let simulation = &mut self.simulation;
        simulation.instruments.records.latency.forget();
        simulation.instruments.records.queries.clear();
        for flow in simulation.instruments.records.flows.take_rows() {
            // Cannot fail: the histogram resizes itself.
            let _ = self.completions[usize::from(flow.class)].record(flow.fct_ps / 1000);
        }
    }
}

#[cfg(test)]
mod tests;
