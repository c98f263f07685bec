//! A shuffle: each host sends to each other host.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::HostList;
use super::sizes::message;
use super::time;
use crate::problem::Problem;
use crate::units::{Size, Time};

/// Each host sends to each other host, once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllToAll {
    /// Bytes from each host to each other host.
    pub size: Size,
    /// Participating hosts (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<HostList>,
    /// Start time of the transfers.
    #[serde(default)]
    pub start: Time,
    /// Largest random delay of a host's start.
    #[serde(default)]
    pub jitter: Time,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Checks the shuffle.
pub(super) fn check(shuffle: &AllToAll) -> Result<(), Problem> {
    time("workload.all_to_all.start", shuffle.start)?;
    time("workload.all_to_all.jitter", shuffle.jitter)?;
    message("workload.all_to_all.size", shuffle.size)
}
