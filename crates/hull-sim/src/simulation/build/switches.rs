//! The settings of switches and links become ports.

use hull_core::averaging;
use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use hull_core::pi::{Pi, PiConfig};
use hull_core::qcn_congestion_point::{CongestionPoint, CongestionPointConfig, Rounding, Sampling};
use hull_core::queue_estimate::{Link, QueueUnit};
use hull_core::rcp::{self, Control, Rcp, RcpConfig};
use hull_core::red::{Red, RedConfig};

use crate::network::{
    Aqm, BufferLimit, MarkOn, Network, Order, Port, PortConfig, RandomLoss, Rule, SampledQueue,
    SharedBufferConfig,
};
use crate::quote;
use crate::random::{Purpose, Stream};
use crate::scenario::{self, Placement, RcpAlgorithm, Scenario, Switch};
use crate::topology::{Graph, Kind, Problem};
use crate::units::{Buffer, Rate, Size, Tick};

/// All ports of the network, those of hosts and those of switches.
pub(super) fn ports(scenario: &Scenario, graph: &Graph, seed: u64) -> Vec<Port> {
    let config = |port: usize| {
        if graph.nodes[graph.port_owner(port)].kind == Kind::Host {
            let mut config = host_port(scenario, graph, port);
            if scenario.pacer.is_some() {
                // The NIC's buffer is in front of the pacer, the wire behind it refuses nothing.
                config.buffer = BufferLimit::Unlimited;
            }
            config
        } else {
            switch_port(scenario, graph, port, seed)
        }
    };
    let ports = 0..graph.ports();
    ports.map(|port| Port::new(&config(port))).collect()
}

/// Checks that each switch has room for what its queues reserve of the memory that they share, and
/// no more ports than its preset.
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
                return Err((
                    "switch.memory.preset".to_owned(),
                    format!(
                        "found {found} ports at {}, {found_fast} of them above 1Gbps; expected \
                         {most} and {most_fast}",
                        quote::text(&switch.name)
                    ),
                ));
            }
        }
        let queues = ports.len() as u64 * u64::from(scenario.switch.priorities);
        if memory.reserved.0.saturating_mul(queues) > memory.bytes() {
            return Err((
                "switch.memory.reserved".to_owned(),
                format!(
                    "found \"{}\" for each of {queues} queues of {}; expected the memory, \
                     \"{}\", for all of them together",
                    memory.reserved,
                    quote::text(&switch.name),
                    Size(memory.bytes())
                ),
            ));
        }
    }
    Ok(())
}

/// Lets the ports of each switch share its memory, where they do.
pub(super) fn share_memory(scenario: &Scenario, graph: &Graph, network: &mut Network) {
    let Some(memory) = &scenario.switch.memory else {
        return;
    };
    let config = SharedBufferConfig {
        size_bytes: memory.bytes(),
        reserved_bytes: memory.reserved.0,
        alpha_q16: memory.alpha.scaled(1 << 16),
    };
    let classes = scenario.switch.priorities as usize;
    for (node, settings) in graph.nodes.iter().enumerate() {
        if settings.kind == Kind::Switch {
            let counted = scenario.switch.count_in_service;
            network.share(&config, graph.node_ports(node), classes, counted);
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

/// The delay of a link with what a packet meets at its far end: a switch's latency, or the stack of
/// a receiving host; and whether the far end is a switch.
fn delay_ps(scenario: &Scenario, graph: &Graph, port: usize) -> (u64, bool) {
    let to_switch = graph.nodes[graph.port_far_end(port)].kind == Kind::Switch;
    let behind = if to_switch {
        scenario.switch.latency
    } else {
        scenario.host.stack_delay
    };
    (graph.wire(port).delay_ps + behind.0, to_switch)
}

/// A host's port; the stack's delay on the way out is part of the link's.
pub(super) fn host_port(scenario: &Scenario, graph: &Graph, port: usize) -> PortConfig {
    let (delay_ps, _) = delay_ps(scenario, graph, port);
    let delay_ps = delay_ps + scenario.host.stack_delay.0;
    PortConfig {
        classes: scenario.host.nic_queues as usize,
        order: Order::Turns,
        framing_bytes: scenario.transport.framing.0 as u16,
        cut_through_bytes: scenario.switch.cut_through.map(|bytes| bytes.0 as u16),
        ..PortConfig::plain(
            graph.wire(port).rate_bps,
            delay_ps,
            buffer(scenario.host.nic_buffer),
        )
    }
}

fn switch_port(scenario: &Scenario, graph: &Graph, port: usize, seed: u64) -> PortConfig {
    let mut switch = scenario.switch.clone();
    let rate = Rate(graph.wire(port).rate_bps);
    for settings in &scenario.switch.ports {
        if settings.fits(graph, port) {
            switch.buffer = settings.buffer.unwrap_or(switch.buffer);
            switch.marking = settings.marking.clone().or(switch.marking);
            switch.phantom_queue = settings.phantom_queue.clone().or(switch.phantom_queue);
        }
    }
    let (delay_ps, to_switch) = delay_ps(scenario, graph, port);
    let mtu = scenario.transport.mtu.0 as u32;
    PortConfig {
        rate_bps: rate.0,
        framing_bytes: scenario.transport.framing.0 as u16,
        delay_ps,
        cut_through_bytes: match switch.cut_through {
            Some(bytes) if to_switch => Some(bytes.0 as u16),
            _ => None,
        },
        buffer: buffer(switch.buffer),
        count_in_service: switch.count_in_service,
        marker: switch.marking.as_ref().map(marker),
        phantom_queue: placed(&switch, Placement::Series, rate),
        virtual_queue: placed(&switch, Placement::Parallel, rate),
        aqm: aqm(
            &switch,
            rate,
            mtu,
            Stream::new(seed, Purpose::Marking, port),
        ),
        congestion_point: switch.qcn.as_ref().map(|settings| {
            let random = Stream::new(seed, Purpose::Sampling, port);
            SampledQueue::new(congestion_point(settings), random)
        }),
        rcp: switch.rcp.as_ref().map(|settings| rcp(settings, rate)),
        loss: random_loss(&switch, Stream::new(seed, Purpose::LinkLoss, port)),
        classes: switch.priorities as usize,
        order: Order::Priority,
        commit_bytes: switch.commit.0 as u16,
    }
}

fn random_loss(switch: &Switch, random: Stream) -> Option<RandomLoss> {
    let probability = u32::try_from(switch.loss.scaled(1 << 32)).unwrap_or(u32::MAX);
    (probability > 0).then(|| RandomLoss::new(probability, random))
}

fn marker(marking: &scenario::Marking) -> (ThresholdMarker, MarkOn) {
    let marker = ThresholdMarker {
        threshold_bytes: marking.threshold.0 as u32,
        count_arriving: marking.count_arriving,
    };
    let on = match marking.on {
        scenario::MarkOn::Enqueue => MarkOn::Enqueue,
        scenario::MarkOn::Dequeue => MarkOn::Dequeue,
    };
    (marker, on)
}

/// The switch's phantom queue, where it has one in this place.
fn placed(switch: &Switch, placement: Placement, link: Rate) -> Option<PhantomQueue> {
    let queue = switch.phantom_queue.as_ref()?;
    (queue.placement == placement).then(|| phantom_queue(queue, link))
}

fn phantom_queue(queue: &scenario::PhantomQueue, link: Rate) -> PhantomQueue {
    PhantomQueue::new(&PhantomQueueConfig {
        drain_bps: queue.drain.of(link).0,
        threshold_bytes: queue.threshold.0 as u32,
        count_arriving: queue.count_arriving,
        drain: match queue.tick {
            Tick::Continuous => Drain::Continuous,
            Tick::Every(tick) => Drain::Ticks { tick_ps: tick.0 },
        },
    })
}

fn congestion_point(settings: &scenario::CongestionPoint) -> CongestionPoint {
    CongestionPoint::new(&CongestionPointConfig {
        equilibrium_bytes: settings.equilibrium.0 as u32,
        weight: settings.weight.scaled(1 << 16) as u32,
        sampling: match settings.interval {
            Some(bytes) => Sampling::Every(bytes.0 as u32),
            None => {
                let scaled = settings.sampling.scaled(1 << 32);
                Sampling::Random(u32::try_from(scaled).unwrap_or(u32::MAX))
            }
        },
        step_bytes: settings.step.0 as u32,
        rounding: match settings.rounding {
            scenario::QcnRounding::Up => Rounding::Up,
            scenario::QcnRounding::Down => Rounding::Down,
        },
        adaptive: settings.adaptive,
    })
}

fn rcp(settings: &scenario::Rcp, link: Rate) -> Rcp {
    let one = u64::from(rcp::ONE);
    Rcp::new(&RcpConfig {
        link_bps: link.0,
        interval_ps: settings.interval.0,
        round_trip_ps: settings.round_trip.0,
        round_trip_gain: settings.round_trip_gain.scaled(one) as u32,
        alpha: settings.alpha.scaled(one) as u32,
        beta: settings.beta.scaled(one) as u32,
        averaging: settings.averaging.scaled(u64::from(averaging::ONE)) as u32,
        initial_bps: settings.initial.scaled(link.0),
        control: match settings.algorithm {
            RcpAlgorithm::Rcp => Control::Averages(0),
            RcpAlgorithm::ApRcp => Control::Averages(1),
            RcpAlgorithm::Ap2Rcp => Control::Averages(2),
            RcpAlgorithm::PdRcp => Control::ProportionalDerivative,
        },
    })
}

fn aqm(switch: &Switch, rate: Rate, mtu: u32, random: Stream) -> Option<Aqm> {
    let link = |unit| Link {
        rate_bps: rate.0,
        typical_packet_bytes: mtu,
        unit,
    };
    if let Some(red) = &switch.red {
        let (min, unit) = length(red.min);
        let config = RedConfig {
            min_threshold: min,
            max_threshold: length(red.max).0,
            max_probability: u32::try_from(red.max_probability.scaled(1 << 32)).unwrap_or(u32::MAX),
            weight: red.weight.fixed_point(),
            gentle: red.gentle,
            by_size: red.by_size,
            hard_drop: red.hard_drop,
            link: link(unit),
        };
        return Some(Aqm::new(Rule::Red(Red::new(&config)), unit, random));
    }
    let pi = switch.pi.as_ref()?;
    let (reference, unit) = length(pi.reference);
    let (a, b) = proposition_2(pi, rate, mtu, unit);
    let config = PiConfig {
        reference,
        a,
        b,
        interval_ps: pi.interval.0,
        link: link(unit),
    };
    Some(Aqm::new(Rule::Pi(Pi::new(&config)), unit, random))
}

/// A queue's length, checked to be below 2^31, and its unit.
fn length(queue: Buffer) -> (u32, QueueUnit) {
    match queue {
        Buffer::Unlimited => (u32::MAX, QueueUnit::Bytes),
        Buffer::Bytes(bytes) => (bytes as u32, QueueUnit::Bytes),
        Buffer::Packets(packets) => (packets as u32, QueueUnit::Packets),
    }
}

/// PI's coefficients a and b, scaled by 2^64, by Proposition 2 of Hollot et al. (see
/// `hull_core::pi`). Only operations that IEEE 754 rounds exactly: the same on each machine.
fn proposition_2(pi: &scenario::Pi, rate: Rate, mtu: u32, unit: QueueUnit) -> (u64, u64) {
    let (flows, round_trip) = (f64::from(pi.flows), pi.round_trip.seconds());
    let capacity = rate.0 as f64 / 8.0 / f64::from(mtu);
    let zero = 2.0 * flows / (round_trip * round_trip * capacity);
    let bandwidth_delay = round_trip * capacity;
    let plant_gain = bandwidth_delay * bandwidth_delay * bandwidth_delay / (4.0 * flows * flows);
    let turn = zero * round_trip;
    let gain = zero * (turn * turn + 1.0).sqrt() / plant_gain;
    let half = pi.interval.seconds() / 2.0;
    let per_unit = match unit {
        QueueUnit::Bytes => f64::from(mtu),
        QueueUnit::Packets => 1.0,
    };
    let scaled = |coefficient: f64| (coefficient / per_unit * 18_446_744_073_709_551_616.0) as u64;
    let b = scaled((gain * (1.0 / zero - half)).max(0.0)).min(u64::MAX - 1);
    (scaled(gain * (1.0 / zero + half)).max(b + 1), b)
}
