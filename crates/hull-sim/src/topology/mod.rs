//! Networks: from the scenario's `[topology]` to a graph of hosts, switches and links, and the paths
//! through it. One file per network of the documents; rates in bit/s, delays in ps.

mod dependencies;
mod dual_tor;
mod dumbbell;
mod failures;
mod fat_tree;
mod file;
mod graph;
mod leaf_spine;
mod link_counts;
mod link_name;
mod links_by_tier;
mod multihop;
mod names;
mod nic_choice;
mod nics;
mod notice;
mod observed;
mod parts;
mod passing;
mod planes;
mod pod_routes;
mod pods;
mod rail_optimized;
mod rails;
mod route_table;
mod routing;
mod settings;
mod star;
mod tree;
mod two_datacentres;

pub use dual_tor::DualTor;
pub use failures::{Change, Failure, changes};
pub use file::{graph_endings, meant_attribute};
pub use graph::{Graph, Kind, Node, TIERS, Wire};
pub use link_counts::LinkCounts;
pub use link_name::ports_named;
pub use links_by_tier::{LinkKind, TierLinks};
pub use nic_choice::{NicChoice, NicRule, Sending};
pub use notice::Notice;
pub use observed::{Observed, observed};
pub use passing::{Passing, hash_that};
pub use rail_optimized::RailOptimized;
pub use routing::Routes;
pub(crate) use settings::check;
pub use settings::{
    Dumbbell, FatTree, GraphFile, GraphText, LeafSpine, LinkSettings, Multihop, Star, Topology,
    Tree,
};
pub use two_datacentres::TwoDatacentres;

use parts::Parts;

use crate::problem::Problem;

/// Builds the network of a checked topology, with the given wires out of hosts and switches. Fails
/// if the graph is invalid, its file cannot be read, or a named link does not exist. A file's path
/// is relative to the working directory.
pub fn build(
    topology: &Topology,
    out_of_host: Wire,
    out_of_switch: Wire,
) -> Result<Graph, Problem> {
    let parts = Parts::new(out_of_host, out_of_switch);
    let at = |key: &str| {
        let key = format!("topology.{key}");
        move |problem: String| Problem::new(key, problem)
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
    } else if let Some(network) = &topology.two_datacentres {
        two_datacentres::build(network, parts)
    } else if let Some(network) = &topology.rail_optimized {
        rail_optimized::build(network, parts).map_err(at("rail_optimized"))
    } else if let Some(network) = &topology.dual_tor {
        dual_tor::build(network, parts).map_err(at("dual_tor"))
    } else if let Some(network) = &topology.file {
        file::build(network, parts).map_err(at("file.path"))
    } else if let Some(network) = &topology.graph {
        file::from_text(&network.text, parts).map_err(at("graph.text"))
    } else {
        Err(Problem::new(
            "topology".to_owned(),
            "found no network; expected one table".to_owned(),
        ))
    }?;
    for (i, settings) in topology.links.iter().enumerate() {
        let ports =
            link_name::ports(&graph, &settings.link).map_err(at(&format!("links[{i}].link")))?;
        for port in ports {
            let before = graph.wire(port);
            let rate_bps = settings.rate.map_or(before.rate_bps, |rate| rate.0);
            let delay_ps = settings.delay.map_or(before.delay_ps, |delay| delay.0);
            if settings.rate.is_some() || settings.delay.is_some() {
                graph.set_wire(port, Wire { rate_bps, delay_ps });
            }
            if let Some(share) = settings.loss {
                graph.set_loss(port, share);
            }
        }
    }
    let changes = changes(&topology.failures, &graph)?;
    routing::check(&graph, &changes)?;
    Ok(graph)
}
