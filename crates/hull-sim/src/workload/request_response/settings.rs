//! Requests over persistent connections (paper 6.2, report III-A).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RequestResponse;
use crate::problem::{Problem, quoted, require};
use crate::service_time::{Service, check as check_service};
use crate::units::{Share, Size};
use crate::workload::context::Context;
use crate::workload::host_list::{HostList, HostRef};
use crate::workload::sizes::message;
use crate::workload::{Settings, Workload, default};

/// Selection of the connection for a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Pick {
    /// Any connection, with equal probability.
    #[default]
    Random,
    /// Any connection without a request, or any connection if all are busy.
    RandomIdle,
    /// The servers in turn.
    RoundRobin,
}

/// Requests over persistent connections, an open loop with Poisson arrivals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requests {
    /// Response bytes as a share of the rate of the client's link, below 1; 0% sends no request.
    pub load: Share,
    /// The requesting host (default: host 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<HostRef>,
    /// The responding hosts (default: all but the client).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<HostList>,
    /// Persistent connections to each server.
    #[serde(default = "default::connections")]
    pub connections_per_server: u32,
    /// Whether each size class has its own connections.
    #[serde(default)]
    pub separate_classes: bool,
    /// Selection of the connection for a request.
    #[serde(default)]
    pub pick: Pick,
    /// Bytes of a request.
    #[serde(default = "default::request_size")]
    pub request_size: Size,
    /// Time from a request's arrival to its response, drawn for each request; requests do not wait
    /// for each other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
    /// Sizes of the responses.
    pub classes: Vec<SizeClass>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// A class of responses of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeClass {
    /// Bytes of the response.
    pub size: Size,
    /// Share of the requests.
    pub share: Share,
    /// Transport of their connections, one of `[transports]` (default: the requests' transport).
    /// Each transport has its own connections.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// Checks the requests. An error contains the key and the mistake.
pub fn check_requests(r: &Requests) -> Result<(), Problem> {
    r.check()
}

impl Settings for Requests {
    fn check(&self) -> Result<(), Problem> {
        require(
            self.load.0 < Share::ONE,
            "workload.requests.load",
            quoted(self.load),
            "below 100%, because the loop is open",
        )?;
        let connections = self.connections_per_server;
        require(
            (1..=10_000).contains(&connections),
            "workload.requests.connections_per_server",
            connections,
            "1 to 10000",
        )?;
        message("workload.requests.request_size", self.request_size)?;
        if let Some(service) = &self.service {
            check_service("workload.requests.service", service)?;
        }
        require(
            !self.classes.is_empty() && self.classes.len() <= 64,
            "workload.requests.classes",
            format!("{} classes", self.classes.len()),
            "1 to 64",
        )?;
        for (i, class) in self.classes.iter().enumerate() {
            let key = |name: &str| format!("workload.requests.classes[{i}].{name}");
            let share = quoted(class.share);
            require(class.share.0 > 0, &key("share"), share, "above 0")?;
            message(&key("size"), class.size)?;
        }
        if let Some(name) = &self.transport {
            require(
                self.classes.iter().any(|class| class.transport.is_none()),
                "workload.requests.transport",
                quoted(name),
                "no such key where each class has a transport of its own",
            )?;
        }
        let sum: u64 = self.classes.iter().map(|class| class.share.0).sum();
        require(
            sum == Share::ONE,
            "workload.requests.classes",
            format!("shares that add up to {}", Share(sum)),
            "shares that add up to 100%",
        )
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn other_transports(&self) -> Vec<(String, Option<&str>)> {
        let classes = self.classes.iter().enumerate();
        let named = classes.map(|(i, class)| (format!("classes[{i}]"), class.transport.as_deref()));
        named.collect()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(RequestResponse::new(self, context)?))
    }
}
