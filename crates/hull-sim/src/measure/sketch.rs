//! A set of possibly millions of durations: exact up to a number of values, a histogram beyond it, so
//! memory does not grow with the number of flows.

use hdrhistogram::Histogram;

use super::lower_bounds::{LowerBounds, moves, moves_in};
use crate::network::Distribution;

/// Number of samples that are kept exactly. Beyond it, percentiles are within 0.1%.
const EXACT: usize = 100_000;

/// Growing set of durations, ps.
#[derive(Debug, Default)]
pub struct Sketch {
    samples_ps: Vec<i64>,
    histogram: Option<Box<Histogram<u64>>>,
    count: usize,
    sum_ps: u128,
    max_ps: u64,
}

impl Sketch {
    /// Adds a duration, ps.
    pub fn add(&mut self, sample_ps: u64) {
        self.count += 1;
        self.sum_ps += u128::from(sample_ps);
        self.max_ps = self.max_ps.max(sample_ps);
        if let Some(histogram) = &mut self.histogram {
            // Cannot fail: the histogram resizes itself.
            let _ = histogram.record(sample_ps);
            return;
        }
        self.samples_ps.push(sample_ps as i64);
        if self.samples_ps.len() > EXACT {
            let mut histogram = match Histogram::new(3) {
                Ok(histogram) => histogram,
                Err(_) => unreachable!("3 significant digits are allowed"),
            };
            for &sample in &self.samples_ps {
                let _ = histogram.record(sample as u64);
            }
            self.samples_ps = Vec::new();
            self.histogram = Some(Box::new(histogram));
        }
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Mean, ps; 0 without samples.
    pub fn mean(&self) -> f64 {
        self.sum_ps as f64 / self.count.max(1) as f64
    }

    /// Smallest samples with at least this many thousandths of all samples at or below them, ps;
    /// `None` without samples.
    pub fn at_per_mille<const N: usize>(&self, per_mille: [usize; N]) -> Option<[u64; N]> {
        if let Some(histogram) = &self.histogram {
            let at = |share: usize| histogram.value_at_quantile(share as f64 / 1000.0);
            return Some(per_mille.map(|share| at(share).min(self.max_ps)));
        }
        let mut sorted = self.samples_ps.clone();
        sorted.sort_unstable();
        let at = |share: usize| (self.count * share).div_ceil(1000).max(1) - 1;
        (!sorted.is_empty()).then(|| per_mille.map(|share| sorted[at(share)] as u64))
    }

    /// For each percentile in thousandths, whether this many infinite samples would change it.
    pub fn moves<const N: usize>(&self, per_mille: [usize; N], infinite: usize) -> [bool; N] {
        if let Some(histogram) = &self.histogram {
            return per_mille.map(|of| moves_in(histogram, of, infinite));
        }
        let mut sorted = self.samples_ps.clone();
        sorted.sort_unstable();
        per_mille.map(|of| moves(&sorted, of, infinite))
    }

    /// Statistics that are lower bounds with this many unfinished samples; `None` without either.
    pub fn lower_bounds(&self, unfinished: usize) -> Option<LowerBounds> {
        let has_both = unfinished > 0 && self.count > 0;
        has_both.then(|| LowerBounds::of(self.moves(LowerBounds::PER_MILLE, unfinished)))
    }

    /// Mean and percentiles; `None` without samples.
    pub fn distribution(&self) -> Option<Distribution> {
        let Some(histogram) = &self.histogram else {
            return Distribution::of(&mut self.samples_ps.clone());
        };
        let at = |share: f64| histogram.value_at_quantile(share).min(self.max_ps) as f64 * 1e-6;
        Some(Distribution {
            mean_us: self.sum_ps as f64 / self.count as f64 * 1e-6,
            p50_us: at(0.5),
            p90_us: at(0.9),
            p99_us: at(0.99),
            p999_us: at(0.999),
            max_us: self.max_ps as f64 * 1e-6,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{EXACT, Sketch};

    #[test]
    fn many_samples_stay_within_a_thousandth() {
        let mut sketch = Sketch::default();
        let n = 3 * EXACT as u64;
        for i in 1..=n {
            sketch.add(i * 1_000_000);
        }
        let d = sketch.distribution().expect("not empty");
        let n = n as f64;
        assert!((d.mean_us - (n + 1.0) / 2.0).abs() < 1e-6 * n);
        for (found, share) in [(d.p50_us, 0.5), (d.p99_us, 0.99), (d.p999_us, 0.999)] {
            assert!(
                (found / (share * n) - 1.0).abs() < 1e-3,
                "{found} for {share}"
            );
        }
        assert_eq!((d.max_us, sketch.count()), (n, n as usize));
    }
}
