//! The rail-optimized network of AI clusters: the hosts of a group have NIC r at the group's leaf of rail r,
//! so that hosts of a group reach each other on a rail over one switch; spines connect all leaves.
//!
//! ```text
//!        spine0     spine1
//!       /  |  \    /  |  \        each leaf to each spine
//! leaf0_0 leaf0_1   leaf1_0 leaf1_1
//!    |  \  /  |        |  \  /  |
//!    |   \/   |        |   \/   |
//!    h0      h1        h2      h3      NIC 0 to leaf<group>_0, NIC 1 to leaf<group>_1
//! ```
//!
//! Hosts `h0`, ... group by group; switches `leaf<group>_<rail>`, `spine<i>`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::parts::Parts;
use super::rails::Rails;
use super::settings::{check_links, check_total, count, wire};
use crate::limits;
use crate::problem::{Problem, require};
use crate::units::{Rate, Time};

/// Groups of hosts with a NIC for each rail: NIC r of each host of a group is connected to the
/// group's leaf of rail r, and each leaf to each spine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailOptimized {
    /// Groups of hosts, each with a leaf for each rail.
    pub groups: u32,
    /// Hosts of each group.
    pub hosts_per_group: u32,
    /// NICs of each host.
    pub rails: u32,
    /// Number of spines; 0 is allowed with one group, whose rails then are separate networks.
    pub spines: u32,
    /// Rate of the links between leaves and spines (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<Rate>,
    /// Propagation delay of the links between leaves and spines (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<Time>,
}

/// Checks the keys.
pub(super) fn check(r: &RailOptimized) -> Result<(), Problem> {
    let key = "topology.rail_optimized";
    count("topology.rail_optimized.groups", r.groups, limits::SWITCHES)?;
    count(
        "topology.rail_optimized.hosts_per_group",
        r.hosts_per_group,
        limits::HOSTS,
    )?;
    count(
        "topology.rail_optimized.rails",
        r.rails,
        limits::NICS as u64,
    )?;
    let (least, allowed) = match r.groups {
        1 => (0, "0 to 1000"),
        _ => (1, "1 to 1000 with topology.rail_optimized.groups above 1"),
    };
    require(
        (least..=1000).contains(&r.spines),
        "topology.rail_optimized.spines",
        r.spines,
        allowed,
    )?;
    let (groups, rails) = (u64::from(r.groups), u64::from(r.rails));
    let hosts = groups * u64::from(r.hosts_per_group);
    check_total(key, hosts)?;
    check_links(key, hosts * rails, groups * rails * u64::from(r.spines))?;
    wire(
        "topology.rail_optimized.uplink_rate",
        r.uplink_rate,
        "topology.rail_optimized.uplink_delay",
        r.uplink_delay,
    )
}

pub(super) fn build(network: &RailOptimized, parts: Parts) -> Result<Graph, String> {
    let uplink = parts.between_switches(network.uplink_rate, network.uplink_delay);
    let rails = Rails {
        groups: network.groups as usize,
        hosts_per_group: network.hosts_per_group as usize,
        rails: network.rails as usize,
        spines: network.spines as usize,
    };
    rails.build("leaf", &["host", "leaf", "spine"], uplink, parts)
}
