//! `hull._core.Resolved`: a resolved scenario with its network for Python, and its reading from a file.
//! Conversion only.

use std::collections::BTreeSet;
use std::sync::Arc;

use hull_sim::scenario::{self, ExternalControls};
use hull_sim::simulation;
use hull_sim::topology::{Graph, Kind, Routes};
use hull_sim::units::Time;
use hull_sim::workload::{HostNames, Workload as _};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::{ScenarioError, json};

/// A resolved scenario with its network, which its runs share.
#[pyclass(frozen)]
#[derive(Clone)]
pub struct Resolved(pub(crate) Arc<scenario::Resolved>);

#[pymethods]
impl Resolved {
    /// `scenario` is the JSON of a resolved scenario, as `expand` returns it. What it names and `last`
    /// has read, such as a flow list, is not read again. Raises ScenarioError.
    #[new]
    #[pyo3(signature = (scenario, last=None))]
    fn new(scenario: &str, last: Option<&Resolved>) -> PyResult<Self> {
        let scenario =
            serde_json::from_str(scenario).map_err(|e| ScenarioError::new_err(e.to_string()))?;
        let last = last.map(|last| &*last.0);
        let resolved = scenario::Resolved::after(last, scenario)
            .map_err(|problem| ScenarioError::new_err(problem.to_string()))?;
        Ok(Resolved(Arc::new(resolved)))
    }

    /// Longest unloaded round trip between two hosts, s.
    fn round_trip(&self) -> f64 {
        Time(scenario::longest_round_trip_ps(&self.0, self.0.graph())).seconds()
    }

    /// Of a flow list of HPCC's with flows behind those that it announces: the announced number, the line of
    /// the last one, and the number of flows behind it.
    fn flows_beyond(&self) -> PyResult<Option<(u64, u64, u64)>> {
        let traffic = (self
            .0
            .traffic(&HostNames::of(self.0.graph()), self.0.run.seed))
        .map_err(|problem| ScenarioError::new_err(problem.to_string()))?;
        let beyond = traffic.listed().and_then(|listed| listed.beyond);
        Ok(beyond.map(|beyond| (beyond.announced, beyond.line, beyond.flows)))
    }

    /// Ports of switches of which each, if its far end pauses it, waits for the next one, and the last for
    /// the first, over the shortest paths between all hosts; none if there is no such cycle.
    fn pause_cycle(&self) -> Option<Vec<String>> {
        let graph = self.0.graph();
        let ports = Routes::new(graph).cycle(graph)?;
        Some(
            ports
                .into_iter()
                .map(|port| graph.port_name(port))
                .collect(),
        )
    }

    /// The kinds of ports of switches that ask for pauses, as a JSON list: `tiers` of the peer and the
    /// switch, number of `ports`, `rate_bps`, `xoff_bytes` and `xon_bytes` of a port and class alone in its
    /// switch, `headroom_bytes`, `computed_bytes` for the times in `terms`, and `late_marks`, a `port` of these
    /// switches whose marks begin at `threshold_bytes`, above XOFF.
    fn pauses(&self) -> PyResult<String> {
        json(&simulation::pause_kinds(&self.0))
    }

    /// Hosts and links, as JSON. `hosts`, in the order of their numbers, have `name`, `switch` (the first
    /// one if they have several links) and the total rates of their links, `out_bps` and `in_bps`;
    /// `uplinks` has, for each switch with hosts, the total rates of its links to other switches, `out_bps`
    /// and `in_bps`; `rates_bps` are the distinct rates of links out of switches; `switches` is their
    /// number, and `nics` the number of links of hosts; `tiers` are the links by tier, with their rates and
    /// delays.
    fn network(&self) -> PyResult<String> {
        let graph = self.0.graph();
        let rates = |port: usize| {
            let back = Graph::opposite(port);
            (graph.wire(port).rate_bps, graph.wire(back).rate_bps)
        };
        let mut hosts = Vec::new();
        let mut uplinks = serde_json::Map::new();
        for (host, &node) in graph.hosts().iter().enumerate() {
            let (out_bps, in_bps) = graph.host_bps(host);
            hosts.push(serde_json::json!({
                "name": graph.name(node),
                "switch": graph.name(graph.port_far_end(graph.host_port(host))),
                "out_bps": out_bps,
                "in_bps": in_bps,
            }));
            for &port in graph.host_ports(host) {
                let switch = graph.port_far_end(port);
                let name = graph.name(switch);
                if uplinks.contains_key(&name) {
                    continue;
                }
                let of_switch = graph.node_ports(switch).iter();
                let (mut out_bps, mut in_bps) = (0, 0);
                for &port in of_switch.filter(|&&port| graph.is_between_switches(port)) {
                    let (there, back) = rates(port);
                    out_bps += there;
                    in_bps += back;
                }
                let rates = serde_json::json!({ "out_bps": out_bps, "in_bps": in_bps });
                uplinks.insert(name, rates);
            }
        }
        let of_switches = (0..graph.ports())
            .filter(|&port| graph.nodes[graph.port_owner(port)].kind == Kind::Switch);
        let rates_bps: BTreeSet<u64> = of_switches.map(|port| graph.wire(port).rate_bps).collect();
        json(&serde_json::json!({
            "switches": graph.nodes.len() - hosts.len(),
            "nics": graph.nics(),
            "hosts": hosts,
            "uplinks": uplinks,
            "rates_bps": rates_bps,
            "tiers": graph.links_by_tier(),
        }))
    }
}

/// Reads a scenario. Returns its cells as a JSON list of condition, scheme, scenario, derived (unset
/// keys whose values depend on the network or other keys), memory (estimate of the bytes that a run
/// needs, with its largest parts first) and toml, and the resolved scenario of each.
///
/// `file` names the text in messages, `overrides` are "key=value", and `own` are external
/// congestion controls: name and SHA-256 of the source. Raises ScenarioError with a line per
/// mistake, which includes its place in the text if `lines` is set. `labels` are the options that
/// overrides come from, if not `--set`.
#[pyfunction]
#[pyo3(signature = (text, file, overrides, own=Vec::new(), lines=true, labels=Vec::new()))]
pub fn expand(
    text: &str,
    file: &str,
    overrides: Vec<String>,
    own: Vec<(String, String)>,
    lines: bool,
    labels: Vec<String>,
) -> PyResult<(String, Vec<Resolved>)> {
    let own = ExternalControls::from_iter(own);
    let cells = scenario::expand_verified(text, file, &overrides, &own, &simulation::verify);
    let cells = cells.map_err(|error| {
        let error = error.with_labels(labels);
        let error = if lines { error } else { error.without_lines() };
        ScenarioError::new_err(error.to_string())
    })?;
    let (mut list, mut resolved) = (Vec::new(), Vec::new());
    for cell in cells {
        let toml = cell.scenario.to_toml().map_err(PyRuntimeError::new_err)?;
        list.push(serde_json::json!({
            "condition": cell.condition,
            "scheme": cell.scheme,
            "scenario": *cell.scenario,
            "derived": cell.derived,
            "memory": cell.memory,
            "toml": toml,
        }));
        resolved.push(Resolved(Arc::new(cell.scenario)));
    }
    Ok((json(&list)?, resolved))
}
