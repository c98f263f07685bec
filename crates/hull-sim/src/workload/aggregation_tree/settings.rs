//! Partition/aggregate in levels (thesis 2.1.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::AggregationTreeTraffic;
use crate::problem::{Problem, delay, need, require};
use crate::service_time::{Service, check as check_service};
use crate::units::{Size, Time};
use crate::workload::context::Context;
use crate::workload::host_list::{HostList, HostRef};
use crate::workload::partition_aggregate::Arrivals;
use crate::workload::sizes::message;
use crate::workload::{Settings, Workload, default, time_above_0};

/// Largest number of levels below the client.
const MAX_LEVELS: usize = 8;
/// Largest number of iterations that the thesis reports (2.1.1).
const MAX_ITERATIONS: u32 = 20;

/// A client sends queries to aggregators, which partition them over the hosts of the next level; a node that
/// misses its deadline is left out of the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AggregationTree {
    /// Mean time between two queries.
    pub interval: Time,
    /// Arrival process of the queries.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// Number of queries, after which the run may end; unset: queries continue until the end of the
    /// measured time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
    /// The host at the top (default: host 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<HostRef>,
    /// Each request is delayed by a random time below this value (thesis 2.1.1, 2.1.3).
    #[serde(default)]
    pub jitter: Time,
    /// The levels below the client: aggregators first, workers last.
    pub levels: Vec<TreeLevel>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

/// A level of the tree. Each host of the level above asks an equal part of its hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TreeLevel {
    /// Hosts of the level: the first part for the first host of the level above, and so on. A host may be in
    /// several levels and parts.
    pub hosts: HostList,
    /// Times that a host of the level above asks its hosts for each of its own requests, one after the
    /// other.
    #[serde(default = "default::one_u32")]
    pub iterations: u32,
    /// Bytes of a request to a host of the level.
    #[serde(default = "default::query_size")]
    pub request_size: Size,
    /// Bytes of its response.
    #[serde(default = "default::response_size")]
    pub response_size: Size,
    /// Service time of a request at a host, before it asks the next level or responds (default: none).
    #[serde(default)]
    pub service: Service,
    /// Longest time that a host of the level above waits for the responses of an iteration; it continues
    /// without the missing ones, and drops them when they arrive (unset: it waits for all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
}

impl Settings for AggregationTree {
    fn check(&self) -> Result<(), Problem> {
        let key = |name: &str| format!("workload.aggregation_tree.{name}");
        time_above_0(&key("interval"), self.interval)?;
        require(self.queries != Some(0), &key("queries"), 0, "at least 1")?;
        delay(&key("jitter"), self.jitter)?;
        need(
            (1..=MAX_LEVELS).contains(&self.levels.len()),
            &key("levels"),
            format!("{} levels", self.levels.len()),
            &format!("1 to {MAX_LEVELS}"),
        )?;
        for (i, level) in self.levels.iter().enumerate() {
            let key = |name: &str| key(&format!("levels[{i}].{name}"));
            require(
                (1..=MAX_ITERATIONS).contains(&level.iterations),
                &key("iterations"),
                level.iterations,
                &format!("1 to {MAX_ITERATIONS}"),
            )?;
            message(&key("request_size"), level.request_size)?;
            message(&key("response_size"), level.response_size)?;
            check_service(&key("service"), &level.service)?;
            if let Some(deadline) = level.deadline {
                time_above_0(&key("deadline"), deadline)?;
            }
        }
        Ok(())
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(AggregationTreeTraffic::new(self, context)?))
    }
}
