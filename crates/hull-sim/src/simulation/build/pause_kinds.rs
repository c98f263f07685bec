//! Pauses of each kind of port, for people who check what they wrote: the bytes at which a switch asks for
//! a pause and lets its peer resume, the headroom with the times that it covers (docs/pauses.md), and
//! thresholds of marking that lie above the pause. Sizes are bytes, times ps.

use std::collections::BTreeMap;

use serde::Serialize;

use super::pauses::{guards, pause_loop};
use super::switches::{memory_config, switch_at};
use crate::network::{Guard, PauseTerms, SharedBuffer};
use crate::scenario::{Resolved, Scenario, Switch};
use crate::topology::{Graph, Kind};
use crate::units::QueueLength;

/// Ports of switches that ask for pauses alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PauseKind {
    /// Tiers of the peer and of the switch: `host-leaf`.
    pub tiers: String,
    /// Number of ports.
    pub ports: usize,
    /// Rate of the link from the peer, bit/s.
    pub rate_bps: u64,
    /// Bytes of a port and class above which the peer pauses if the switch holds nothing else (XOFF).
    pub xoff_bytes: u64,
    /// Bytes up to which the peer may then resume (XON).
    pub xon_bytes: u64,
    /// Headroom of a port and class.
    pub headroom_bytes: u64,
    /// Headroom that the times need.
    pub computed_bytes: u64,
    /// Times that the computed headroom covers.
    pub terms: PauseTerms,
    /// Highest threshold of another port of these switches from which on it marks, if it is above XOFF.
    pub late_marks: Option<LateMarks>,
}

/// Port that marks only after pauses may have begun.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LateMarks {
    /// Name of the port.
    pub port: String,
    /// Queue, or phantom queue, above which it marks.
    pub threshold_bytes: u64,
}

impl PauseKind {
    /// Takes the highest threshold of a switch's other ports, and its port.
    fn note_marks(&mut self, graph: &Graph, highest: Option<(u64, usize)>) {
        let last = self.late_marks.as_ref();
        let least = last.map_or(self.xoff_bytes, |last| last.threshold_bytes);
        if let Some((threshold_bytes, port)) = highest.filter(|&(bytes, _)| bytes > least) {
            self.late_marks = Some(LateMarks {
                port: graph.port_name(port),
                threshold_bytes,
            });
        }
    }
}

/// Queue above which a port begins to mark; `None` if no rule has a threshold.
fn marking_bytes(switch: &Switch, mtu: u64) -> Option<u64> {
    if switch.pi.is_some() || switch.avq.is_some() || switch.uno_phantom_queue.is_some() {
        return None;
    }
    let red = switch.red.as_ref().map(|red| match red.min {
        QueueLength::Bytes(bytes) => bytes,
        QueueLength::Packets(packets) => packets * mtu,
    });
    let marking = switch.marking.as_ref().map(|marking| marking.threshold.0);
    let phantom = (switch.phantom_queue.as_ref()).map(|queue| queue.threshold.0);
    [marking, red, phantom].into_iter().flatten().min()
}

/// Free memory of an empty switch, bytes.
fn pool_bytes(scenario: &Scenario, guards: &[Option<Guard>], ports: usize) -> u64 {
    let Some(config) = memory_config(scenario, ports) else {
        return u64::MAX;
    };
    let classes = scenario.switch.priorities as usize;
    let mut memory = SharedBuffer::new(&config, guards.len());
    memory.count_ingress(classes);
    let pfc = scenario.switch.pfc.as_ref();
    memory.guard(guards, pfc.is_some_and(|pfc| pfc.whole_link));
    memory.free_bytes()
}

/// Kinds of ports that ask for pauses, from the hosts up; none without `switch.pfc`.
pub fn pause_kinds(scenario: &Resolved) -> Vec<PauseKind> {
    let Some(pfc) = &scenario.switch.pfc else {
        return Vec::new();
    };
    let (graph, mtu) = (&**scenario.graph(), scenario.transport.mtu.0);
    let marks_matter = pfc.marks_matter(scenario);
    let mut kinds = BTreeMap::new();
    for (node, settings) in graph.nodes.iter().enumerate() {
        if settings.kind != Kind::Switch {
            continue;
        }
        let ports = graph.node_ports(node);
        let of_ports = ports.iter().map(|&port| guards(scenario, pfc, graph, port));
        let all = Vec::from_iter(of_ports);
        let pool = pool_bytes(scenario, &all.concat(), ports.len());
        let threshold = |&port: &usize| {
            let switch = switch_at(scenario, graph, port);
            marking_bytes(&switch, mtu).filter(|_| marks_matter)
        };
        let marks = Vec::from_iter(ports.iter().map(threshold));
        for (at, (&port, own)) in ports.iter().zip(&all).enumerate() {
            let Some(guard) = own.iter().flatten().next() else {
                continue;
            };
            let others = marks.iter().zip(ports).enumerate();
            let highest = others
                .filter(|&(other, _)| other != at)
                .filter_map(|(_, (&bytes, &port))| Some((bytes?, port)))
                .max_by_key(|&(bytes, port)| (bytes, std::cmp::Reverse(port)));
            let of_link = pause_loop(scenario, pfc, graph, port);
            let (from, to) = graph.tiers_of(Graph::opposite(port));
            let sizes = (
                guard.xoff_bytes(pool),
                guard.xon_bytes(pool),
                guard.headroom_bytes,
            );
            let kind = kinds
                .entry((from, to, of_link, sizes))
                .or_insert_with(|| PauseKind {
                    tiers: graph.name_of_tiers((from, to)),
                    ports: 0,
                    rate_bps: of_link.peer_rate_bps,
                    xoff_bytes: sizes.0,
                    xon_bytes: sizes.1,
                    headroom_bytes: sizes.2,
                    computed_bytes: of_link.headroom_bytes(),
                    terms: of_link.terms(),
                    late_marks: None,
                });
            kind.ports += 1;
            kind.note_marks(graph, highest);
        }
    }
    kinds.into_values().collect()
}
