//! Which hosts the ranks of a job take.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, require};
use crate::random::{Purpose, Stream};
use crate::topology::Graph;
use crate::workload::context::Context;

/// Order in which ranks take hosts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "JobPlacement")]
pub enum Placement {
    /// In the order of the list.
    #[default]
    Linear,
    /// All hosts of a rack, then the next rack's; a rack is a host's first switch.
    Racks,
    /// A host of each rack in turn.
    Spread,
    /// The ranks of a server on as many racks, as in a rail-optimized network whose hosts are single accelerators: the
    /// first server takes the first host of each rack, the next one the second, and so on in groups of
    /// as many racks as a server has ranks.
    Rails,
    /// A random order of each seed.
    Random,
}

impl Placement {
    /// Puts hosts into this order; a server has `per_server` ranks.
    pub(super) fn order(
        self,
        mut hosts: Vec<u32>,
        per_server: u32,
        context: &Context,
    ) -> Result<Vec<u32>, Problem> {
        let graph = context.hosts.graph.as_deref();
        match self {
            Placement::Linear => {}
            Placement::Random => {
                let mut stream = Stream::new(context.seed, Purpose::JobPlacement, 0);
                for last in (1..hosts.len()).rev() {
                    hosts.swap(last, stream.below(last + 1));
                }
            }
            Placement::Racks => hosts = racks(&hosts, graph).concat(),
            Placement::Spread => hosts = in_turn(&racks(&hosts, graph)),
            Placement::Rails => {
                let racks = racks(&hosts, graph);
                let key = "workload.job.placement";
                let found = format!(
                    "rails for {} racks and servers of {per_server}",
                    racks.len()
                );
                let expected = "a multiple of workload.job.servers.ranks racks";
                let fits = racks.len().is_multiple_of(per_server as usize);
                require(fits, key, found, expected)?;
                hosts = racks
                    .chunks(per_server as usize)
                    .flat_map(in_turn)
                    .collect();
            }
        }
        Ok(hosts)
    }
}

/// Hosts by their first switch, both in the order of the list.
fn racks(hosts: &[u32], graph: Option<&Graph>) -> Vec<Vec<u32>> {
    let switch = |host: u32| match graph {
        Some(graph) => graph.port_far_end(graph.nic_port(graph.nics_of(host as usize).start)),
        None => 0,
    };
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut racks: Vec<Vec<u32>> = Vec::new();
    for &host in hosts {
        let place = *places.entry(switch(host)).or_insert(racks.len());
        if place == racks.len() {
            racks.push(Vec::new());
        }
        racks[place].push(host);
    }
    racks
}

/// The first of each list, then the second of each, and so on.
fn in_turn(lists: &[Vec<u32>]) -> Vec<u32> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or_default();
    let nth = |number: usize| {
        lists
            .iter()
            .filter_map(move |list| list.get(number).copied())
    };
    (0..longest).flat_map(nth).collect()
}

#[cfg(test)]
mod tests {
    use crate::scenario::expand;
    use crate::workload::HostNames;

    /// Hosts of the ranks on six leaves of two hosts each, in servers of three ranks.
    fn placed(placement: &str) -> Result<Vec<u32>, String> {
        let text = format!(
            "name = \"test\"\nrun.duration = \"1s\"\nhost = {{ queue = \"fifo\", rate = \"1Gbps\", delay = \"1us\" }}\n\
             switch = {{ rate = \"1Gbps\", delay = \"1us\" }}\n\
             topology.leaf_spine = {{ leaves = 6, spines = 2, hosts_per_leaf = 2 }}\n\
             [workload.job]\nplacement = \"{placement}\"\nservers.ranks = 3\n\
             collective = {{ operation = \"send_receive\", size = \"1KB\" }}"
        );
        let cells = expand(&text, "test.toml", &[]).expect("a good scenario");
        let scenario = &cells[0].scenario;
        let traffic = scenario.traffic(&HostNames::of(scenario.graph()), 1);
        let job = traffic.map_err(|problem| problem.to_string())?;
        let job = crate::workload::Workload::job(&job).expect("a job");
        Ok(job.ranks.iter().map(|rank| rank.host).collect())
    }

    #[test]
    fn racks_are_filled_or_taken_in_turn() {
        let in_order = Vec::from_iter(0..12);
        assert_eq!(placed("linear"), Ok(in_order.clone()));
        assert_eq!(placed("racks"), Ok(in_order));
        assert_eq!(
            placed("spread"),
            Ok(vec![0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11])
        );
    }

    #[test]
    fn ranks_of_a_server_are_on_different_rails() {
        assert_eq!(
            placed("rails"),
            Ok(vec![0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11])
        );
    }
}
