//! Flows to the client, the simple form of [`super::LongLived`] (paper 6.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::sizes::message;
use super::time;
use crate::problem::{Problem, require};
use crate::units::{Size, Time};

/// Flows from as many hosts to the client that start with the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// Number of flows; flow i comes from host 1 + i mod (hosts - 1).
    pub flows: u32,
    /// Bytes of each flow; unset: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Time between the starts of two flows.
    #[serde(default)]
    pub start_interval: Time,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Checks the flows.
pub(super) fn check(bulk: &Bulk) -> Result<(), Problem> {
    let flows = bulk.flows;
    require(flows > 0, "workload.bulk.flows", flows, "at least 1")?;
    time("workload.bulk.start_interval", bulk.start_interval)?;
    match bulk.size {
        Some(size) => message("workload.bulk.size", size),
        None => Ok(()),
    }
}
