//! ECMP against the uniform distribution: at each switch and at two switches jointly, for hashes
//! that are consecutive, random, or different in their upper bits only.

use hull_sim::random::{Purpose, Stream};
use hull_sim::topology::Routes;

use super::graph;

/// Pearson's chi-square of counts with equal expectations.
fn chi_square(counts: &[f64]) -> f64 {
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts
        .iter()
        .map(|count| (count - mean).powi(2) / mean)
        .sum()
}

/// Fails unless chi-square is below its 99.99% quantile (Wilson and Hilferty).
fn assert_uniform(counts: &[f64], what: &str) {
    let k = counts.len() as f64 - 1.0;
    let spread = 2.0 / (9.0 * k);
    let limit = k * (1.0 - spread + 3.719 * spread.sqrt()).powi(3);
    let found = chi_square(counts);
    assert!(
        found < limit,
        "{what}: {found} of at most {limit}, {counts:?}"
    );
    assert!(found > 1e-3, "{what}: {found} is too even for a hash");
}

const FLOWS: u64 = 200_000;

fn hashes(kind: usize) -> Vec<u64> {
    let mut random = Stream::new(5, Purpose::Connections, 0);
    (0..FLOWS)
        .map(|flow| match kind {
            0 => flow,
            1 => flow << 40,
            _ => u64::from(random.bits()) << 32 | u64::from(random.bits()),
        })
        .collect()
}

/// In a fat tree of k = 8 a flow between pods chooses among 4 aggregation switches, then among 4
/// cores: 16 combinations, equally likely.
#[test]
fn choices_are_uniform_and_independent() {
    let network = graph("[topology.fat_tree]\nk = 8\n");
    let routes = Routes::new(&network);
    let first_core_link = network.links() - 8 * 16;
    for (kind, name) in ["consecutive", "upper bits", "random"].iter().enumerate() {
        let mut counts = vec![0.0; 16];
        let mut elsewhere = vec![0.0; 16];
        let mut path = Vec::new();
        for hash in hashes(kind) {
            path.clear();
            assert!(routes.path(0, 127, hash, &mut path));
            assert!(path[2] as usize / 2 >= first_core_link);
            // Pod 0 comes first: its core links are the first 16 of that kind.
            counts[path[2] as usize / 2 - first_core_link] += 1.0;
            let agg_here = (path[1] as usize / 2 - 128) % 4;
            path.clear();
            assert!(routes.path(127, 0, hash, &mut path));
            let agg_there = (path[1] as usize / 2 - 128) % 4;
            elsewhere[4 * agg_here + agg_there] += 1.0;
        }
        assert_uniform(&counts, &format!("{name}, two tiers"));
        assert_uniform(&elsewhere, &format!("{name}, two ToRs"));
    }
}

#[test]
fn non_power_of_two_choices_are_uniform() {
    let network = graph("[topology.leaf_spine]\nleaves = 2\nspines = 7\nhosts_per_leaf = 1\n");
    let routes = Routes::new(&network);
    for kind in 0..3 {
        let mut counts = vec![0.0; 7];
        let mut path = Vec::new();
        for hash in hashes(kind) {
            path.clear();
            assert!(routes.path(0, 1, hash, &mut path));
            counts[path[1] as usize / 2 - 2] += 1.0;
        }
        assert_uniform(&counts, "seven spines");
    }
}

#[test]
fn same_hash_same_path() {
    let network = graph("[topology.fat_tree]\nk = 4\n");
    let (one, other) = (Routes::new(&network), Routes::new(&network));
    let mut seen = std::collections::BTreeSet::new();
    for hash in 0..1000 {
        let (mut here, mut there) = (Vec::new(), Vec::new());
        assert!(one.path(3, 12, hash, &mut here) && other.path(3, 12, hash, &mut there));
        assert_eq!(here, there);
        seen.insert(here);
    }
    assert_eq!(seen.len(), 4, "all of the four paths are used");
}
