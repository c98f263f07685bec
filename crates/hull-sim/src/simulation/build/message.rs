//! The message transport's settings become what its connections have in common.

use std::sync::Arc;

use hull_core::nscc::NsccNetwork;
use hull_core::rccc::PullConfig;

use crate::host::{HostSide, MessageNic, Puller};
use crate::random::{Purpose, Stream};
use crate::scenario::{self, CongestionControl, Scenario, Transport};
use crate::topology::Graph;
use crate::transport::message::{ControlKind, MessageConfig};
use crate::units::Buffer;

/// Least time after which a packet counts as lost, ps: what the network's queues add comes on top.
const TIMEOUT_PS: u64 = 15_000_000;
/// Full buffers that a round trip may meet.
const FULL_BUFFERS: u64 = 6;

/// What the connections of a transport have in common, where it is the message transport.
pub(super) fn config(
    scenario: &Scenario,
    transport: &Transport,
    graph: &Graph,
) -> Option<Arc<MessageConfig>> {
    let control = &transport.congestion_control;
    if !control.is_of_messages() {
        return None;
    }
    let (mtu_bytes, header_bytes) = (transport.mtu.0, transport.header.0);
    let network = NsccNetwork {
        link_bps: scenario.host.rate.0,
        rtt_ps: round_trip_ps(scenario, transport, graph),
        mss_bytes: (mtu_bytes - header_bytes) as u32,
        mtu_bytes: mtu_bytes as u32,
        trimming: scenario.switch.trimming.is_some(),
        due_in_32_bits: false,
    };
    let constants = Arc::new(network.constants());
    let settings = &transport.message;
    let initial = settings.initial_window;
    let initial_window_bytes = initial.map(|packets| u64::from(packets) * mtu_bytes);
    Some(Arc::new(MessageConfig {
        mtu_bytes: mtu_bytes as u16,
        header_bytes: header_bytes as u16,
        timeout_ps: (settings.timeout)
            .map_or_else(|| timeout_ps(scenario, &network), |time| time.0),
        ack_bytes: settings.ack_bytes.0 as u32,
        paths: settings.paths,
        balancing: settings.load_balancing,
        control: match control {
            CongestionControl::Rccc => ControlKind::None,
            _ => ControlKind::Nscc {
                constants,
                initial_window_bytes,
            },
        },
        credit_bytes: grants(control)
            .then(|| window_bytes(network.link_bps, network.rtt_ps, mtu_bytes)),
        ecn: transport.ecn,
    }))
}

/// The round trip that sizes windows and targets.
fn round_trip_ps(scenario: &Scenario, transport: &Transport, graph: &Graph) -> u64 {
    let given = transport.message.round_trip.map(|time| time.0);
    given.unwrap_or_else(|| scenario::longest_round_trip_ps(scenario, graph))
}

/// Whether receivers grant credit.
fn grants(control: &CongestionControl) -> bool {
    matches!(
        control,
        CongestionControl::Rccc | CongestionControl::NsccRccc
    )
}

/// The largest window: 1.5 times what a link carries in a round trip, at least a packet.
fn window_bytes(link_bps: u64, rtt_ps: u64, mtu_bytes: u64) -> u64 {
    let bytes = (u128::from(link_bps) * u128::from(rtt_ps) / 8_000_000_000_000) as u64;
    (bytes * 3 / 2).max(mtu_bytes)
}

/// After how long a packet counts as lost, ps.
fn timeout_ps(scenario: &Scenario, network: &NsccNetwork) -> u64 {
    let bytes = match scenario.switch.buffer {
        Buffer::Unlimited => return TIMEOUT_PS + FULL_BUFFERS * network.rtt_ps,
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => packets * u64::from(network.mtu_bytes),
    };
    let bits = u128::from(8 * FULL_BUFFERS * bytes);
    TIMEOUT_PS + (bits * 1_000_000_000_000 / u128::from(network.link_bps)) as u64
}

/// NICs of the message transport, and what grants credit, where a transport of the scenario has them.
pub(super) fn hosts(scenario: &Scenario, graph: &Graph, side: &mut HostSide, seed: u64) {
    let transports = std::iter::once(&scenario.transport).chain(scenario.transports.values());
    let controls: Vec<&CongestionControl> = transports.map(|one| &one.congestion_control).collect();
    if !controls.iter().any(|control| control.is_of_messages()) {
        return;
    }
    let hosts = side.ports.len();
    let stream = |purpose| move |host| Stream::new(seed, purpose, host);
    side.message_nics = (0..hosts)
        .map(stream(Purpose::Paths))
        .map(MessageNic::new)
        .collect();
    let has_sender_control = |control: &&CongestionControl| *control != &CongestionControl::Rccc;
    if !controls.iter().any(|control| grants(control)) {
        return;
    }
    let transport = &scenario.transport;
    let rtt_ps = round_trip_ps(scenario, transport, graph);
    let config = PullConfig {
        link_bps: scenario.host.rate.0,
        max_window_bytes: window_bytes(scenario.host.rate.0, rtt_ps, transport.mtu.0),
    };
    // With a window of its own a sender learns of the fabric by itself.
    let ratio = match controls.iter().any(has_sender_control) {
        true => 1.0,
        false => oversubscription(graph),
    };
    let puller = |random| Puller::new(&config, ratio, rtt_ps, random);
    side.pullers = (0..hosts)
        .map(stream(Purpose::PullRate))
        .map(puller)
        .collect();
}

/// How much wider the links of a switch's hosts are than those to other switches: the largest ratio, at least 1.
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
