//! Networks: from the scenario's `[topology]` to a graph of hosts, switches and links, and the
//! paths through it. One file for each network of the documents; rates in bit/s, delays in ps.

mod dumbbell;
mod failures;
mod fat_tree;
mod file;
mod graph;
mod leaf_spine;
mod link_name;
mod multihop;
mod notice;
mod observed;
mod parts;
mod round_trip;
mod routing;
mod star;
mod tree;

pub use failures::{Change, changes};
pub use graph::{Graph, Kind, Link, Node, TIERS, Wire};
pub use link_name::ports_named;
pub use notice::Notice;
pub use observed::{Observed, observed};
pub use round_trip::longest_round_trip_ps;
pub use routing::Routes;

use crate::scenario::Scenario;
use crate::workload::HostNames;
use parts::Parts;

/// The key that is wrong, and what was found and what is allowed.
pub type Problem = (String, String);

/// Builds the network of a scenario whose keys were checked. Fails where the graph is not sound, its
/// file cannot be read, or a link is named that there is not. A file's path is relative to the
/// working directory.
pub fn build(scenario: &Scenario) -> Result<Graph, Problem> {
    let topology = &scenario.topology;
    let parts = Parts::new(scenario);
    let at = |key: &str| {
        let key = format!("topology.{key}");
        move |problem: String| (key, problem)
    };
    let mut graph = if let Some(network) = &topology.star {
        star::build(network, parts).map_err(at("star"))
    } else if let Some(network) = &topology.dumbbell {
        dumbbell::build(network, parts)
    } else if let Some(network) = &topology.multihop {
        multihop::build(network, parts).map_err(at("multihop"))
    } else if let Some(network) = &topology.leaf_spine {
        leaf_spine::build(network, parts).map_err(at("leaf_spine"))
    } else if let Some(network) = &topology.tree {
        tree::build(network, parts).map_err(at("tree"))
    } else if let Some(network) = &topology.fat_tree {
        fat_tree::build(network, parts).map_err(at("fat_tree"))
    } else if let Some(network) = &topology.file {
        file::build(network, parts).map_err(at("file.path"))
    } else if let Some(network) = &topology.graph {
        file::from_text(&network.text, parts).map_err(at("graph.text"))
    } else {
        Err((
            "topology".to_owned(),
            "found no network; expected one table".to_owned(),
        ))
    }?;
    for (i, settings) in topology.links.iter().enumerate() {
        let ports =
            link_name::ports(&graph, &settings.link).map_err(at(&format!("links[{i}].link")))?;
        for port in ports {
            let wire = graph.wire_mut(port);
            if let Some(rate) = settings.rate {
                wire.rate_bps = rate.0;
            }
            if let Some(delay) = settings.delay {
                wire.delay_ps = delay.0;
            }
        }
    }
    changes(&topology.failures, &graph)?;
    routing::check_size(&graph).map_err(|problem| ("topology".to_owned(), problem))?;
    Ok(graph)
}

/// The hosts as a workload knows them.
pub fn host_names(graph: &Graph) -> HostNames {
    let hosts = 0..graph.hosts().len();
    let name = |&node: &usize| graph.nodes[node].name.clone();
    let rate_bps = |port: usize| graph.wire(port).rate_bps;
    HostNames {
        names: graph.hosts().iter().map(name).collect(),
        to_network_bps: hosts
            .clone()
            .map(|h| rate_bps(graph.host_port(h)))
            .collect(),
        from_network_bps: hosts
            .map(|h| rate_bps(Graph::opposite(graph.host_port(h))))
            .collect(),
    }
}
