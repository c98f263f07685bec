//! Deficit weighted round robin among the classes of a port.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, require};

/// Deficit round robin among the priority classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dwrr {
    /// Share of the link of each class while all wait, the highest class first: `[3, 1]` for three quarters
    /// and one quarter. As many as switch.priorities.
    pub weights: Vec<u32>,
}

impl Dwrr {
    /// Quantum of each queue, bytes: one packet of `mtu` for the smallest weight, proportionally
    /// more for the others.
    pub(crate) fn quanta(&self, mtu: u32) -> Vec<u32> {
        let least = self.weights.iter().copied().min().unwrap_or(1);
        let quantum =
            |&weight: &u32| (u64::from(weight) * u64::from(mtu) / u64::from(least)) as u32;
        self.weights.iter().map(quantum).collect()
    }

    /// Checks the weights for a port with `classes` queues.
    pub(super) fn check(&self, classes: u32) -> Result<(), Problem> {
        let shown = format!("{:?}", self.weights);
        require(
            classes > 1,
            "switch.dwrr",
            "a table",
            "none with switch.priorities = 1: there is one queue",
        )?;
        require(
            self.weights.len() == classes as usize,
            "switch.dwrr.weights",
            &shown,
            &format!("{classes} weights, as switch.priorities = {classes}"),
        )?;
        require(
            self.weights
                .iter()
                .all(|weight| (1..=1000).contains(weight)),
            "switch.dwrr.weights",
            &shown,
            "weights from 1 to 1000",
        )
    }
}
