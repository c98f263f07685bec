//! Builds the settings of pauses from the switches' priority flow control: thresholds and headroom of
//! each port and class. Sizes are bytes, times ps.

use super::switches::{delay_ps, host_port};
use crate::network::{
    Guard, PauseConfig, PauseLink, PauseLoop, Renewal, Threshold, WatchdogConfig,
};
use crate::problem::Problem;
use crate::quote;
use crate::scenario::{Pfc, Scenario, Transport};
use crate::topology::{Graph, Kind};
use crate::units::{Share, Size};

/// Threshold with shared memory, as a multiple of the free pool.
const ALPHA: Share = Share(Share::ONE / 8);

fn is_of_switch(graph: &Graph, port: usize) -> bool {
    graph.nodes[graph.port_owner(port)].kind == Kind::Switch
}

/// Link over which a port asks for pauses.
pub(super) fn pause_loop(scenario: &Scenario, pfc: &Pfc, graph: &Graph, port: usize) -> PauseLoop {
    let (mtu, peer) = (scenario.transport.mtu.0, Graph::opposite(port));
    let commit_bytes = scenario.switch.commit.0;
    let smallest = |one: &Transport| {
        let of_ack = one.message.ack_size.filter(|_| one.sends_messages());
        of_ack.map_or(one.header.0, |size| size.0.min(one.header.0))
    };
    let headers = scenario.all_transports().map(smallest);
    let memory = scenario.switch.memory.as_ref();
    let cell = memory.and_then(|memory| memory.cell);
    let own_commit = |port: usize| {
        let is_switch = is_of_switch(graph, port);
        if is_switch { commit_bytes } else { 0 }
    };
    let peer_is_switch = is_of_switch(graph, peer);
    PauseLoop {
        rate_bps: graph.wire(port).rate_bps,
        peer_rate_bps: graph.wire(peer).rate_bps,
        framing_bytes: scenario.transport.framing.0,
        mtu_bytes: mtu,
        commit_bytes: own_commit(port),
        peer_least_bytes: headers.min().unwrap_or(1),
        peer_mtu_bytes: mtu,
        peer_commit_bytes: own_commit(peer),
        frame_delay_ps: graph.wire(port).delay_ps,
        data_delay_ps: match peer_is_switch {
            true => delay_ps(scenario, graph, peer).0,
            false => host_port(scenario, graph, peer).delay_ps,
        },
        reaction_ps: pfc.reaction.0,
        cell_bytes: cell.map_or(1, |cell| cell.0),
    }
}

/// Limits of a lossless class at a switch's port.
fn guard(scenario: &Scenario, pfc: &Pfc, graph: &Graph, port: usize) -> Guard {
    let wire = graph.wire(port);
    let computed = (pfc.rules.headroom_bytes(wire.rate_bps, wire.delay_ps))
        .unwrap_or_else(|| pause_loop(scenario, pfc, graph, port).headroom_bytes());
    let hysteresis_bytes = (pfc.hysteresis).map_or(2 * scenario.transport.mtu.0, |size| size.0);
    let is_dynamic = scenario.switch.memory.is_some();
    Guard {
        threshold: match (pfc.xoff, pfc.alpha) {
            (Some(size), _) => Threshold::Fixed(size.0),
            (None, None) if !is_dynamic => Threshold::Fixed(computed + hysteresis_bytes),
            (None, alpha) => Threshold::Dynamic(alpha.unwrap_or(ALPHA).scaled(1 << 16)),
        },
        pauses_at_threshold: pfc.pause_at_threshold,
        hysteresis_bytes,
        resume_bytes: pfc.resume_below.0,
        reserve_bytes: pfc.reserve.0,
        headroom_bytes: pfc.headroom.map_or(computed, |size| size.0),
        headroom_is_outside: pfc.headroom_outside,
        refills_pool: pfc.refill_pool,
        resumes_on_own_departure: pfc.resume_on_own_departure,
    }
}

/// Limits of each class at a port; none at a host's.
pub(super) fn guards(
    scenario: &Scenario,
    pfc: &Pfc,
    graph: &Graph,
    port: usize,
) -> Vec<Option<Guard>> {
    let classes = scenario.switch.priorities as u8;
    let own = is_of_switch(graph, port).then(|| guard(scenario, pfc, graph, port));
    let counts = |class: u8| pfc.is_lossless(class) && (class == 0 || !pfc.whole_link);
    let of_class = |class: u8| own.filter(|_| counts(class));
    (0..classes).map(of_class).collect()
}

/// Settings of the pauses of a network.
pub(super) fn config(scenario: &Scenario, pfc: &Pfc, graph: &Graph) -> PauseConfig {
    let link = |port: usize| {
        let peer = graph.wire(Graph::opposite(port));
        let bits = u128::from(pfc.quanta) * 512;
        PauseLink {
            delay_ps: graph.wire(port).delay_ps + pfc.reaction.0,
            lasts_ps: (bits * 1_000_000_000_000).div_ceil(u128::from(peer.rate_bps)) as u64,
        }
    };
    PauseConfig {
        links: (0..graph.ports()).map(link).collect(),
        guards: (0..graph.ports())
            .map(|port| guards(scenario, pfc, graph, port))
            .collect(),
        whole_links: pfc.whole_link,
        renewal: pfc.renewal,
        watchdog: pfc.watchdog.as_ref().map(|own| WatchdogConfig {
            detection_ps: own.detection.0,
            restoration_ps: own.restoration.0,
            action: own.action,
        }),
    }
}

/// Checks that each switch has memory for its ports' reserves and headroom, and that pauses can be
/// refreshed in time.
pub(super) fn check(scenario: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let Some(pfc) = &scenario.switch.pfc else {
        return Ok(());
    };
    let config = config(scenario, pfc, graph);
    for (port, link) in config.links.iter().enumerate() {
        let link_loop = pause_loop(scenario, pfc, graph, port);
        let wait_ps = link_loop.longest_wait_ps();
        if pfc.renewal == Renewal::HalfTime
            && is_of_switch(graph, port)
            && link.lasts_ps < 2 * wait_ps
        {
            let told = format!(
                "{} is invalid; expected a pause of twice the time of a packet or more to refresh it, \
                 {wait_ps} ps at {}",
                pfc.quanta,
                quote::text(&graph.port_name(port))
            );
            return Err(Problem::new("switch.pfc.quanta", told));
        }
    }
    let Some(memory) = &scenario.switch.memory else {
        return Ok(());
    };
    for (node, switch) in graph.nodes.iter().enumerate() {
        if switch.kind != Kind::Switch {
            continue;
        }
        let ports = graph.node_ports(node);
        let guards = ports.iter().flat_map(|&port| &config.guards[port]);
        let own = guards.flatten().map(Guard::own_bytes);
        let own_bytes = own.fold(0, u64::saturating_add);
        let lossy = u32::from(!pfc.whole_link) * lossy_classes(scenario, pfc);
        let others = memory.reservations(ports.len(), lossy) * memory.reserved.0;
        let all_bytes = own_bytes.saturating_add(others);
        if all_bytes >= memory.bytes() {
            let key = if pfc.headroom.is_some() {
                "switch.pfc.headroom"
            } else {
                "switch.memory.size"
            };
            let told = format!(
                "\"{}\" of headroom and reserves at {} do not fit; expected less than the switch's memory, \
                 \"{}\"",
                Size(all_bytes),
                quote::text(&graph.name(node)),
                Size(memory.bytes())
            );
            return Err(Problem::new(key, told));
        }
    }
    Ok(())
}

fn lossy_classes(scenario: &Scenario, pfc: &Pfc) -> u32 {
    let classes = 0..scenario.switch.priorities as u8;
    classes.filter(|&class| !pfc.is_lossless(class)).count() as u32
}
