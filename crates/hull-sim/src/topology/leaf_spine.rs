//! The leaf-spine network: each leaf is joined to each spine, two hosts are 2 or 4 links apart.
//! Hosts `h0`, ... leaf by leaf; switches `leaf0`, ..., `spine0`, ...

use super::LeafSpine;
use super::graph::Graph;
use super::parts::Parts;

pub(super) fn build(network: &LeafSpine, mut parts: Parts) -> Result<Graph, String> {
    let uplink = parts.between_switches(network.uplink_rate, network.uplink_delay);
    let leaves: Vec<usize> = (0..network.leaves)
        .map(|leaf| parts.switch(format!("leaf{leaf}"), 1))
        .collect();
    let spines: Vec<usize> = (0..network.spines)
        .map(|spine| parts.switch(format!("spine{spine}"), 2))
        .collect();
    let mut hosts = 0_u32..;
    for &leaf in &leaves {
        for host in hosts.by_ref().take(network.hosts_per_leaf as usize) {
            parts.host(format!("h{host}"), leaf);
        }
    }
    for &leaf in &leaves {
        for &spine in &spines {
            parts.join(leaf, spine, uplink);
        }
    }
    parts.graph(&["host", "leaf", "spine"])
}
