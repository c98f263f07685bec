//! Builds ports from the settings of switches and links.

use std::borrow::Cow;

use super::super::flow::small_queue::SmallQueue;
#[cfg(feature = "verilated")]
use crate::network::rules::verilated::VerilatedPort;
use crate::network::rules::{RandomLoss, Site};
use crate::network::{
    BufferLimit, FqCodel, Network, Order, Port, PortConfig, SharedBufferConfig, Trimming,
};
use crate::problem::Problem;
use crate::quote;
use crate::random::{Purpose, Stream};
use crate::scenario::{HostQueue, Marking, Memory, Placement, Scenario, Switch};
use crate::topology::{Graph, Kind};
use crate::units::{Buffer, Rate, Share, Size};

/// Builds all ports of the network, of hosts and of switches.
pub(super) fn ports(scenario: &Scenario, graph: &Graph, seed: u64) -> Vec<Port> {
    // With room for the port that the network adds: otherwise the ports, most of an idle network's
    // memory, would be copied.
    let mut ports = Vec::with_capacity(graph.ports() + 1);
    ports.extend((0..graph.ports()).map(|number| port(scenario, graph, number, seed)));
    ports
}

/// Builds the port with this number.
pub(super) fn port(scenario: &Scenario, graph: &Graph, number: usize, seed: u64) -> Port {
    Port::new(match graph.nodes[graph.port_owner(number)].kind {
        Kind::Host => {
            let mut config = host_port(scenario, graph, number);
            if scenario.pacer.is_some() {
                // The host's queue is before the pacer; the wire after it accepts every packet.
                config.buffer = BufferLimit::Unlimited;
                (config.classes, config.order) = (1, Order::Turns);
                config.selects = scenario.switch.pfc.is_some();
            }
            let loss = graph.loss(number).or(scenario.host.loss);
            let site = site(scenario, graph, number, seed);
            config
                .rules
                .extend(RandomLoss::rule(loss.unwrap_or_default(), &site));
            config
        }
        Kind::Switch => switch_port(scenario, graph, number, seed),
    })
}

/// The port with this number, for rules.
fn site(scenario: &Scenario, graph: &Graph, port: usize, seed: u64) -> Site {
    Site {
        rate: Rate(graph.wire(port).rate_bps),
        mtu: scenario.transport.mtu.0 as u32,
        seed,
        port,
    }
}

/// Checks that each switch has enough shared memory for its queues' reserved bytes, and no more
/// ports than its preset.
pub(super) fn check_memory(scenario: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let Some(memory) = &scenario.switch.memory else {
        return Ok(());
    };
    for (node, switch) in graph.nodes.iter().enumerate() {
        if switch.kind != Kind::Switch {
            continue;
        }
        let ports = graph.node_ports(node);
        if let Some(preset) = memory.preset {
            let fast = |port: &&usize| graph.wire(**port).rate_bps > 1_000_000_000;
            let (found, found_fast) = (ports.len(), ports.iter().filter(fast).count());
            let (most, most_fast) = preset.ports();
            if found > most || found_fast > most_fast {
                return Err(Problem::new(
                    "switch.memory.preset".to_owned(),
                    format!(
                        "found {found} ports at {}, {found_fast} of them above 1Gbps; expected \
                         {most} and {most_fast}",
                        quote::text(&graph.name(node))
                    ),
                ));
            }
        }
        let queues = memory.reservations(ports.len(), scenario.switch.priorities);
        if memory.reserved.0.saturating_mul(queues) > memory.bytes() {
            return Err(Problem::new(
                "switch.memory.reserved".to_owned(),
                format!(
                    "found \"{}\" for each of {queues} queues of {}; expected the memory, \
                     \"{}\", for all of them together",
                    memory.reserved,
                    quote::text(&graph.name(node)),
                    Size(memory.bytes())
                ),
            ));
        }
    }
    Ok(())
}

/// Memory of switches without a limit.
fn unlimited_memory() -> Memory {
    Memory {
        size: Some(Size(1 << 60)),
        alpha: Share(Share::ONE),
        ..Memory::default()
    }
}

/// Memory that the ports of a switch with this number of ports share, if the scenario says so.
pub(super) fn memory_config(scenario: &Scenario, ports: usize) -> Option<SharedBufferConfig> {
    let memory = match (&scenario.switch.memory, &scenario.switch.pfc) {
        (Some(memory), _) => Cow::Borrowed(memory),
        // Pauses count what a switch holds.
        (None, Some(_)) => Cow::Owned(unlimited_memory()),
        (None, None) => return None,
    };
    Some(SharedBufferConfig {
        size_bytes: memory.usable_bytes(ports, scenario.switch.priorities),
        reserved_bytes: memory.reserved.0,
        alpha_q16: memory.alpha.scaled(1 << 16),
        limit_bytes: memory.limit.map_or(u64::MAX, |limit| limit.0),
        cell_bytes: memory.cell.map_or(1, |cell| cell.0),
        busy_bytes: memory.busy.map_or(0, |busy| busy.0),
    })
}

/// Makes the ports of each switch share its memory, if the scenario says so.
pub(super) fn share_memory(scenario: &Scenario, graph: &Graph, network: &mut Network) {
    let (switch, nodes) = (&scenario.switch, graph.nodes.iter().enumerate());
    for (node, _) in nodes.filter(|(_, settings)| settings.kind == Kind::Switch) {
        let ports = graph.node_ports(node);
        if let Some(config) = memory_config(scenario, ports.len()) {
            let classes = switch.priorities as usize;
            network.share(&config, ports, classes, switch.count_in_service);
        }
    }
}

fn buffer(room: Buffer) -> BufferLimit {
    match room {
        Buffer::Unlimited => BufferLimit::Unlimited,
        Buffer::Bytes(bytes) => BufferLimit::Bytes(bytes),
        Buffer::Packets(packets) => BufferLimit::Packets(packets),
    }
}

/// Delay of a link including the device at its far end (a switch's latency, or the stack of a
/// receiving host), ps; and whether the far end is a switch.
pub(super) fn delay_ps(scenario: &Scenario, graph: &Graph, port: usize) -> (u64, bool) {
    let to_switch = graph.nodes[graph.port_far_end(port)].kind == Kind::Switch;
    let behind = if to_switch {
        scenario.switch.latency
    } else {
        scenario.host.stack_delay
    };
    (graph.wire(port).delay_ps + behind.0, to_switch)
}

/// Number and order of a host's queues.
fn host_queues(scenario: &Scenario, graph: &Graph, port: usize) -> (usize, Order) {
    let mtu = scenario.transport.mtu.0 as u32;
    if scenario.sends_messages_only() {
        return (1, Order::Turns);
    }
    match scenario.host.queue() {
        HostQueue::Fifo => (scenario.host.nic_queues as usize, Order::Turns),
        HostQueue::Fair => (0, Order::Fair(mtu)),
        HostQueue::Fq => (0, Order::Fq(mtu)),
        HostQueue::FqCodel => {
            let site = site(scenario, graph, port, 0); // draws nothing
            (0, Order::HostFqCodel(FqCodel::default(), site))
        }
    }
}

/// Configuration of a host's port; its link's delay includes the sending stack's.
pub(super) fn host_port(scenario: &Scenario, graph: &Graph, port: usize) -> PortConfig {
    let (delay_ps, _) = delay_ps(scenario, graph, port);
    let delay_ps = delay_ps + scenario.host.stack_delay.0;
    let (classes, order) = host_queues(scenario, graph, port);
    PortConfig {
        classes,
        order,
        selects: (SmallQueue::limits_any(scenario) && !scenario.sends_messages_only())
            || scenario.switch.pfc.is_some(),
        framing_bytes: scenario.transport.framing.0 as u16,
        cut_through_bytes: scenario.switch.cut_through.map(|bytes| bytes.0 as u16),
        ..PortConfig::plain(
            graph.wire(port).rate_bps,
            delay_ps,
            buffer(scenario.host.nic_buffer),
        )
    }
}

/// Settings of a switch's port: `switch.ports`, its rate and its link may change the switch's.
pub(super) fn switch_at<'a>(scenario: &'a Scenario, graph: &Graph, port: usize) -> Cow<'a, Switch> {
    let mut switch = Cow::Borrowed(&scenario.switch);
    let rate = Rate(graph.wire(port).rate_bps);
    for settings in &scenario.switch.ports {
        if settings.fits(graph, port) {
            let switch = switch.to_mut();
            switch.buffer = settings.buffer.unwrap_or(switch.buffer);
            switch.marking = settings.marking.clone().or(switch.marking.take());
            switch.phantom_queue = settings
                .phantom_queue
                .clone()
                .or(switch.phantom_queue.take());
            switch.loss = settings.loss.unwrap_or(switch.loss);
        }
    }
    if let Some(marking) = switch.marking.as_ref().and_then(|of_rate| of_rate.at(rate)) {
        switch.to_mut().marking = Some(marking);
    }
    if let Some(share) = graph.loss(port) {
        switch.to_mut().loss = share;
    }
    switch
}

fn switch_port(scenario: &Scenario, graph: &Graph, port: usize, seed: u64) -> PortConfig {
    let switch = switch_at(scenario, graph, port);
    let rate = Rate(graph.wire(port).rate_bps);
    let (delay_ps, to_switch) = delay_ps(scenario, graph, port);
    let site = site(scenario, graph, port, seed);
    let config = PortConfig {
        rate_bps: rate.0,
        framing_bytes: scenario.transport.framing.0 as u16,
        delay_ps,
        cut_through_bytes: match switch.cut_through {
            Some(bytes) if to_switch => Some(bytes.0 as u16),
            _ => None,
        },
        buffer: buffer(switch.buffer),
        selects: switch.pfc.is_some(), // a FIFO cannot pause
        count_in_service: switch.count_in_service,
        marker: switch.marking.as_ref().and_then(Marking::at_once),
        phantom_queue: switch.phantom_queue_at(Placement::Series, rate),
        rules: switch.rules(&site),
        records: switch.records(&site),
        classes: switch.classes(),
        order: switch.order(&site),
        commit_bytes: switch.commit.0 as u16,
        trimming: (switch.trimming.as_ref()).map(|trimming| Trimming {
            header_bytes: scenario.transport.header.0 as u16,
            newcomers: trimming.newcomer.scaled(1 << 32),
            to_host: !to_switch,
            random: Stream::new(seed, Purpose::Trimming, port),
        }),
    };
    #[cfg(feature = "verilated")]
    let config = hardware_in_the_loop(config, &switch);
    config
}

/// Replaces a port's marking rules by the hardware's.
#[cfg(feature = "verilated")]
fn hardware_in_the_loop(mut config: PortConfig, switch: &crate::scenario::Switch) -> PortConfig {
    let rate = Rate(config.rate_bps);
    let phantom_queue = switch.phantom_queue_config(Placement::Series, rate);
    let marker = config.marker.take();
    config.phantom_queue = None;
    if marker.is_some() || phantom_queue.is_some() {
        let rule = VerilatedPort::new(rate.0, marker, phantom_queue.as_ref());
        config.rules.push(Box::new(rule));
    }
    config
}
