//! The three-tier tree of paper 6.3 (thesis 4.5.3, figure 4.12): by default 8 pods of 4 ToRs with 6
//! hosts and 2 uplinks each and 2 aggregation switches with 4 links down and 4 up, and 8 cores with
//! a link to each pod: 56 8-port switches, 192 hosts, 3:1 at the ToR.
//!
//! Hosts `h0`, ... ToR by ToR; switches `tor<pod>_<i>`, `agg<pod>_<i>`, `core<i>`. Aggregation
//! switch i of every pod goes to the i-th group of cores.

use super::Tree;
use super::graph::{Graph, TIERS, Wire};
use super::names::Numbering;
use super::parts::Parts;
use super::planes;
use super::pods::Pods;

pub(super) fn build(tree: &Tree, parts: Parts) -> Result<Graph, String> {
    let pods = Pods {
        pods: tree.pods as usize,
        tors_per_pod: tree.tors_per_pod as usize,
        hosts_per_tor: tree.hosts_per_tor as usize,
        aggs_per_pod: tree.aggs_per_pod as usize,
        cores: tree.cores as usize,
    };
    let uplink = parts.between_switches(tree.uplink_rate, tree.uplink_delay);
    let core_link = parts.between_switches(tree.core_rate, tree.core_delay);
    of_pods(pods, 1, parts, uplink, core_link)
}

/// Builds the network of these pods in each of `planes` planes, with the given wires from ToR to
/// aggregation and from aggregation to core.
pub(super) fn of_pods(
    pods: Pods,
    planes: usize,
    mut parts: Parts,
    uplink: Wire,
    core_link: Wire,
) -> Result<Graph, String> {
    let in_pods = Numbering::InPods;
    let (tors, aggs) = (pods.tors(), pods.pods * pods.aggs_per_pod);
    parts.switches("tor", in_pods(pods.tors_per_pod), planes * tors, 1);
    parts.switches("agg", in_pods(pods.aggs_per_pod), planes * aggs, 2);
    parts.switches("core", Numbering::Single, planes * pods.cores, 3);
    match planes {
        1 => pods.join(&mut parts, uplink, core_link),
        _ => planes::join(pods, planes, &mut parts, uplink, core_link),
    }
    parts.graph(TIERS)
}
