//! Mean and percentiles of a set of durations, as the documents' tables give them.

use serde::Serialize;

/// Distribution in microseconds. A percentile is the smallest value with at least that share of the
/// samples at or below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// Arithmetic mean, us.
    pub mean_us: f64,
    /// Median, us.
    pub p50_us: f64,
    /// 90th percentile, us.
    pub p90_us: f64,
    /// 99th percentile, us.
    pub p99_us: f64,
    /// 99.9th percentile, us.
    pub p999_us: f64,
    /// Largest sample, us.
    pub max_us: f64,
}

impl Distribution {
    /// Distribution of durations in ps; `None` if there are none. Sorts its argument.
    pub fn of(samples_ps: &mut [i64]) -> Option<Self> {
        if samples_ps.is_empty() {
            return None;
        }
        samples_ps.sort_unstable();
        let n = samples_ps.len();
        let sum: i128 = samples_ps.iter().map(|&sample| i128::from(sample)).sum();
        let at = |per_mille: usize| {
            let rank = (n * per_mille).div_ceil(1000).max(1);
            samples_ps[rank - 1] as f64 * 1e-6
        };
        Some(Distribution {
            mean_us: sum as f64 / n as f64 * 1e-6,
            p50_us: at(500),
            p90_us: at(900),
            p99_us: at(990),
            p999_us: at(999),
            max_us: at(1000),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Distribution;

    #[test]
    fn takes_the_nearest_rank() {
        let mut samples: Vec<i64> = (1..=100).rev().map(|us| us * 1_000_000).collect();
        let d = Distribution::of(&mut samples).expect("not empty");
        assert_eq!(
            (d.mean_us, d.p50_us, d.p90_us, d.p99_us),
            (50.5, 50.0, 90.0, 99.0)
        );
        assert_eq!((d.p999_us, d.max_us), (100.0, 100.0));
        assert_eq!(Distribution::of(&mut []), None);
    }
}
