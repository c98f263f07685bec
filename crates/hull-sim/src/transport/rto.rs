//! The retransmission timeout of RFC 6298, with a floor and Karn's rule kept by the caller.
//!
//! srtt and rttvar in picoseconds, gains 1/8 and 1/4, RTO = srtt + 4 rttvar, doubled at each
//! timeout until new data is acknowledged.

/// Estimates the round trip and the timeout from it.
#[derive(Clone, Debug)]
pub struct RtoEstimator {
    srtt_ps: u64,
    rttvar_ps: u64,
    rto_ps: u64,
    min_ps: u64,
    max_ps: u64,
    backoff: u32,
}

impl RtoEstimator {
    /// No sample yet: the timeout is `initial_ps`.
    pub fn new(initial_ps: u64, min_ps: u64, max_ps: u64) -> Self {
        RtoEstimator {
            srtt_ps: 0,
            rttvar_ps: 0,
            rto_ps: initial_ps.clamp(min_ps, max_ps),
            min_ps,
            max_ps,
            backoff: 0,
        }
    }

    /// Takes one round-trip sample, ps.
    pub fn sample(&mut self, rtt_ps: u64) {
        if self.srtt_ps == 0 {
            self.srtt_ps = rtt_ps.max(1);
            self.rttvar_ps = rtt_ps / 2;
        } else {
            let error = self.srtt_ps.abs_diff(rtt_ps);
            self.rttvar_ps = self.rttvar_ps - self.rttvar_ps / 4 + error / 4;
            self.srtt_ps = self.srtt_ps - self.srtt_ps / 8 + rtt_ps / 8;
        }
        self.rto_ps = (self.srtt_ps + 4 * self.rttvar_ps).clamp(self.min_ps, self.max_ps);
    }

    /// The timeout to use now, ps.
    #[inline]
    pub fn timeout_ps(&self) -> u64 {
        (self.rto_ps << self.backoff.min(16)).min(self.max_ps)
    }

    /// A timeout happened: the next one waits twice as long.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// New data was acknowledged.
    #[inline]
    pub fn progress(&mut self) {
        self.backoff = 0;
    }

    /// Smoothed round trip, ps; 0 before the first sample.
    pub fn srtt_ps(&self) -> u64 {
        self.srtt_ps
    }
}

#[cfg(test)]
mod tests {
    use super::RtoEstimator;

    #[test]
    fn follows_rfc_6298_by_hand() {
        let mut rto = RtoEstimator::new(1_000, 10, 1_000_000);
        assert_eq!(rto.timeout_ps(), 1_000);
        rto.sample(800); // srtt 800, rttvar 400
        assert_eq!(rto.timeout_ps(), 800 + 4 * 400);
        rto.sample(400); // rttvar 300 + 100 = 400, srtt 700 + 50 = 750
        assert_eq!(rto.timeout_ps(), 750 + 4 * 400);
        rto.back_off();
        assert_eq!(rto.timeout_ps(), 2 * (750 + 4 * 400));
        rto.progress();
        assert_eq!(rto.timeout_ps(), 750 + 4 * 400);
    }

    #[test]
    fn keeps_the_floor_and_the_ceiling() {
        let mut rto = RtoEstimator::new(1, 10_000, 40_000);
        assert_eq!(rto.timeout_ps(), 10_000);
        rto.sample(5);
        assert_eq!(rto.timeout_ps(), 10_000);
        for _ in 0..5 {
            rto.back_off();
        }
        assert_eq!(rto.timeout_ps(), 40_000);
    }
}
