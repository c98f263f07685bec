//! A set of possibly millions of durations: exact up to a number of values, a histogram beyond it, so
//! memory does not grow with the number of flows.

use hdrhistogram::Histogram;

use super::distribution::{Distribution, LowerBounds, Ranked};

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

    /// Samples by rank.
    pub fn ranked(&self) -> Ranked<'_> {
        match &self.histogram {
            Some(histogram) => Ranked::Histogram(histogram, self.max_ps),
            None => Ranked::sort(self.samples_ps.clone()),
        }
    }

    /// Distribution of the durations, and with this many unfinished ones the statistics that are lower
    /// bounds; `None` without samples.
    pub fn durations(&self, unfinished: usize) -> (Option<Distribution>, Option<LowerBounds>) {
        let ranked = self.ranked();
        let at_us = |per_mille| ranked.at(per_mille) as f64 * 1e-6;
        let distribution = || Distribution::new(self.mean() * 1e-6, at_us);
        (
            (self.count > 0).then(distribution),
            LowerBounds::of(&ranked, unfinished),
        )
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
        let d = sketch.durations(0).0.expect("not empty");
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
