//! The fat tree of k-port switches, on which paper 6.3 builds: a tree of k pods with k/2 ToRs and k/2
//! aggregation switches each, k^2/4 cores and k^3/4 hosts, without over-subscription. Names are as in
//! the tree, with several planes numbered on: plane p has the pods from p k on.

use super::FatTree;
use super::graph::Graph;
use super::parts::Parts;
use super::pods::Pods;
use super::tree;

pub(super) fn build(fat_tree: &FatTree, parts: Parts) -> Result<Graph, String> {
    let half = fat_tree.k as usize / 2;
    let between = parts.between_switches(fat_tree.uplink_rate, fat_tree.uplink_delay);
    let pods = Pods {
        pods: fat_tree.k as usize,
        tors_per_pod: half,
        hosts_per_tor: half,
        aggs_per_pod: half,
        cores: half * half,
    };
    tree::of_pods(pods, fat_tree.planes as usize, parts, between, between)
}
