//! Racks with two top-of-rack switches: each host has a link to both, so that it stays connected if one
//! fails; spines connect all of them.
//!
//! ```text
//!        spine0     spine1
//!       /  |  \    /  |  \        each ToR to each spine
//! tor0_0 tor0_1     tor1_0 tor1_1
//!    |  \  /  |        |  \  /  |
//!    |   \/   |        |   \/   |
//!    h0      h1        h2      h3      NIC 0 to tor<rack>_0, NIC 1 to tor<rack>_1
//! ```
//!
//! Hosts `h0`, ... rack by rack; switches `tor<rack>_<i>`, `spine<i>`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::parts::Parts;
use super::rails::Rails;
use super::settings::{check_links, check_total, count, wire};
use crate::limits;
use crate::problem::Problem;
use crate::units::{Rate, Time};

/// Racks with two top-of-rack switches each: each host is connected to both of its rack, and each of
/// them to each spine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DualTor {
    /// Number of racks.
    pub racks: u32,
    /// Hosts of each rack.
    pub hosts_per_rack: u32,
    /// Number of spines.
    pub spines: u32,
    /// Rate of the links between ToRs and spines (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<Rate>,
    /// Propagation delay of the links between ToRs and spines (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<Time>,
}

/// Top-of-rack switches of a rack.
const TORS: u32 = 2;

/// Checks the keys.
pub(super) fn check(d: &DualTor) -> Result<(), Problem> {
    let key = "topology.dual_tor";
    count("topology.dual_tor.racks", d.racks, limits::SWITCHES)?;
    count(
        "topology.dual_tor.hosts_per_rack",
        d.hosts_per_rack,
        limits::HOSTS,
    )?;
    count("topology.dual_tor.spines", d.spines, 1000)?;
    let (racks, tors) = (u64::from(d.racks), u64::from(TORS));
    let hosts = racks * u64::from(d.hosts_per_rack);
    check_total(key, hosts)?;
    check_links(key, hosts * tors, racks * tors * u64::from(d.spines))?;
    wire(
        "topology.dual_tor.uplink_rate",
        d.uplink_rate,
        "topology.dual_tor.uplink_delay",
        d.uplink_delay,
    )
}

pub(super) fn build(network: &DualTor, parts: Parts) -> Result<Graph, String> {
    let uplink = parts.between_switches(network.uplink_rate, network.uplink_delay);
    let rails = Rails {
        groups: network.racks as usize,
        hosts_per_group: network.hosts_per_rack as usize,
        rails: TORS as usize,
        spines: network.spines as usize,
    };
    rails.build("tor", &["host", "tor", "spine"], uplink, parts)
}
