//! The traffic: senders, receivers, sizes and times. It is independent of packets, TCP and ports: a
//! workload requests messages on an [`Agenda`] and is notified of their arrival. Times are simulated
//! ps, sizes bytes of payload.
//!
//! To add a workload, write its settings and its traffic in a file, and add it to `workloads!` below.
//!
//! A workload keeps state only for outstanding messages: five million flows fit. The one exception is
//! the replay of a file, which holds the file's rows at 24 to 32 bytes each; replays of one file share
//! them.

mod agenda;
mod aggregation_tree;
mod all_to_all;
mod answers;
mod arrow_schema;
mod backlog;
mod bounded_lines;
mod bulk;
mod cdf_pairs;
mod cdf_table;
mod context;
mod csv_rows;
mod default;
mod ending;
mod fan_out;
mod flow_chains;
mod flow_list;
mod flow_list_csv;
mod flow_list_hpcc;
mod flow_list_parquet;
mod flow_list_rows;
mod flow_pins;
mod flows;
mod group_conditions;
mod groups;
mod host_list;
mod hosts;
mod incast;
mod job;
mod last_list;
mod long_lived;
mod open;
mod partition_aggregate;
mod permutation;
mod poisson_flows;
mod poisson_incast;
mod pools;
mod production;
mod query;
mod records;
mod replay;
mod request_response;
mod size_class;
mod sizes;
#[cfg(test)]
mod test_network;
mod traffic;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, refuse, require};
use crate::units::{Size, Time};

pub use agenda::{Agenda, Listed, Progress, Workload};
pub use aggregation_tree::AggregationTree;
pub use all_to_all::AllToAll;
pub use answers::{LevelAnswers, Quality};
pub use backlog::Backlog;
pub use bulk::Bulk;
pub use cdf_table::CdfTable;
pub use context::{Context, DEFAULT_TRANSPORT};
pub use ending::LastFlow;
pub use flow_list::{Beyond, FlowList, ListedFlow};
pub use flow_pins::Pins;
pub use flows::{FlowConnections, Flows, PoissonFlows};
pub(crate) use group_conditions::check as check_groups;
pub use group_conditions::{
    Comparison, Condition, OTHER as OTHER_GROUP, conditions as group_conditions,
};
pub use groups::Groups;
pub use host_list::{HostList, HostRef};
pub use hosts::HostNames;
pub use incast::Incast;
pub use job::{Computation, Job, JobRecord, RankRecord, StageRecord, Stuck};
pub use last_list::LastList;
pub use long_lived::{LongFlows, LongLived};
pub use partition_aggregate::{Arrivals, PartitionAggregate};
pub use permutation::Permutation;
pub use production::Production;
pub use records::{
    Acked, Besides, Channel, FlowRecord, LASTING, Message, NO_CONNECTION, QueryRecord,
};
pub use request_response::{Pick, Requests, SizeClass, check_requests};
pub use sizes::{MAX_FLOW_BYTES, Pareto, ParetoSizes, SizeDistribution, Sizes};
pub use traffic::{Traffic, build};

use records::few;

/// Settings of a workload: one table of `[workload]`.
pub(crate) trait Settings {
    /// Checks the settings without the network. An error names the key.
    fn check(&self) -> Result<(), Problem>;

    /// Name of the transport of its flows.
    fn transport(&self) -> Option<&str> {
        None
    }

    /// Inner tables whose flows may have another transport: the key of each in this table, and the name.
    fn other_transports(&self) -> Vec<(String, Option<&str>)> {
        Vec::new()
    }

    /// Builds its traffic.
    fn build(&self, context: &Context) -> Result<Box<dyn Workload>, Problem>;
}

/// Declares the tables of `[workload]`: each with its description, its key and its settings, which
/// implement [`Settings`]. For example:
///
/// ```text
/// /// Each host sends one flow and receives one.
/// permutation: Permutation,
/// ```
macro_rules! workloads {
    ($($(#[doc = $doc:literal])+ $name:ident: $settings:ty,)+) => {
        /// The traffic; at least one table, several run together.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[schemars(rename = "Workload")]
        pub struct Workloads {
            /// Messages below this size have high priority (paper 6.2.2); unset: none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub high_priority_below: Option<Size>,
            $(
                $(#[doc = $doc])+
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $name: Option<$settings>,
            )+
        }

        impl Workloads {
            /// Keys of all tables.
            const KEYS: &[&str] = &[$(stringify!($name),)+];

            /// Settings of the tables that are set, with their keys.
            pub(crate) fn tables(&self) -> Vec<(&'static str, &dyn Settings)> {
                let mut tables: Vec<(_, &dyn Settings)> = Vec::new();
                $(tables.extend(self.$name.iter().map(|of| (stringify!($name), of as &dyn Settings)));)+
                tables
            }
        }
    };
}

workloads! {
    /// Requests of one client to other hosts (paper 6.2, report III-A).
    requests: Requests,
    /// Bulk flows to the client (paper 6.1).
    bulk: Bulk,
    /// Long-lived flows with start and stop times (thesis 2.3.1).
    long_lived: LongLived,
    /// Poisson flows between random hosts (paper 6.3), or the path of a flow list (CSV or Parquet
    /// with the columns `start_ps`, `src`, `dst`, `bytes`, or a list of HPCC's simulator).
    flows: Flows,
    /// Path of a flow list (as `flows`) beside the Poisson flows of `flows` or other traffic.
    list: String,
    /// Queries to servers that answer at once (thesis 2.3.2), of one client or of random ones.
    incast: Incast,
    /// Queries of one client to servers with service times (report III-B).
    partition_aggregate: PartitionAggregate,
    /// Queries to aggregators of aggregators and workers, with deadlines (thesis 2.1.1).
    aggregation_tree: AggregationTree,
    /// A shuffle.
    all_to_all: AllToAll,
    /// A graph of work: ranks that compute, send and receive, each when what it needs is done.
    job: Job,
    /// Each host sends one flow and receives one.
    permutation: Permutation,
    /// The production benchmark of a rack (thesis 2.3.3).
    production: Production,
}

impl Workloads {
    /// Checks the traffic.
    pub(crate) fn check(&self) -> Vec<Result<(), Problem>> {
        let tables = self.tables();
        if tables.is_empty() {
            let expected = format!("one or more of the tables {}", Self::KEYS.join(", "));
            return vec![refuse("workload", "no traffic", &expected)];
        }
        let limit = self.high_priority_below.map(|limit| {
            let key = "workload.high_priority_below";
            require(limit.0 > 0, key, quoted(limit), "at least 1B")
        });
        let list = self.list.iter().map(|path| {
            let allowed =
                "a table of Poisson flows in workload.flows beside it: a run has one list";
            let has_one = !matches!(self.flows, Some(Flows::Replay(_)));
            require(has_one, "workload.list", quoted(path), allowed)
        });
        let checks = tables.iter().map(|(_, settings)| settings.check());
        limit.into_iter().chain(list).chain(checks).collect()
    }

    /// Whether a flow list is part of the traffic.
    pub(crate) fn has_list(&self) -> bool {
        self.list.is_some() || matches!(self.flows, Some(Flows::Replay(_)))
    }

    /// Transports that workloads name, each with the key that names it.
    pub(crate) fn transports(&self) -> Vec<(String, &str)> {
        let mut named = Vec::new();
        for (table, settings) in self.tables() {
            let own = (format!("workload.{table}.transport"), settings.transport());
            let others = settings.other_transports().into_iter();
            let others =
                others.map(|(key, name)| (format!("workload.{table}.{key}.transport"), name));
            let all = std::iter::once(own).chain(others);
            named.extend(all.filter_map(|(key, name)| Some((key, name?))));
        }
        named
    }
}

/// Checks a time within a run.
fn time(key: &str, time: Time) -> Result<(), Problem> {
    let longest = Time(1_000_000_000_000_000_000);
    require(time <= longest, key, quoted(time), "at most 1000000s")
}

/// Checks a time that must be above 0.
fn time_above_0(key: &str, time: Time) -> Result<(), Problem> {
    require(time.0 > 0, key, quoted(time), "a time above 0")?;
    self::time(key, time)
}

#[cfg(test)]
mod tests;
