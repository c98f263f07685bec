//! RCP: equations 5.37 and 5.38 of the thesis by hand and in floating point over random arrivals,
//! fixed point, averaging within each interval, and idle times.

use hull_core::averaging::{self, HALF};
use hull_core::rcp::{Control, ONE, RANGE, Rcp, RcpConfig};
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;

/// The thesis's link: 2.4 Gbps, alpha = 0.1, beta = 1, T = 50 ms, d0 = 20 ms.
fn thesis(control: Control) -> RcpConfig {
    RcpConfig {
        link_bps: 2_400_000_000,
        interval_ps: 50 * MS,
        round_trip_ps: 20 * MS,
        round_trip_gain: 0,
        averaging: HALF,
        alpha: ONE / 10,
        beta: ONE,
        initial_bps: 240_000_000,
        control,
    }
}

/// Arrivals at half of the link's rate over T: F = alpha / 2, R grows by 2.5 * 0.05.
#[test]
fn grows_with_spare_rate() {
    let mut rcp = Rcp::new(&thesis(Control::Averages(0)));
    rcp.on_arrival(0, 7_500_000, 0);
    assert_eq!(rcp.rate_bps(50 * MS - 1), 240_000_000);
    let grown = rcp.rate_bps(50 * MS);
    // Less the shortfall of alpha from a tenth, 3.6e-8.
    assert!(grown.abs_diff(270_000_000) < 20, "{grown}");
}

/// Arrivals at the link's rate with 60 KB queued, 0.2 ms of 20 ms: F = -0.01, R falls by 2.5%.
#[test]
fn falls_with_a_queue() {
    let mut rcp = Rcp::new(&thesis(Control::Averages(0)));
    rcp.on_arrival(0, 15_000_000 - 1000, 0);
    // Of 0.4 ms of queue, half remains at the update.
    rcp.on_arrival(50 * MS - MS / 5, 1000, 120_000);
    let fallen = rcp.rate_bps(50 * MS);
    assert!(fallen.abs_diff(234_000_000) < 20, "{fallen}");
}

/// AP-RCP reverts half of a change after T / 2, AP2-RCP half after T / 3 and half again after 2T /
/// 3.
#[test]
fn averages_within_an_interval() {
    for (averages, times_ms, growth) in [
        (1, &[74, 76, 99][..], &[30, 15, 15][..]),
        (2, &[66, 67, 84], &[30, 15, 7]),
    ] {
        let mut rcp = Rcp::new(&thesis(Control::Averages(averages)));
        rcp.on_arrival(0, 7_500_000, 0);
        for (&at_ms, &mbps) in times_ms.iter().zip(growth) {
            let found = rcp.rate_bps(at_ms * MS) as f64 / 1e6 - 240.0;
            assert!((found - f64::from(mbps)).abs() < 0.6, "{at_ms} ms: {found}");
        }
    }
}

/// Remark 5.4: with a factor of 1/4, 3/4 of a change remains after one average and 9/16 after two.
#[test]
fn averages_by_another_factor() {
    let config = RcpConfig {
        averaging: averaging::ONE / 4,
        ..thesis(Control::Averages(2))
    };
    let mut rcp = Rcp::new(&config);
    rcp.on_arrival(0, 7_500_000, 0);
    for (at_ms, mbps) in [(66, 30.0), (67, 22.5), (84, 16.875)] {
        let found = rcp.rate_bps(at_ms * MS) as f64 / 1e6 - 240.0;
        assert!((found - mbps).abs() < 0.01, "{at_ms} ms: {found}");
    }
}

/// Packets with 100 and 140 ms: from 20 ms, d0 moves a quarter of the way to 120 ms in each
/// interval with packets, and the gain T / d0 uses the new d0. Arrivals at half of the link's rate:
/// F = 0.05.
#[test]
fn measures_the_round_trip() {
    let config = RcpConfig {
        round_trip_gain: ONE / 4,
        ..thesis(Control::Averages(0))
    };
    let mut rcp = Rcp::new(&config);
    let (mut round_trip_ms, mut expected) = (20.0, 240e6);
    for interval in 0..8 {
        let at_ps = interval * 50 * MS;
        assert!((rcp.rate_bps(at_ps) as f64 - expected).abs() < 100.0);
        for packet_ms in [100, 140] {
            rcp.on_round_trip(packet_ms * MS);
        }
        rcp.on_arrival(at_ps, 7_500_000, 0);
        round_trip_ms += (120.0 - round_trip_ms) / 4.0;
        expected *= 1.0 + 50.0 / round_trip_ms * 0.05;
        rcp.rate_bps(at_ps + 50 * MS);
        let found_ms = rcp.round_trip_ps() as f64 / MS as f64;
        assert!((found_ms - round_trip_ms).abs() < 1e-3, "{found_ms}");
    }
    // Without packets d0 is unchanged.
    let before_ps = rcp.round_trip_ps();
    rcp.rate_bps(500 * MS);
    assert_eq!(rcp.round_trip_ps(), before_ps);
}

/// The rate stays between 2^-16 of the link's rate and the link's rate.
#[test]
fn stays_within_its_range() {
    let config = thesis(Control::Averages(0));
    let mut rcp = Rcp::new(&config);
    assert_eq!(rcp.rate_bps(100_000 * MS), config.link_bps);
    rcp.on_arrival(100_000 * MS, 1500, 1 << 40);
    assert_eq!(rcp.rate_bps(100_050 * MS), config.link_bps / RANGE);
}

/// With ten flows that follow the offered rate at once, it settles at a tenth of the link.
#[test]
fn offers_each_flow_its_share() {
    for control in [
        Control::Averages(0),
        Control::Averages(1),
        Control::Averages(2),
        Control::ProportionalDerivative,
    ] {
        let mut rcp = Rcp::new(&RcpConfig {
            initial_bps: 1_000_000,
            ..thesis(control)
        });
        let mut sent_bits = 0;
        for at_ms in 0..20_000 {
            sent_bits += 10 * rcp.rate_bps(at_ms * MS) / 1000;
            rcp.on_arrival(at_ms * MS, (sent_bits / 8) as u32, 0);
            sent_bits %= 8;
        }
        let rate_bps = rcp.rate_bps(20_000 * MS);
        assert!(
            rate_bps.abs_diff(240_000_000) < 1_000_000,
            "{control:?}: {rate_bps}"
        );
    }
}

/// Bound of the magnitude of F (2^40 at 32 bits of fraction).
const MOST_FEEDBACK: f64 = 256.0;

/// Floating-point reference, with the queue that the arrivals build.
struct Reference {
    config: RcpConfig,
    rate: f64,
    target: f64,
    last: f64,
}

impl Reference {
    fn update(&mut self, arrived_bytes: f64, queue_bytes: f64) {
        let c = &self.config;
        let (link, t, d0) = (
            c.link_bps as f64 / 8.0,
            c.interval_ps as f64 / 1e12,
            c.round_trip_ps as f64 / 1e12,
        );
        let (alpha, beta) = (
            f64::from(c.alpha) / f64::from(ONE),
            f64::from(c.beta) / f64::from(ONE),
        );
        let f = (alpha * (link - arrived_bytes / t) - beta * queue_bytes / d0) / link;
        let f = f.clamp(-MOST_FEEDBACK, MOST_FEEDBACK);
        let w = match c.control {
            Control::Averages(_) => f,
            Control::ProportionalDerivative => f / 2.0 + (f - self.last) / 4.0,
        };
        self.last = f;
        self.target = self.rate;
        let most = c.link_bps as f64;
        self.rate = (self.rate * (1.0 + t / d0 * w)).clamp(most / RANGE as f64, most);
    }
}

fn control() -> impl Strategy<Value = Control> {
    prop_oneof![
        (0_u8..4).prop_map(Control::Averages),
        Just(Control::ProportionalDerivative)
    ]
}

proptest! {
    /// In each interval a burst arrives at one instant, some time before the end.
    #[test]
    fn follows_its_equations(
        control in control(),
        link_mbps in 100_u64..8_000_000,
        interval_us in 10_u64..100_000,
        round_trip_us in 10_u64..100_000,
        alpha in 0_u32..ONE,
        beta in 0_u32..4 * ONE,
        bursts in prop::collection::vec((0.0_f64..3.0, 0.0_f64..1.0), 1..60),
    ) {
        // Three times the bytes of an interval fit 32 bits.
        let interval_us = interval_us.min(10_000_000_000 / link_mbps);
        let config = RcpConfig {
            link_bps: link_mbps * 1_000_000,
            interval_ps: interval_us * 1_000_000,
            round_trip_ps: round_trip_us * 1_000_000,
            round_trip_gain: 0,
            averaging: HALF,
            alpha,
            beta,
            initial_bps: link_mbps * 50_000,
            control,
        };
        let per_interval = config.link_bps as f64 / 8e6 * interval_us as f64;
        let mut rcp = Rcp::new(&config);
        let initial = config.initial_bps as f64;
        let mut reference = Reference { config, rate: initial, target: initial, last: 0.0 };
        let byte_s = 8.0 / config.link_bps as f64;
        let mut empty_at_s = 0.0_f64;
        for (n, (share, place)) in (1..).zip(bursts) {
            let bytes = (share * per_interval) as u32;
            let start_ps = (n - 1) * config.interval_ps;
            let at_ps = start_ps + (place * (config.interval_ps - 1) as f64) as u64;
            let at_s = at_ps as f64 / 1e12;
            let queue = ((empty_at_s - at_s).max(0.0) / byte_s) as u64;
            rcp.on_arrival(at_ps, bytes, queue + u64::from(bytes));
            empty_at_s = at_s + (queue + u64::from(bytes)) as f64 * byte_s;
            let end_ps = n * config.interval_ps;
            let left = (empty_at_s - end_ps as f64 / 1e12).max(0.0) / byte_s;
            if let Control::Averages(averages) = control && n > 1 {
                for _ in 0..averages {
                    reference.rate = (reference.rate + reference.target) / 2.0;
                }
            }
            // The queue is rounded down to whole bytes, and a byte time is kept in 2^-16 ps. Effect
            // on the rate: the gain T/d beta q/(d C) is large where the interval is many round
            // trips.
            let byte_time = byte_s * 1e12 * 65536.0;
            let off_bytes = 1.0 + (queue + u64::from(bytes)) as f64 / byte_time;
            let intervals = interval_us as f64 / round_trip_us as f64;
            let per_byte = 8.0 / (link_mbps * round_trip_us) as f64;
            let gain = intervals * f64::from(beta) / f64::from(ONE) * per_byte;
            let rounding = off_bytes * gain * reference.rate;
            reference.update(f64::from(bytes), left);
            let found = rcp.rate_bps(end_ps) as f64;
            let tolerance = reference.rate.mul_add(1e-5, 1e-6 * config.link_bps as f64) + rounding;
            prop_assert!((found - reference.rate).abs() <= tolerance, "{} {}", found, reference.rate);
            // Continue from this rate, as rates are integers: 1526 bit/s may grow 65,000-fold in
            // the next interval, and the truncation error with it.
            reference.rate = found;
        }
    }

    /// A long idle time equals many updates, however the calls divide it.
    #[test]
    fn idle_time_counts_as_many_updates(control in control(), intervals in 1_u64..2000) {
        let config = thesis(control);
        let (mut once, mut often) = (Rcp::new(&config), Rcp::new(&config));
        for rcp in [&mut once, &mut often] {
            rcp.on_arrival(0, 1500, 1500);
        }
        let end_ps = intervals * 13 * MS;
        for at in 1..=intervals {
            often.rate_bps(at * 13 * MS);
        }
        prop_assert_eq!(once.rate_bps(end_ps), often.rate_bps(end_ps));
    }
}
