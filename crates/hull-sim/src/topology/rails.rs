//! Groups of hosts with a leaf per NIC: NIC r of every host of a group is connected to leaf r of the group,
//! and each leaf to each spine. The common part of `rail_optimized` and `dual_tor`.
//!
//! Nodes: the leaves group by group, the spines, the hosts group by group. Links: of the hosts, NIC by NIC,
//! then of the leaves.

use super::graph::{Graph, Wire};
use super::names::Numbering;
use super::parts::Parts;

/// Numbers of groups, hosts and switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rails {
    /// Groups of hosts.
    pub(super) groups: usize,
    /// Hosts in each group.
    pub(super) hosts_per_group: usize,
    /// Leaves of each group, and NICs of each host.
    pub(super) rails: usize,
    /// Spines.
    pub(super) spines: usize,
}

impl Rails {
    /// Builds the network; `leaf` is the stem of the leaves' names and the name of their tier.
    pub(super) fn build(
        self,
        leaf: &'static str,
        tiers: &'static [&'static str],
        uplink: Wire,
        mut parts: Parts,
    ) -> Result<Graph, String> {
        let leaves = self.groups * self.rails;
        parts.switches(leaf, Numbering::InPods(self.rails), leaves, 1);
        parts.switches("spine", Numbering::Single, self.spines, 2);
        let hosts = parts.add_hosts("h", self.groups * self.hosts_per_group);
        for rail in 0..self.rails {
            let leaf = |host: usize| host / self.hosts_per_group * self.rails + rail;
            parts.join_hosts(hosts.clone(), leaf);
        }
        let uplink = parts.wire(uplink);
        for leaf in 0..leaves {
            for spine in 0..self.spines {
                parts.join(leaf, leaves + spine, uplink);
            }
        }
        parts.graph(tiers)
    }
}
