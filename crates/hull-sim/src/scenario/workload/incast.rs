//! Incast (thesis 2.3.2, figures 2.18 to 2.22 and table 2.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::{HostList, HostRef};
use super::sizes::message;
use super::{time, time_above_0};
use crate::problem::{Problem, refuse, require};
use crate::scenario::default;
use crate::units::{Size, Time};

/// A client queries servers at once, waits for all responses, and repeats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Bytes of all responses to a query together, shared equally between the servers.
    #[serde(default = "default::incast_total")]
    pub total: Size,
    /// The requesting host (default: host 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<HostRef>,
    /// The responding hosts (default: all but the client). With `all_to_all`: all participating
    /// hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<HostList>,
    /// Number of servers per query, the first ones of the list (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_in: Option<u32>,
    /// Whether each server is also a client of the others at the same time (figure 2.20).
    #[serde(default)]
    pub all_to_all: bool,
    /// Queries of each client, after which the run may end; unset: queries continue until the end
    /// of the measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// Bytes of a request.
    #[serde(default = "default::request_size")]
    pub request_size: Size,
    /// Start time of the first query.
    #[serde(default)]
    pub start: Time,
    /// Each request is delayed by a random time below this value (thesis 2.1.3).
    #[serde(default)]
    pub jitter: Time,
    /// Responses after this time from the query's start are not counted as in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Checks the incast.
pub(super) fn check(incast: &Incast) -> Result<(), Problem> {
    message("workload.incast.total", incast.total)?;
    message("workload.incast.request_size", incast.request_size)?;
    require(
        incast.queries != Some(0),
        "workload.incast.queries",
        0,
        "at least 1",
    )?;
    require(
        incast.fan_in != Some(0),
        "workload.incast.fan_in",
        0,
        "at least 1",
    )?;
    if incast.all_to_all && incast.client.is_some() {
        refuse(
            "workload.incast.client",
            "a client",
            "none with all_to_all, where all hosts are clients",
        )?;
    }
    time("workload.incast.start", incast.start)?;
    time("workload.incast.jitter", incast.jitter)?;
    match incast.deadline {
        Some(deadline) => time_above_0("workload.incast.deadline", deadline),
        None => Ok(()),
    }
}
