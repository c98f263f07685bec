//! Incast (thesis 2.3.2, figures 2.18 to 2.22 and table 2.2).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::IncastTraffic;
use crate::problem::{Problem, quoted, refuse, require};
use crate::units::{Share, Size, Time};
use crate::workload::context::Context;
use crate::workload::host_list::{HostList, HostRef};
use crate::workload::poisson_incast::PoissonIncast;
use crate::workload::sizes::message;
use crate::workload::{Settings, Workload, default, time, time_above_0};

/// A client queries servers at once, waits for all responses, and repeats. With `load` or
/// `queries_per_second`, queries arrive as a Poisson process, each from a random client to random servers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Incast {
    /// Bytes of all responses to a query together, shared equally between the servers.
    #[serde(default = "default::incast_total")]
    pub total: Size,
    /// Bytes of the responses as a share of the rate of the links to the clients: queries arrive as a
    /// Poisson process; this or `queries_per_second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Share>,
    /// Rate of this Poisson process, of all clients together; this or `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries_per_second: Option<f64>,
    /// With `load` or `queries_per_second`: the hosts of which each query has a random one as its client
    /// (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clients: Option<HostList>,
    /// The requesting host (default: host 0); not with `load` or `queries_per_second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<HostRef>,
    /// The responding hosts (default: all but the client). With `all_to_all`: all participating
    /// hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<HostList>,
    /// Number of servers per query, the first ones of the list; with `load` or `queries_per_second`, random
    /// ones without the client (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fan_in: Option<u32>,
    /// Whether each server is also a client of the others at the same time (figure 2.20).
    #[serde(default)]
    pub all_to_all: bool,
    /// Queries of each client, with `load` or `queries_per_second` of all together, after which the run may
    /// end; unset: queries continue until the end of the measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// Bytes of a request.
    #[serde(default = "default::request_size")]
    pub request_size: Size,
    /// Start time of the first query, or of the Poisson process.
    #[serde(default)]
    pub start: Time,
    /// Each request is delayed by a random time below this value (thesis 2.1.3).
    #[serde(default)]
    pub jitter: Time,
    /// Largest number of servers that a client asks at the same time: it asks the next ones when all of
    /// these have answered (thesis 2.4); unset: all at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Responses after this time from the query's start are not counted as in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

impl Incast {
    /// Whether queries arrive as a Poisson process, from random clients.
    pub fn is_poisson(&self) -> bool {
        self.load.is_some() || self.queries_per_second.is_some()
    }
}

/// Checks the keys that belong to random clients, and those that do not.
fn check_arrivals(incast: &Incast) -> Result<(), Problem> {
    if !incast.is_poisson() {
        return match &incast.clients {
            Some(clients) => refuse(
                "workload.incast.clients",
                clients,
                "load or queries_per_second with clients; without them, client",
            ),
            None => Ok(()),
        };
    }
    match (incast.load, incast.queries_per_second) {
        (Some(_), Some(_)) => refuse(
            "workload.incast",
            "load and queries_per_second",
            "one of load, queries_per_second",
        )?,
        (Some(load), None) => require(
            load.0 > 0 && load.0 < Share::ONE,
            "workload.incast.load",
            quoted(load),
            "above 0 and below 100%, because the loop is open",
        )?,
        (None, rate) => require(
            rate.is_some_and(|rate| (1e-6..=1e12).contains(&rate)),
            "workload.incast.queries_per_second",
            rate.unwrap_or_default(),
            "1e-6 to 1e12",
        )?,
    }
    if let Some(client) = &incast.client {
        let allowed = "clients with load or queries_per_second";
        refuse("workload.incast.client", client, allowed)?;
    }
    require(
        !incast.all_to_all,
        "workload.incast.all_to_all",
        true,
        "false with load or queries_per_second, where clients are random",
    )
}

impl Settings for Incast {
    fn check(&self) -> Result<(), Problem> {
        message("workload.incast.total", self.total)?;
        message("workload.incast.request_size", self.request_size)?;
        require(
            self.queries != Some(0),
            "workload.incast.queries",
            0,
            "at least 1",
        )?;
        require(
            self.fan_in != Some(0),
            "workload.incast.fan_in",
            0,
            "at least 1",
        )?;
        require(
            self.batch != Some(0),
            "workload.incast.batch",
            0,
            "at least 1",
        )?;
        check_arrivals(self)?;
        if self.all_to_all && self.client.is_some() {
            refuse(
                "workload.incast.client",
                "a client",
                "none with all_to_all, where all hosts are clients",
            )?;
        }
        time("workload.incast.start", self.start)?;
        time("workload.incast.jitter", self.jitter)?;
        match self.deadline {
            Some(deadline) => time_above_0("workload.incast.deadline", deadline),
            None => Ok(()),
        }
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(match self.is_poisson() {
            true => Box::new(PoissonIncast::new(self, context)?),
            false => Box::new(IncastTraffic::new(self, context)?),
        })
    }
}
