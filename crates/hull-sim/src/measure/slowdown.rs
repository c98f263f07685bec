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
    /// Statistics that unfinished flows could change, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower_bound: Option<SlowdownBounds>,
}

/// For each statistic of the slowdowns, 1 if it is a lower bound, otherwise 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SlowdownBounds {
    /// Arithmetic mean.
    pub mean: u8,
    /// Median.
    pub p50: u8,
    /// 95th percentile.
    pub p95: u8,
    /// 99th percentile.
    pub p99: u8,
    /// 99.9th percentile.
    pub p999: u8,
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

    /// Slowdowns by size class; `unfinished` has the number of unfinished flows of each.
    pub fn summary(&self, classes: &[String], unfinished: &[u64]) -> Vec<SlowdownSummary> {
        let of_class =
            |((class, sketch), &unfinished): ((&String, &Sketch), &u64)| SlowdownSummary {
                class: class.clone(),
                count: sketch.count(),
                slowdown: distribution(sketch),
                lower_bound: lower_bounds(sketch, unfinished as usize),
            };
        let classes = classes.iter().zip(&self.0).zip(unfinished);
        classes.map(of_class).collect()
    }
}

/// Percentiles of slowdowns, thousandths.
const PER_MILLE: [usize; 4] = [500, 950, 990, 999];

fn lower_bounds(sketch: &Sketch, unfinished: usize) -> Option<SlowdownBounds> {
    if unfinished == 0 || sketch.count() == 0 {
        return None;
    }
    let [p50, p95, p99, p999] = sketch.moves(PER_MILLE, unfinished).map(u8::from);
    Some(SlowdownBounds {
        mean: 1,
        p50,
        p95,
        p99,
        p999,
    })
}

fn distribution(sketch: &Sketch) -> Option<Slowdown> {
    let percentiles = sketch.at_per_mille(PER_MILLE)?;
    let [p50, p95, p99, p999] = percentiles.map(|parts| parts as f64 / PARTS);
    Some(Slowdown {
        mean: sketch.mean() / PARTS,
        p50,
        p95,
        p99,
        p999,
    })
}
