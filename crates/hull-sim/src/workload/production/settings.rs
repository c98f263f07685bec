//! The production benchmark of a rack (thesis 2.3.3): queries, short messages and updates.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ProductionTraffic;
use crate::problem::{Problem, delay, quoted, require};
use crate::units::{Share, Size, Time};
use crate::workload::context::Context;
use crate::workload::flows::class_bounds;
use crate::workload::host_list::{HostList, HostRef};
use crate::workload::sizes::message;
use crate::workload::{Settings, Workload, default, time_above_0};

/// The three kinds of traffic of a production rack (thesis 2.1.2, 2.3.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Production {
    /// Servers of the rack (default: all hosts but `outside`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub servers: Option<HostList>,
    /// The host that represents the rest of the data centre; unset: all traffic stays inside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outside: Option<HostRef>,
    /// Share of the background flows that leave or enter the rack (an assumption: the thesis does
    /// not give the measured ratio).
    #[serde(default = "default::outside_share")]
    pub outside_share: Share,
    /// Bytes of a query to one server.
    #[serde(default = "default::query_size")]
    pub query_size: Size,
    /// Bytes of one server's response.
    #[serde(default = "default::response_size")]
    pub response_size: Size,
    /// Bytes of all responses to a query together, instead of `response_size`: `"1MB"` is the scaled
    /// benchmark.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub response_total: Option<Size>,
    /// Factor on background flows above 1 MB: 10 is the scaled benchmark.
    #[serde(default = "default::one_u32")]
    pub update_factor: u32,
    /// Times between queries of a server: production, or the path of a CSV file with the header
    /// `interval_us,cdf`.
    #[serde(default = "default::production")]
    pub query_intervals: String,
    /// Times between background flows of a server: production, or the path of a CSV file with the
    /// header `interval_us,cdf`.
    #[serde(default = "default::production")]
    pub background_intervals: String,
    /// Sizes of background flows: a table's name, or the path of a CSV file with the header
    /// `bytes,cdf`.
    #[serde(default = "default::production")]
    pub background_sizes: String,
    /// Each request of a query is delayed by a random time below this value (thesis 2.1.3).
    #[serde(default)]
    pub jitter: Time,
    /// Largest number of servers that a client asks at the same time: it asks the next ones when all of
    /// these have answered (thesis 2.4); unset: all at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u32>,
    /// Responses after this time from the query's start are not counted as in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Time>,
    /// Upper bounds of the size classes of background flows in the results.
    #[serde(default = "default::production_bounds")]
    pub class_bounds: Vec<Size>,
    /// Transport of its flows, one of `[transports]` (default: `[transport]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
}

impl Settings for Production {
    fn check(&self) -> Result<(), Problem> {
        let key = |name: &str| format!("workload.production.{name}");
        message(&key("query_size"), self.query_size)?;
        message(&key("response_size"), self.response_size)?;
        if let Some(total) = self.response_total {
            message(&key("response_total"), total)?;
        }
        let share = self.outside_share;
        require(
            share.0 <= Share::ONE,
            &key("outside_share"),
            quoted(share),
            "0 to 100%",
        )?;
        let factor = self.update_factor;
        require(
            (1..=1000).contains(&factor),
            &key("update_factor"),
            factor,
            "1 to 1000",
        )?;
        require(self.batch != Some(0), &key("batch"), 0, "at least 1")?;
        delay(&key("jitter"), self.jitter)?;
        if let Some(deadline) = self.deadline {
            time_above_0(&key("deadline"), deadline)?;
        }
        class_bounds(&key("class_bounds"), &self.class_bounds)
    }

    fn transport(&self) -> Option<&str> {
        self.transport.as_deref()
    }

    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem> {
        Ok(Box::new(ProductionTraffic::new(self, context)?))
    }
}
