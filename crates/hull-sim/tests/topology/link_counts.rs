//! The number of links between hosts against the lengths of the routed paths.

use hull_sim::topology::{LinkCounts, Routes};

#[test]
fn counts_are_the_lengths_of_paths() {
    for network in [
        "[topology.star]\nhosts = 3\n",
        "[topology.dumbbell]\npairs = 2\n",
        "[topology.multihop]\ns1 = 1\ns2 = 2\ns3 = 1\nr2 = 1\n",
        "[topology.leaf_spine]\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n",
        "[topology.fat_tree]\nk = 4\n",
        "[topology.two_datacentres]\nk = 2\nborder_links = 1\nborder_delay = \"1us\"\n",
        "[topology.rail_optimized]\ngroups = 2\nhosts_per_group = 2\nrails = 2\nspines = 1\n",
        "[topology.dual_tor]\nracks = 2\nhosts_per_rack = 2\nspines = 1\n",
    ] {
        let graph = super::graph(network);
        let (counts, routes) = (LinkCounts::of(&graph), Routes::new(&graph));
        let hosts = graph.hosts().len();
        for (from, to) in (0..hosts).flat_map(|from| (0..hosts).map(move |to| (from, to))) {
            if from == to {
                continue;
            }
            let nics = graph
                .nics_of(from)
                .flat_map(|one| graph.nics_of(to).map(move |other| (one, other)));
            let lengths = nics.filter_map(|(one, other)| {
                let mut path = Vec::new();
                routes.path(one, other, 7, &mut path).then_some(path.len())
            });
            let counted = counts.between(from as u32, to as u32);
            assert_eq!(
                Some(usize::from(counted)),
                lengths.min(),
                "{network}{from} {to}"
            );
        }
    }
}
