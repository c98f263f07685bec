//! Link failures: which links fail and recover, and when. Times in ps from the start of the run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::link_name::{self, SEPARATORS};
use crate::problem::{Problem, quoted, require};
use crate::quote;
use crate::units::Time;

/// A link that fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFailure {
    /// The link, as "a--b" with the names of its ends; both directions fail.
    pub link: String,
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
pub(super) fn check(failures: &[LinkFailure]) -> Result<(), Problem> {
    require(
        failures.len() <= 1000,
        "topology.failures",
        format!("{} failures", failures.len()),
        "at most 1000",
    )?;
    for (i, failure) in failures.iter().enumerate() {
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
pub fn changes(failures: &[LinkFailure], graph: &Graph) -> Result<Vec<Change>, Problem> {
    let mut steps = Vec::new();
    for (i, failure) in failures.iter().enumerate() {
        let links = links(graph, &failure.link)
            .map_err(|problem| (format!("topology.failures[{i}].link"), problem))?;
        for link in links {
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

/// Returns the links that `text` names. A single direction cannot fail.
fn links(graph: &Graph, text: &str) -> Result<Vec<usize>, String> {
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
