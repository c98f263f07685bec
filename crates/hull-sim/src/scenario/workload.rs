//! The traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, quoted, refuse, require};
use super::default;
use crate::units::{Share, Size, Time};

/// The traffic; exactly one table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Workload {
    /// Requests of one client to all other hosts (paper 6.2, report III-A).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requests: Option<Requests>,
    /// Bulk flows to the client (paper 6.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bulk: Option<Bulk>,
}

/// How the connection for a request is chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// Any connection, with equal probability.
    #[default]
    Random,
    /// Any connection that no request is using; any at all when all are used.
    RandomIdle,
    /// The servers in turn.
    RoundRobin,
}

/// Requests over persistent connections, an open loop with Poisson arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Response bytes as a share of the rate of the client's link, below 1.
    pub load: Share,
    /// Permanent connections to each server.
    #[serde(default = "default::connections")]
    pub connections_per_server: u32,
    /// Whether each class of sizes has connections of its own.
    #[serde(default)]
    pub separate_classes: bool,
    /// How the connection is chosen.
    #[serde(default)]
    pub pick: Pick,
    /// Bytes of a request.
    #[serde(default = "default::request_size")]
    pub request_size: Size,
    /// Sizes of the responses.
    pub classes: Vec<SizeClass>,
}

/// A class of responses of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// Bytes of the response.
    pub size: Size,
    /// Share of the requests.
    pub share: Share,
}

/// Flows from as many hosts to the client that start with the run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bulk {
    /// Number of flows; flow i comes from host 1 + i mod (hosts - 1).
    pub flows: u32,
    /// Bytes of each; without it they last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
    /// Time between the starts of two flows.
    #[serde(default)]
    pub start_interval: Time,
}

/// Checks the traffic.
pub(super) fn check(workload: &Workload) -> Result<(), Problem> {
    match (&workload.requests, &workload.bulk) {
        (Some(requests), None) => self::requests(requests),
        (None, Some(bulk)) => self::bulk(bulk),
        (None, None) => refuse("workload", "no traffic", "one of the tables requests, bulk"),
        _ => refuse(
            "workload",
            "several tables",
            "one of the tables requests, bulk",
        ),
    }
}

fn bulk(bulk: &Bulk) -> Result<(), Problem> {
    require(
        bulk.flows > 0,
        "workload.bulk.flows",
        bulk.flows,
        "at least 1",
    )?;
    match bulk.size {
        Some(size) => require(
            size.0 > 0,
            "workload.bulk.size",
            quoted(size),
            "at least 1B",
        ),
        None => Ok(()),
    }
}

fn requests(r: &Requests) -> Result<(), Problem> {
    require(
        r.load.0 > 0 && r.load.0 < Share::ONE,
        "workload.requests.load",
        quoted(r.load),
        "above 0 and below 100%, because the loop is open",
    )?;
    let connections = r.connections_per_server;
    require(
        (1..=10_000).contains(&connections),
        "workload.requests.connections_per_server",
        connections,
        "1 to 10000",
    )?;
    let size = r.request_size;
    require(
        size.0 > 0,
        "workload.requests.request_size",
        quoted(size),
        "at least 1B",
    )?;
    require(
        !r.classes.is_empty() && r.classes.len() <= 64,
        "workload.requests.classes",
        format!("{} classes", r.classes.len()),
        "1 to 64",
    )?;
    for (i, class) in r.classes.iter().enumerate() {
        let key = |name: &str| format!("workload.requests.classes[{i}].{name}");
        let share = quoted(class.share);
        require(class.share.0 > 0, &key("share"), share, "above 0")?;
        let size = quoted(class.size);
        require(
            (1..=1 << 40).contains(&class.size.0),
            &key("size"),
            size,
            "1B to 1TB",
        )?;
    }
    let sum: u64 = r.classes.iter().map(|class| class.share.0).sum();
    require(
        sum == Share::ONE,
        "workload.requests.classes",
        format!("shares that add up to {}", Share(sum)),
        "shares that add up to 100%",
    )
}
