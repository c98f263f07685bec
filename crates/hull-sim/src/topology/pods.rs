//! The common shape of data-centre networks: pods of top-of-rack switches (ToRs) and aggregation
//! switches, and cores. Each ToR is connected to each aggregation switch of its pod; aggregation switch
//! i of each pod to the i-th group of cores. A leaf-spine network is one pod without cores, a star one
//! ToR.
//!
//! Nodes, links and hence paths follow from counts: switches are numbered ToR by ToR and pod by pod,
//! then the aggregation switches, then the cores. Link h belongs to host h; then follow the links of
//! the ToRs, then the links of the aggregation switches, each in the order of its lower and then of
//! its upper end.

use super::graph::Wire;
use super::parts::Parts;

/// Numbers of pods, switches and hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pods {
    /// Number of pods.
    pub(super) pods: usize,
    /// ToRs in each pod.
    pub(super) tors_per_pod: usize,
    /// Hosts at each ToR.
    pub(super) hosts_per_tor: usize,
    /// Aggregation switches in each pod; above 0 if a pod has several ToRs or there are several
    /// pods.
    pub(super) aggs_per_pod: usize,
    /// Cores, a multiple of `aggs_per_pod`; above 0 if there are several pods.
    pub(super) cores: usize,
}

impl Pods {
    /// Number of ToRs.
    pub(super) fn tors(&self) -> usize {
        self.pods * self.tors_per_pod
    }

    /// Number of hosts.
    pub(super) fn hosts(&self) -> usize {
        self.tors() * self.hosts_per_tor
    }

    /// Number of cores connected to one aggregation switch.
    pub(super) fn cores_per_agg(&self) -> usize {
        self.cores.checked_div(self.aggs_per_pod).unwrap_or(0)
    }

    /// Switch number of aggregation switch `agg` of `pod`.
    pub(super) fn agg(&self, pod: usize, agg: usize) -> usize {
        self.tors() + pod * self.aggs_per_pod + agg
    }

    /// Switch number of core `core`.
    pub(super) fn core(&self, core: usize) -> usize {
        self.tors() + self.pods * self.aggs_per_pod + core
    }

    /// Link of ToR `tor` to aggregation switch `agg` of its pod; `agg` may be one beyond the last.
    pub(super) fn tor_link(&self, tor: usize, agg: usize) -> usize {
        self.hosts() + tor * self.aggs_per_pod + agg
    }

    /// Link of an aggregation switch of `pod` to core `core`.
    pub(super) fn core_link(&self, pod: usize, core: usize) -> usize {
        self.tor_link(self.tors(), 0) + pod * self.cores + core
    }

    /// Number of links from ToR to ToR on the longest of the shortest paths.
    pub(super) fn longest(&self) -> usize {
        match (self.pods, self.tors_per_pod) {
            (1, 1) => 0,
            (1, _) => 2,
            _ => 4,
        }
    }

    /// Adds hosts and links to parts that contain the switches, with the wires `uplink` between
    /// ToRs and aggregation switches and `core_link` between aggregation switches and cores.
    pub(super) fn join(self, parts: &mut Parts, uplink: Wire, core_link: Wire) {
        let uplinks = self.tors() * self.aggs_per_pod;
        let links = self.hosts() + uplinks + self.pods * self.cores;
        parts.links.reserve_exact(links);
        parts.hosts("h", self.hosts(), |host| host / self.hosts_per_tor);
        let uplink = parts.wire(uplink);
        for tor in 0..self.tors() {
            for agg in 0..self.aggs_per_pod {
                parts.join(tor, self.agg(tor / self.tors_per_pod, agg), uplink);
            }
        }
        let core_link = parts.wire(core_link);
        for pod in 0..self.pods {
            for core in 0..self.cores {
                let agg = self.agg(pod, core / self.cores_per_agg());
                parts.join(agg, self.core(core), core_link);
            }
        }
        parts.pods = Some(self);
    }
}
