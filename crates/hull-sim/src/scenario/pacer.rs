//! The packet pacer (paper 4.2 and 5.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::longest_round_trip_ps;
use super::pacer_rule::{self, PacedPath};
use super::{Scenario, default};
use crate::host::Overtaking;
use crate::problem::{Problem, quoted, require};
use crate::topology::Graph;
use crate::units::{Rate, Share, Size, Tick, Time};

/// Behaviour of a full pacer FIFO.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum WhenFifoFull {
    /// The packet is dropped.
    #[default]
    Drop,
    /// The packet is sent unpaced.
    Bypass,
}

/// Behaviour of a full flow association table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenTableFull {
    /// The new flow stays unpaced.
    #[default]
    Ignore,
    /// The entry that would expire first makes room.
    EvictOldest,
}

/// Event that draws whether a flow is associated.
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

/// Event that starts the time after which an association ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AssociationEnd {
    /// The last draw that associated the flow (report II-C).
    #[default]
    Draw,
    /// The last packet of the flow that reached the pacer, or that draw if it is later: the time is
    /// one of inactivity (thesis 4.3.2).
    Packet,
}

/// Relative phase of the clocks of the hosts' pacers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Clocks {
    /// Each has a phase of its own, drawn from the seed, as separate devices do.
    #[default]
    Free,
    /// All tick at the same time, as in a simulation that starts them together.
    Synchronized,
}

/// Place of the pacer in the host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PacerPlace {
    /// Behind the NIC's queue and its segmentation: packets are paced (paper 4.2).
    #[default]
    AfterSegmentation,
    /// In software, before the NIC: whole pieces of host.offload are paced, and the packets of each leave
    /// back to back (thesis 4.3.2 and 4.6).
    BeforeSegmentation,
}

/// The packet pacer (paper 4.2 and 5.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pacer {
    /// Place of the pacer in the host.
    #[serde(default, skip_serializing_if = "is_default")]
    pub place: PacerPlace,
    /// Time between two updates of the rate (T_r). Unset: `eta` times 4.88 of the network's longest
    /// unloaded round trip (64 us for 105 us, 7.2 us for 11.8 us).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update_interval: Option<Time>,
    /// Weight of a new rate sample (eta).
    #[serde(default = "default::eta")]
    pub eta: Share,
    /// Weight of the backlog, bytes per second for each byte (beta). Unset: by `update_interval` and
    /// `eta` (16 for 64 us, 375 for 7.2 us).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beta: Option<u32>,
    /// Probability that a draw associates a flow (p_a).
    #[serde(default = "default::eta")]
    pub association_probability: Share,
    /// Event that draws: each ACK with ECN-Echo, or the next packet of its flow.
    #[serde(default)]
    pub association_draw: AssociationDraw,
    /// Event after which an association lasts for `association_timeout`: the last successful draw, or
    /// the flow's last packet.
    #[serde(default)]
    pub association_end: AssociationEnd,
    /// Time after which an association ends (T_i). Unset: the time for 1.25 MB at the fastest
    /// host's rate (10 ms at 1 Gbps, 1 ms at 10 Gbps), at least 80 round trips.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub association_timeout: Option<Time>,
    /// Entries of the flow association table.
    #[serde(default = "default::table_entries")]
    pub table_entries: u32,
    /// Behaviour of a full table.
    #[serde(default)]
    pub when_table_full: WhenTableFull,
    /// Token buckets; a flow's number decides which one paces it (paper 4.2, remark 4).
    #[serde(default = "default::one_u32")]
    pub buckets: u32,
    /// Depth of a token bucket. Unset: 3 KB, or two packets or a tick's tokens where that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub bucket: Option<Size>,
    /// Step in which tokens arrive (16 us on the NetFPGA).
    #[serde(default)]
    pub token_tick: Tick,
    /// Size of the FIFO of paced packets. Unset: twice what the fastest host sends in `update_interval / eta`
    /// (128 KB for 64 us at 1 Gbps), at least 128 KB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-packets" = true))]
    pub fifo: Option<Size>,
    /// Behaviour of a full FIFO.
    #[serde(default)]
    pub when_fifo_full: WhenFifoFull,
    /// Packets that may overtake those waiting in the FIFO.
    #[serde(default)]
    pub overtaking: Overtaking,
    /// Relative phase of the ticks and rate updates of different hosts' pacers.
    #[serde(default)]
    pub clocks: Clocks,
    /// Granularity of the rate; also its minimum.
    #[serde(default = "default::rate_step")]
    pub rate_step: Rate,
}

fn is_default(place: &PacerPlace) -> bool {
    *place == PacerPlace::default()
}

impl Default for Pacer {
    fn default() -> Self {
        Pacer {
            place: PacerPlace::default(),
            update_interval: None,
            eta: default::eta(),
            beta: None,
            association_probability: default::eta(),
            association_draw: AssociationDraw::default(),
            association_end: AssociationEnd::default(),
            association_timeout: None,
            table_entries: default::table_entries(),
            when_table_full: WhenTableFull::default(),
            buckets: default::one_u32(),
            bucket: None,
            token_tick: Tick::default(),
            fifo: None,
            when_fifo_full: WhenFifoFull::default(),
            overtaking: Overtaking::default(),
            clocks: Clocks::default(),
            rate_step: default::rate_step(),
        }
    }
}

/// Settings that depend on the network, as set or derived by the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PacerSettings {
    /// T_r.
    pub update_interval: Time,
    /// beta, 1/s.
    pub beta: u32,
    /// T_i.
    pub association_timeout: Time,
    /// Depth of a token bucket.
    pub bucket: Size,
    /// Capacity of a FIFO.
    pub fifo: Size,
}

impl Pacer {
    /// Returns the settings for a path: those set, and the others by the rule.
    pub fn settings(&self, path: &PacedPath) -> PacerSettings {
        let eta = self.eta;
        let update_interval =
            (self.update_interval).unwrap_or_else(|| pacer_rule::update_interval(path, eta));
        PacerSettings {
            update_interval,
            beta: (self.beta).unwrap_or_else(|| pacer_rule::beta(update_interval, eta)),
            association_timeout: (self.association_timeout)
                .unwrap_or_else(|| pacer_rule::association_timeout(path)),
            bucket: (self.bucket).unwrap_or_else(|| pacer_rule::bucket(path, self.token_tick)),
            fifo: (self.fifo).unwrap_or_else(|| pacer_rule::fifo(path, update_interval, eta)),
        }
    }

    /// Keys that are left to the rule.
    fn unset(&self) -> Vec<&'static str> {
        let keys = [
            ("pacer.update_interval", self.update_interval.is_none()),
            ("pacer.beta", self.beta.is_none()),
            (
                "pacer.association_timeout",
                self.association_timeout.is_none(),
            ),
            ("pacer.bucket", self.bucket.is_none()),
            ("pacer.fifo", self.fifo.is_none()),
        ];
        let unset = keys.into_iter().filter(|&(_, unset)| unset);
        unset.map(|(key, _)| key).collect()
    }
}

/// Properties of the network on which the pacers' settings depend.
pub fn paced_path(scenario: &Scenario, graph: &Graph) -> PacedPath {
    let (_, fastest) = graph.host_rates();
    PacedPath {
        rate: fastest,
        round_trip: Time(longest_round_trip_ps(scenario, graph)),
        mtu: scenario.transport.mtu.0,
    }
}

/// Derives the unset settings of a checked scenario's pacer, and returns their keys.
pub(super) fn resolve(scenario: &mut Scenario, graph: &Graph) -> Vec<&'static str> {
    let Some(pacer) = &scenario.pacer else {
        return Vec::new();
    };
    let unset = pacer.unset();
    if unset.is_empty() {
        return unset;
    }
    let settings = pacer.settings(&paced_path(scenario, graph));
    if let Some(pacer) = &mut scenario.pacer {
        pacer.update_interval = Some(settings.update_interval);
        pacer.beta = Some(settings.beta);
        pacer.association_timeout = Some(settings.association_timeout);
        pacer.bucket = Some(settings.bucket);
        pacer.fifo = Some(settings.fifo);
    }
    unset
}

/// Checks that the slowest host's link carries a step of the rate.
pub(super) fn check_links(scenario: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let Some(pacer) = &scenario.pacer else {
        return Ok(());
    };
    let (slowest, _) = graph.host_rates();
    require(
        pacer.rate_step <= slowest,
        "pacer.rate_step",
        quoted(pacer.rate_step),
        &format!("at most the rate of the slowest host's link, \"{slowest}\""),
    )
}

/// Checks the pacer of hosts with links of rate `link` and packets of at most `mtu` bytes.
pub(super) fn check(pacer: &Pacer, link: Rate, mtu: u64) -> Vec<Result<(), Problem>> {
    let mut found = Vec::new();
    found.push(require(
        pacer.place == PacerPlace::AfterSegmentation || pacer.overtaking != Overtaking::Held,
        "pacer.place",
        quoted("before_segmentation"),
        "\"after_segmentation\" with pacer.overtaking = \"held\", which stops the NIC's queue",
    ));
    if let Some(interval) = pacer.update_interval {
        let shortest = Time(100_000);
        found.push(require(
            interval >= shortest && interval <= Time(1_000_000_000_000),
            "pacer.update_interval",
            quoted(interval),
            "100ns to 1s",
        ));
    }
    found.push(require(
        pacer.eta.0 <= Share::ONE,
        "pacer.eta",
        quoted(pacer.eta),
        "0 to 1",
    ));
    if let Some(beta) = pacer.beta {
        found.push(require(
            beta <= 1_000_000,
            "pacer.beta",
            beta,
            "at most 1000000",
        ));
    }
    let probability = pacer.association_probability;
    found.push(require(
        probability.0 <= Share::ONE,
        "pacer.association_probability",
        quoted(probability),
        "0 to 1",
    ));
    let entries = pacer.table_entries;
    found.push(require(
        (1..=65_536).contains(&entries),
        "pacer.table_entries",
        entries,
        "1 to 65536",
    ));
    let buckets = pacer.buckets;
    found.push(require(
        (1..=4096).contains(&buckets),
        "pacer.buckets",
        buckets,
        "1 to 4096",
    ));
    if let Some(bucket) = pacer.bucket {
        found.push(require(
            (1..=1_000_000).contains(&bucket.0),
            "pacer.bucket",
            quoted(bucket),
            "1B to 1MB",
        ));
    }
    if let Some(fifo) = pacer.fifo {
        found.push(require(
            fifo.0 >= mtu && fifo.0 <= 1_000_000_000,
            "pacer.fifo",
            quoted(fifo),
            "from one packet of transport.mtu to 1GB",
        ));
    }
    let step = pacer.rate_step;
    found.push(require(
        step.0 > 0 && step <= link,
        "pacer.rate_step",
        quoted(step),
        "above 0, at most host.rate",
    ));
    found
}
