//! TIMELY: each branch by hand, the gradient of a growing round trip in closed form, bounds.

use hull_core::timely::{Timely, TimelyConfig};
use proptest::prelude::*;

const US: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;

/// The recorded runs' settings at 100 Gbps.
fn config() -> TimelyConfig {
    TimelyConfig {
        line_rate_bps: 100 * GBPS,
        min_rate_bps: GBPS,
        additive_bps: GBPS / 10,
        hyper_bps: GBPS / 2,
        hyper_after: 5,
        counts_low: true,
        weight: 0.875,
        beta: 0.8,
        low_ps: 50 * US,
        high_ps: 500 * US,
        min_rtt_ps: 20 * US,
    }
}

/// A flow that has an update with each call; the round trips are in us.
struct Updates {
    config: TimelyConfig,
    flow: Timely,
    una: u64,
}

impl Updates {
    fn new(config: TimelyConfig) -> Self {
        let flow = Timely::new(&config);
        Updates {
            config,
            flow,
            una: 0,
        }
    }

    fn rtt(&mut self, rtt_us: u64) -> f64 {
        self.una += 1000;
        self.flow
            .on_ack(&self.config, self.una, self.una, rtt_us * US);
        self.flow.rate_bps() as f64 / 1e9
    }
}

/// Twice T_high keeps 1 - 0.8 / 2, below T_low 0.1 Gbps five times, then 0.5.
#[test]
fn thresholds_by_hand() {
    for (counts_low, after) in [(true, 37.5), (false, 36.7)] {
        let mut updates = Updates::new(TimelyConfig {
            counts_low,
            ..config()
        });
        assert_eq!(updates.rtt(1000), 100.0);
        assert_eq!(updates.rtt(1000), 60.0);
        assert_eq!(updates.rtt(1000), 36.0);
        let mut rate = 0.0;
        for _ in 0..7 {
            rate = updates.rtt(49);
        }
        assert!((rate - after).abs() < 1e-8, "{rate}");
    }
}

/// Between the thresholds the sign of the average decides. 10 us more: d = 8.75 us, kept 1 - 0.8 *
/// 0.4375 = 0.65. As long: d = 1.09375, a decrease still, 1 - 0.8 * 0.0546875. 10 us less: d is
/// 0.13671875 - 8.75 us, an increase.
#[test]
fn gradient_by_hand() {
    let mut updates = Updates::new(config());
    updates.rtt(100);
    assert!((updates.rtt(110) - 65.0).abs() < 1e-8);
    assert!((updates.rtt(110) - 65.0 * 0.95625).abs() < 1e-8);
    assert!((updates.rtt(100) - 65.0 * 0.95625 - 0.1).abs() < 1e-8);
    // A jump by 100 us leaves nothing of the rate but the smallest.
    assert_eq!(updates.rtt(250), 1.0);
    // A constant round trip: no gradient once the average has gone, so the rate grows to line rate.
    let mut rate = 0.0;
    for _ in 0..1000 {
        rate = updates.rtt(250);
    }
    assert_eq!(rate, 100.0);
}

/// A round trip that grows by s each time: d = s (1 - (1 - w)^k) after k updates.
#[test]
fn gradient_of_a_growing_round_trip_in_closed_form() {
    let mut updates = Updates::new(TimelyConfig {
        weight: 0.25,
        ..config()
    });
    updates.rtt(60);
    let mut expected = 100.0;
    for k in 1..=20 {
        let difference = 1.0 - 0.75_f64.powi(k);
        expected *= 1.0 - 0.8 * difference / 20.0;
        let found = updates.rtt(60 + k as u64);
        assert!((found - expected).abs() < 1e-6, "{k}: {found} {expected}");
    }
}

/// One update per round trip of data: the second needs an ACK above what was sent at the first.
#[test]
fn updates_once_per_round_trip_of_data() {
    let config = config();
    let mut flow = Timely::new(&config);
    flow.on_ack(&config, 1000, 5000, 1000 * US);
    for una in [2000, 5000] {
        flow.on_ack(&config, una, una + 4000, 1000 * US);
        assert_eq!(flow.rate_bps(), 100 * GBPS);
    }
    flow.on_ack(&config, 5001, 9000, 1000 * US);
    assert_eq!(flow.rate_bps(), 60 * GBPS);
    flow.on_ack(&config, 9000, 13_000, 1000 * US);
    assert_eq!(flow.rate_bps(), 60 * GBPS);
}

proptest! {
    #[test]
    fn rate_stays_between_its_bounds(
        rtts in proptest::collection::vec(1_u64..5000, 1..100),
        counts_low in any::<bool>(),
    ) {
        let mut updates = Updates::new(TimelyConfig { counts_low, ..config() });
        for rtt_us in rtts {
            let rate = updates.rtt(rtt_us);
            prop_assert!((1.0..=100.0).contains(&rate));
        }
    }
}
