//! The three-tier tree of paper 6.3 (thesis 4.5.3, figure 4.12): by default 8 pods of 4 ToRs with 6
//! hosts and 2 uplinks each and 2 aggregation switches with 4 links down and 4 up, and 8 cores with
//! a link to each pod: 56 8-port switches, 192 hosts, 3:1 at the ToR.
//!
//! Hosts `h0`, ... ToR by ToR; switches `tor<pod>_<i>`, `agg<pod>_<i>`, `core<i>`. Aggregation
//! switch i of every pod goes to the i-th group of cores.

use super::Tree;
use super::graph::{Graph, TIERS, Wire};
use super::parts::Parts;

pub(super) fn build(tree: &Tree, parts: Parts) -> Result<Graph, String> {
    let shape = Shape {
        pods: tree.pods,
        tors_per_pod: tree.tors_per_pod,
        hosts_per_tor: tree.hosts_per_tor,
        aggs_per_pod: tree.aggs_per_pod,
        cores: tree.cores,
        uplink: parts.between_switches(tree.uplink_rate, tree.uplink_delay),
        core_link: parts.between_switches(tree.core_rate, tree.core_delay),
    };
    shape.build(parts)
}

/// How many there are of each, and the wires between the tiers.
pub(super) struct Shape {
    /// Pods.
    pub(super) pods: u32,
    /// ToRs in each pod.
    pub(super) tors_per_pod: u32,
    /// Hosts at each ToR.
    pub(super) hosts_per_tor: u32,
    /// Aggregation switches in each pod.
    pub(super) aggs_per_pod: u32,
    /// Cores, a multiple of `aggs_per_pod`.
    pub(super) cores: u32,
    /// ToR to aggregation.
    pub(super) uplink: Wire,
    /// Aggregation to core.
    pub(super) core_link: Wire,
}

impl Shape {
    /// The graph of this shape.
    pub(super) fn build(&self, mut parts: Parts) -> Result<Graph, String> {
        let tors = in_pods(&mut parts, "tor", 1, self.pods, self.tors_per_pod);
        let aggs = in_pods(&mut parts, "agg", 2, self.pods, self.aggs_per_pod);
        let cores: Vec<usize> = (0..self.cores)
            .map(|core| parts.switch(format!("core{core}"), 3))
            .collect();
        let mut hosts = 0_u32..;
        for &tor in tors.iter().flatten() {
            for host in hosts.by_ref().take(self.hosts_per_tor as usize) {
                parts.host(format!("h{host}"), tor);
            }
        }
        for (tors, aggs) in tors.iter().zip(&aggs) {
            for &tor in tors {
                for &agg in aggs {
                    parts.join(tor, agg, self.uplink);
                }
            }
        }
        let group = (self.cores / self.aggs_per_pod) as usize;
        for aggs in &aggs {
            for (&agg, cores) in aggs.iter().zip(cores.chunks(group)) {
                for &core in cores {
                    parts.join(agg, core, self.core_link);
                }
            }
        }
        parts.graph(TIERS)
    }
}

/// The switches of a tier, pod by pod.
fn in_pods(
    parts: &mut Parts,
    tier_name: &str,
    tier: u8,
    pods: u32,
    per_pod: u32,
) -> Vec<Vec<usize>> {
    (0..pods)
        .map(|pod| {
            (0..per_pod)
                .map(|i| parts.switch(format!("{tier_name}{pod}_{i}"), tier))
                .collect()
        })
        .collect()
}
