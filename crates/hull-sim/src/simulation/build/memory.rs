//! Whether a run fits into the machine's memory: the parts that grow with the network, persistent
//! connections, concurrent flows and messages, and samples are known before the run. Sizes in bytes.

use crate::limits;
use crate::measure::{LatencyLog, LinkCount};
use crate::network::{Network, Port, Reading};
use crate::problem::Problem;
use crate::scenario::Scenario;
use crate::simulation::flows::{Flow, Pending};
use crate::topology::{Graph, Routes, ports_named};
use crate::transport::{Receiver, Sender};
use crate::workload::{Backlog, Traffic, Workload};

/// Estimated size of the names of a link's ends and tier in the results, bytes.
const NAMES: u64 = 96;

/// Memory requirement: key that causes it, description, bytes.
type Need = (String, String, u64);

/// Lower bounds of the memory that the run needs.
fn needs(scenario: &Scenario, graph: &Graph, routes: &Routes, traffic: &Traffic) -> Vec<Need> {
    let route = 2 * (routes.longest_path() as u64 + 1) * size_of::<u32>() as u64;
    let flow = (size_of::<Flow>() + size_of::<Sender>() + size_of::<Receiver>()) as u64 + route;
    let hosts = graph.hosts().len();
    // A persistent connection has a flow in each direction.
    let connections = traffic.connections().len() as u64;
    let Backlog {
        flows,
        bytes,
        messages,
    } = traffic.backlog();
    let all_flows = flows.saturating_add(2 * connections);
    let of_packets =
        Network::HELD_BYTES.saturating_mul(packets(scenario, flows.min(hosts as u64), bytes));
    let of_traffic = all_flows.saturating_mul(flow).saturating_add(of_packets);
    // Each part of the run has all ports; the results have one set.
    let of_port = u64::from(scenario.run.threads) * size_of::<Port>() as u64;
    let of_result = (size_of::<Reading>() + size_of::<LinkCount>()) as u64 + NAMES;
    let measure = &scenario.measure;
    let probes =
        (measure.probe.as_ref()).map_or(0, |probe| scenario.run.duration.0 / probe.interval.0);
    let samples = (scenario.run.duration.0 / measure.sample_interval.0).saturating_add(probes);
    vec![
        (
            "topology".to_owned(),
            format!("{hosts} hosts and {} links", graph.links()),
            graph.ports() as u64 * (of_port + of_result),
        ),
        (
            format!("workload.{}", traffic.heaviest()),
            format!(
                "{hosts} hosts with {connections} persistent connections, {messages} waiting messages and \
                 {flows} flows at a time"
            ),
            of_traffic.saturating_add(messages.saturating_mul(size_of::<Pending>() as u64)),
        ),
        (
            "measure.sample_interval".to_owned(),
            format!("{samples} samples of a queue in {}", scenario.run.duration),
            samples.saturating_mul(LatencyLog::ROW),
        ),
    ]
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

/// Available memory of the machine, bytes, if known.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Rejects a run that needs more memory than is available, or that writes a table with too many
/// rows.
pub(super) fn check(
    scenario: &Scenario,
    graph: &Graph,
    routes: &Routes,
    traffic: &Traffic,
) -> Result<(), Problem> {
    check_rows(scenario, graph, traffic)?;
    compare(needs(scenario, graph, routes, traffic), available())?;
    check_flows(traffic)
}

/// Rejects more concurrent flows than event numbers can represent.
fn check_flows(traffic: &Traffic) -> Result<(), Problem> {
    let connections = traffic.connections().len() as u64;
    let open = traffic.backlog().flows.saturating_add(2 * connections);
    if open <= limits::FLOWS as u64 {
        return Ok(());
    }
    Err(Problem::new(
        format!("workload.{}", traffic.heaviest()),
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
    let hosts = graph.hosts().len();
    let flows = measure.flows.as_ref();
    // The certain number of flows, not the limit of those that may be followed.
    let connections = traffic.connections().len() as u64;
    let open = traffic.backlog().flows.saturating_add(2 * connections);
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
            hosts,
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

fn compare(needs: Vec<Need>, available: Option<u64>) -> Result<(), Problem> {
    let bytes = needs.iter().map(|need| need.2);
    let needed = bytes.fold(0, u64::saturating_add);
    let largest = needs.into_iter().max_by_key(|need| need.2);
    match (available, largest) {
        (Some(available), Some((key, what, _))) if needed > available => Err(Problem::new(
            key,
            format!(
                "{what} need about {} GB of memory; expected at most the {} GB that this machine has left",
                needed / 1_000_000_000 + 1,
                available / 1_000_000_000
            ),
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::compare;
    use crate::network::Network;

    /// 24 bytes, 4 for the route, a share of the chunk; the largest runs mostly hold these.
    #[test]
    fn size_of_a_waiting_packet() {
        assert_eq!(Network::HELD_BYTES, 29);
    }

    #[test]
    fn error_states_needed_and_available_memory() {
        let need = |bytes| {
            vec![
                ("workload.bulk".to_owned(), "2 hosts".to_owned(), bytes),
                ("topology".to_owned(), String::new(), 1),
            ]
        };
        assert_eq!(compare(need(9), Some(10)), Ok(()));
        assert_eq!(compare(need(10), None), Ok(()));
        let (key, problem): (String, String) = compare(need(40_000_000_000), Some(16_000_000_000))
            .expect_err("too much")
            .into();
        assert_eq!(key, "workload.bulk");
        assert!(
            problem.contains("41 GB") && problem.contains("16 GB"),
            "{problem}"
        );
    }
}
