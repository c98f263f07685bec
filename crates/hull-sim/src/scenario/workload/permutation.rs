//! A permutation: each host sends to one other host and receives from one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::HostList;
use super::sizes::message;
use super::time;
use crate::problem::Problem;
use crate::units::{Size, Time};

/// Each host sends one flow and receives one; the seed determines the pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Permutation {
    /// Bytes of each flow.
    pub size: Size,
    /// Participating hosts (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostList>,
    /// Start time of the flows.
    #[serde(default)]
    pub start: Time,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Checks the permutation.
pub(super) fn check(permutation: &Permutation) -> Result<(), Problem> {
    time("workload.permutation.start", permutation.start)?;
    message("workload.permutation.size", permutation.size)
}
