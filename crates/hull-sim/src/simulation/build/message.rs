//! The message transport's settings become what its connections have in common.

use std::sync::Arc;

use hull_core::nscc::NsccNetwork;

use crate::host::{HostSide, MessageNic};
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
        rtt_ps: scenario::longest_round_trip_ps(scenario, graph),
        mss_bytes: (mtu_bytes - header_bytes) as u32,
        mtu_bytes: mtu_bytes as u32,
        trimming: scenario.switch.trimming.is_some(),
    };
    let constants = Arc::new(network.constants());
    let settings = &transport.message;
    let initial = settings.initial_window;
    let initial_window_bytes = initial.map(|packets| u64::from(packets) * mtu_bytes);
    let has_credit = matches!(
        control,
        CongestionControl::Rccc | CongestionControl::NsccRccc
    );
    let window_bytes = (bytes_in(&network, network.rtt_ps) * 3 / 2).max(mtu_bytes);
    Some(Arc::new(MessageConfig {
        mtu_bytes: mtu_bytes as u16,
        header_bytes: header_bytes as u16,
        timeout_ps: (settings.timeout).map_or_else(|| timeout_ps(scenario, &network), |time| time.0),
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
        credit_bytes: has_credit.then_some(window_bytes),
        ecn: transport.ecn,
    }))
}

/// Bytes that a host's link carries in a time.
fn bytes_in(network: &NsccNetwork, time_ps: u64) -> u64 {
    (u128::from(network.link_bps) * u128::from(time_ps) / 8_000_000_000_000) as u64
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

/// NICs of the message transport, where a transport of the scenario is one.
pub(super) fn hosts(scenario: &Scenario, side: &mut HostSide, seed: u64) {
    let mut transports = std::iter::once(&scenario.transport).chain(scenario.transports.values());
    if !transports.any(|one| one.congestion_control.is_of_messages()) {
        return;
    }
    let hosts = 0..side.ports.len();
    let nic = |host| MessageNic::new(Stream::new(seed, Purpose::Paths, host));
    side.message_nics = hosts.map(nic).collect();
}
