//! Routing: shortest paths by number of links, and equal-cost multi-path (ECMP) among them by a
//! hash of the flow (paper 6.3: all packets of a flow take the same path).
//!
//! In a network of pods the paths are computed (`pod_routes`), otherwise looked up (`route_table`);
//! both make the same choices. Integers only: the same graph and hash give the same path on every
//! machine.

use super::dependencies;
use super::failures::Change;
use super::graph::Graph;
use super::pod_routes::PodRoutes;
use super::pods::Pods;
use super::route_table::{MAX_ENTRIES, RouteTable};
use crate::problem::Problem;

/// Shortest paths of a graph.
#[derive(Clone, Debug)]
pub struct Routes(Ways);

#[derive(Clone, Debug)]
enum Ways {
    Computed(PodRoutes),
    Stored(RouteTable),
}

impl Routes {
    /// Creates the routes of `graph` with all links.
    pub fn new(graph: &Graph) -> Routes {
        Routes(match PodRoutes::new(graph) {
            Some(routes) => Ways::Computed(routes),
            None => Ways::Stored(RouteTable::new(graph, &vec![false; graph.links()])),
        })
    }

    /// Creates the routes of `graph` without the links marked in `failed_links`.
    pub fn without(graph: &Graph, failed_links: &[bool]) -> Routes {
        Routes(match PodRoutes::without(graph, failed_links) {
            Some(routes) => Ways::Computed(routes),
            None => Ways::Stored(RouteTable::new(graph, failed_links)),
        })
    }

    /// Appends the ports of the path of a flow with `hash` from one NIC to another to `out`, from the
    /// source's own port to the last switch's port to the destination. If each host has one link, a
    /// NIC has the number of its host. Returns false and leaves `out` unchanged if there is no path.
    /// A NIC reaches itself through its switch.
    ///
    /// At a switch with several next hops each is equally likely over all values of `hash`, and the
    /// choices of a flow at different switches are independent.
    #[inline]
    pub fn path(&self, src_nic: usize, dst_nic: usize, hash: u64, out: &mut Vec<u32>) -> bool {
        match &self.0 {
            Ways::Computed(routes) => routes.path(src_nic, dst_nic, hash, out),
            Ways::Stored(table) => table.path(src_nic, dst_nic, hash, out),
        }
    }

    /// Ports between switches of which each, if its far end pauses it, waits for the next one, and the last
    /// for the first; `None` if the shortest paths have no such cycle.
    pub fn cycle(&self, graph: &Graph) -> Option<Vec<usize>> {
        match &self.0 {
            Ways::Computed(_) => None,
            Ways::Stored(table) => dependencies::cycle(graph, table),
        }
    }

    /// Memory of the table, bytes; 0 if paths are computed.
    pub fn heap_bytes(&self) -> u64 {
        match &self.0 {
            Ways::Computed(_) => 0,
            Ways::Stored(table) => table.heap_bytes(),
        }
    }

    /// Number of ports on the longest path between two NICs; 0 if there is none.
    pub fn longest_path(&self) -> usize {
        match &self.0 {
            Ways::Computed(routes) => routes.longest_path(),
            Ways::Stored(table) => table.longest_path(),
        }
    }
}

/// Rejects a graph that needs a routing table too large for memory, with all links or after one of
/// the `changes`.
pub(super) fn check(graph: &Graph, changes: &[Change]) -> Result<(), Problem> {
    let failed = most_failed(graph, changes);
    let stands = |pods: &Pods| PodRoutes::stand(pods, failed);
    if graph.pods().is_some_and(stands) {
        return Ok(());
    }
    let switches = graph.nodes.len() - graph.hosts().len();
    let with_hosts = with_hosts(graph);
    if RouteTable::fits(switches, with_hosts) {
        return Ok(());
    }
    let network = format!("{switches} switches, of which {with_hosts} have hosts");
    Err(match graph.pods() {
        None => Problem::new(
            "topology",
            format!("found {network}; expected a product of at most {MAX_ENTRIES}"),
        ),
        Some(pods) => Problem::new(
            "topology.failures",
            format!(
                "found {failed} links between switches down at once; expected at most {} among {network}",
                pods.aggs_per_pod - 1
            ),
        ),
    })
}

/// Largest number of links between switches that are down at once.
fn most_failed(graph: &Graph, changes: &[Change]) -> usize {
    let between = |links: &[usize]| {
        let ports = links.iter().map(|link| 2 * link);
        ports
            .filter(|&port| graph.is_between_switches(port))
            .count()
    };
    let (mut failed, mut most) = (0, 0);
    for change in changes {
        failed = failed + between(&change.failed) - between(&change.restored);
        most = most.max(failed);
    }
    most
}

/// Number of switches with hosts.
fn with_hosts(graph: &Graph) -> usize {
    let mut switches: Vec<usize> = (0..graph.nics())
        .map(|nic| graph.port_far_end(graph.nic_port(nic)))
        .collect();
    switches.sort_unstable();
    switches.dedup();
    switches.len()
}

/// Chooses one of `ports` next hops for a flow with `hash` at `switch`, uniformly over the hashes:
/// the upper half of a 64-bit mix of the two, scaled. The mix has two rounds of shift, exclusive or
/// and multiplication by an odd number. Each input bit then flips each output bit in about half of
/// the cases (constants: D. Stafford's mix 13).
#[inline]
pub(super) fn choose(hash: u64, switch: u32, ports: u32) -> u32 {
    let mut mixed = hash ^ (u64::from(switch) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (((mixed >> 32) * u64::from(ports)) >> 32) as u32
}
