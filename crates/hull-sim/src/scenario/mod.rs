//! The scenario: the one definition of what a run is, from which the schema, the validation, the
//! documentation table and the resolved files come.

mod default;
mod error;
mod expand;
mod keys;
mod validate;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::{Buffer, Rate, RelativeRate, Share, Size, Tick, Time};

pub use error::ScenarioError;
pub use expand::{Cell, expand};
pub use keys::{keys, schema};

/// A table of TOML that overrides keys of the scenario.
pub type Overrides = toml::Table;

/// A scenario: a network, its hosts, their traffic, what is measured, and which variants of it
/// are compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Name of the scenario, used for the output folder: letters, digits, `-`, `_`.
    pub name: String,
    /// One line that says what is shown.
    #[serde(default)]
    pub title: String,
    /// The document and section that it comes from.
    #[serde(default)]
    pub source: String,
    /// How long and how often.
    pub run: Run,
    /// How hosts and switches are joined.
    pub topology: Topology,
    /// The hosts and their links to the switch.
    pub host: Host,
    /// The switch and its links to the hosts.
    pub switch: Switch,
    /// TCP.
    #[serde(default)]
    pub transport: Transport,
    /// The packet pacer behind each host's NIC; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer: Option<Pacer>,
    /// The traffic.
    pub workload: Workload,
    /// What is measured.
    #[serde(default)]
    pub measure: Measure,
    /// Schemes to compare: for each name, a table of keys that override the scenario's.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "IndexMap<String, IndexMap<String, serde_json::Value>>")]
    pub schemes: IndexMap<String, Overrides>,
    /// Keys to sweep: for each dotted key, a list of values; all combinations are run.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    #[schemars(with = "IndexMap<String, Vec<serde_json::Value>>")]
    pub sweep: IndexMap<String, Vec<toml::Value>>,
}

/// How long and how often a scenario is run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Simulated time that is measured, after the warm-up.
    pub duration: Time,
    /// Simulated time before the measurement starts.
    #[serde(default)]
    pub warmup: Time,
    /// Longest simulated time after the measurement in which started requests may complete.
    #[serde(default = "default::drain")]
    pub drain: Time,
    /// The first seed.
    #[serde(default = "default::one_u64")]
    pub seed: u64,
    /// Number of seeds: seed, seed + 1, ...
    #[serde(default = "default::one_u32")]
    pub seeds: u32,
}

/// How hosts and switches are joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// All hosts at one switch.
    pub star: Star,
}

/// One switch with all hosts; host 0 is the client, the port to it is the one that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts, the client included.
    pub hosts: u16,
}

/// A host and its link to the switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Rate of the link from the host to the switch.
    pub rate: Rate,
    /// Propagation delay of that link.
    pub delay: Time,
    /// Room of the NIC's queue.
    #[serde(default = "default::unlimited")]
    pub nic_buffer: Buffer,
    /// Time that a packet takes through the host's stack and adapter, in each direction.
    #[serde(default)]
    pub stack_delay: Time,
    /// Time from the arrival of a message's last byte to the application's next step.
    #[serde(default)]
    pub application_delay: Time,
}

/// A switch and its links to the hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Rate of the links from the switch to the hosts.
    pub rate: Rate,
    /// Propagation delay of those links.
    pub delay: Time,
    /// Room of each output port's drop-tail buffer.
    #[serde(default = "default::unlimited")]
    pub buffer: Buffer,
    /// Whether the packet being sent still occupies the buffer and counts for marking.
    #[serde(default)]
    pub count_in_service: bool,
    /// ECN marking by queue length; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marking>,
    /// Phantom queue behind each port; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phantom_queue: Option<PhantomQueue>,
}

/// ECN marking on the instantaneous queue (thesis 2.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Marking {
    /// Packets that find more than this in the queue are marked (the papers' K).
    pub threshold: Size,
    /// Whether the arriving packet itself is counted in.
    #[serde(default)]
    pub count_arriving: bool,
}

/// A phantom queue (paper 2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhantomQueue {
    /// Rate at which the virtual queue drains (gamma times the link's rate).
    pub drain: RelativeRate,
    /// Virtual backlog above which packets are marked.
    pub threshold: Size,
    /// Whether the packet is added before the comparison (report II-A) or after (the NetFPGA).
    #[serde(default)]
    pub count_arriving: bool,
    /// Step in which it drains (800 ns on the NetFPGA).
    #[serde(default)]
    pub tick: Tick,
}

/// Congestion control algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    /// TCP NewReno with SACK.
    #[default]
    NewReno,
    /// DCTCP.
    Dctcp,
}

/// TCP and its parameters; windows in segments of mtu - header bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Congestion control algorithm.
    #[serde(default)]
    pub congestion_control: CongestionControl,
    /// Whether data packets are ECN-capable; DCTCP needs it.
    #[serde(default)]
    pub ecn: bool,
    /// Largest packet, headers included.
    #[serde(default = "default::mtu")]
    pub mtu: Size,
    /// IP and TCP header, also the size of an ACK.
    #[serde(default = "default::header")]
    pub header: Size,
    /// Initial window, segments.
    #[serde(default = "default::initial_window")]
    pub initial_window: u32,
    /// Smallest window after a reduction, segments.
    #[serde(default = "default::min_window")]
    pub min_window: u32,
    /// Largest congestion window, segments.
    #[serde(default = "default::max_window")]
    pub max_window: u32,
    /// The receiver's window, segments.
    #[serde(default = "default::max_window")]
    pub receive_window: u32,
    /// Retransmission timeout before the first round-trip sample.
    #[serde(default = "default::initial_rto")]
    pub initial_rto: Time,
    /// Floor of the retransmission timeout.
    #[serde(default = "default::min_rto")]
    pub min_rto: Time,
    /// Ceiling of the retransmission timeout.
    #[serde(default = "default::max_rto")]
    pub max_rto: Time,
    /// One ACK for every so many data packets.
    #[serde(default = "default::ack_every")]
    pub ack_every: u32,
    /// Longest wait of a delayed ACK.
    #[serde(default = "default::delayed_ack")]
    pub delayed_ack: Time,
    /// Whether a connection that was idle for an RTO starts again from its initial window.
    #[serde(default)]
    pub idle_restart: bool,
    /// Whether the window grows only while it is what limits the sender.
    #[serde(default)]
    pub cwnd_validation: bool,
    /// Whether the window grows by the bytes that an ACK covers (RFC 3465) or by one step for
    /// each ACK (RFC 5681, ns-2, Linux until 3.18).
    #[serde(default)]
    pub byte_counting: bool,
    /// DCTCP's parameters.
    #[serde(default)]
    pub dctcp: Dctcp,
}

/// DCTCP's parameters (thesis 2.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dctcp {
    /// Weight g of a new sample of the marked fraction.
    #[serde(default = "default::g")]
    pub g: Share,
    /// First value of alpha.
    #[serde(default = "default::whole")]
    pub initial_alpha: Share,
}

/// What a full pacer FIFO does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenFifoFull {
    /// The packet is dropped.
    #[default]
    Drop,
    /// The packet is sent unpaced.
    Bypass,
}

/// What a full flow association table does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenTableFull {
    /// The new flow stays unpaced.
    #[default]
    Ignore,
    /// The entry that would expire first makes room.
    EvictOldest,
}

/// Which packets may overtake those that wait in a pacer's FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Overtaking {
    /// Those of every flow that is not associated, also of one whose association has just ended
    /// and which has packets waiting: its packets are reordered (report II-C).
    Any,
    /// Those of flows that have no packet waiting.
    #[default]
    OtherFlows,
    /// None: a small response waits behind paced packets.
    None,
}

/// How the clocks of the hosts' pacers stand to each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Clocks {
    /// Each has a phase of its own, drawn from the seed, as separate devices do.
    #[default]
    Free,
    /// All tick at the same time, as in a simulation that starts them together.
    Synchronized,
}

/// The packet pacer (paper 4.2 and 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pacer {
    /// Time between two updates of the rate (T_r).
    #[serde(default = "default::update_interval")]
    pub update_interval: Time,
    /// Weight of a new rate sample (eta).
    #[serde(default = "default::eta")]
    pub eta: Share,
    /// Weight of the backlog, bytes per second for each byte (beta).
    #[serde(default = "default::beta")]
    pub beta: u32,
    /// Probability that an ACK with ECE associates its flow (p_a).
    #[serde(default = "default::eta")]
    pub association_probability: Share,
    /// Time after which an association ends (T_i).
    #[serde(default = "default::association_timeout")]
    pub association_timeout: Time,
    /// Entries of the flow association table.
    #[serde(default = "default::table_entries")]
    pub table_entries: u32,
    /// What a full table does.
    #[serde(default)]
    pub when_table_full: WhenTableFull,
    /// Depth of the token bucket.
    #[serde(default = "default::bucket")]
    pub bucket: Size,
    /// Step in which tokens arrive (16 us on the NetFPGA).
    #[serde(default)]
    pub token_tick: Tick,
    /// Room of the FIFO of paced packets.
    #[serde(default = "default::fifo")]
    pub fifo: Size,
    /// What a full FIFO does.
    #[serde(default)]
    pub when_fifo_full: WhenFifoFull,
    /// Which packets may overtake those that wait in the FIFO.
    #[serde(default)]
    pub overtaking: Overtaking,
    /// How the pacers' ticks and rate updates of different hosts stand to each other.
    #[serde(default)]
    pub clocks: Clocks,
    /// Granularity of the rate; also its floor.
    #[serde(default = "default::rate_step")]
    pub rate_step: Rate,
}

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

/// What is measured; flow completion times and the queue of the client's port always are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Measure {
    /// Time between two samples of the queue in `latency.parquet`.
    #[serde(default = "default::sample_interval")]
    pub sample_interval: Time,
    /// The latency probe of paper 5.2; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// A ping from host 1 to the client, timed across the switch (paper 5.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Time between two probes.
    #[serde(default = "default::sample_interval")]
    pub interval: Time,
    /// Bytes on the wire.
    #[serde(default = "default::mtu")]
    pub size: Size,
}

impl Scenario {
    /// The scenario as a TOML file.
    pub fn to_toml(&self) -> Result<String, String> {
        toml::to_string(self).map_err(|e| e.to_string())
    }
}
