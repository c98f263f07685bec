//! The time that information takes between the hosts of a network and the ports between its switches.
//! Times are ps.
//!
//! A network has an *edge*, the hosts and their links in both directions, and a *fabric*, the ports
//! between switches. A packet takes at least the transmission time of the smallest packet plus the
//! link's delay from one to the other. An event in one cannot affect the other any sooner, and two
//! rules of every run follow from it:
//!
//! - When a port drops a packet, hosts learn of it after this time. The flow's slot can be reused when
//!   the network holds none of the flow's packets.
//! - When the workload is done, the run continues until ports between switches could know.
//!
//! Both are properties of the network and independent of the way a run is simulated.

use super::Topology;
use super::graph::{Graph, Kind};
use super::observed::observed;

/// Minimum times between edge and fabric. Both are 0 without a fabric, or if the fabric is the
/// observed bottleneck (dumbbell).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// From the queueing of a packet at a port between switches to its arrival at a switch with hosts,
    /// ps: the time after which a flow learns of a drop.
    pub to_edge_ps: u64,
    /// From the queueing of a packet at a host's port to its arrival at a switch with links to
    /// others, ps: the time for which a run continues after its workload is done.
    pub to_fabric_ps: u64,
}

impl Notice {
    /// Computes the times of a network; `transit_ps` is the time of the smallest packet through a
    /// port's link, ps.
    pub fn new(topology: &Topology, graph: &Graph, transit_ps: impl Fn(usize) -> u64) -> Notice {
        if graph.is_between_switches(observed(topology, graph).port) {
            return Notice::default();
        }
        // For each node, whether it has ports outside the fabric and ports in the fabric.
        let mut kinds = vec![[false; 2]; graph.nodes.len()];
        for port in 0..graph.ports() {
            kinds[graph.port_owner(port)][usize::from(graph.is_between_switches(port))] = true;
        }
        let leads_over = |&port: &usize| {
            let far_end = graph.port_far_end(port);
            let other = !graph.is_between_switches(port);
            graph.nodes[far_end].kind == Kind::Switch && kinds[far_end][usize::from(other)]
        };
        let least_ps = |from_fabric: bool| {
            let ports = (0..graph.ports()).filter(leads_over);
            let from = ports.filter(|&port| graph.is_between_switches(port) == from_fabric);
            from.map(&transit_ps).min().unwrap_or(0)
        };
        let (to_edge_ps, to_fabric_ps) = (least_ps(true), least_ps(false));
        if to_edge_ps == 0 || to_fabric_ps == 0 {
            return Notice::default();
        }
        Notice {
            to_edge_ps,
            to_fabric_ps,
        }
    }
}
