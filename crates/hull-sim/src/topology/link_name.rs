//! Names of links in a scenario: `"a->b"` is the direction from a to b, `"a--b"` both directions, and
//! includes all parallel links. Or a tier and direction, such as `"tor-host"`.

use std::collections::HashMap;

use super::graph::Graph;
use crate::problem::Problem;
use crate::quote;

/// Separators between the ends of a link. No node name contains one of them.
pub(super) const SEPARATORS: [&str; 2] = ["--", "->"];

/// Returns the ports that `text` names. An error states what was found and what is expected.
pub(super) fn ports(graph: &Graph, text: &str) -> Result<Vec<usize>, String> {
    let wrong = |what: String| {
        format!(
            "found {}, {what}; expected two joined nodes as \"a--b\" or \"a->b\"",
            quote::text(text)
        )
    };
    let both = text.split_once(SEPARATORS[0]);
    let (from, to) = both
        .or_else(|| text.split_once(SEPARATORS[1]))
        .ok_or_else(|| wrong("which has no \"--\" or \"->\"".to_owned()))?;
    let node = |name: &str| {
        graph
            .node_named(name.trim())
            .ok_or_else(|| wrong(format!("but no node is named {}", quote::text(name.trim()))))
    };
    let (a, b) = (node(from)?, node(to)?);
    let mut ports: Vec<usize> = graph.ports_between(a, b).collect();
    if ports.is_empty() {
        return Err(wrong("but no link joins them".to_owned()));
    }
    if both.is_some() {
        ports.extend(graph.ports_between(b, a));
    }
    Ok(ports)
}

/// Returns the ports that the texts of `key` name, each by its ends or by its tier, in the order of
/// the texts and without repetition.
pub fn ports_named(graph: &Graph, key: &str, texts: &[String]) -> Result<Vec<usize>, Problem> {
    let mut found = Vec::new();
    let mut is_found = vec![false; graph.ports()];
    for (i, text) in texts.iter().enumerate() {
        let named = if SEPARATORS.iter().any(|separator| text.contains(separator)) {
            ports(graph, text)
        } else {
            of_tier(graph, text.trim())
        };
        for port in named.map_err(|problem| (format!("{key}[{i}]"), problem))? {
            if !std::mem::replace(&mut is_found[port], true) {
                found.push(port);
            }
        }
    }
    Ok(found)
}

/// Returns the ports of a tier.
fn of_tier(graph: &Graph, tier: &str) -> Result<Vec<usize>, String> {
    let (mut ports, mut tiers) = (Vec::new(), Vec::new());
    // Millions of ports have few tiers, so each tier's name is built once.
    let mut is_asked = HashMap::new();
    for port in 0..graph.ports() {
        let is_asked = is_asked.entry(graph.tiers_of(port)).or_insert_with(|| {
            let name = graph.port_tiers(port);
            let is_asked = name == tier;
            tiers.push(name);
            is_asked
        });
        if *is_asked {
            ports.push(port);
        }
    }
    if ports.is_empty() {
        return Err(format!(
            "{} is invalid; expected two joined nodes as \"a->b\" or \"a--b\", or a tier: {}",
            quote::text(tier),
            tiers.join(", ")
        ));
    }
    Ok(ports)
}
