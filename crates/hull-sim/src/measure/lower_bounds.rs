//! Statistics that unfinished flows could change. They are taken from completed flows: had the
//! unfinished ones taken for ever, mean and maximum would be infinite, and each percentile would be
//! one of a higher rank. A statistic that would differ is a lower bound.

use hdrhistogram::Histogram;
use serde::Serialize;

/// For each statistic of a distribution, 1 if it is a lower bound, otherwise 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LowerBounds {
    /// Mean.
    pub mean: u8,
    /// Median.
    pub p50: u8,
    /// 90th percentile.
    pub p90: u8,
    /// 99th percentile.
    pub p99: u8,
    /// 99.9th percentile.
    pub p999: u8,
    /// Largest value.
    pub max: u8,
}

impl LowerBounds {
    /// Percentiles, thousandths.
    pub const PER_MILLE: [usize; 4] = [500, 900, 990, 999];

    /// Creates the bounds from the percentiles' bounds.
    pub fn of(percentiles: [bool; 4]) -> Self {
        let [p50, p90, p99, p999] = percentiles.map(u8::from);
        LowerBounds {
            mean: 1,
            p50,
            p90,
            p99,
            p999,
            max: 1,
        }
    }

    /// Bounds of the statistics of sorted values; `None` if there are none, or nothing is unfinished.
    pub fn of_sorted(sorted: &[i64], unfinished: usize) -> Option<Self> {
        let has_both = unfinished > 0 && !sorted.is_empty();
        has_both.then(|| LowerBounds::of(Self::PER_MILLE.map(|of| moves(sorted, of, unfinished))))
    }

    /// Bounds of the statistics of a histogram's values; `None` if there are none, or nothing is
    /// unfinished.
    pub fn of_histogram(histogram: &Histogram<u64>, unfinished: usize) -> Option<Self> {
        let has_both = unfinished > 0 && !histogram.is_empty();
        let moves = |of| moves_in(histogram, of, unfinished);
        has_both.then(|| LowerBounds::of(Self::PER_MILLE.map(moves)))
    }
}

/// Rank, from 1, of a percentile among `count` values.
fn rank(count: usize, per_mille: usize) -> usize {
    (count * per_mille).div_ceil(1000).max(1)
}

/// Whether this many infinite values change a percentile of sorted values.
pub fn moves(sorted: &[i64], per_mille: usize, unfinished: usize) -> bool {
    let here = sorted.get(rank(sorted.len(), per_mille) - 1);
    here != sorted.get(rank(sorted.len() + unfinished, per_mille) - 1)
}

/// Whether this many infinite values change a percentile of a histogram's values.
pub fn moves_in(histogram: &Histogram<u64>, per_mille: usize, unfinished: usize) -> bool {
    let count = histogram.len() as usize;
    let at = |share: f64| histogram.value_at_quantile(share);
    let later = rank(count + unfinished, per_mille);
    later > count || at(later as f64 / count as f64) != at(per_mille as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::LowerBounds;
    use crate::network::Distribution;

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
            let found = LowerBounds::of_sorted(&finished, unfinished).expect("both");
            let with = Distribution::of(&mut all).expect("values");
            let without = Distribution::of(&mut finished.clone()).expect("values");
            let expected = [
                with.p50_us > without.p50_us,
                with.p90_us > without.p90_us,
                with.p99_us > without.p99_us,
                with.p999_us > without.p999_us,
            ];
            assert_eq!(
                found,
                LowerBounds::of(expected),
                "{count} {unfinished} {step}"
            );
        }
        assert_eq!(LowerBounds::of_sorted(&[1], 0), None);
        assert_eq!(LowerBounds::of_sorted(&[], 1), None);
    }
}
