//! Slowdown of flows by size class: completion time over the completion time in an otherwise empty
//! network.

use serde::Serialize;

use super::distribution::{Slowdown, SlowdownBounds};
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
        let classes = classes.iter().zip(&self.0).zip(unfinished);
        let of_class = |((class, sketch), &unfinished): ((&String, &Sketch), &u64)| {
            let ranked = sketch.ranked();
            let at = |per_mille| ranked.at(per_mille) as f64 / PARTS;
            let slowdown = || Slowdown::new(sketch.mean() / PARTS, at);
            SlowdownSummary {
                class: class.clone(),
                count: sketch.count(),
                slowdown: (sketch.count() > 0).then(slowdown),
                lower_bound: SlowdownBounds::of(&ranked, unfinished as usize),
            }
        };
        classes.map(of_class).collect()
    }
}
