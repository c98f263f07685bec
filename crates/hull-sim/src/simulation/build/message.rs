//! Builds the shared state of the message transport's connections from its settings.

use std::collections::HashMap;
use std::sync::Arc;

use hull_core::nscc::NsccNetwork;
use hull_core::rccc::PullConfig;
use hull_core::unocc::UnoCcConfig;

use crate::host::{HostSide, MessageNic, Puller};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};
use crate::scenario::{self, CongestionControl, Scenario, Transport, UnoCcSettings};
use crate::simulation::distances::{Distances, Ends};
use crate::simulation::ends::Initial;
use crate::simulation::flows::Template;
use crate::topology::{Graph, Kind, Topology, TwoDatacentres};
use crate::transport::message::{ControlKind, Erasure, MessageConfig};
use crate::units::Buffer;

/// Smallest timeout of a packet, ps, without the delay of the network's queues.
const TIMEOUT_PS: u64 = 15_000_000;
/// Number of full buffers in a round trip.
const FULL_BUFFERS: u64 = 6;
/// Number of full buffers in a round trip for Uno, inside a data centre.
const UNO_FULL_BUFFERS: u64 = 5;
/// Number of full buffers in a round trip for Uno, between two data centres.
const FAR_FULL_BUFFERS: u64 = 8;

/// Initial state of a message transport's flows.
pub(super) fn template(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
) -> Result<Template, Problem> {
    let distances = distances(scenario, transport, graph)?;
    Ok(Template {
        initial: Initial::Message(Box::new(distances)),
        class: transport.priority,
        has_pace: false,
        paces_window: false,
        rate_limiters: None,
        small_queue: None,
        asks: false,
        paced: false,
        has_handshake: false,
        acks_each: false,
    })
}

/// Settings of a message transport's connections.
pub(super) fn distances(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
) -> Result<Distances, Problem> {
    let near_ps = round_trip_ps(scenario, transport, graph)?;
    let two = scenario.topology.two_datacentres.as_ref();
    let rate_bps = |port: usize| graph.wire(port).rate_bps;
    let recipe = Recipe {
        transport: transport.clone(),
        slowest_bps: slowest_tier_bps(graph),
        buffer: scenario.switch.buffer,
        trims: scenario.switch.trimming.is_some(),
        near_ps,
        far_ps: two.map_or(near_ps, |_| {
            scenario::longest_round_trip_ps(scenario, graph)
        }),
    };
    let hosts = (0..graph.hosts().len()).map(|host| graph.host_port(host));
    Ok(Distances::new(
        hosts.clone().map(rate_bps).collect(),
        hosts.map(Graph::opposite).map(rate_bps).collect(),
        two.map(TwoDatacentres::hosts_each),
        move |ends| config(&recipe, ends),
    ))
}

/// Rate of the slowest tier of links between switches, bit/s. A tier counts as its fastest link: a single
/// slow link can be avoided.
fn slowest_tier_bps(graph: &Graph) -> u64 {
    let mut tiers: HashMap<String, u64> = HashMap::new();
    for port in 0..graph.ports() {
        let ends = [graph.port_owner(port), graph.port_far_end(port)];
        if ends.map(|node| graph.nodes[node].kind) == [Kind::Switch; 2] {
            let fastest_bps = tiers.entry(graph.port_tiers(port)).or_default();
            *fastest_bps = (*fastest_bps).max(graph.wire(port).rate_bps);
        }
    }
    tiers.into_values().min().unwrap_or(u64::MAX)
}

/// Basis of the settings of all connections of a transport.
#[derive(Debug)]
struct Recipe {
    transport: Transport,
    /// Rate of the slowest tier of links between switches, bit/s.
    slowest_bps: u64,
    buffer: Buffer,
    trims: bool,
    /// Round trip inside a data centre and, if there are two, between them, ps.
    near_ps: u64,
    far_ps: u64,
}

/// Settings of connections between such hosts.
fn config(recipe: &Recipe, ends: &Ends) -> Arc<MessageConfig> {
    let transport = &recipe.transport;
    let control = &transport.congestion_control;
    let (mtu_bytes, header_bytes) = (transport.mtu.0, transport.header.0);
    let near_ps = recipe.near_ps;
    let network = NsccNetwork {
        link_bps: ends.up_bps,
        rtt_ps: if ends.is_far { recipe.far_ps } else { near_ps },
        mss_bytes: (mtu_bytes - header_bytes) as u32,
        mtu_bytes: mtu_bytes as u32,
        trimming: recipe.trims,
        due_in_32_bits: false,
    };
    let settings = &transport.message;
    let initial = settings.initial_window;
    let initial_window_bytes = initial.map(|packets| u64::from(packets) * mtu_bytes);
    // A port on the way may be slower than the sender's link.
    let slowest = NsccNetwork {
        link_bps: ends.up_bps.min(ends.down_bps).min(recipe.slowest_bps),
        ..network
    };
    let timeout_ps = timeout_ps(recipe.buffer, &slowest, control, ends.is_far);
    let full_buffers = match ends.is_far {
        true => FAR_FULL_BUFFERS,
        false => UNO_FULL_BUFFERS,
    };
    let wait_ps = drain_ps(recipe.buffer, &slowest, full_buffers);
    Arc::new(MessageConfig {
        mtu_bytes: mtu_bytes as u16,
        header_bytes: header_bytes as u16,
        rtt_ps: network.rtt_ps,
        timeout_ps: settings.timeout.map_or(timeout_ps, |time| time.0),
        timeout_grows: settings.timeout.is_none() && recipe.buffer == Buffer::Unlimited,
        ack_bytes: settings.ack_bytes.0 as u32,
        paths: settings.paths,
        balancing: settings.load_balancing,
        subflows: settings.subflows,
        flowlet_gap_ps: settings.flowlet_gap.map_or(network.rtt_ps, |gap| gap.0),
        control: match control {
            CongestionControl::Rccc => ControlKind::None,
            CongestionControl::UnoCc => {
                ControlKind::UnoCc(unocc(&settings.unocc, &network, near_ps))
            }
            _ => ControlKind::Nscc {
                constants: Arc::new(network.constants()),
                initial_window_bytes,
            },
        },
        credit_bytes: grants(control)
            .then(|| window_bytes(network.link_bps, network.rtt_ps, mtu_bytes)),
        ecn: transport.ecn,
        erasure: (settings.erasure.as_ref()).map(|of| Erasure {
            code: of.code(),
            wait_ps: of.wait.map_or(wait_ps, |wait| wait.0),
        }),
    })
}

/// UnoCC's settings in a network whose round trip inside a data centre is `near_ps`.
fn unocc(settings: &UnoCcSettings, network: &NsccNetwork, near_ps: u64) -> UnoCcConfig {
    let mss_bytes = u64::from(network.mss_bytes);
    let bdp_bytes = |rtt_ps| carried_bytes(network.link_bps, rtt_ps).max(mss_bytes);
    UnoCcConfig {
        bdp_bytes: bdp_bytes(network.rtt_ps),
        intra_bdp_bytes: bdp_bytes(near_ps),
        base_rtt_ps: network.rtt_ps,
        mss_bytes: network.mss_bytes,
        packet_bytes: network.mtu_bytes,
        k_bytes: u64::from(settings.k) * mss_bytes,
        mark_gain: settings.gain.value(),
    }
}

/// Round trip that determines windows and targets, ps; with two data centres, the one inside a data
/// centre.
fn round_trip_ps(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
) -> Result<u64, Problem> {
    if let Some(given) = transport.message.round_trip {
        return Ok(given.0);
    }
    let Some(two) = &scenario.topology.two_datacentres else {
        return Ok(scenario::longest_round_trip_ps(scenario, graph));
    };
    let topology = Topology {
        fat_tree: Some(two.one()),
        ..Topology::default()
    };
    let one = scenario.graph_of(&topology)?;
    Ok(scenario::longest_round_trip_ps(scenario, &one))
}

/// Whether receivers grant credit.
fn grants(control: &CongestionControl) -> bool {
    matches!(
        control,
        CongestionControl::Rccc | CongestionControl::NsccRccc
    )
}

/// Largest window, bytes: 1.5 bandwidth-delay products, at least a packet.
fn window_bytes(link_bps: u64, rtt_ps: u64, mtu_bytes: u64) -> u64 {
    (carried_bytes(link_bps, rtt_ps) * 3 / 2).max(mtu_bytes)
}

/// Bandwidth-delay product, bytes.
fn carried_bytes(link_bps: u64, rtt_ps: u64) -> u64 {
    (u128::from(link_bps) * u128::from(rtt_ps) / 8_000_000_000_000) as u64
}

/// Timeout of a packet, ps.
fn timeout_ps(
    buffer: Buffer,
    network: &NsccNetwork,
    control: &CongestionControl,
    is_far: bool,
) -> u64 {
    let (least_ps, full_buffers) = match (is_far, control) {
        (true, _) => (network.rtt_ps, FAR_FULL_BUFFERS),
        (false, CongestionControl::UnoCc) => (network.rtt_ps, UNO_FULL_BUFFERS),
        (false, _) => (TIMEOUT_PS, FULL_BUFFERS),
    };
    least_ps + drain_ps(buffer, network, full_buffers)
}

/// Time to drain `full_buffers` full buffers, ps; a round trip each if buffers are unlimited.
fn drain_ps(buffer: Buffer, network: &NsccNetwork, full_buffers: u64) -> u64 {
    let bytes = match buffer {
        Buffer::Unlimited => return full_buffers * network.rtt_ps,
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => packets * u64::from(network.mtu_bytes),
    };
    let bits = u128::from(8 * full_buffers * bytes);
    (bits * 1_000_000_000_000 / u128::from(network.link_bps)) as u64
}

/// Creates the NICs of the message transport and the receiver controls, if a transport of the
/// scenario needs them.
pub(super) fn hosts(
    scenario: &Scenario,
    graph: &Graph,
    side: &mut HostSide,
    seed: u64,
) -> Result<(), Problem> {
    let transports = std::iter::once(&scenario.transport).chain(scenario.transports.values());
    let controls: Vec<&CongestionControl> = transports.map(|one| &one.congestion_control).collect();
    if !controls.iter().any(|control| control.is_of_messages()) {
        return Ok(());
    }
    let hosts = side.ports.len();
    let stream = |purpose| move |host| Stream::new(seed, purpose, host);
    side.message_nics = (0..hosts)
        .map(stream(Purpose::Paths))
        .map(MessageNic::new)
        .collect();
    let has_sender_control = |control: &&CongestionControl| *control != &CongestionControl::Rccc;
    if !controls.iter().any(|control| grants(control)) {
        return Ok(());
    }
    let transport = &scenario.transport;
    let rtt_ps = round_trip_ps(scenario, transport, graph)?;
    // A sender with its own window adapts to the fabric itself.
    let ratio = match controls.iter().any(has_sender_control) {
        true => 1.0,
        false => oversubscription(graph),
    };
    let puller = |host| {
        let link_bps = graph.wire(Graph::opposite(graph.host_port(host))).rate_bps;
        let config = PullConfig {
            link_bps,
            max_window_bytes: window_bytes(link_bps, rtt_ps, transport.mtu.0),
        };
        Puller::new(&config, ratio, rtt_ps, stream(Purpose::PullRate)(host))
    };
    side.pullers = (0..hosts).map(puller).collect();
    Ok(())
}

/// Largest oversubscription of a switch: total rate of its host links divided by the total rate of
/// its links to other switches, at least 1.
fn oversubscription(graph: &Graph) -> f64 {
    let mut largest: f64 = 1.0;
    let hosts = (0..graph.hosts().len()).map(|host| graph.port_far_end(graph.host_port(host)));
    let mut switches: Vec<usize> = hosts.collect();
    switches.dedup();
    for switch in switches {
        let (mut down_bps, mut up_bps) = (0, 0);
        for &port in graph.node_ports(switch) {
            let rate_bps = graph.wire(port).rate_bps;
            match graph.is_between_switches(port) {
                true => up_bps += rate_bps,
                false => down_bps += rate_bps,
            }
        }
        if up_bps > 0 {
            largest = largest.max(down_bps as f64 / up_bps as f64);
        }
    }
    largest
}
