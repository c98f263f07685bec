//! Slowdown of flows by size class: completion time over the completion time in an otherwise empty
//! network.

use serde::Serialize;

use super::sketch::Sketch;
use crate::workload::FlowRecord;

/// Fixed-point scale in which slowdowns are stored.
const PARTS: f64 = 1e6;

/// Slowdowns of each size class, in the order of the classes.
#[derive(Debug)]
pub(super) struct Slowdowns(Vec<Sketch>);

/// Slowdown of one size class.
#[derive(Clone, Debug, Serialize)]
pub struct SlowdownSummary {
    /// Name of the class.
    pub class: String,
    /// Number of completed flows whose ideal completion time is known.
    pub count: usize,
    /// Statistics of their slowdowns.
    #[serde(flatten)]
    pub slowdown: Option<Slowdown>,
}

/// Mean and percentiles of slowdowns. A percentile is the smallest value with at least that share
/// of values at or below it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Slowdown {
    /// Arithmetic mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
}

impl Slowdowns {
    /// Creates an empty set per class.
    pub fn new(classes: usize) -> Self {
        Slowdowns((0..classes).map(|_| Sketch::default()).collect())
    }

    /// Adds a completed flow.
    pub fn add(&mut self, record: &FlowRecord) {
        if let Some(slowdown) = record.slowdown() {
            self.0[usize::from(record.class)].add((slowdown * PARTS).round() as u64);
        }
    }

    /// Slowdowns by size class.
    pub fn summary(&self, classes: &[String]) -> Vec<SlowdownSummary> {
        let of_class = |(class, sketch): (&String, &Sketch)| SlowdownSummary {
            class: class.clone(),
            count: sketch.count(),
            slowdown: distribution(sketch),
        };
        classes.iter().zip(&self.0).map(of_class).collect()
    }
}

fn distribution(sketch: &Sketch) -> Option<Slowdown> {
    let percentiles = sketch.at_per_mille([500, 950, 990, 999])?;
    let [p50, p95, p99, p999] = percentiles.map(|parts| parts as f64 / PARTS);
    Some(Slowdown {
        mean: sketch.mean() / PARTS,
        p50,
        p95,
        p99,
        p999,
    })
}
