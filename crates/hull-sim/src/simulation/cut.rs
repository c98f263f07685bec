//! Where a run is cut in two, to be simulated on two threads: the edge, which is the hosts with
//! their links in both directions, and the fabric, which is what lies between switches. Times are
//! ps.
//!
//! A port decides on arrival when a packet will be delivered, so the other side can be told as soon
//! as the packet is queued: at least a smallest packet's time on the wire plus the link's delay
//! ahead. That is the lookahead of conservative parallel simulation (Chandy and Misra, 1979). Links
//! from hosts are the longest of a data-centre network, because a host's stack is in their delay,
//! and every packet between racks takes as many steps on one side as any other: the balance of the
//! two parts does not depend on who sends to whom.
//!
//! What of it shows in a result, the lookahead, follows from the topology alone and holds for every
//! run, split or not. Whether a run is split is a question of its own ([`can_split`]).

use crate::network::Port;
use crate::scenario::{MarkOn, Scenario, Topology};
use crate::topology::{self, Graph, Kind};

/// How far ahead each side of the cut knows what it sends to the other; 0 where there is no cut.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lookahead {
    /// Least time from the queueing of a packet at the edge to its arrival in the fabric, ps. A run
    /// goes on for so long when its workload is done: the fabric may be that far ahead.
    pub outward_ps: u64,
    /// Least time from the queueing of a packet in the fabric to its arrival at the edge, ps. So long
    /// a flow's slot waits for a packet that a port drops: the edge cannot know earlier.
    pub inward_ps: u64,
}

/// The cut of a network.
#[derive(Clone, Debug)]
pub struct Cut {
    /// For each port whether its queue belongs to the fabric.
    pub in_fabric: Vec<bool>,
    /// Ports whose packets may arrive on the other side.
    pub crossing: Vec<usize>,
    pub lookahead: Lookahead,
}

impl Cut {
    /// The cut of a network whose smallest packets have `smallest_bytes`; none where nothing lies
    /// between switches, where that is the bottleneck that is looked at (dumbbell), or where something
    /// reaches across the cut in no time.
    pub fn new(
        topology: &Topology,
        graph: &Graph,
        ports: &[Port],
        smallest_bytes: u16,
    ) -> Option<Cut> {
        let is_switch = |node: usize| graph.nodes[node].kind == Kind::Switch;
        let in_fabric: Vec<bool> = (0..graph.ports())
            .map(|port| is_switch(graph.port_owner(port)) && is_switch(graph.port_far_end(port)))
            .collect();
        if in_fabric[topology::observed(topology, graph).port] {
            return None;
        }
        let crosses = |&port: &usize| {
            let far_end = graph.port_far_end(port);
            let mut onward = graph.node_ports(far_end).iter();
            is_switch(far_end) && onward.any(|&next| in_fabric[next] != in_fabric[port])
        };
        let crossing: Vec<usize> = (0..graph.ports()).filter(crosses).collect();
        let least_ps = |from_fabric: bool| {
            let from = crossing
                .iter()
                .filter(|&&port| in_fabric[port] == from_fabric);
            let ahead_ps = from.map(|&port| ports[port].transit_ps(smallest_bytes));
            ahead_ps.min().unwrap_or(0)
        };
        let lookahead = Lookahead {
            outward_ps: least_ps(false),
            inward_ps: least_ps(true),
        };
        (lookahead.outward_ps > 0 && lookahead.inward_ps > 0).then_some(Cut {
            in_fabric,
            crossing,
            lookahead,
        })
    }
}

/// Whether a run can be split where its network is cut. What decides late (marking at dequeue, RCP,
/// several queues of a port), what several ports share (memory), what answers from inside (QCN) and
/// what changes routes on the way (failing links) needs one thread; so does what instruments look at
/// (latency probe, capture, chosen queues).
pub fn can_split(scenario: &Scenario) -> bool {
    let switch = &scenario.switch;
    let late_marks = |marking: &crate::scenario::Marking| marking.on == MarkOn::Dequeue;
    let of_ports = switch.ports.iter().filter_map(|port| port.marking.as_ref());
    switch.memory.is_none()
        && switch.qcn.is_none()
        && switch.priorities <= 1
        && switch.rcp.is_none()
        && scenario.host.nic_queues <= 1
        && !switch.marking.iter().chain(of_ports).any(late_marks)
        && scenario.measure.probe.is_none()
        && scenario.measure.capture.is_none()
        && scenario.measure.ports.is_empty()
        && scenario.topology.failures.is_empty()
}
