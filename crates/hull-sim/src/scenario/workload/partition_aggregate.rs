//! Partition/aggregate with service times (report III-B).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hosts::{HostList, HostRef};
use super::sizes::message;
use super::time_above_0;
use crate::problem::{Problem, require};
use crate::service_time::{Service, check as check_service};
use crate::units::{Size, Time};

/// A client sends queries to all servers in an open loop; a server works on one at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartitionAggregate {
    /// Mean time between two queries.
    pub interval: Time,
    /// Arrival process of the queries.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Number of queries, after which the run may end; unset: queries continue until the end of the
    /// measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// The requesting host (default: host 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<HostRef>,
    /// The responding hosts (default: all but the client).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<HostList>,
    /// Bytes of a request.
    pub request_size: Size,
    /// Bytes of a response.
    pub response_size: Size,
    /// Service time of a request at the server (default: none).
    #[serde(default)]
    pub service: Service,
    /// Responses after this time from the query's start are not counted as in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Arrival process of queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Arrivals {
    /// A Poisson process.
    #[default]
    Poisson,
    /// Arrivals at equal intervals.
    Fixed,
}

/// Checks the queries.
pub(super) fn check(queries: &PartitionAggregate) -> Result<(), Problem> {
    let key = |name: &str| format!("workload.partition_aggregate.{name}");
    time_above_0(&key("interval"), queries.interval)?;
    require(queries.queries != Some(0), &key("queries"), 0, "at least 1")?;
    message(&key("request_size"), queries.request_size)?;
    message(&key("response_size"), queries.response_size)?;
    if let Some(deadline) = queries.deadline {
        time_above_0(&key("deadline"), deadline)?;
    }
    check_service(&key("service"), &queries.service)
}
