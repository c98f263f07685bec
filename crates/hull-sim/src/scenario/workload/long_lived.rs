//! Individually listed flows with start and stop times (thesis 2.3.1, figures 2.14 to 2.17).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::HostList;
use super::sizes::message;
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

/// Checks the flows.
pub(super) fn check(long: &LongLived) -> Result<(), Problem> {
    require(
        !long.flows.is_empty(),
        "workload.long_lived.flows",
        "an empty list",
        "at least one flow",
    )?;
    for (i, flow) in long.flows.iter().enumerate() {
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
