//! The destination's rail chooses the NICs: host n is on rail n modulo the number of NICs, and a flow to it,
//! with its acknowledgments, uses the NIC of that rail at both ends. Flows between hosts of a group of
//! `rail_optimized` then cross one switch, the group's leaf of the rail. A flow whose rail has no path is
//! lost: there is no other NIC for it.

use super::{NicChoice, Sending};
use crate::problem::Problem;
use crate::quote;
use crate::topology::graph::Graph;
use crate::topology::routing::Routes;

impl NicChoice {
    /// NICs of two hosts on the rail of the flow's receiver.
    pub(super) fn on_rail(&self, sending: &Sending) -> (usize, usize) {
        let (from, to) = sending.ends;
        let [from, to] = [from, to].map(|host| self.graph.nics_of(host as usize));
        let rail = sending.receiver as usize % from.len();
        (from.start + rail, to.start + rail)
    }

    /// NICs of two hosts on the rail of the flow's receiver, if there is a path.
    pub(super) fn by_rail(&mut self, routes: &Routes, sending: &Sending) -> Option<(usize, usize)> {
        let (from, to) = self.on_rail(sending);
        self.length(routes, from, to).map(|_| (from, to))
    }
}

/// Checks that all hosts have the same number of NICs, and that there are paths between the NICs of a rail.
pub(super) fn check(graph: &Graph) -> Result<(), Problem> {
    let problem = |told: String| {
        let told = format!("\"rail\" is invalid; expected \"hash\" or \"per_packet\": {told}");
        Err(Problem::new("host.nic_choice", told))
    };
    let name = |host: usize| quote::text(&graph.name(graph.hosts()[host]));
    let rails = graph.nics_of(0).len();
    let islands = graph.islands();
    let island = |nic: usize| islands[graph.port_far_end(graph.nic_port(nic))];
    for host in 1..graph.hosts().len() {
        let nics = graph.nics_of(host);
        if nics.len() != rails {
            return problem(format!(
                "{} has {rails} links, and {} has {}",
                name(0),
                name(host),
                nics.len()
            ));
        }
        let mut both = graph.nics_of(0).zip(nics).enumerate();
        if let Some((rail, _)) = both.find(|&(_, (one, other))| island(one) != island(other)) {
            return problem(format!(
                "link {rail} of {} has no path to link {rail} of {}",
                name(0),
                name(host)
            ));
        }
    }
    Ok(())
}
