//! Builds hosts from their settings.

use hull_core::flow_association::{FlowAssociationConfig, WhenFull};
use hull_core::pacer::{PacerConfig, WhenFifoFull};

use super::rings::ring_limits;
use super::switches::host_port;
use crate::host::{
    DelayLine, HostSide, Nic, PacerStage, ReceiveConfig, ReceivePath, SendConfig, SendProcessor,
    SeveralNics,
};
use crate::problem::Problem;
use crate::random::{Purpose, Stream};
use crate::scenario::{
    self, AssociationDraw, AssociationEnd, Clocks, PacerPlace, PacerSettings, Scenario,
};
use crate::service_time::ServiceTime;
use crate::topology::{Graph, NicRule};

/// Builds the parts of all hosts.
pub(super) fn build(scenario: &Scenario, graph: &Graph, seed: u64) -> Result<HostSide, Problem> {
    let hosts = graph.hosts().len();
    let settings = &scenario.host;
    let ports: Vec<u32> = (0..graph.nics())
        .map(|nic| graph.nic_port(nic) as u32)
        .collect();
    let several = graph.has_several_nics().then(|| {
        let of_hosts = (0..hosts).map(|host| graph.nics_of(host));
        SeveralNics::new(of_hosts, &ports, graph.links())
            .sharing_messages(settings.nic_choice() == NicRule::PerPacket)
    });
    let mut side = HostSide {
        ports,
        several_nics: several.map(Box::new),
        rates_bps: (0..hosts).map(|host| graph.fastest_bps(host).0).collect(),
        offload_bytes: settings.offload.map_or(0, |size| size.0 as u16),
        ..HostSide::default()
    };
    if let Some(pacer) = &scenario.pacer {
        side.paces_pieces = pacer.place == PacerPlace::BeforeSegmentation;
        side.packets_tell = pacer.association_draw == AssociationDraw::Packet;
        let settings = pacer.settings(&scenario::paced_path(scenario, graph));
        for nic in 0..graph.nics() {
            let rate_bps = graph.wire(graph.nic_port(nic)).rate_bps;
            let config = config(pacer, &settings, rate_bps);
            let association = association(pacer, &settings);
            let stage = stage(scenario, pacer, (&config, &association), graph, nic, seed);
            side.pacers.push(match pacer.place {
                PacerPlace::AfterSegmentation => stage,
                PacerPlace::BeforeSegmentation => stage.before_segmentation(),
            });
        }
    }
    if let Some(jitter) = &settings.stack_jitter {
        let delay = ServiceTime::new("host.stack_jitter", jitter)?;
        for line in 0..2 * hosts {
            let random = Stream::new(seed, Purpose::StackJitter, line);
            side.stacks.push(DelayLine::new(delay.clone(), random));
        }
    }
    if let Some(costs) = &settings.transmit {
        let config = SendConfig {
            packet_ps: costs.packet_cost.0,
            frame_ps: costs.frame_cost.0,
        };
        side.senders = (0..hosts).map(|_| SendProcessor::new(config)).collect();
    }
    side.has_stages = !(side.senders.is_empty() && side.stacks.is_empty());
    if let Some(receive) = &settings.receive {
        let config = |host: usize| ReceiveConfig {
            frames: receive.frames,
            ring: receive.ring.map_or(usize::MAX, |packets| packets as usize),
            limits: ring_limits(scenario, graph, host),
            wait_ps: receive.wait.0,
            adaptive: receive.adaptive,
            join_bytes: receive.join.0 as u32,
            header_bytes: scenario.transport.header.0 as u32,
            interrupt_ps: receive.interrupt_cost.0,
            packet_ps: receive.packet_cost.0,
            frame_ps: receive.frame_cost.0,
            unmasked: receive.unmasked,
        };
        side.receivers = (0..hosts)
            .map(|host| ReceivePath::new(config(host)))
            .collect();
    }
    Ok(side)
}

/// Builds queue and pacer of one NIC.
fn stage(
    scenario: &Scenario,
    settings: &scenario::Pacer,
    (pacer, association): (&PacerConfig, &FlowAssociationConfig),
    graph: &Graph,
    number: usize,
    seed: u64,
) -> PacerStage {
    let port = graph.nic_port(number);
    let nic = Nic::new(&host_port(scenario, graph, port));
    let random = Stream::new(seed, Purpose::Association, number);
    // Many times the period of ticks and updates, so that all phases are about equally likely.
    let phases = 1000 * pacer.update_interval_ps.max(pacer.token_tick_ps) as usize;
    let clock_ahead_ps = match settings.clocks {
        Clocks::Free => Stream::new(seed, Purpose::ClockPhase, number).below(phases) as u64,
        Clocks::Synchronized => 0,
    };
    PacerStage::new(
        nic,
        pacer,
        association,
        random,
        settings.overtaking,
        clock_ahead_ps,
        settings.buckets as usize,
    )
    .with_packets_restarting(settings.association_end == AssociationEnd::Packet)
}

fn config(pacer: &scenario::Pacer, settings: &PacerSettings, rate_bps: u64) -> PacerConfig {
    PacerConfig {
        max_rate_bps: rate_bps,
        min_rate_bps: pacer.rate_step.0,
        initial_rate_bps: pacer.rate_step.0,
        bucket_bytes: settings.bucket.0 as u32,
        fifo_bytes: settings.fifo.0 as u32,
        update_interval_ps: settings.update_interval.0,
        eta: pacer.eta.scaled(1 << 16) as u32,
        beta: settings.beta << 8,
        rate_step_bps: pacer.rate_step.0,
        token_tick_ps: pacer.token_tick.ps(),
        when_full: match pacer.when_fifo_full {
            scenario::WhenFifoFull::Drop => WhenFifoFull::Drop,
            scenario::WhenFifoFull::Bypass => WhenFifoFull::Bypass,
        },
    }
}

fn association(pacer: &scenario::Pacer, settings: &PacerSettings) -> FlowAssociationConfig {
    let probability = pacer.association_probability.scaled(1 << 32);
    FlowAssociationConfig {
        entries: pacer.table_entries as usize,
        probability: u32::try_from(probability).unwrap_or(u32::MAX),
        timeout_ps: settings.association_timeout.0,
        when_full: match pacer.when_table_full {
            scenario::WhenTableFull::Ignore => WhenFull::Ignore,
            scenario::WhenTableFull::EvictOldest => WhenFull::EvictOldest,
        },
    }
}
