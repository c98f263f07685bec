//! Failures: which links fail and recover, alone or with a NIC, a switch or a host, and when. Times in ps
//! from the start of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::{Graph, Kind};
use super::link_name::{self, SEPARATORS};
use crate::problem::{Problem, quoted, require};
use crate::quote;
use crate::units::Time;

/// A link, NIC, switch or host that fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The link, as "a--b" with the names of its ends; both directions fail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// The NIC, as "host:number", with its link; a host's NICs are numbered from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nic: Option<String>,
    /// The switch, with all of its links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switch: Option<String>,
    /// The host, with all of its links.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// Time from the start of the run at which it fails.
    pub at: Time,
    /// Time from which it works again; unset: it stays down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Time>,
}

/// Time at which links fail or are restored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// Time from the start of the run, ps.
    pub at_ps: u64,
    /// Links that fail at this time, in ascending order.
    pub failed: Vec<usize>,
    /// Links that are restored at this time, in ascending order.
    pub restored: Vec<usize>,
}

/// Checks the keys.
pub(super) fn check(failures: &[Failure]) -> Result<(), Problem> {
    require(
        failures.len() <= 1000,
        "topology.failures",
        format!("{} failures", failures.len()),
        "at most 1000",
    )?;
    for (i, failure) in failures.iter().enumerate() {
        let what = failure.what();
        let count = what.iter().flatten().count();
        require(
            count == 1,
            &format!("topology.failures[{i}]"),
            format!("a failure of {count} things"),
            "exactly one of link, nic, switch and host",
        )?;
        if let Some(until) = failure.until {
            require(
                until > failure.at,
                &format!("topology.failures[{i}].until"),
                quoted(until),
                &format!("a time after at, \"{}\"", failure.at),
            )?;
        }
    }
    Ok(())
}

/// Returns the times at which the set of failed links changes, in order. A link is down, in both
/// directions, while at least one of its failures lasts. An error names the key.
pub fn changes(failures: &[Failure], graph: &Graph) -> Result<Vec<Change>, Problem> {
    let mut steps = Vec::new();
    for (i, failure) in failures.iter().enumerate() {
        for link in links(graph, i, failure)? {
            steps.push((failure.at.0, link, 1));
            steps.extend(failure.until.map(|until| (until.0, link, -1)));
        }
    }
    steps.sort_unstable();
    let mut depth = vec![0_i64; graph.links()];
    let mut changes = Vec::new();
    for moment in steps.chunk_by(|one, next| one.0 == next.0) {
        let mut change = Change {
            at_ps: moment[0].0,
            ..Change::default()
        };
        for of_link in moment.chunk_by(|one, next| one.1 == next.1) {
            let link = of_link[0].1;
            let before = depth[link];
            depth[link] += of_link.iter().map(|&(_, _, step)| step).sum::<i64>();
            match (before > 0, depth[link] > 0) {
                (false, true) => change.failed.push(link),
                (true, false) => change.restored.push(link),
                _ => {}
            }
        }
        if !change.failed.is_empty() || !change.restored.is_empty() {
            changes.push(change);
        }
    }
    Ok(changes)
}

impl Failure {
    /// What fails: a link, a NIC, a switch or a host.
    fn what(&self) -> [Option<&str>; 4] {
        [&self.link, &self.nic, &self.switch, &self.host].map(Option::as_deref)
    }
}

/// Returns the links that fail with failure number `i`. An error names the key.
fn links(graph: &Graph, i: usize, failure: &Failure) -> Result<Vec<usize>, Problem> {
    let at = |key: &str| {
        let key = format!("topology.failures[{i}].{key}");
        move |problem: String| Problem::new(key, problem)
    };
    let of_node = |node: usize| graph.node_ports(node).iter().map(|port| port / 2).collect();
    let [link, nic, switch, host] = failure.what();
    if let Some(text) = link {
        named_links(graph, text).map_err(at("link"))
    } else if let Some(text) = nic {
        let port = nic_port(graph, text).map_err(at("nic"))?;
        Ok(vec![port / 2])
    } else if let Some(text) = switch {
        node(graph, text, Kind::Switch)
            .map(of_node)
            .map_err(at("switch"))
    } else {
        let text = host.unwrap_or_default();
        node(graph, text, Kind::Host)
            .map(of_node)
            .map_err(at("host"))
    }
}

/// Returns the node of this kind that `text` names.
fn node(graph: &Graph, text: &str, kind: Kind) -> Result<usize, String> {
    let found = graph.node_named(text.trim());
    found
        .filter(|&node| graph.nodes[node].kind == kind)
        .ok_or_else(|| {
            let expected = match kind {
                Kind::Host => "the name of a host",
                Kind::Switch => "the name of a switch",
            };
            format!("{} is invalid; expected {expected}", quote::text(text))
        })
}

/// Returns the port of the NIC that `text` names.
fn nic_port(graph: &Graph, text: &str) -> Result<usize, String> {
    let wrong = |expected: &str| format!("{} is invalid; expected {expected}", quote::text(text));
    let (name, number) = (text.rsplit_once(':'))
        .ok_or_else(|| wrong("a host and the number of its NIC as \"host:number\""))?;
    let host = (graph.host_named(name.trim()))
        .ok_or_else(|| wrong("the name of a host before the number of its NIC"))?;
    let ports = graph.host_ports(host);
    let number: Option<usize> = number.trim().parse().ok();
    let port = number.and_then(|number| ports.get(number));
    port.copied().ok_or_else(|| {
        let last = ports.len() - 1;
        wrong(&format!(
            "a number from 0 to {last} after the host, whose NICs it counts"
        ))
    })
}

/// Returns the links that `text` names. A single direction cannot fail.
fn named_links(graph: &Graph, text: &str) -> Result<Vec<usize>, String> {
    if !text.contains(SEPARATORS[0]) {
        return Err(format!(
            "{} is invalid; expected two joined nodes as \"a--b\"",
            quote::text(text)
        ));
    }
    let mut links: Vec<usize> = link_name::ports(graph, text)?
        .iter()
        .map(|port| port / 2)
        .collect();
    links.sort_unstable();
    links.dedup();
    Ok(links)
}
