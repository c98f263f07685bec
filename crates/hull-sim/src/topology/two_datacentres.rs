//! Two data centres: two equal fat trees, each with a border switch connected to all its cores, and
//! border links with millisecond delays between the two.
//!
//! Source: T. Bonato et al., "Uno" (SC'25), as in the authors' simulator (Uno_SC25, commit 68d164e): k = 8, eight
//! links from each core to its border switch, eight to 128 border links. Rates in bit/s, delays in ps.
//!
//! Names as in the fat tree, the second data centre's numbered on: hosts, pods and cores. Border switches are
//! `border0` and `border1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::FatTree;
use super::graph::Graph;
use super::names::Numbering;
use super::parts::Parts;
use super::settings::{count, wire};
use crate::problem::{Problem, quoted, require};
use crate::units::{Rate, Time};

/// Names of the tiers.
const TIERS: &[&str] = &["host", "tor", "agg", "core", "border"];

/// Largest number of ports per switch of two fat trees: 2 x 27,648 hosts.
const MOST_K_OF_TWO: u32 = 48;

/// Longest delay of a border link: 1 s.
const LONGEST: Time = Time(1_000_000_000_000);

const fn one() -> u32 {
    1
}

/// Two data centres, each a fat tree of k-port switches whose cores are connected to a border
/// switch, and links between the two border switches. Hosts of the second are numbered after the
/// hosts of the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TwoDatacentres {
    /// Ports of each switch of the fat trees, even.
    pub k: u32,
    /// Parallel links between the border switches.
    pub border_links: u32,
    /// Propagation delay of those links.
    pub border_delay: Time,
    /// Their rate, at most the rate of the links between cores and border switches (default:
    /// switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub border_rate: Option<Rate>,
    /// Parallel links from each core to its border switch.
    #[serde(default = "one")]
    pub core_links: u32,
    /// Rate of the links between switches of a data centre (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<Rate>,
    /// Propagation delay of the links between switches of a data centre (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<Time>,
}

impl TwoDatacentres {
    /// One of the two data centres as a fat tree.
    pub fn one(&self) -> FatTree {
        FatTree {
            k: self.k,
            planes: 1,
            uplink_rate: self.uplink_rate,
            uplink_delay: self.uplink_delay,
        }
    }

    /// Number of hosts in each data centre.
    pub fn hosts_each(&self) -> u32 {
        self.k.pow(3) / 4
    }
}

/// Checks the keys.
pub(super) fn check(t: &TwoDatacentres) -> Result<(), Problem> {
    require(
        (2..=MOST_K_OF_TWO).contains(&t.k) && t.k.is_multiple_of(2),
        "topology.two_datacentres.k",
        t.k,
        &format!("an even number from 2 to {MOST_K_OF_TWO}"),
    )?;
    count(
        "topology.two_datacentres.border_links",
        t.border_links,
        1024,
    )?;
    count("topology.two_datacentres.core_links", t.core_links, 64)?;
    require(
        t.border_delay <= LONGEST,
        "topology.two_datacentres.border_delay",
        quoted(t.border_delay),
        &format!("at most \"{LONGEST}\""),
    )?;
    wire(
        "topology.two_datacentres.border_rate",
        t.border_rate,
        "topology.two_datacentres.border_delay",
        Some(t.border_delay),
    )?;
    wire(
        "topology.two_datacentres.uplink_rate",
        t.uplink_rate,
        "topology.two_datacentres.uplink_delay",
        t.uplink_delay,
    )
}

pub(super) fn build(network: &TwoDatacentres, mut parts: Parts) -> Result<Graph, Problem> {
    let inside = parts.between_switches(network.uplink_rate, network.uplink_delay);
    let border = parts.between_switches(network.border_rate, Some(network.border_delay));
    require(
        border.rate_bps <= inside.rate_bps,
        "topology.two_datacentres.border_rate",
        quoted(Rate(border.rate_bps)),
        &format!(
            "at most \"{}\", the rate of the border switches' other ports",
            Rate(inside.rate_bps)
        ),
    )?;
    let half = network.k as usize / 2;
    let (pods, tors, cores) = (2 * half, 2 * half * half, half * half);
    let in_pods = Numbering::InPods(half);
    let first_tor = parts.switches("tor", in_pods, 2 * tors, 1).start;
    let first_agg = parts.switches("agg", in_pods, 2 * tors, 2).start;
    let first_core = parts
        .switches("core", Numbering::Single, 2 * cores, 3)
        .start;
    let first_border = parts.switches("border", Numbering::Single, 2, 4).start;
    parts.hosts("h", 2 * tors * half, |host| first_tor + host / half);
    let wire = parts.wire(inside);
    for tor in 0..2 * tors {
        for agg in 0..half {
            parts.join(first_tor + tor, first_agg + tor / half * half + agg, wire);
        }
    }
    for pod in 0..2 * pods {
        for core in 0..cores {
            let agg = first_agg + pod * half + core / half;
            parts.join(agg, first_core + pod / pods * cores + core, wire);
        }
    }
    for core in 0..2 * cores {
        for _ in 0..network.core_links {
            parts.join(first_core + core, first_border + core / cores, wire);
        }
    }
    let wire = parts.wire(border);
    for _ in 0..network.border_links {
        parts.join(first_border, first_border + 1, wire);
    }
    let graph = parts.graph(TIERS);
    graph.map_err(|problem| Problem::new("topology.two_datacentres", problem))
}
