//! The packet pacer (paper 4.2 and 5.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, quoted, require};
use super::default;
use crate::units::{Rate, Share, Size, Tick, Time};

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
    /// None, and the NIC stands still while a packet waits, as in the report's ns-2 code: the FIFO
    /// holds one packet, the others wait before the pacer.
    Held,
}

/// What draws whether an ECN-Echo associates its flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AssociationDraw {
    /// Each ACK with ECN-Echo when it comes in (paper 4.2).
    #[default]
    Echo,
    /// The next packet that the flow sends, for all that came before it, when it reaches the pacer
    /// (report II-C: the pacer sees no ACKs).
    Packet,
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
    /// Probability that a draw associates a flow (p_a).
    #[serde(default = "default::eta")]
    pub association_probability: Share,
    /// What draws: each ACK with ECN-Echo, or the next packet of its flow.
    #[serde(default)]
    pub association_draw: AssociationDraw,
    /// Time after which an association ends (T_i).
    #[serde(default = "default::association_timeout")]
    pub association_timeout: Time,
    /// Entries of the flow association table.
    #[serde(default = "default::table_entries")]
    pub table_entries: u32,
    /// What a full table does.
    #[serde(default)]
    pub when_table_full: WhenTableFull,
    /// Token buckets; a flow's number decides which one paces it (paper 4.2, remark 4).
    #[serde(default = "default::one_u32")]
    pub buckets: u32,
    /// Depth of a token bucket.
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

/// Checks the pacer of hosts with links of `link` and packets of at most `mtu` bytes.
pub(super) fn check(pacer: &Pacer, link: Rate, mtu: u64) -> Result<(), Problem> {
    let interval = pacer.update_interval;
    let shortest = Time(100_000);
    require(
        interval >= shortest && interval <= Time(1_000_000_000_000),
        "pacer.update_interval",
        quoted(interval),
        "100ns to 1s",
    )?;
    require(
        pacer.eta.0 <= Share::ONE,
        "pacer.eta",
        quoted(pacer.eta),
        "0 to 1",
    )?;
    require(
        pacer.beta <= 1_000_000,
        "pacer.beta",
        pacer.beta,
        "at most 1000000",
    )?;
    let probability = pacer.association_probability;
    require(
        probability.0 <= Share::ONE,
        "pacer.association_probability",
        quoted(probability),
        "0 to 1",
    )?;
    let entries = pacer.table_entries;
    require(
        (1..=65_536).contains(&entries),
        "pacer.table_entries",
        entries,
        "1 to 65536",
    )?;
    let buckets = pacer.buckets;
    require(
        (1..=4096).contains(&buckets),
        "pacer.buckets",
        buckets,
        "1 to 4096",
    )?;
    let bucket = pacer.bucket;
    require(
        (1..=1_000_000).contains(&bucket.0),
        "pacer.bucket",
        quoted(bucket),
        "1B to 1MB",
    )?;
    let fifo = pacer.fifo;
    require(
        fifo.0 >= mtu && fifo.0 <= 1_000_000_000,
        "pacer.fifo",
        quoted(fifo),
        "from one packet of transport.mtu to 1GB",
    )?;
    let step = pacer.rate_step;
    require(
        step.0 > 0 && step <= link,
        "pacer.rate_step",
        quoted(step),
        "above 0, at most host.rate",
    )
}
