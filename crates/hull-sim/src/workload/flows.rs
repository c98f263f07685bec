//! Flows from many hosts to many hosts: a Poisson process (paper 6.3), or a list from a file.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::context::Context;
use super::host_list::HostList;
use super::poisson_flows::PoissonTraffic;
use super::replay::Replay;
use super::sizes::{self, Sizes};
use super::{Settings, Workload, default};
use crate::problem::{Problem, quoted, refuse, require};
use crate::units::{Share, Size};

/// Source of the flows: a random process or a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Flows {
    /// A Poisson process.
    Poisson(Box<PoissonFlows>),
    /// The flow list in a file, by its path.
    Replay(String),
}

/// Whether each flow has its own connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FlowConnections {
    /// Each flow starts with a fresh window and is forgotten when it is done.
    #[default]
    PerFlow,
    /// Permanent connections between each pair of hosts (paper 6.3): `connections_per_pair`.
    Persistent,
}

/// Poisson flows from random hosts to random other hosts (paper 6.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoissonFlows {
    /// Flow bytes as a share of the rate of the sources' links; this or `flows_per_second`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Share>,
    /// Flows per second in the whole network; this or `load`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flows_per_second: Option<f64>,
    /// Number of flows after which no more start and the run may end; unset: flows start until the end of the
    /// measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
    /// Sizes of the flows.
    pub sizes: Sizes,
    /// Hosts that send (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sources: Option<HostList>,
    /// Hosts that receive (default: all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destinations: Option<HostList>,
    /// Whether each flow has its own connection.
    #[serde(default)]
    pub connections: FlowConnections,
    /// Persistent connections between each pair of hosts; 1 if unset. A flow takes an idle one; if all carry
    /// a flow in its direction, it waits where the fewest wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_per_pair: Option<u32>,
    /// Upper bounds of the size classes in the results, each but the last its own (thesis table 4.6).
    #[serde(default = "default::class_bounds")]
    pub class_bounds: Vec<Size>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

struct FlowsVisitor;

impl<'de> Visitor<'de> for FlowsVisitor {
    type Value = Flows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "a table of Poisson flows, or the path of a flow list in quotes"
        )
    }

    fn visit_str<E: de::Error>(self, path: &str) -> Result<Flows, E> {
        Ok(Flows::Replay(path.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Flows, A::Error> {
        PoissonFlows::deserialize(MapAccessDeserializer::new(table))
            .map(|flows| Flows::Poisson(Box::new(flows)))
    }
}

impl<'de> Deserialize<'de> for Flows {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FlowsVisitor)
    }
}

impl JsonSchema for Flows {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Flows".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<PoissonFlows>();
        json_schema!({
            "anyOf": [table, { "type": "string" }],
            "x-form": "a table such as { load = \"15%\", sizes = {...} }, or the path of a flow list"
        })
    }
}

impl Settings for Flows {
    fn check(&self) -> Result<(), Problem> {
        match self {
            Flows::Poisson(flows) => poisson(flows),
            Flows::Replay(path) => check_path("workload.flows", path),
        }
    }

    fn transport(&self) -> Option<&str> {
        match self {
            Flows::Poisson(flows) => flows.transport.as_deref(),
            Flows::Replay(_) => None,
        }
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(match self {
            Flows::Poisson(flows) => Box::new(PoissonTraffic::new(flows, context)?),
            Flows::Replay(path) => Box::new(Replay::new(("workload.flows", path), context)?),
        })
    }
}

/// The path of a flow list beside other traffic.
impl Settings for String {
    fn check(&self) -> Result<(), Problem> {
        check_path("workload.list", self)
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        let replay = Replay::new(("workload.list", self), context)?;
        Ok(Box::new(replay))
    }
}

fn check_path(key: &str, path: &str) -> Result<(), Problem> {
    require(
        !path.is_empty(),
        key,
        quoted(path),
        "the path of a flow list",
    )
}

fn poisson(flows: &PoissonFlows) -> Result<(), Problem> {
    match (flows.load, flows.flows_per_second) {
        (Some(load), None) => require(
            load.0 > 0 && load.0 < Share::ONE,
            "workload.flows.load",
            quoted(load),
            "above 0 and below 100%, because the loop is open",
        )?,
        (None, Some(rate)) => require(
            (1e-6..=1e12).contains(&rate),
            "workload.flows.flows_per_second",
            rate,
            "1e-6 to 1e12",
        )?,
        (None, None) => refuse("workload.flows", "no rate", "load or flows_per_second")?,
        _ => refuse(
            "workload.flows",
            "load and flows_per_second",
            "one of load, flows_per_second",
        )?,
    }
    require(
        flows.count != Some(0),
        "workload.flows.count",
        0,
        "at least 1",
    )?;
    let persistent = flows.connections == FlowConnections::Persistent;
    if let Some(connections) = flows.connections_per_pair {
        require(
            persistent && connections > 0,
            "workload.flows.connections_per_pair",
            connections,
            "at least 1, and only with connections = \"persistent\"",
        )?;
    }
    sizes::check("workload.flows.sizes", &flows.sizes)?;
    class_bounds("workload.flows.class_bounds", &flows.class_bounds)
}

/// Checks the bounds of the size classes at `key`.
pub(super) fn class_bounds(key: &str, bounds: &[Size]) -> Result<(), Problem> {
    let rising = bounds.windows(2).all(|pair| pair[0] < pair[1]);
    let positive = bounds.first().is_none_or(|bound| bound.0 > 0);
    let shown: Vec<String> = bounds.iter().map(Size::to_string).collect();
    require(
        rising && positive && bounds.len() <= 64,
        key,
        shown.join(", "),
        "at most 64 sizes above 0, each larger than the one before",
    )
}
