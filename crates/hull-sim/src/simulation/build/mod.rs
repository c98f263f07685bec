//! Builds a run from a resolved scenario.

mod hosts;
mod memory;
mod message;
mod pause_kinds;
mod pauses;
mod rings;
mod switches;
mod tcp;

use std::path::Path;
use std::sync::Arc;

use super::Simulation;
use super::clock::Clock;
use super::completion::Completion;
use super::demand::Demand;
use super::endpoints::{Endpoints, Tally};
use super::fabric::Fabric;
use super::flow::template::Template;
use super::flow_table::FlowTable;
use super::instruments::Instruments;
use super::instruments::records::Records;
use super::losses::Losses;
use super::partition::{self, Partition};
use crate::engine::EventQueue;
use crate::memory::Estimate;
use crate::network::{InBand, Network};
use crate::problem::Problem;
use crate::quote;
use crate::scenario::{self, Resolved, Scenario};
use crate::topology::{self, Graph, Notice, Routes};
use crate::transport::{ControlName, External};
use crate::workload::{Agenda, HostNames, Workload};

pub use pause_kinds::{LateMarks, PauseKind, pause_kinds};

/// Builds one run of a checked scenario. With a folder, tables that grow with the run are written
/// to files in it during the run. Fails if a file that the scenario names is invalid.
pub fn build(scenario: &Scenario, seed: u64, folder: Option<&Path>) -> Result<Simulation, Problem> {
    build_with_external(&Resolved::new(scenario.clone())?, None, seed, folder)
}

/// Does the same for a scenario with its network, with the external congestion control that it names.
pub fn build_with_external(
    scenario: &Resolved,
    external: Option<&dyn External>,
    seed: u64,
    folder: Option<&Path>,
) -> Result<Simulation, Problem> {
    divided(scenario, external, seed, folder, partition::LEAST_PACKETS)
}

/// Builds a run that is divided into parts even if the network is too small to gain from it.
pub fn build_in_parts(
    scenario: &Scenario,
    seed: u64,
    folder: Option<&Path>,
) -> Result<Simulation, Problem> {
    divided(&Resolved::new(scenario.clone())?, None, seed, folder, 0)
}

/// Builds a run that is divided if hosts can send this number of packets during a lookahead.
fn divided(
    scenario: &Resolved,
    external: Option<&dyn External>,
    seed: u64,
    folder: Option<&Path>,
    least_packets: u64,
) -> Result<Simulation, Problem> {
    let mut simulation = assemble(scenario, external, seed, folder)?;
    if scenario.run.threads > 1 {
        match partition::plan(scenario, &simulation, least_packets) {
            Ok(plan) => {
                let others = (1..plan.parts).map(|_| assemble(scenario, external, seed, None));
                let others = others.collect::<Result<Vec<Simulation>, Problem>>()?;
                let parts = Partition::new(plan, &mut simulation, others);
                simulation.partition = Some(Box::new(parts));
            }
            Err(reason) => simulation.undivided = Some(reason),
        }
    }
    simulation.begin();
    Ok(simulation)
}

/// Assembles a run that has not begun.
fn assemble(
    scenario: &Resolved,
    external: Option<&dyn External>,
    seed: u64,
    folder: Option<&Path>,
) -> Result<Simulation, Problem> {
    let graph = Arc::clone(scenario.graph());
    switches::check_memory(scenario, &graph)?;
    pauses::check(scenario, &graph)?;
    rings::check(scenario, &graph)?;
    let routes = Routes::new(&graph);
    let mut network = Network::new(switches::ports(scenario, &graph, seed));
    switches::share_memory(scenario, &graph, &mut network);
    if let Some(pfc) = &scenario.switch.pfc {
        network.pause_links(pauses::config(scenario, pfc, &graph));
        if rings::pause(scenario) {
            network.pause_to_hosts(rings::host_ports(&graph), rings::classes(scenario, pfc));
        }
    }
    network.sends_notices = scenario.switch.qcn.is_some();
    let telemetry = scenario.switch.telemetry.unwrap_or_default();
    network.options.record_bytes = telemetry.record.0 as u16;
    network.options.fields = scenario.telemetry_fields();
    let traffic = scenario.traffic(&HostNames::of(&graph), seed)?;
    let records = Records::new(scenario, &traffic, folder);
    let instruments = Instruments::new(scenario, &graph, &routes, &mut network, records, folder)?;
    let templates: Result<Vec<Template>, Problem> = (scenario.all_transports())
        .map(|one| match one.sends_messages() {
            true => message::template(scenario, one, &graph, external),
            false => tcp::template(scenario, one, external),
        })
        .collect();
    let templates = templates?;
    let asks = |one: &Template| Some(one.asks == InBand::Telemetry);
    scenario::check_telemetry_asked(scenario, templates.iter().map(asks))?;
    let limits_queues = templates.iter().any(|one| one.small_queue.is_some());
    let events = EventQueue::new(horizon_ps(scenario, &graph), graph.ports());
    let run = &scenario.run;
    let failed_links = vec![false; graph.links()];
    let header_bytes = scenario.transport.header.0 as u16;
    let notice = Notice::new(&scenario.topology, &graph, |port| {
        network.ports[port].transit_ps(header_bytes)
    });
    let mut hosts = hosts::build(scenario, &graph, seed)?;
    message::hosts(scenario, &graph, &templates, &mut hosts, seed)?;
    let followed = scenario.measure.flows.as_ref();
    let followed = followed.map_or(0, |flows| flows.count);
    Ok(Simulation {
        clock: Clock::new(events, run.warmup.0, run.duration.0, run.drain.0),
        endpoints: Endpoints {
            hosts,
            table: FlowTable::new(templates, routes.longest_path(), seed)
                .with_room(memory::open_flows(&traffic), &mut network)
                .following(followed)
                .pinning(&graph, traffic.has_pins())
                .choosing_nics(topology::NicChoice::new(&graph, scenario.host.nic_choice()))
                .ordering_timers(partition::needs_order_of_timers(scenario, &traffic))
                .reporting_acked(traffic.needs_acked()),
            header_bytes,
            limits_queues,
            mss: (scenario.transport.mtu.0 - scenario.transport.header.0) as u16,
            losses: Losses::new(),
            notice_ps: notice.to_edge_ps,
            tally: Tally::new(graph.hosts().len(), scenario.counted_transports()),
        },
        instruments,
        workload: Demand {
            traffic,
            agenda: Agenda::default(),
            wakes: Vec::new(),
            free_wakes: Vec::new(),
            done: false,
            completion: Completion::default(),
            linger_ps: notice.to_fabric_ps,
        },
        partition: None,
        undivided: None,
        fabric: Fabric {
            changes: topology::changes(&scenario.topology.failures, &graph)?,
            failed_links,
            tiers: graph.tiers_of_switch_ports(),
            graph,
            routes,
            network,
            packet_hops: 0,
        },
    })
}

/// Error for a class of the user that a run was not given.
fn without_class(name: &ControlName) -> Problem {
    let key = "transport.congestion_control".to_owned();
    let name = quote::text(&name.to_string());
    let told = format!("{name} is invalid; expected a class that was handed over");
    (key, told).into()
}

/// Checks what `scenario::expand` cannot: hosts that the traffic names, files that it reads, and
/// whether the available memory suffices. Returns the memory that a run is estimated to need. The
/// error has a key and a description.
pub fn verify(scenario: &Resolved) -> Result<Estimate, Problem> {
    let graph = scenario.graph();
    switches::check_memory(scenario, graph)?;
    pauses::check(scenario, graph)?;
    rings::check(scenario, graph)?;
    let traffic = scenario.traffic(&HostNames::of(graph), scenario.run.seed)?;
    memory::check(scenario, graph, &traffic)
}

/// Longest time from the start of a transmission to its arrival, ps, within which most events fall.
/// Links between data centres are excluded, because they are few and long.
fn horizon_ps(scenario: &Scenario, graph: &Graph) -> u64 {
    let mtu = scenario.transport.mtu.0;
    let two = scenario.topology.two_datacentres.as_ref();
    let between_ps = two.map(|two| two.border_delay.0);
    let wires = graph.wires().into_iter();
    let inside = wires.filter(|wire| between_ps != Some(wire.delay_ps));
    let times = inside.map(|wire| {
        let sending_ps = u128::from(mtu) * 8_000_000_000_000 / u128::from(wire.rate_bps);
        sending_ps as u64 + wire.delay_ps
    });
    times.max().unwrap_or(0) + scenario.host.stack_delay.0
}
