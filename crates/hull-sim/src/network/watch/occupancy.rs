//! Time-weighted queue occupancy of a port, expressed as the latency that the queue adds.
//!
//! Report III-A: the queue's bytes over the link's rate. Each level is weighted by its duration, so the
//! mean is the integral of the queue over time and a percentile is a share of time. The packet in
//! transmission is not part of the queue. Percentiles are within 0.1%.

use hdrhistogram::Histogram;

/// Distribution of a queue over time.
#[derive(Debug)]
pub struct Occupancy {
    /// Levels in bytes, weighted by nanoseconds.
    levels: Histogram<u64>,
    /// Nanoseconds at level 0: half of all updates, kept out of the histogram for speed.
    empty_ns: u64,
    /// Picoseconds left over from the last whole nanosecond.
    rest_ps: u64,
    integral_byte_ps: u128,
    total_ps: u64,
    level_bytes: u64,
    since_ps: u64,
    /// Time and integral of the last call of `mean_since_last`.
    last_mean: (u64, u128),
    ps_per_byte: f64,
}

impl Occupancy {
    /// Creates the statistics of a port of `rate_bps` that is empty at `now_ps`.
    pub fn new(rate_bps: u64, now_ps: u64) -> Self {
        let levels = match Histogram::new(3) {
            Ok(levels) => levels,
            Err(_) => unreachable!("3 significant digits are allowed"),
        };
        Occupancy {
            levels,
            empty_ns: 0,
            rest_ps: 0,
            integral_byte_ps: 0,
            total_ps: 0,
            level_bytes: 0,
            since_ps: now_ps,
            last_mean: (now_ps, 0),
            ps_per_byte: 8e12 / rate_bps as f64,
        }
    }

    /// Records that the queue holds `bytes` from `now_ps` on.
    #[inline]
    pub fn change(&mut self, now_ps: u64, bytes: u64) {
        let lasted = now_ps - self.since_ps;
        if lasted > 0 {
            let weighed = lasted + self.rest_ps;
            let ns = weighed / 1000;
            self.rest_ps = weighed % 1000;
            self.total_ps += lasted;
            if self.level_bytes == 0 {
                self.empty_ns += ns;
            } else {
                self.integral_byte_ps += u128::from(self.level_bytes) * u128::from(lasted);
                // Cannot fail: the histogram resizes itself.
                let _ = self.levels.record_n(self.level_bytes, ns);
            }
            self.since_ps = now_ps;
        }
        self.level_bytes = bytes;
    }

    /// Mean level since the last call or the restart, bytes; `None` if no time has passed.
    pub fn mean_since_last(&mut self, now_ps: u64) -> Option<f64> {
        let now_level = u128::from(self.level_bytes) * u128::from(now_ps - self.since_ps);
        let integral = self.integral_byte_ps + now_level;
        let (last_ps, last_integral) = std::mem::replace(&mut self.last_mean, (now_ps, integral));
        let lasted = now_ps - last_ps;
        (lasted > 0).then(|| (integral - last_integral) as f64 / lasted as f64)
    }

    /// Discards the statistics at the end of the warm-up.
    pub fn restart(&mut self, now_ps: u64) {
        let rate_bps = (8e12 / self.ps_per_byte).round() as u64;
        let level_bytes = self.level_bytes;
        *self = Occupancy {
            level_bytes,
            ..Occupancy::new(rate_bps, now_ps)
        };
    }

    /// Shares of the time up to `now_ps` in which the queue added at most each of these latencies,
    /// s, which must ascend.
    pub fn cumulated(&mut self, now_ps: u64, latencies_s: &[f64]) -> Vec<f64> {
        self.change(now_ps, self.level_bytes);
        let total_ns = (self.empty_ns + self.levels.len()).max(1) as f64;
        let mut levels = self.levels.iter_recorded().peekable();
        let mut below_ns = self.empty_ns;
        let at = |&latency_s: &f64| {
            let most_bytes = latency_s * 1e12 / self.ps_per_byte;
            while let Some(level) =
                levels.next_if(|level| level.value_iterated_to() as f64 <= most_bytes)
            {
                below_ns += level.count_since_last_iteration();
            }
            below_ns as f64 / total_ns
        };
        latencies_s.iter().map(at).collect()
    }

    /// Mean latency that the queue added up to `now_ps`, and the largest one in a share of the time, us.
    pub fn latencies_us(&mut self, now_ps: u64) -> (f64, impl Fn(f64) -> f64) {
        self.change(now_ps, self.level_bytes);
        let ps_per_byte = self.ps_per_byte;
        let us = move |bytes: f64| bytes * ps_per_byte * 1e-6;
        let (empty_ns, levels) = (self.empty_ns, &self.levels);
        let total_ns = empty_ns + levels.len();
        let mean = self.integral_byte_ps as f64 / (self.total_ps as f64).max(1.0);
        let at = move |share: f64| {
            let rank = (share * total_ns as f64).ceil() as u64;
            if rank <= empty_ns || levels.is_empty() {
                return 0.0;
            }
            let quantile = (rank - empty_ns) as f64 / levels.len() as f64;
            us(levels
                .value_at_quantile(quantile.min(1.0))
                .min(levels.max()) as f64)
        };
        (us(mean), at)
    }
}

#[cfg(test)]
mod tests {
    use super::Occupancy;

    #[test]
    fn levels_are_weighted_by_time() {
        let mut queue = Occupancy::new(1_000_000_000, 0);
        queue.change(900_000_000, 1000); // 900 us empty
        queue.change(950_000_000, 3000); // 50 us of 1000 bytes: 8 us of latency
        queue.change(1_000_000_000, 0); // 50 us of 3000 bytes: 24 us
        let (mean_us, at_us) = queue.latencies_us(1_000_000_000);
        assert!((mean_us - (0.05 * 8.0 + 0.05 * 24.0)).abs() < 1e-9);
        assert_eq!((at_us(0.5), at_us(0.9)), (0.0, 0.0));
        assert!((at_us(0.99) - 24.0).abs() < 0.03 && (at_us(1.0) - 24.0).abs() < 0.03);
    }

    #[test]
    fn cumulates_to_one() {
        let mut queue = Occupancy::new(1_000_000_000, 0);
        assert_eq!(queue.cumulated(0, &[1.0]), [0.0]);
        queue.change(900_000_000, 1000); // 900 us empty
        queue.change(950_000_000, 3000); // 50 us of 1000 bytes: 8 us of latency
        let edges = [0.0, 7.9e-6, 8.0e-6, 23e-6, 25e-6];
        let found = queue.cumulated(1_000_000_000, &edges);
        assert_eq!(found, [0.9, 0.9, 0.95, 0.95, 1.0]);
    }

    #[test]
    fn interval_means_preserve_the_integral() {
        let mut queue = Occupancy::new(1_000_000_000, 0);
        queue.change(40, 1000);
        assert_eq!(queue.mean_since_last(100), Some(600.0));
        queue.change(150, 0);
        assert_eq!(queue.mean_since_last(200), Some(500.0));
        assert_eq!(queue.mean_since_last(200), None);
        queue.restart(200);
        assert_eq!(queue.mean_since_last(300), Some(0.0));
    }

    #[test]
    fn forgets_the_warm_up_but_not_the_queue() {
        let mut queue = Occupancy::new(1_000_000_000, 0);
        queue.change(0, 5000);
        queue.restart(1_000_000);
        assert!((queue.latencies_us(2_000_000).0 - 40.0).abs() < 1e-9);
    }
}
