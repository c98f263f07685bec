//! From a resolved scenario to a run: settings become parts.

use std::collections::VecDeque;

use hull_core::dctcp::{DctcpConfig, ONE};
use hull_core::flow_association::{FlowAssociationConfig, WhenFull};
use hull_core::marking::ThresholdMarker;
use hull_core::pacer::{PacerConfig, WhenFifoFull};
use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};

use super::outcome::Measured;
use super::traffic::{BulkPlan, Traffic};
use super::{CLIENT, Path, Simulation};
use crate::engine::{Entity, EventQueue, Kind};
use crate::host::PacerStage;
use crate::measure::{FlowLog, LatencyLog, Occupancy};
use crate::network::{BufferLimit, FifoPort, PortConfig, Star};
use crate::random::{Purpose, Stream};
use crate::scenario::{self, Clocks, CongestionControl, Scenario};
use crate::transport::{
    Controller, DctcpControl, EchoKind, NewReno, Receiver, ReceiverConfig, RtoEstimator, SackTable,
    Sender, SenderConfig, Window,
};
use crate::units::{Buffer, Tick};
use crate::workload::RequestPlan;

pub(super) fn build(scenario: &Scenario, seed: u64) -> Simulation {
    let hosts = usize::from(scenario.topology.star.hosts);
    let host_link = host_port(scenario);
    let mut star = Star::new(hosts, &host_link, &switch_port(scenario));
    let client_port = star.switch_port(CLIENT);
    star.ports[client_port].occupancy = Some(Box::new(Occupancy::new(scenario.switch.rate.0, 0)));
    let mut pacers = Vec::new();
    if let Some(settings) = &scenario.pacer {
        // The NIC's buffer is in front of the pacer, the wire behind it refuses nothing.
        let wire = PortConfig {
            buffer: BufferLimit::Unlimited,
            ..host_link.clone()
        };
        for host in 0..hosts {
            let nic = FifoPort::new(host_link.clone());
            let random = Stream::new(seed, Purpose::Association, host);
            let (pacer, association) = pacer(settings, scenario);
            // Well over a period of the ticks and updates, so that any phase is as likely.
            let phases = 1000 * pacer.update_interval_ps.max(pacer.token_tick_ps) as usize;
            let clock_ahead_ps = match settings.clocks {
                Clocks::Free => Stream::new(seed, Purpose::ClockPhase, host).below(phases) as u64,
                Clocks::Synchronized => 0,
            };
            pacers.push(PacerStage::new(
                nic,
                &pacer,
                &association,
                random,
                settings.overtaking,
                clock_ahead_ps,
            ));
            let port = star.host_port(host);
            star.ports[port] = FifoPort::new(wire.clone());
        }
    }
    let (traffic, paths, classes) = traffic(scenario, hosts, seed);
    let sender = Sender::new(&sender(scenario));
    let receiver = Receiver::new(&receiver(scenario));
    let warmup_ps = scenario.run.warmup.0;
    let end_ps = warmup_ps + scenario.run.duration.0;
    let mut simulation = Simulation {
        now_ps: 0,
        events: EventQueue::default(),
        star,
        pacers,
        senders: vec![sender; paths.len()],
        receivers: vec![receiver; paths.len()],
        paths,
        sacks: SackTable::default(),
        traffic,
        answers: VecDeque::new(),
        application_delay_ps: scenario.host.application_delay.0,
        header_bytes: scenario.transport.header.0 as u16,
        probe: scenario.measure.probe.clone(),
        sample_interval_ps: scenario.measure.sample_interval.0,
        warmup_ps,
        end_ps,
        last_ps: end_ps + scenario.run.drain.0,
        flows: FlowLog::new(classes),
        latency: LatencyLog::default(),
        packets_sent: 0,
        packets_delivered: 0,
        packets_dropped: 0,
        packet_hops: 0,
        events_served: 0,
        at_warmup: Measured::default(),
    };
    simulation.start_traffic();
    simulation
        .events
        .push(warmup_ps, Entity::new(Kind::Warmup, 0));
    simulation
        .events
        .push(warmup_ps, Entity::new(Kind::Sample, 0));
    if simulation.probe.is_some() {
        simulation
            .events
            .push(warmup_ps, Entity::new(Kind::Probe, 0));
    }
    simulation
}

fn buffer(room: Buffer) -> BufferLimit {
    match room {
        Buffer::Unlimited => BufferLimit::Unlimited,
        Buffer::Bytes(bytes) => BufferLimit::Bytes(bytes),
        Buffer::Packets(packets) => BufferLimit::Packets(packets),
    }
}

/// A host's port; the stack's delay on the way out is part of the link's.
fn host_port(scenario: &Scenario) -> PortConfig {
    PortConfig {
        rate_bps: scenario.host.rate.0,
        delay_ps: scenario.host.delay.0 + scenario.host.stack_delay.0,
        buffer: buffer(scenario.host.nic_buffer),
        count_in_service: false,
        marker: None,
        phantom_queue: None,
    }
}

/// A switch port; the receiving stack's delay is part of the link's.
fn switch_port(scenario: &Scenario) -> PortConfig {
    let switch = &scenario.switch;
    PortConfig {
        rate_bps: switch.rate.0,
        delay_ps: switch.delay.0 + scenario.host.stack_delay.0,
        buffer: buffer(switch.buffer),
        count_in_service: switch.count_in_service,
        marker: switch.marking.as_ref().map(|marking| ThresholdMarker {
            threshold_bytes: marking.threshold.0 as u32,
            count_arriving: marking.count_arriving,
        }),
        phantom_queue: switch.phantom_queue.as_ref().map(|queue| {
            PhantomQueue::new(&PhantomQueueConfig {
                drain_bps: queue.drain.of(switch.rate).0,
                threshold_bytes: queue.threshold.0 as u32,
                count_arriving: queue.count_arriving,
                drain: match queue.tick {
                    Tick::Continuous => Drain::Continuous,
                    Tick::Every(tick) => Drain::Ticks { tick_ps: tick.0 },
                },
            })
        }),
    }
}

fn pacer(settings: &scenario::Pacer, scenario: &Scenario) -> (PacerConfig, FlowAssociationConfig) {
    let pacer = PacerConfig {
        max_rate_bps: scenario.host.rate.0,
        min_rate_bps: settings.rate_step.0,
        initial_rate_bps: settings.rate_step.0,
        bucket_bytes: settings.bucket.0 as u32,
        fifo_bytes: settings.fifo.0 as u32,
        update_interval_ps: settings.update_interval.0,
        eta: settings.eta.scaled(1 << 16) as u32,
        beta: settings.beta << 8,
        rate_step_bps: settings.rate_step.0,
        token_tick_ps: settings.token_tick.ps(),
        when_full: match settings.when_fifo_full {
            scenario::WhenFifoFull::Drop => WhenFifoFull::Drop,
            scenario::WhenFifoFull::Bypass => WhenFifoFull::Bypass,
        },
    };
    let probability = settings.association_probability.scaled(1 << 32);
    let association = FlowAssociationConfig {
        entries: settings.table_entries as usize,
        probability: u32::try_from(probability).unwrap_or(u32::MAX),
        timeout_ps: settings.association_timeout.0,
        when_full: match settings.when_table_full {
            scenario::WhenTableFull::Ignore => WhenFull::Ignore,
            scenario::WhenTableFull::EvictOldest => WhenFull::EvictOldest,
        },
    };
    (pacer, association)
}

fn sender(scenario: &Scenario) -> SenderConfig {
    let tcp = &scenario.transport;
    let mss = (tcp.mtu.0 - tcp.header.0) as u32;
    let bytes = |segments: u32| u64::from(segments) * u64::from(mss);
    let one = u64::from(ONE);
    SenderConfig {
        window: Window::new(
            bytes(tcp.initial_window),
            mss,
            bytes(tcp.min_window),
            bytes(tcp.max_window),
            tcp.byte_counting,
        ),
        controller: match tcp.congestion_control {
            CongestionControl::NewReno => Controller::NewReno(NewReno::default()),
            CongestionControl::Dctcp => Controller::Dctcp(DctcpControl::new(&DctcpConfig {
                g: tcp.dctcp.g.scaled(one) as u32,
                initial_alpha: tcp.dctcp.initial_alpha.scaled(one) as u32,
            })),
        },
        rto: RtoEstimator::new(tcp.initial_rto.0, tcp.min_rto.0, tcp.max_rto.0),
        receive_window: bytes(tcp.receive_window),
        idle_restart: tcp.idle_restart,
        cwnd_validation: tcp.cwnd_validation,
        ecn: tcp.ecn,
    }
}

fn receiver(scenario: &Scenario) -> ReceiverConfig {
    let tcp = &scenario.transport;
    ReceiverConfig {
        ack_every: tcp.ack_every,
        delayed_ack_ps: tcp.delayed_ack.0,
        echo: match tcp.congestion_control {
            CongestionControl::Dctcp => EchoKind::Dctcp,
            CongestionControl::NewReno => EchoKind::Classic,
        },
    }
}

/// The workload, the flows that it needs and its size classes.
fn traffic(
    scenario: &Scenario,
    hosts: usize,
    seed: u64,
) -> (Traffic, Vec<Path>, Vec<crate::units::Size>) {
    let client = CLIENT as u16;
    if let Some(requests) = &scenario.workload.requests {
        let plan = RequestPlan::new(requests, scenario.switch.rate, hosts - 1, seed);
        let mut paths = Vec::new();
        for connection in 0..plan.connections() {
            let server = 1 + plan.server_of(connection) as u16;
            let there = 2 * connection as u32;
            paths.push(Path {
                src: client,
                dst: server,
                reverse: Some(there + 1),
            });
            paths.push(Path {
                src: server,
                dst: client,
                reverse: Some(there),
            });
        }
        let classes = requests.classes.iter().map(|class| class.size).collect();
        return (Traffic::Requests(plan), paths, classes);
    }
    let (flows, size, start_interval_ps) = match &scenario.workload.bulk {
        Some(bulk) => (bulk.flows as usize, bulk.size, bulk.start_interval.0),
        None => (0, None, 0),
    };
    let path = |flow| Path {
        src: 1 + (flow % (hosts - 1)) as u16,
        dst: client,
        reverse: None,
    };
    let plan = BulkPlan {
        size: size.map(|size| size.0),
        start_interval_ps,
        flows,
        completed: 0,
    };
    (
        Traffic::Bulk(plan),
        (0..flows).map(path).collect(),
        size.into_iter().collect(),
    )
}
