//! Latencies in HDR histograms with three significant digits from 1 ns up. Memory depends on the range of
//! the values and not on their number, and histograms of several clients can be added.

use std::io;
use std::path::Path;

use hdrhistogram::Histogram;
use hull_sim::measure::{
    ClassSummary, Column, Distribution, LowerBounds, Ranked, Values, write_table,
};

/// Columns of `histograms.parquet`.
pub const HISTOGRAM_COLUMNS: [Column; 3] = [
    Column::new("class", "", "size class, as \"10MB\""),
    Column::new(
        "up_to_ps",
        "ps",
        "largest latency that falls into this bucket",
    ),
    Column::new("count", "", "latencies in this bucket"),
];

/// Latencies of one kind of request.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ps: u128,
    max_ps: u64,
    bytes: u64,
}

impl Default for Latencies {
    fn default() -> Self {
        let histogram = match Histogram::new(3) {
            Ok(histogram) => histogram,
            Err(_) => unreachable!("3 significant digits are allowed"),
        };
        Latencies {
            histogram,
            sum_ps: 0,
            max_ps: 0,
            bytes: 0,
        }
    }
}

impl Latencies {
    /// Adds a request of `bytes` that took `ps`.
    pub fn add(&mut self, ps: u64, bytes: u64) {
        // Cannot fail: the histogram resizes itself.
        let _ = self.histogram.record(ps / 1000);
        self.sum_ps += u128::from(ps);
        self.max_ps = self.max_ps.max(ps);
        self.bytes += bytes;
    }

    /// Number of latencies.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Mean, percentiles within 0.1%, and largest; `None` without latencies.
    pub fn distribution(&self) -> Option<Distribution> {
        // A bucket reports its upper bound, which may exceed the largest value.
        let max_us = self.max_ps as f64 * 1e-6;
        let ranked = self.ranked();
        let at_us = |per_mille| match per_mille {
            1000 => max_us,
            _ => (ranked.at(per_mille) as f64 * 1e-3).min(max_us),
        };
        let mean_us = self.sum_ps as f64 / self.count() as f64 * 1e-6;
        (self.count() > 0).then(|| Distribution::new(mean_us, at_us))
    }

    fn ranked(&self) -> Ranked<'_> {
        Ranked::Histogram(&self.histogram, u64::MAX)
    }

    /// Summary of a class in the simulator's form, with its number of unanswered requests.
    pub fn summary(&self, class: &str, unanswered: u64) -> ClassSummary {
        ClassSummary {
            class: class.to_owned(),
            bytes: self.bytes,
            count: self.count() as usize,
            unfinished: unanswered,
            fct: self.distribution(),
            lower_bound: LowerBounds::of(&self.ranked(), unanswered as usize),
            acked: None,
        }
    }
}

/// Writes `histograms.parquet`.
pub fn write_histograms(
    classes: &[String],
    latencies: &[Latencies],
    path: &Path,
) -> io::Result<()> {
    let (mut class, mut up_to_ps, mut count) = (Vec::new(), Vec::new(), Vec::new());
    for (number, latencies) in latencies.iter().enumerate() {
        for step in latencies.histogram.iter_recorded() {
            class.push(number);
            up_to_ps.push(step.value_iterated_to() as i64 * 1000 + 999);
            count.push(step.count_at_value() as i64);
        }
    }
    let rows = class.len();
    let values = [
        Values::Text(class, classes.to_vec()),
        Values::Int64(up_to_ps),
        Values::Int64(count),
    ];
    write_table(path, &HISTOGRAM_COLUMNS, &values, rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Percentiles compared with the sorted values' percentiles by definition (nearest rank), for
    /// values that spread over five powers of ten.
    #[test]
    fn percentiles_match_the_values() {
        let mut state = 1_u64;
        let mut values: Vec<u64> = (0..50_000)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
                (1e7 * 10_f64.powf(5.0 * uniform)) as u64
            })
            .collect();
        let mut latencies = Latencies::default();
        for &ps in &values {
            latencies.add(ps, 3);
        }
        values.sort_unstable();
        let found = latencies.distribution().expect("not empty");
        let rank = |share: f64| values[(share * values.len() as f64).ceil() as usize - 1];
        for (found_us, share) in [
            (found.p50_us, 0.5),
            (found.p90_us, 0.9),
            (found.p99_us, 0.99),
            (found.p999_us, 0.999),
        ] {
            let ratio = found_us * 1e6 / rank(share) as f64;
            assert!((ratio - 1.0).abs() <= 1e-3, "{ratio} at {share}");
        }
        assert!((found.max_us * 1e6 / rank(1.0) as f64 - 1.0).abs() < 1e-12);
        let mean = values.iter().sum::<u64>() as f64 / values.len() as f64;
        assert!((found.mean_us * 1e6 / mean - 1.0).abs() < 1e-12);
        let summary = latencies.summary("1KB", 0);
        assert_eq!((summary.count, summary.bytes), (50_000, 150_000));
        assert_eq!(Latencies::default().distribution(), None);
    }
}
