//! Builds the shared state of the message transport's connections from its settings.

use std::collections::HashMap;
use std::sync::Arc;

use hull_core::admission::Admission;
use hull_core::rccc::PullConfig;
use hull_core::telemetry::Fields;

use super::without_class;
use crate::host::{HostSide, MessageNic, Puller};
use crate::network::InBand;
use crate::problem::Problem;
use crate::random::{Purpose, Stream};
use crate::scenario::{self, CongestionControl, Scenario, Transport};
use crate::simulation::distances::{Distances, Ends};
use crate::simulation::flow::ends::Initial;
use crate::simulation::flow::template::Template;
use crate::topology::{Graph, Kind, LinkCounts, NicRule, Topology, TwoDatacentres};
use crate::transport::message::{Admitting, Erasure, MessageConfig};
use crate::transport::{
    CongestionControl as _, External, MessageController, Path, RoundTripLine, Window, window_bytes,
};
use crate::units::Buffer;

/// Smallest timeout of a packet, ps, without the delay of the network's queues.
const TIMEOUT_PS: u64 = 15_000_000;
/// Number of full buffers in a round trip.
const FULL_BUFFERS: u64 = 6;
/// Number of full buffers in a round trip for Uno, inside a data centre.
const UNO_FULL_BUFFERS: u64 = 5;
/// Number of full buffers in a round trip for Uno, between two data centres.
const FAR_FULL_BUFFERS: u64 = 8;

/// Initial state of a message transport's flows. `external` is the external congestion control, if the
/// scenario names one.
pub(super) fn template(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
    external: Option<&dyn External>,
) -> Result<Template, Problem> {
    let name = &transport.congestion_control;
    if matches!(name, CongestionControl::External(_)) && external.is_none() {
        return Err(without_class(name));
    }
    let two = scenario.topology.two_datacentres.as_ref();
    let (near, far_ps) = both_round_trips(scenario, transport, graph)?;
    let recipe = Recipe {
        transport: transport.clone(),
        external: external.map(|control| control.fresh()),
        slowest_bps: slowest_tier_bps(graph),
        buffer: scenario.switch.buffer,
        trims: scenario.switch.trimming.is_some(),
        fields: scenario.telemetry_fields(),
        near,
        far_ps,
    };
    let of_host = |host| match scenario.host.nic_choice() {
        NicRule::Hash | NicRule::Rail => graph.fastest_bps(host),
        NicRule::PerPacket => graph.host_bps(host),
    };
    let rates_bps = (0..graph.hosts().len()).map(of_host);
    let (up_bps, down_bps) = rates_bps.unzip();
    let distances = Distances::new(
        up_bps,
        down_bps,
        two.map(TwoDatacentres::hosts_each),
        name.reads_links().then(|| LinkCounts::of(graph)),
        move |ends| config(&recipe, ends),
    );
    let asks = match distances.common.control.ask(0) {
        InBand::Nothing | InBand::Rate(_) => InBand::Nothing,
        InBand::Telemetry => InBand::Telemetry,
    };
    Ok(Template {
        initial: Initial::Message(Box::new(distances)),
        class: scenario.class_of(transport),
        has_pace: false,
        paces_window: false,
        rate_limiters: None,
        small_queue: None,
        spray: None,
        asks,
        associates: false,
        has_handshake: false,
        acks_each: false,
    })
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
    external: Option<Box<dyn External>>,
    /// Rate of the slowest tier of links between switches, bit/s.
    slowest_bps: u64,
    buffer: Buffer,
    trims: bool,
    fields: Fields,
    /// Round trips inside a data centre and, if there are two, the one between them, ps.
    near: RoundTrips,
    far_ps: u64,
}

/// Settings of connections between such hosts.
fn config(recipe: &Recipe, ends: &Ends) -> Arc<MessageConfig> {
    let transport = &recipe.transport;
    let name = &transport.congestion_control;
    let settings = &transport.message;
    let mtu_bytes = transport.mtu.0;
    let bytes = |packets: u32| u64::from(packets) * mtu_bytes;
    let path = Path {
        link_bps: ends.up_bps,
        rtt_ps: match ends.is_far {
            true => recipe.far_ps,
            false => recipe.near.longest_ps,
        },
        near_rtt_ps: recipe.near.longest_ps,
        mtu_bytes: mtu_bytes as u16,
        header_bytes: transport.header.0 as u16,
        trims: recipe.trims,
        initial_window_bytes: settings.initial_window.map(bytes),
        fields: recipe.fields,
        links: ends.links,
        unloaded: match ends.is_far {
            true => RoundTripLine::constant(recipe.far_ps),
            false => recipe.near.by_links,
        },
    };
    let external = recipe.external.as_deref();
    let Some(control) = MessageController::new(name, &path, transport, external) else {
        unreachable!("{name} is a control of the message transport")
    };
    // A port on the way may be slower than the sender's link.
    let slowest = Path {
        link_bps: ends.up_bps.min(ends.down_bps).min(recipe.slowest_bps),
        ..path
    };
    let timeout_ps = timeout_ps(recipe.buffer, &slowest, name, ends.is_far);
    let full_buffers = match ends.is_far {
        true => FAR_FULL_BUFFERS,
        false => UNO_FULL_BUFFERS,
    };
    let wait_ps = drain_ps(recipe.buffer, &slowest, full_buffers);
    let initial_bytes = path.initial_window_bytes;
    Arc::new(MessageConfig {
        mtu_bytes: path.mtu_bytes,
        header_bytes: path.header_bytes,
        rtt_ps: path.rtt_ps,
        timeout_ps: settings.timeout.map_or(timeout_ps, |time| time.0),
        timeout_grows: settings.timeout.is_none() && recipe.buffer == Buffer::Unlimited,
        control_bytes: (settings.ack_size).map_or(path.header_bytes, |size| size.0 as u16),
        max_in_flight: settings.max_in_flight.map_or(u64::MAX, |size| {
            size.0.max(u64::from(path.mtu_bytes)) // otherwise nothing could be sent
        }),
        recovery: settings.recovery,
        reordering: settings.reordering,
        gap_interval_ps: settings.gap_interval.0,
        notification_ps: settings.cnp_interval.map(|interval| interval.0),
        ack_class: settings.ack_priority,
        notification_class: settings.cnp_priority,
        ack_bytes: settings.ack_bytes.0 as u32,
        paths: settings.paths,
        balancing: settings.load_balancing,
        subflows: settings.subflows,
        flowlet_gap_ps: settings.flowlet_gap.map_or(path.rtt_ps, |gap| gap.0),
        grants_credit: control.grants_credit(),
        control,
        window: Window::new(
            initial_bytes.unwrap_or(path.largest_window_bytes()),
            mtu_bytes as u32,
            bytes(transport.min_window),
            bytes(transport.max_window),
            transport.byte_counting,
        ),
        ecn: transport.ecn,
        erasure: (settings.erasure.as_ref()).map(|of| Erasure {
            code: of.code(),
            wait_ps: of.wait.map_or(wait_ps, |wait| wait.0),
        }),
        admission: (settings.admission.as_ref()).map(|of| {
            let window = of.window_bytes(ends.down_bps, recipe.far_ps, mtu_bytes);
            Admitting {
                chunk: of.chunk_packets(window, mtu_bytes),
                eager_bytes: of.eager.0,
            }
        }),
    })
}

/// Unloaded round trips of a network.
#[derive(Clone, Copy, Debug)]
struct RoundTrips {
    /// Longest one, ps.
    longest_ps: u64,
    /// By the number of links, without the hosts' times; all the same unless the control reads it.
    by_links: RoundTripLine,
}

impl RoundTrips {
    fn of(scenario: &Scenario, transport: &Transport, graph: &Graph) -> Self {
        let longest_ps = scenario::longest_round_trip_ps(scenario, graph);
        let all_ps = || scenario::longest_round_trips_ps(scenario, graph);
        RoundTrips {
            longest_ps,
            by_links: match transport.congestion_control.reads_links() {
                true => RoundTripLine::above(&all_ps()),
                false => RoundTripLine::constant(longest_ps),
            },
        }
    }
}

/// Round trips that determine windows and targets; with two data centres, those inside a data centre.
fn round_trips(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
) -> Result<RoundTrips, Problem> {
    if let Some(given) = transport.message.round_trip {
        return Ok(RoundTrips {
            longest_ps: given.0,
            by_links: RoundTripLine::constant(given.0),
        });
    }
    let Some(two) = &scenario.topology.two_datacentres else {
        return Ok(RoundTrips::of(scenario, transport, graph));
    };
    let topology = Topology {
        fat_tree: Some(two.one()),
        ..Topology::default()
    };
    let one = scenario.graph_of(&topology)?;
    Ok(RoundTrips::of(scenario, transport, &one))
}

/// Round trips inside a data centre and the one between two, ps, which is the longest of them if there is one.
fn both_round_trips(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
) -> Result<(RoundTrips, u64), Problem> {
    let near = round_trips(scenario, transport, graph)?;
    let far_ps = match scenario.topology.two_datacentres {
        Some(_) => scenario::longest_round_trip_ps(scenario, graph),
        None => near.longest_ps,
    };
    Ok((near, far_ps))
}

/// Windows of the receivers; none unless a transport asks for admission.
fn admissions(scenario: &Scenario, graph: &Graph) -> Result<Vec<Admission>, Problem> {
    let mut asking = Vec::new();
    for transport in scenario.all_transports() {
        if let Some(of) = &transport.message.admission {
            let (_, far_ps) = both_round_trips(scenario, transport, graph)?;
            asking.push(move |bps| of.window_bytes(bps, far_ps, transport.mtu.0));
        }
    }
    let of_host = |host| {
        let (_, down_bps) = graph.host_bps(host);
        let windows = asking.iter().map(|window_bytes| window_bytes(down_bps));
        windows.max().map(Admission::new)
    };
    Ok((0..graph.hosts().len()).filter_map(of_host).collect())
}

/// Timeout of a packet, ps.
fn timeout_ps(buffer: Buffer, path: &Path, control: &CongestionControl, is_far: bool) -> u64 {
    let (least_ps, full_buffers) = if is_far {
        (path.rtt_ps, FAR_FULL_BUFFERS)
    } else if *control == CongestionControl::UnoCc {
        (path.rtt_ps, UNO_FULL_BUFFERS)
    } else {
        (TIMEOUT_PS, FULL_BUFFERS)
    };
    least_ps + drain_ps(buffer, path, full_buffers)
}

/// Time to drain `full_buffers` full buffers, ps; a round trip each if buffers are unlimited.
fn drain_ps(buffer: Buffer, path: &Path, full_buffers: u64) -> u64 {
    let bytes = match buffer {
        Buffer::Unlimited => return full_buffers * path.rtt_ps,
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => packets * u64::from(path.mtu_bytes),
    };
    let bits = u128::from(8 * full_buffers * bytes);
    (bits * 1_000_000_000_000 / u128::from(path.link_bps)) as u64
}

/// Creates the NICs of the message transport and the receiver controls, if a transport of the
/// scenario needs them.
pub(super) fn hosts(
    scenario: &Scenario,
    graph: &Graph,
    templates: &[Template],
    side: &mut HostSide,
    seed: u64,
) -> Result<(), Problem> {
    let mut messages = templates.iter().filter_map(Template::messages).peekable();
    if messages.peek().is_none() {
        return Ok(());
    }
    let stream = |purpose| move |number| Stream::new(seed, purpose, number);
    side.message_nics = (0..graph.nics())
        .map(stream(Purpose::Paths))
        .map(MessageNic::new)
        .collect();
    side.admissions = admissions(scenario, graph)?;
    if !messages.any(|distances| distances.common.grants_credit) {
        return Ok(());
    }
    let transport = &scenario.transport;
    let rtt_ps = round_trips(scenario, transport, graph)?.longest_ps;
    // A sender with its own window adapts to the fabric itself.
    let mut controls = scenario.all_transports().map(|one| &one.congestion_control);
    let ratio = match controls.any(|control| *control != CongestionControl::Rccc) {
        true => 1.0,
        false => oversubscription(graph),
    };
    let puller = |host| {
        let (_, link_bps) = graph.host_bps(host);
        let config = PullConfig {
            link_bps,
            max_window_bytes: window_bytes(link_bps, rtt_ps, transport.mtu.0),
        };
        Puller::new(&config, ratio, rtt_ps, stream(Purpose::PullRate)(host))
    };
    side.pullers = (0..graph.hosts().len()).map(puller).collect();
    Ok(())
}

/// Largest oversubscription of a switch: total rate of its host links divided by the total rate of
/// its links to other switches, at least 1.
fn oversubscription(graph: &Graph) -> f64 {
    let mut largest: f64 = 1.0;
    let nics = (0..graph.nics()).map(|nic| graph.port_far_end(graph.nic_port(nic)));
    let mut switches: Vec<usize> = nics.collect();
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
