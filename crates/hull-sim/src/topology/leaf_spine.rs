//! The leaf-spine network: each leaf is connected to each spine, and two hosts are 2 or 4 links apart.
//! Hosts `h0`, ... leaf by leaf; switches `leaf0`, ..., `spine0`, ..., with several planes
//! `leaf<plane>_0`, ..., `spine<plane>_0`, ...

use super::LeafSpine;
use super::graph::Graph;
use super::names::Numbering;
use super::parts::Parts;
use super::planes;
use super::pods::Pods;

pub(super) fn build(network: &LeafSpine, mut parts: Parts) -> Result<Graph, String> {
    let uplink = parts.between_switches(network.uplink_rate, network.uplink_delay);
    let pods = Pods {
        pods: 1,
        tors_per_pod: network.leaves as usize,
        hosts_per_tor: network.hosts_per_leaf as usize,
        aggs_per_pod: network.spines as usize,
        cores: 0,
    };
    let count = network.planes as usize;
    let numbering = |each: usize| {
        if count == 1 {
            Numbering::Single
        } else {
            Numbering::InPods(each)
        }
    };
    let (leaves, spines) = (pods.tors(), pods.aggs_per_pod);
    parts.switches("leaf", numbering(leaves), count * leaves, 1);
    parts.switches("spine", numbering(spines), count * spines, 2);
    match count {
        1 => pods.join(&mut parts, uplink, uplink),
        _ => planes::join(pods, count, &mut parts, uplink, uplink),
    }
    parts.graph(&["host", "leaf", "spine"])
}
