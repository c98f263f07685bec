//! The scenario: the single definition of a run, from which the schema, the validation, the table of
//! keys in the documentation and the resolved files are derived.

mod absent_controls;
mod adapter_defaults;
mod admission;
mod check;
mod congestion_control;
mod constant_rate;
mod default;
mod delayed_ack;
mod dscp;
mod dwrr;
mod erasure;
mod error;
mod expand;
mod host;
mod keys;
mod loss_detection;
mod marking;
mod measure;
mod memory;
mod message;
mod mistakes;
mod near;
mod overrides;
mod pacer;
mod pacer_rule;
mod pfc;
mod pfc_watchdog;
mod phantom_queue;
mod qcn;
mod queue_rules;
mod rcp;
mod resolved;
mod round_trip;
mod run;
mod shape;
mod short_keys;
mod small_queues;
mod source;
mod spray;
mod swept;
mod switch;
mod telemetry;
mod transport;
mod transports;
mod uno_phantom_queue;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::Problem;
use crate::topology::{self, Graph, Wire};
use crate::units::{Rate, Time};

pub use crate::host::Overtaking;
pub use crate::network::rules::{
    AverageWeight, CongestionPoint, Pi, Pie, QcnRounding, Rcp, RcpAlgorithm, Red,
};
pub use crate::network::{DualPi2, FqCodel};
pub use crate::service_time::{Gamma, Service};
pub use crate::topology::{
    DualTor, Dumbbell, Failure, FatTree, GraphFile, GraphText, LeafSpine, LinkSettings, Multihop,
    NicRule, RailOptimized, Star, Topology, Tree, TwoDatacentres,
};
pub use crate::transport::{
    Bic, ConstantRate, ControlName as CongestionControl, Cubic, Dctcp, HpccForm, HpccSettings,
    PowerTcpSettings, Prague, ReactionPoint, Swift, UnoCcSettings, Vegas,
};
pub use crate::workload::{
    AggregationTree, AllToAll, Arrivals, Bulk, FlowConnections, Flows, HostList, HostRef, Incast,
    LongFlows, LongLived, MAX_FLOW_BYTES, Pareto, PartitionAggregate, Permutation, Pick,
    PoissonFlows, Production, Requests, SizeClass, Sizes, Workloads as Workload, check_requests,
};
pub use admission::Admission;
pub use congestion_control::ExternalControls;
pub use dscp::Dscp;
pub use dwrr::Dwrr;
pub use erasure::Erasure;
pub use error::{Mistake, Place, ScenarioError};
pub use expand::{Cell, expand, expand_verified};
pub use host::{Host, HostQueue, Receive, Transmit};
pub use keys::{keys, schema};
pub use loss_detection::LossDetection;
pub use marking::{MarkOn, Marking};
pub use measure::{Capture, FlowSeries, Measure, PacerSeries, Probe};
pub use memory::{Memory, Preset};
pub use message::Message;
pub use pacer::{
    AssociationDraw, AssociationEnd, Clocks, Pacer, PacerPlace, PacerSettings, WhenFifoFull,
    WhenTableFull, paced_path,
};
pub use pacer_rule::PacedPath;
pub use pfc::Pfc;
pub use pfc_watchdog::PfcWatchdog;
pub use phantom_queue::{PhantomQueue, Placement};
pub use resolved::Resolved;
pub use round_trip::{longest_round_trip_ps, longest_round_trips_ps};
pub use run::Run;
pub use short_keys::{Meanings, meanings};
pub use small_queues::SmallQueues;
pub use source::Position;
pub use spray::{Spray, StreamBalancing};
pub use swept::{Swept, range};
pub use switch::{PortSettings, Switch, Trimming};
pub(crate) use telemetry::check_asked as check_telemetry_asked;
pub use transport::Transport;
pub use uno_phantom_queue::UnoPhantomQueue;

/// TOML table that overrides keys of the scenario.
pub type Overrides = toml::Table;

/// A scenario: a network, its hosts, their traffic, the measurements, and the schemes to compare.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario, used for the output folder: letters, digits, `-`, `_`.
    pub name: String,
    /// One-line description.
    #[serde(default)]
    pub title: String,
    /// Source document and section.
    #[serde(default)]
    pub source: String,
    /// Duration and repetitions.
    pub run: Run,
    /// How hosts and switches are connected.
    pub topology: Topology,
    /// The hosts and their links to the switch.
    pub host: Host,
    /// The switch and its links to the hosts.
    pub switch: Switch,
    /// TCP.
    #[serde(default)]
    pub transport: Transport,
    /// Further transports by name. Each inherits the keys of `[transport]` that apply to its congestion control,
    /// and overrides keys in its own table. A workload selects the transport of its flows.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub transports: IndexMap<String, Transport>,
    /// Groups of flows by name, each with the conditions that its flows match, joined by `&`, such as
    /// `"bytes<10KB"`, `"src:h3"` or `"dst:4-7&bytes>=1MB"`. `src:`, `dst:` and `host:` (either end) take a
    /// host or a range of numbers, `bytes` takes `<`, `<=`, `>` or `>=` and a size. Each flow belongs to the
    /// first group that it matches.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub groups: IndexMap<String, String>,
    /// The packet pacer behind each host's NIC; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer: Option<Pacer>,
    /// The traffic.
    pub workload: Workload,
    /// Measurements.
    #[serde(default)]
    pub measure: Measure,
    /// Schemes to compare: for each name, a table of keys that override the scenario's.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "IndexMap<String, IndexMap<String, serde_json::Value>>")]
    pub schemes: IndexMap<String, Overrides>,
    /// Keys to sweep: for each dotted key, a list of values or a range `"start:stop:step"`; all
    /// combinations are run.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub sweep: IndexMap<String, Swept>,
}

impl Scenario {
    /// Builds the network of a checked scenario. Fails if the graph is invalid, its file cannot be
    /// read, or a named link does not exist. A file's path is relative to the working directory.
    pub fn graph(&self) -> Result<Graph, Problem> {
        self.graph_of(&self.topology)
    }

    /// Builds the network of another topology with this scenario's hosts and switches.
    pub(crate) fn graph_of(&self, topology: &Topology) -> Result<Graph, Problem> {
        let wire = |rate: Rate, delay: Time| Wire {
            rate_bps: rate.0,
            delay_ps: delay.0,
        };
        let out_of_host = wire(self.host.rate, self.host.delay);
        topology::build(
            topology,
            out_of_host,
            wire(self.switch.rate, self.switch.delay),
        )
    }

    /// Serializes the scenario as a TOML file.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|e| e.to_string())
    }
}
