//! Percentiles of completion times, queues and slowdowns: the only list of them. The summaries, their
//! lower bounds and the registry of statistics follow from it.
//!
//! Statistics cover completed flows. Had the unfinished ones taken forever, the mean would be
//! infinite, and each percentile would be one of a higher rank. A statistic that would differ is a
//! lower bound.

use hdrhistogram::Histogram;
use serde::Serialize;

use crate::network::Occupancy;

/// Declares a distribution and its lower bounds. An entry is a percentile: its key in `summary.json`,
/// the key of its lower bound, its thousandths and its description. For example:
///
/// ```text
/// p95_us, p95: 950, "95th percentile";
/// ```
macro_rules! percentiles {
    (
        $(#[$doc:meta])* $values:ident, $(#[$of_bounds:meta])* $bounds:ident;
        $mean:ident;
        $($key:ident, $name:ident: $per_mille:literal, $meaning:literal;)+
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
        pub struct $values {
            /// Arithmetic mean.
            pub $mean: f64,
            $(#[doc = concat!("The ", $meaning, ".")] pub $key: f64,)+
        }

        impl $values {
            /// Names of the percentiles, in order, with their descriptions.
            pub const PERCENTILES: &[(&str, &str)] = &[$((stringify!($name), $meaning),)+];

            /// Creates the distribution from the mean and the value at each percentile in thousandths.
            pub fn new(mean: f64, at: impl Fn(usize) -> f64) -> Self {
                $values { $mean: mean, $($key: at($per_mille),)+ }
            }
        }

        $(#[$of_bounds])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
        pub struct $bounds {
            /// Arithmetic mean.
            pub mean: u8,
            $(#[doc = concat!("The ", $meaning, ".")] pub $name: u8,)+
        }

        impl $bounds {
            /// Finds the lower bounds among the statistics of these values; `None` if there are none,
            /// or nothing is unfinished.
            pub fn of(values: &Ranked, unfinished: usize) -> Option<Self> {
                let has_both = unfinished > 0 && values.count() > 0;
                let moves = |per_mille| u8::from(values.moves(per_mille, unfinished));
                has_both.then(|| $bounds { mean: 1, $($name: moves($per_mille),)+ })
            }
        }
    };
}

percentiles! {
    /// Distribution of durations, us. A percentile is the smallest value with at least that share of
    /// the samples at or below it.
    Distribution,
    /// For each statistic of durations, 1 if it is a lower bound, otherwise 0.
    LowerBounds;
    mean_us;
    p50_us, p50: 500, "median";
    p90_us, p90: 900, "90th percentile";
    p99_us, p99: 990, "99th percentile";
    p999_us, p999: 999, "99.9th percentile";
    max_us, max: 1000, "largest value";
}

percentiles! {
    /// Distribution of slowdowns. A percentile is the smallest value with at least that share of values
    /// at or below it.
    Slowdown,
    /// For each statistic of slowdowns, 1 if it is a lower bound, otherwise 0.
    SlowdownBounds;
    mean;
    p50, p50: 500, "median";
    p95, p95: 950, "95th percentile";
    p99, p99: 990, "99th percentile";
    p999, p999: 999, "99.9th percentile";
}

/// Names of the statistics of durations, for which `<statistic>` stands in the registry.
pub fn of_distribution() -> impl Iterator<Item = &'static str> {
    let percentiles = Distribution::PERCENTILES.iter().map(|(name, _)| *name);
    std::iter::once("mean").chain(percentiles)
}

/// Values by rank.
pub enum Ranked<'a> {
    /// All values, ascending.
    Sorted(Vec<i64>),
    /// Values in buckets, and the largest value.
    Histogram(&'a Histogram<u64>, u64),
}

impl Ranked<'_> {
    /// Sorts values.
    pub fn sort(mut values: Vec<i64>) -> Self {
        values.sort_unstable();
        Ranked::Sorted(values)
    }

    /// Number of values.
    fn count(&self) -> usize {
        match self {
            Ranked::Sorted(values) => values.len(),
            Ranked::Histogram(values, _) => values.len() as usize,
        }
    }

    /// Smallest value with at least this share of the values at or below it, of a bucket its upper end.
    /// `rank` is the same as a number of values, from 1. There must be a value.
    fn at_share(&self, share: f64, rank: usize) -> i64 {
        match self {
            Ranked::Sorted(values) => values[rank - 1],
            Ranked::Histogram(values, largest) => {
                values.value_at_quantile(share).min(*largest) as i64
            }
        }
    }

    /// Value at a percentile in thousandths. There must be a value.
    pub fn at(&self, per_mille: usize) -> i64 {
        self.at_share(per_mille as f64 / 1000.0, rank(self.count(), per_mille))
    }

    /// Whether this many infinite values would change the percentile.
    fn moves(&self, per_mille: usize, infinite: usize) -> bool {
        let count = self.count();
        let later = rank(count + infinite, per_mille);
        later > count || self.at_share(later as f64 / count as f64, later) != self.at(per_mille)
    }
}

/// Rank, from 1, of a percentile among `count` values.
fn rank(count: usize, per_mille: usize) -> usize {
    (count * per_mille).div_ceil(1000).max(1)
}

impl Distribution {
    /// Distribution of durations in ps; `None` if there are none.
    pub fn of(durations_ps: &[i64]) -> Option<Self> {
        let sum: i128 = durations_ps.iter().map(|&ps| i128::from(ps)).sum();
        let mean_us = sum as f64 / durations_ps.len() as f64 * 1e-6;
        let ranked = Ranked::sort(durations_ps.to_vec());
        let at_us = |per_mille| ranked.at(per_mille) as f64 * 1e-6;
        (!durations_ps.is_empty()).then(|| Distribution::new(mean_us, at_us))
    }

    /// Distribution of the latency that a queue added up to `now_ps`.
    pub fn of_queue(queue: &mut Occupancy, now_ps: u64) -> Self {
        let (mean_us, at_us) = queue.latencies_us(now_ps);
        Distribution::new(mean_us, |per_mille| at_us(per_mille as f64 / 1000.0))
    }
}

#[cfg(test)]
mod tests {
    use super::{Distribution, LowerBounds, Ranked};

    #[test]
    fn takes_the_nearest_rank() {
        let samples: Vec<i64> = (1..=100).rev().map(|us| us * 1_000_000).collect();
        let d = Distribution::of(&samples).expect("not empty");
        assert_eq!(
            (d.mean_us, d.p50_us, d.p90_us, d.p99_us),
            (50.5, 50.0, 90.0, 99.0)
        );
        assert_eq!((d.p999_us, d.max_us), (100.0, 100.0));
        assert_eq!(Distribution::of(&[]), None);
    }

    /// Against the percentiles of the values and as many very large ones.
    #[test]
    fn percentile_is_a_bound_if_infinite_values_move_it() {
        let infinite = 1_000_000_000_000_000_000;
        for (count, unfinished, step) in [
            (1, 1, 1),
            (10, 1, 4),
            (999, 1, 1),
            (1000, 1, 500),
            (1000, 1, 1),
            (2000, 3, 700),
            (50_000, 10, 10_000),
        ] {
            let finished = Vec::from_iter((0..count).map(|i| 1_000_000 * (i / step)));
            let mut all = finished.clone();
            all.extend(std::iter::repeat_n(infinite, unfinished));
            let with = Distribution::of(&all).expect("values");
            let without = Distribution::of(&finished).expect("values");
            let found = LowerBounds::of(&Ranked::sort(finished), unfinished).expect("both");
            for (found, without, with) in [
                (found.p50, without.p50_us, with.p50_us),
                (found.p90, without.p90_us, with.p90_us),
                (found.p99, without.p99_us, with.p99_us),
                (found.p999, without.p999_us, with.p999_us),
            ] {
                assert_eq!(
                    found,
                    u8::from(with > without),
                    "{count} {unfinished} {step}"
                );
            }
            assert_eq!((found.mean, found.max), (1, 1));
        }
        assert_eq!(LowerBounds::of(&Ranked::sort(vec![1]), 0), None);
        assert_eq!(LowerBounds::of(&Ranked::sort(Vec::new()), 1), None);
    }
}
