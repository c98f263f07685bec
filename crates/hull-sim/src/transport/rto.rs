//! The retransmission timeout of RFC 6298.
//!
//! srtt and rttvar in picoseconds, gains 1/8 and 1/4, RTO = srtt + 4 rttvar within its bounds, doubled
//! at each timeout. The back-off ends with the next round-trip sample, which by Karn's rule comes from
//! data sent once (RFC 6298, section 5; Linux without timestamps does the same). An acknowledgment of
//! retransmitted data does not end it.
//!
//! With a granularity, the timer fires only at its multiples, as in an operating system with a clock
//! tick: a deadline is rounded up.

/// Bounds of the retransmission timeout, shared by all flows of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// Timeout before the first sample, ps.
    pub initial_ps: u64,
    /// Smallest timeout, ps.
    pub min_ps: u64,
    /// Largest timeout, ps.
    pub max_ps: u64,
    /// Clock tick of the timer, ps; 0 for an exact clock.
    pub granularity_ps: u64,
}

/// Estimator of the round trip and the retransmission timeout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RtoEstimator {
    /// Smoothed round trip, ps; 0 before the first sample.
    srtt_ps: u64,
    rttvar_ps: u64,
    backoff: u8,
}

impl RtoEstimator {
    /// Adds a round-trip sample, ps, and ends the back-off.
    pub fn sample(&mut self, rtt_ps: u64) {
        if self.srtt_ps == 0 {
            self.srtt_ps = rtt_ps.max(1);
            self.rttvar_ps = rtt_ps / 2;
        } else {
            let error = self.srtt_ps.abs_diff(rtt_ps);
            self.rttvar_ps = self.rttvar_ps - self.rttvar_ps / 4 + error / 4;
            self.srtt_ps = self.srtt_ps - self.srtt_ps / 8 + rtt_ps / 8;
        }
        self.backoff = 0;
    }

    /// Current timeout, ps.
    #[inline]
    pub fn timeout_ps(&self, config: &RtoConfig) -> u64 {
        let rto_ps = match self.srtt_ps {
            0 => config.initial_ps,
            srtt_ps => srtt_ps + 4 * self.rttvar_ps,
        };
        let rto_ps = rto_ps.clamp(config.min_ps, config.max_ps);
        if rto_ps > config.max_ps >> self.backoff {
            return config.max_ps;
        }
        rto_ps << self.backoff
    }

    /// Expiry of a timer started at `now_ps`, ps.
    #[inline]
    pub fn deadline_ps(&self, config: &RtoConfig, now_ps: u64) -> u64 {
        let due_ps = now_ps.saturating_add(self.timeout_ps(config));
        match config.granularity_ps {
            0 => due_ps,
            tick_ps => due_ps.checked_next_multiple_of(tick_ps).unwrap_or(due_ps),
        }
    }

    /// Whether more than a timeout has elapsed from `start_ps` to `now_ps`. A clock with a
    /// granularity counts its ticks.
    #[inline]
    pub fn is_over(&self, config: &RtoConfig, start_ps: u64, now_ps: u64) -> bool {
        let rto_ps = self.timeout_ps(config);
        match config.granularity_ps {
            0 => now_ps.saturating_sub(start_ps) > rto_ps,
            tick_ps => now_ps / tick_ps >= start_ps / tick_ps + rto_ps.div_ceil(tick_ps),
        }
    }

    /// Doubles the next timeout after an expiry.
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }

    /// Ends the back-off without a sample, for the first data after a handshake with a
    /// retransmitted SYN (RFC 6298, 5.7).
    pub fn end_back_off(&mut self) {
        self.backoff = 0;
    }

    /// Smoothed round trip, ps; 0 before the first sample.
    pub fn srtt_ps(&self) -> u64 {
        self.srtt_ps
    }
}

#[cfg(test)]
mod tests {
    use super::{RtoConfig, RtoEstimator};

    const CONFIG: RtoConfig = RtoConfig {
        initial_ps: 1_000,
        min_ps: 10,
        max_ps: 1_000_000,
        granularity_ps: 0,
    };

    #[test]
    fn follows_rfc_6298_by_hand() {
        let mut rto = RtoEstimator::default();
        assert_eq!(rto.timeout_ps(&CONFIG), 1_000);
        rto.sample(800); // srtt 800, rttvar 400
        assert_eq!(rto.timeout_ps(&CONFIG), 800 + 4 * 400);
        rto.sample(400); // rttvar 300 + 100 = 400, srtt 700 + 50 = 750
        assert_eq!(rto.timeout_ps(&CONFIG), 750 + 4 * 400);
        rto.back_off();
        assert_eq!(rto.timeout_ps(&CONFIG), 2 * (750 + 4 * 400));
        rto.end_back_off();
        assert_eq!(rto.timeout_ps(&CONFIG), 750 + 4 * 400);
    }

    #[test]
    fn keeps_the_floor_and_the_ceiling() {
        let config = RtoConfig {
            initial_ps: 1,
            min_ps: 10_000,
            max_ps: 40_000,
            granularity_ps: 0,
        };
        let mut rto = RtoEstimator::default();
        assert_eq!(rto.timeout_ps(&config), 10_000);
        rto.sample(5);
        assert_eq!(rto.timeout_ps(&config), 10_000);
        for _ in 0..5 {
            rto.back_off();
        }
        assert_eq!(rto.timeout_ps(&config), 40_000);
    }

    /// A clock that ticks every 300: 1000 after 200 is due at 1200, 1000 after 201 at 1500.
    #[test]
    fn a_ticking_clock_fires_late() {
        let config = RtoConfig {
            granularity_ps: 300,
            ..CONFIG
        };
        let rto = RtoEstimator::default();
        assert_eq!(rto.deadline_ps(&config, 200), 1200);
        assert_eq!(rto.deadline_ps(&config, 201), 1500);
        assert_eq!(rto.deadline_ps(&CONFIG, 201), 1201);
    }

    /// A timeout of 1000 is four ticks of 300: the clock ticks four times from 299 to 1200.
    #[test]
    fn a_ticking_clock_counts_ticks() {
        let config = RtoConfig {
            granularity_ps: 300,
            ..CONFIG
        };
        let rto = RtoEstimator::default();
        assert!(rto.is_over(&config, 299, 1200));
        assert!(!rto.is_over(&config, 299, 1199));
        assert!(!rto.is_over(&config, 300, 1499));
        assert!(rto.is_over(&CONFIG, 299, 1300));
        assert!(!rto.is_over(&CONFIG, 299, 1299));
    }
}
