//! The measurements of a run: ports, flows and pacers, the probe, and readings at the end of the
//! warm-up and of the measured time. Readings in between are in `samplers`, packets of captured ports
//! in `captured`.

mod captured;
pub mod intervals;
mod live;
pub mod look;
mod pauses;
pub mod records;
mod samplers;

use std::path::Path;

use crate::engine::Kind;
use crate::measure::{
    Capture, CaptureConfig, CapturedPort, Distribution, Fairness, Logs, PacerLog, PauseEventLog,
    QueueLog, SeriesLog,
};
use crate::network::{NO_OPTIONS, Network, Packet, Port, flags};
use crate::problem::Problem;
use crate::scenario::{self, Probe, Scenario};
use crate::simulation::clock::Clock;
use crate::simulation::endpoints::{Endpoints, Tally};
use crate::simulation::fabric::Fabric;
use crate::simulation::flow_table::FlowTable;
use crate::simulation::measured::Measured;
use crate::topology::{self, Graph, Observed, Routes};
use indexmap::IndexMap;
use intervals::Intervals;
use look::Look;
use records::Records;

/// Flow that had data to deliver at the end of the warm-up.
#[derive(Clone, Copy, Debug)]
pub struct LongFlow {
    slot: u32,
    number: u64,
    delivered_bytes: u64,
}

/// Instruments of a run.
#[derive(Debug)]
pub struct Instruments {
    /// Host that requests data, and the port that data to it crosses, whose latency is the
    /// switch's.
    pub client: usize,
    pub client_port: usize,
    /// Ports whose queues are recorded, by number.
    pub ports: Vec<usize>,
    /// Whether every change of these queues is recorded.
    pub queue_changes: bool,
    pub probe: Option<Probe>,
    /// Host that sends the probes, their routes to the client and back, and the number of probes
    /// sent.
    pub prober: usize,
    pub probe_routes: (u32, u32),
    pub probes: u32,
    pub intervals: Intervals,
    /// Latest arrival of a packet whose first bytes arrived before the end of the warm-up, ps.
    pub edge_ps: u64,
    /// Counters at the end of the warm-up.
    pub at_warmup: Measured,
    /// Followed flows in progress at the end of the warm-up.
    pub long_flows: Vec<LongFlow>,
    pub logs: Logs,
    pub records: Records,
    /// Display of a live run.
    pub live: Option<Box<Look>>,
}

impl Instruments {
    /// Creates the instruments of a scenario and installs them at the ports. Without a folder
    /// nothing is captured and tables stay in memory. Fails if the scenario names an unknown port.
    pub fn new(
        scenario: &Scenario,
        graph: &Graph,
        routes: &Routes,
        network: &mut Network,
        records: Records,
        folder: Option<&Path>,
    ) -> Result<Self, Problem> {
        let measure = &scenario.measure;
        let Observed {
            client,
            port: client_port,
            prober,
        } = topology::observed(&scenario.topology, graph);
        let mut ports = topology::ports_named(graph, "measure.ports", &measure.ports)?;
        let listed = !ports.is_empty() || measure.queue_changes;
        if ports.is_empty() {
            ports.push(client_port);
        }
        for &port in &ports {
            let rate_bps = graph.wire(port).rate_bps;
            network.ports[port].watch(rate_bps, measure.queue_changes);
        }
        if !ports.contains(&client_port) {
            let rate_bps = graph.wire(client_port).rate_bps;
            network.ports[client_port].watch(rate_bps, false);
        }
        // A probe goes to the client's first NIC, and its reply back.
        let to_nic = graph.nics_of(client).start;
        let from_nic = nearest(graph, routes, prober, to_nic);
        let mut probe_route = |from: usize, to: usize, to_host: usize| {
            let mut path = Vec::new();
            routes.path(from, to, 0, &mut path);
            network.add_route(&path, to_host)
        };
        let probe_routes = (
            probe_route(from_nic, to_nic, client),
            probe_route(to_nic, from_nic, prober),
        );
        let path = |file: &str| folder.map(|folder| folder.join(file));
        let names = || ports.iter().map(|&port| graph.port_name(port)).collect();
        let has_pauses = measure.pauses && scenario.switch.pfc.is_some();
        if has_pauses {
            network.record_pauses();
        }
        let node_names = || {
            (0..graph.nodes.len())
                .map(|node| graph.name(node))
                .collect()
        };
        let has_pacers = measure.pacers.is_some() && scenario.pacer.is_some();
        let capture = match (&measure.capture, folder) {
            (Some(settings), Some(folder)) => {
                let capture = Capture::new(capture(scenario, settings, graph, folder)?);
                capture
                    .ports()
                    .for_each(|port| network.ports[port].capture());
                Some(capture)
            }
            _ => None,
        };
        Ok(Instruments {
            client,
            client_port,
            queue_changes: measure.queue_changes,
            probe: measure.probe.clone(),
            prober,
            probe_routes,
            probes: 0,
            intervals: Intervals::of(scenario),
            edge_ps: 0,
            at_warmup: Measured::default(),
            long_flows: Vec::new(),
            logs: Logs {
                queues: listed.then(|| QueueLog::new(names(), path("queues.parquet"))),
                series: (measure.flows.as_ref())
                    .map(|_| SeriesLog::new(Vec::new(), path("series.parquet"))),
                pacers: has_pacers.then(|| PacerLog::new(Vec::new(), path("pacers.parquet"))),
                pauses: has_pauses
                    .then(|| PauseEventLog::new(node_names(), path("pause_events.parquet"))),
                capture,
            },
            records,
            ports,
            live: None,
        })
    }
}

/// NIC of a host that is nearest to another one by number of links.
fn nearest(graph: &Graph, routes: &Routes, host: usize, to: usize) -> usize {
    let nics = graph.nics_of(host);
    let first = nics.start;
    let length = |&nic: &usize| {
        let mut path = Vec::new();
        match routes.path(nic, to, 0, &mut path) {
            true => path.len(),
            false => usize::MAX,
        }
    };
    nics.min_by_key(length).unwrap_or(first)
}

/// Opens the captures of a scenario.
fn capture(
    scenario: &Scenario,
    settings: &scenario::Capture,
    graph: &Graph,
    folder: &Path,
) -> Result<CaptureConfig, Problem> {
    let tcp = &scenario.transport;
    let numbers = topology::ports_named(graph, "measure.capture.ports", &settings.ports)?;
    // Devices behind a link count with its delay; a host's stack is before its link.
    let behind_ps = |number: usize| {
        let far_end = graph.nodes[graph.port_far_end(number)].kind;
        match far_end {
            topology::Kind::Host => scenario.host.stack_delay.0,
            topology::Kind::Switch => scenario.switch.latency.0,
        }
    };
    let port = |number: usize| CapturedPort {
        number,
        name: graph.port_name(number),
        rate_bps: graph.wire(number).rate_bps,
        delay_ps: graph.wire(number).delay_ps + behind_ps(number),
    };
    Ok(CaptureConfig {
        path: folder.join(&settings.file),
        ports: numbers.into_iter().map(port).collect(),
        start_ps: settings.start.0,
        stop_ps: settings.stop.map_or(u64::MAX, |stop| stop.0),
        max_packets: settings.max_packets.unwrap_or(u64::MAX),
        snap_bytes: settings.snap_length.map_or(0, |size| size.0 as usize),
        receive_window: u64::from(tcp.receive_window) * (tcp.mtu.0 - tcp.header.0),
        ecn: tcp.ecn,
    })
}

impl Instruments {
    /// Creates the next probe to the client (paper 5.2). Returns its sender and its packet.
    pub fn next_probe(&mut self, clock: &mut Clock) -> Option<(usize, Packet)> {
        let probe = self.probe.as_ref()?;
        let next_ps = clock.now_ps + probe.interval.0;
        if next_ps < clock.end_ps {
            clock.schedule(next_ps, Kind::Probe, 0);
        }
        let (number, (there, _)) = (self.probes, self.probe_routes);
        self.probes += 1;
        let size = probe.size.0 as u16;
        Some((self.prober, probe_packet(number, there, size, flags::PROBE)))
    }

    /// Records the latency of a probe at a switch: its wait at the client's port.
    pub fn time_probe(
        &mut self,
        clock: &Clock,
        port: usize,
        packet: &Packet,
        waited_ps: u64,
        taken: bool,
    ) {
        let timed = port == self.client_port
            && packet.flags & flags::REPLY == 0
            && clock.is_measured(clock.now_ps);
        match (timed, taken) {
            (true, true) => self.records.latency.probe(clock.now_ps, waited_ps),
            (true, false) => self.records.latency.probe_lost(),
            _ => {}
        }
    }

    /// Creates the client's reply to a ping, with the same number of bytes.
    pub fn reply(&self, ping: &Packet) -> Option<Packet> {
        let (_, back) = self.probe_routes;
        let reply = flags::PROBE | flags::REPLY;
        (ping.flags & flags::REPLY == 0)
            .then(|| probe_packet(ping.seq, back, ping.wire_bytes, reply))
    }

    /// Reads the counters at the end of the warm-up.
    pub fn end_warmup(&mut self, now_ps: u64, fabric: &mut Fabric, endpoints: &Endpoints) {
        let network = &mut fabric.network;
        for port in &mut network.ports {
            port.advance(now_ps, &mut network.options);
            if let Some(watch) = port.watched() {
                watch.restart(now_ps);
            }
        }
        self.begin_queues(now_ps, network);
        if now_ps > 0 {
            // Without a warm-up, packets that leave at time 0 count.
            self.at_warmup = counters(now_ps, network, &endpoints.tally);
            let hosts = 0..endpoints.hosts.rates_bps.len();
            let longest_ps = hosts.map(|host| fabric.reception_ps(host, u16::MAX)).max();
            self.edge_ps = now_ps + longest_ps.unwrap_or(0);
        }
        let table = &endpoints.table;
        let under_way = table.followed().filter(|&slot| table.has_data(slot));
        let long = under_way.map(|slot| LongFlow {
            slot,
            number: table.flows[slot as usize].number,
            delivered_bytes: table.ends(slot).arrived_bytes(),
        });
        self.long_flows = long.collect();
    }

    /// Payload that flows with these numbers have delivered in order since the end of the warm-up
    /// (or, before it, since time 0), bytes. Only followed flows count.
    pub fn delivered(&self, table: &FlowTable, numbers: &std::ops::Range<u64>) -> u64 {
        let followed = table.followed().filter_map(|slot| {
            let number = table.flows[slot as usize].number;
            let early = self.long_flows.iter().find(|flow| flow.number == number);
            let early_bytes = early.map_or(0, |flow| flow.delivered_bytes);
            let bytes = table.ends(slot).arrived_bytes();
            (numbers.contains(&number)).then(|| bytes.saturating_sub(early_bytes))
        });
        followed.sum()
    }

    /// Reads the instruments at the end of the measured time.
    pub fn measure(
        &mut self,
        now_ps: u64,
        fabric: &mut Fabric,
        endpoints: &mut Endpoints,
    ) -> Measured {
        let network = &mut fabric.network;
        for port in &mut network.ports {
            port.advance(now_ps, &mut network.options);
        }
        self.end_samples(now_ps, network, &mut endpoints.table);
        let client = network.ports[self.client_port].watched();
        let client = client.map(|watch| Distribution::of_queue(&mut watch.occupancy, now_ps));
        let mut queues = IndexMap::new();
        for &port in &self.ports {
            if let Some(watch) = network.ports[port].watched() {
                let name = fabric.graph.port_name(port);
                let classes = (watch.classes.iter_mut()).map(|class| {
                    let name = format!("{name}:{}", class.name);
                    (name, Distribution::of_queue(&mut class.occupancy, now_ps))
                });
                let classes: Vec<_> = classes.collect();
                queues.insert(name, Distribution::of_queue(&mut watch.occupancy, now_ps));
                queues.extend(classes);
            }
        }
        Measured {
            occupancy: client.unwrap_or_default(),
            queues,
            fairness: self.fairness(&endpoints.table),
            ..counters(now_ps, network, &endpoints.tally)
        }
    }

    /// Fairness among the flows that had data to deliver at both ends of the measured time.
    fn fairness(&self, table: &FlowTable) -> Option<Fairness> {
        let lasted = self.long_flows.iter().filter(|flow| {
            table.has_data(flow.slot) && table.flows[flow.slot as usize].number == flow.number
        });
        let shares: Vec<u64> = lasted
            .map(|flow| table.ends(flow.slot).arrived_bytes() - flow.delivered_bytes)
            .collect();
        Fairness::of(&shares)
    }
}

/// Reads the counters of hosts and ports.
fn counters(now_ps: u64, network: &mut Network, tally: &Tally) -> Measured {
    let (ports, options) = (&mut network.ports, &mut network.options);
    let reading = |port: &mut Port| port.reading(now_ps, options);
    Measured {
        at_ps: now_ps,
        received_bytes: tally.received_bytes.clone(),
        of_transports: tally.of_transports.clone(),
        ports: ports.iter_mut().map(reading).collect(),
        ..Measured::default()
    }
}

/// Creates a ping or a reply with this number.
fn probe_packet(number: u32, hop: u32, wire_bytes: u16, kind: u16) -> Packet {
    Packet {
        seq: number,
        ack: 0,
        flow: 0,
        options: NO_OPTIONS,
        hop,
        wire_bytes,
        flags: kind,
    }
}
