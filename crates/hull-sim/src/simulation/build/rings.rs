//! Builds the thresholds of the hosts' receive rings whose NICs ask for pauses. Sizes are packets, because a
//! ring has descriptors: its headroom is for the smallest packets.

use super::pauses::pause_loop;
use crate::host::RingLimits;
use crate::network::CLASSES;
use crate::problem::Problem;
use crate::quote;
use crate::scenario::{Pfc, Scenario};
use crate::topology::Graph;

/// Whether hosts ask for pauses.
pub(super) fn pause(scenario: &Scenario) -> bool {
    let ring = scenario.host.receive.as_ref().and_then(|one| one.ring);
    scenario.switch.pfc.is_some() && ring.is_some()
}

/// Ports of each host's NICs.
pub(super) fn host_ports(graph: &Graph) -> Vec<Vec<u32>> {
    let ports = |host: usize| graph.host_ports(host).iter().map(|&port| port as u32);
    (0..graph.hosts().len())
        .map(|host| ports(host).collect())
        .collect()
}

/// Classes that a host pauses; the first one stands for all if links pause as a whole.
pub(super) fn classes(scenario: &Scenario, pfc: &Pfc) -> Vec<u8> {
    let classes = 0..scenario.switch.priorities as u8;
    let counts = |class: &u8| pfc.is_lossless(*class) && (*class == 0 || !pfc.whole_link);
    classes.filter(counts).collect()
}

/// Packets that may arrive at a host after the one that crosses the threshold.
fn headroom(scenario: &Scenario, pfc: &Pfc, graph: &Graph, host: usize) -> u64 {
    let ports = graph.host_ports(host).iter();
    let of_links = ports.map(|&port| pause_loop(scenario, pfc, graph, port));
    of_links.map(|link| link.headroom_packets()).sum()
}

/// Thresholds of a host's ring; `None` if it asks for no pauses.
pub(super) fn ring_limits(scenario: &Scenario, graph: &Graph, host: usize) -> Option<RingLimits> {
    let pfc = scenario.switch.pfc.as_ref()?;
    let receive = scenario.host.receive.as_ref()?;
    let ring = u64::from(receive.ring?);
    let derived = || ring.saturating_sub(1 + headroom(scenario, pfc, graph, host));
    let xoff = receive.xoff.map_or_else(derived, u64::from) as usize;
    // Classes above the last one count in it.
    let last = scenario.switch.priorities as u8 - 1;
    let lossless = (0..CLASSES as u8).filter(|&class| pfc.is_lossless(class.min(last)));
    Some(RingLimits {
        xoff,
        xon: (receive.xon).map_or(xoff.saturating_sub(2), |xon| xon as usize),
        lossless: lossless.fold(0, |bits, class| bits | 1 << class),
    })
}

/// Checks that rings have room for what arrives until a pause acts.
pub(super) fn check(scenario: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let (Some(pfc), Some(receive)) = (&scenario.switch.pfc, &scenario.host.receive) else {
        return Ok(());
    };
    for host in 0..graph.hosts().len() {
        let (Some(ring), Some(limits)) = (receive.ring, ring_limits(scenario, graph, host)) else {
            return Ok(());
        };
        let name = quote::text(&graph.name(graph.hosts()[host]));
        if limits.xoff == 0 {
            let packets = headroom(scenario, pfc, graph, host);
            let told = format!(
                "{ring} is invalid; expected more than {}, for {packets} packets that may arrive at {name} \
                 until its switch pauses, or host.receive.xoff for a ring that may lose some",
                packets + 1
            );
            return Err(Problem::new("host.receive.ring", told));
        }
        if limits.xon >= limits.xoff {
            let told = format!(
                "{} is invalid; expected less than the threshold of {name}, {} packets",
                limits.xon, limits.xoff
            );
            return Err(Problem::new("host.receive.xon", told));
        }
    }
    Ok(())
}
