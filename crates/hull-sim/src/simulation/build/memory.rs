//! Whether a run fits into the machine's memory: what grows with the network, with persistent
//! connections and with flows that are open at the same time is known before the run. Sizes in bytes.

use crate::network::Port;
use crate::simulation::flows::Flow;
use crate::topology::{Graph, Problem, Routes};
use crate::transport::{Receiver, Sender};
use crate::workload::{Traffic, Workload};

/// Packets that a port's ring holds room for, as a rule of thumb, bytes.
const RING: u64 = 512;

/// What the run will need at least.
fn needed(graph: &Graph, routes: &Routes, flows: u64) -> u64 {
    let ports = graph.ports() as u64 * (size_of::<Port>() as u64 + RING);
    let route = 2 * (routes.longest_path() as u64 + 1) * size_of::<u32>() as u64;
    let flow = size_of::<Flow>() + size_of::<Sender>() + size_of::<Receiver>();
    ports.saturating_add(flows.saturating_mul(flow as u64 + route))
}

/// What the machine has left, where it tells.
fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find(|line| line.starts_with("MemAvailable:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// Refuses a run that needs more memory than there is.
pub(super) fn check(graph: &Graph, routes: &Routes, traffic: &Traffic) -> Result<(), Problem> {
    // A persistent connection has a flow in each direction.
    let connections = traffic.connections().len();
    let flows = traffic.open_at_once();
    let needed = needed(graph, routes, flows.saturating_add(2 * connections as u64));
    compare(needed, available(), graph.hosts().len(), connections, flows)
}

fn compare(
    needed: u64,
    available: Option<u64>,
    hosts: usize,
    connections: usize,
    flows: u64,
) -> Result<(), Problem> {
    match available {
        Some(available) if needed > available => Err((
            "workload".to_owned(),
            format!(
                "found {hosts} hosts with {connections} persistent connections and {flows} flows \
                 at a time, which need about {} GB of memory; allowed are the {} GB that this machine has left",
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

    #[test]
    fn says_what_is_needed_and_what_there_is() {
        assert_eq!(compare(10, Some(10), 2, 1, 0), Ok(()));
        assert_eq!(compare(10, None, 2, 1, 0), Ok(()));
        let (key, problem) = compare(40_000_000_000, Some(16_000_000_000), 8192, 67_000_000, 0)
            .expect_err("too much");
        assert_eq!(key, "workload");
        assert!(
            problem.contains("41 GB") && problem.contains("16 GB"),
            "{problem}"
        );
    }
}
