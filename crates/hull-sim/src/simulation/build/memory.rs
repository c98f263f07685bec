//! Whether a run fits into memory. The parts that the scenario sizes are known before the run: the
//! network with the queues of its ports, pacers, connections, concurrent flows and messages, and
//! samples. Sizes in bytes.

use super::switches;
use crate::engine::{DUE_BYTES, FAR_BYTES};
use crate::host::{DelayLine, MessageNic, PacerStage, Puller, ReceivePath, SendProcessor};
use crate::limits;
use crate::measure::{FlowLog, LatencyLog, LinkCount};
use crate::memory::{Estimate, Need, available, grown};
use crate::network::{Network, Packet, Port, Queues, Reading};
use crate::problem::Problem;
use crate::scenario::{HostQueue, Scenario, Transport};
use crate::simulation::flow::Flow;
use crate::simulation::flow::connection::Connection;
use crate::simulation::flow::messages::Pending;
use crate::simulation::flow::messages::Unacked;
use crate::simulation::flow::spraying::Spraying;
use crate::simulation::partition;
use crate::topology::{Graph, Kind, Routes, ports_named};
use crate::transport::{Receiver, Sender};
use crate::workload::{Backlog, Message, Traffic, Workload};

/// Memory of the names of a link's ends and tier in the results, bytes.
const NAMES: u64 = 96;

/// A run that is being estimated.
struct Run<'a> {
    scenario: &'a Scenario,
    graph: &'a Graph,
    routes: &'a Routes,
    traffic: &'a Traffic,
    /// Number of parts, each of which has all ports and hosts.
    parts: u64,
}

impl Run<'_> {
    fn hosts(&self) -> u64 {
        self.graph.hosts().len() as u64
    }

    fn nics(&self) -> u64 {
        self.graph.nics() as u64
    }

    /// A port of a host and, if there is one, of a switch.
    fn sample_ports(&self) -> impl Iterator<Item = (Kind, Port)> {
        let owner = |port: usize| self.graph.nodes[self.graph.port_owner(port)].kind;
        [Kind::Host, Kind::Switch]
            .into_iter()
            .filter_map(move |kind| {
                let number = (0..self.graph.ports()).find(|&port| owner(port) == kind)?;
                Some((kind, switches::port(self.scenario, self.graph, number, 0)))
            })
    }

    /// The network without queues, its hosts, and the results for each link.
    fn topology(&self) -> Need {
        let (graph, hosts) = (self.graph, self.hosts());
        let ports = graph.ports() as u64;
        let nics = self.nics();
        let of_extras = self.sample_ports().map(|(kind, port)| match kind {
            Kind::Host => nics * port.extra_bytes(),
            Kind::Switch => (ports - nics) * port.extra_bytes(),
        });
        let of_host = size_of::<u32>() + 2 * size_of::<u64>() + self.of_host();
        let of_parts = ports * size_of::<Port>() as u64
            + of_extras.sum::<u64>()
            + nics * of_host as u64
            + graph.heap_bytes()
            + self.routes.heap_bytes();
        let of_result = (2 * size_of::<Reading>() + size_of::<LinkCount>()) as u64 + NAMES;
        Need::new(
            "topology",
            format!("{hosts} hosts and {} links", graph.links()),
            of_parts.saturating_mul(self.parts) + ports * of_result,
        )
    }

    /// Parts of a host that some scenarios have, without queues and pacer, bytes.
    fn of_host(&self) -> usize {
        let host = &self.scenario.host;
        let with = |has: bool, bytes: usize| if has { bytes } else { 0 };
        let has_messages = self.message_transports().next().is_some();
        with(host.stack_jitter.is_some(), 2 * size_of::<DelayLine>())
            + with(host.transmit.is_some(), size_of::<SendProcessor>())
            + with(host.receive.is_some(), size_of::<ReceivePath>())
            + with(has_messages, size_of::<MessageNic>() + size_of::<Puller>())
    }

    fn message_transports(&self) -> impl Iterator<Item = &Transport> {
        (self.scenario.all_transports()).filter(|one| one.sends_messages())
    }

    /// The queues of the ports of hosts and of switches.
    fn queues(&self) -> impl Iterator<Item = Need> {
        let (nics, switch) = (self.nics(), &self.scenario.switch);
        self.sample_ports().map(move |(kind, port)| {
            let (key, queues, ports) = match kind {
                Kind::Host => (
                    "host.nic_queues",
                    self.scenario.host.nic_queues as usize,
                    nics,
                ),
                Kind::Switch => {
                    let key = match (&switch.fq_codel, &switch.dwrr, &switch.dualpi2) {
                        (Some(_), _, _) => "switch.fq_codel.flows",
                        (_, Some(_), _) => "switch.dwrr.weights",
                        (_, _, Some(_)) => "switch.dualpi2",
                        (None, None, None) => "switch.priorities",
                    };
                    (key, switch.classes(), self.graph.ports() as u64 - nics)
                }
            };
            let bytes = port.queues_bytes().saturating_mul(ports);
            Need::new(
                key,
                format!("{queues} queues at each of {ports} ports"),
                bytes.saturating_mul(self.parts),
            )
        })
    }

    /// The pacers of the hosts.
    fn pacers(&self) -> Option<Need> {
        let buckets = self.scenario.pacer.as_ref()?.buckets as usize;
        let hosts = self.hosts();
        let bytes = PacerStage::bytes(buckets).saturating_mul(self.nics());
        Some(Need::new(
            "pacer.buckets",
            format!("{buckets} token buckets at each of {hosts} hosts"),
            bytes.saturating_mul(self.parts),
        ))
    }

    fn open_flows(&self) -> u64 {
        open_flows(self.traffic)
    }

    /// Routes of a flow, bytes.
    fn of_routes(&self) -> u64 {
        2 * (self.routes.longest_path() as u64 + 1) * size_of::<u32>() as u64
    }

    /// Paths of a stream that has several, bytes.
    fn of_sprayed_paths(&self) -> u64 {
        let sprays = self.scenario.all_transports().filter_map(|one| one.spray);
        let each = sprays
            .map(|spray| Spraying::bytes(&spray) + u64::from(spray.paths) * self.of_routes() / 2);
        each.max().unwrap_or(0)
    }

    /// Open flows with their packets, and waiting messages.
    fn workload(&self) -> Need {
        let traffic = self.traffic;
        let of_stream = match self.scenario.sends_messages_only() {
            true => 0,
            false => size_of::<Sender>() + size_of::<Receiver>(),
        };
        let of_flow = (size_of::<Flow>() + of_stream) as u64
            + (Flow::LEAST_UNACKED * size_of::<Unacked>()) as u64
            + self.of_routes()
            + self.of_sprayed_paths()
            + match self.scenario.host.queue() {
                HostQueue::Fifo => 0,
                HostQueue::Fair | HostQueue::Fq | HostQueue::FqCodel => Queues::FLOW_BYTES,
            };
        let connections = traffic.connections().len() as u64;
        let hosts = self.hosts();
        let Backlog {
            flows,
            bytes,
            messages,
            largest: _,
        } = traffic.backlog();
        let packets = packets(self.scenario, flows.min(hosts), bytes);
        // Flows that open together are first messages, and have a packet and a timer each; the timers
        // are due together.
        let of_opening =
            (size_of::<Message>() + size_of::<Packet>()) as u64 + FAR_BYTES + DUE_BYTES;
        let of_traffic = (self.open_flows().saturating_mul(of_flow))
            .saturating_add(grown(flows).saturating_mul(of_opening))
            .saturating_add(Network::HELD_BYTES.saturating_mul(packets))
            .saturating_add(messages.saturating_mul(size_of::<Pending>() as u64))
            .saturating_add(traffic.heap_bytes());
        Need::new(
            format!("workload.{}", traffic.heaviest()),
            format!(
                "{hosts} hosts with {connections} persistent connections, {messages} waiting messages \
                 and {flows} flows at a time"
            ),
            of_traffic,
        )
    }

    /// The message transport's connections: the largest need of all message transports; `None`
    /// without one. A route takes memory from the first packet on it.
    fn message_connections(&self) -> Option<Need> {
        let flows = self.open_flows();
        let needs = self.message_transports().map(|transport| {
            let settings = &transport.message;
            let (paths, balancing) = (settings.paths, settings.load_balancing);
            let payload = (transport.mtu.0 - transport.header.0).max(1);
            let packets = self.traffic.backlog().largest / payload + 1;
            let routes = u64::from(balancing.paths_of(paths, settings.subflows)).min(packets);
            let of_each = Connection::bytes(paths, balancing) + routes * self.of_routes();
            Need::new(
                "transport.message.paths",
                format!("{flows} connections with {paths} paths"),
                of_each.saturating_mul(flows),
            )
        });
        needs.max_by_key(|need| need.bytes)
    }

    /// Samples and probes.
    fn samples(&self) -> Need {
        let (run, measure) = (&self.scenario.run, &self.scenario.measure);
        let duration_ps = run.duration.0;
        let probe = measure.probe.as_ref();
        let probes = probe.map_or(0, |probe| duration_ps / probe.interval.0);
        let samples = (duration_ps / measure.sample_interval.0).saturating_add(probes);
        Need::new(
            "measure.sample_interval",
            format!(
                "{samples} samples of a queue, one every {} for {},",
                measure.sample_interval, run.duration
            ),
            // The list, and the columns into which it is written.
            (grown(samples).saturating_add(samples)).saturating_mul(LatencyLog::ROW),
        )
    }

    /// Statistics of completion times by size class, transport and group.
    fn statistics(&self) -> Need {
        let classes = self.traffic.classes().len();
        let transports = self.scenario.transport_names().len();
        let groups = self.traffic.groups().len();
        Need::new(
            "groups",
            format!("statistics of {classes} size classes in {groups} groups"),
            (1 + transports + groups) as u64 * FlowLog::bytes(classes),
        )
    }
}

/// Number of flows that are certainly open at once: short-lived flows, and one in each direction of a
/// persistent connection.
pub(super) fn open_flows(traffic: &Traffic) -> u64 {
    let connections = traffic.connections().len() as u64;
    traffic.backlog().flows.saturating_add(2 * connections)
}

/// Estimates the memory of a run.
fn estimate(run: &Run<'_>) -> Estimate {
    let mut needs = vec![
        run.topology(),
        run.workload(),
        run.samples(),
        run.statistics(),
    ];
    needs.extend(run.queues());
    needs.extend(run.pacers());
    needs.extend(run.message_connections());
    Estimate::new(needs)
}

/// Number of packets in flight or in their hosts of `flows` flows from different hosts that send
/// `bytes` in total. Windows grow until a loss or mark, of which there is none if each flow has its
/// own path. A window that doubles has sent everything when half of it is acknowledged.
fn packets(scenario: &Scenario, flows: u64, bytes: u64) -> u64 {
    let transport = &scenario.transport;
    let window = transport.max_window.min(transport.receive_window);
    let payload = transport.mtu.0 - transport.header.0;
    (bytes / (2 * payload.max(1))).min(flows.saturating_mul(u64::from(window)))
}

/// Estimates the memory of a run. Rejects one that needs more than is available, that opens too many
/// flows at once, or that writes a table with too many rows.
pub(super) fn check(
    scenario: &Scenario,
    graph: &Graph,
    traffic: &Traffic,
) -> Result<Estimate, Problem> {
    check_rows(scenario, graph, traffic)?;
    let run = Run {
        scenario,
        graph,
        routes: &Routes::new(graph),
        traffic,
        parts: partition::most_parts(scenario, traffic),
    };
    let estimate = estimate(&run);
    estimate.check(available()?.as_ref())?;
    check_flows(&run)?;
    Ok(estimate)
}

/// Rejects more concurrent flows than event numbers can represent.
fn check_flows(run: &Run<'_>) -> Result<(), Problem> {
    let open = run.open_flows();
    if open <= limits::FLOWS as u64 {
        return Ok(());
    }
    Err(Problem::new(
        format!("workload.{}", run.traffic.heaviest()),
        format!(
            "{open} flows at a time is invalid; expected at most {}",
            limits::FLOWS
        ),
    ))
}

/// Rejects tables of samples with too many rows.
fn check_rows(scenario: &Scenario, graph: &Graph, traffic: &Traffic) -> Result<(), Problem> {
    let (run, measure) = (&scenario.run, &scenario.measure);
    let whole_ps = run.warmup.0.saturating_add(run.duration.0);
    let ports = ports_named(graph, "measure.ports", &measure.ports)?.len();
    let flows = measure.flows.as_ref();
    // The certain number of flows, not the limit of those that may be followed.
    let open = open_flows(traffic);
    let followed = flows.map_or(0, |flows| flows.count.min(open.max(1)));
    let pacers = measure.pacers.as_ref().filter(|_| scenario.pacer.is_some());
    let tables = [
        (
            "measure.sample_interval",
            run.duration.0,
            Some(measure.sample_interval),
            ports,
        ),
        (
            "measure.flows.interval",
            whole_ps,
            flows.map(|f| f.interval),
            followed as usize,
        ),
        (
            "measure.pacers.interval",
            whole_ps,
            pacers.map(|p| p.interval),
            graph.nics(),
        ),
    ];
    for (key, span_ps, interval, things) in tables {
        let Some(interval) = interval else { continue };
        let rows = (span_ps / interval.0).saturating_mul(things as u64);
        if rows > limits::ROWS {
            let most = limits::ROWS;
            return Err(Problem::new(
                key.to_owned(),
                format!(
                    "\"{interval}\" makes {rows} rows, which is invalid; expected at most {most}"
                ),
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::network::Network;

    /// 24 bytes, 4 for the route, a share of the chunk; the largest runs mostly hold these.
    #[test]
    fn size_of_a_waiting_packet() {
        assert_eq!(Network::HELD_BYTES, 29);
    }
}
