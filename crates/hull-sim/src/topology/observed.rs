//! The observed port of a network: the one to a client (paper figure 7, report figure 1), or the
//! bottleneck that all senders share (thesis 2.2.3, 3.4.1).

use super::Topology;
use super::graph::Graph;

/// Observed hosts and port, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observed {
    /// Host whose goodput and processor are reported, and the destination of the probes.
    pub client: usize,
    /// Port whose queue, latency and utilization are reported; data to the client crosses it.
    pub port: usize,
    /// Host that sends the probes.
    pub prober: usize,
}

/// Returns the observed hosts and port. In a dumbbell this is the port from left to right, with the
/// first receiver as client and the first sender as prober; in every other network it is the port
/// to host 0, with that host as client and host 1 as prober.
pub fn observed(topology: &Topology, graph: &Graph) -> Observed {
    if let Some(dumbbell) = &topology.dumbbell {
        return Observed {
            client: dumbbell.pairs as usize,
            port: super::dumbbell::bottleneck(dumbbell),
            prober: 0,
        };
    }
    Observed {
        client: 0,
        port: Graph::opposite(graph.host_port(0)),
        prober: 1,
    }
}
