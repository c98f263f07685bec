//! PowerTCP and theta-PowerTCP: the first round trip and the busiest hop by hand; the equilibrium queue in closed
//! form on a fluid link with several flows; a constant and a growing round trip; bounds.

use hull_core::powertcp::{
    PowerConfig, PowerTcp, PowerTcpConfig, ThetaPowerTcp, ThetaPowerTcpConfig,
};
use hull_core::telemetry::{Fields, HopRecord, HopRecords};
use proptest::prelude::*;

const US: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;

/// 100 Gbps and 8 us: 100,000 bytes.
fn common() -> PowerConfig {
    PowerConfig {
        link_bps: 100 * GBPS,
        base_rtt_ps: 8 * US,
        gamma: 0.9,
        additive_bps: 150e6,
        min_gradient: 0.5,
        min_rate_bps: GBPS,
        reacts_per_ack: true,
    }
}

fn config() -> PowerTcpConfig {
    PowerTcpConfig {
        common: common(),
        eta: 0.95,
        fields: Fields::Exact,
    }
}

fn theta() -> ThetaPowerTcpConfig {
    ThetaPowerTcpConfig {
        common: PowerConfig {
            gamma: 0.7,
            ..common()
        },
        slack: 0.05,
    }
}

fn hop(at_us: f64, sent_bytes: f64, queue_bytes: f64, gbps: u64) -> HopRecord {
    HopRecord {
        queue_bytes: queue_bytes as u64,
        sent_bytes: sent_bytes as u64,
        at_ps: (at_us * 1e6) as u64,
        link_bps: gbps * GBPS,
    }
}

fn records(hops: &[HopRecord]) -> HopRecords {
    let mut records = HopRecords::default();
    for (port, hop) in (0..).zip(hops) {
        records.add(Fields::Exact, port, hop);
    }
    records
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} {expected}");
}

/// The first ACK stores. 4 us later 37,500 bytes have left, and the queue is 12,500 bytes longer: 50,000 arrived,
/// 100 Gbps. It holds 20,000 of 100,000 bytes: p = 1 * 1.2, P = (1 * 4 + 1.2 * 4) / 8 = 1.1. The link of 400 Gbps
/// has only the smallest current, 0.5.
#[test]
fn the_first_round_trip_by_hand() {
    let config = config();
    let mut flow = PowerTcp::new(&config);
    let first = records(&[hop(0.0, 0.0, 7_500.0, 100), hop(1.0, 0.0, 0.0, 400)]);
    assert!(!flow.on_ack(&config, 1_000, 100_000, &first));
    near(flow.rate_bps(), 100e9);
    near(flow.window_bytes(&config), 100_000.0);
    let second = records(&[
        hop(4.0, 37_500.0, 20_000.0, 100),
        hop(5.0, 40_000.0, 0.0, 400),
    ]);
    assert!(flow.on_ack(&config, 2_000, 101_000, &second));
    near(flow.power(), 1.1);
    let rate = 0.9 * (100e9 * 0.95 / 1.1 + 150e6) + 0.1 * 100e9;
    near(flow.rate_bps(), rate);
    near(flow.window_bytes(&config), rate * 1e-6);
    // Of the same window: from the same reference. The queue has left, 12,500 bytes have arrived in 8 us.
    let third = records(&[hop(12.0, 70_000.0, 0.0, 100), hop(13.0, 70_000.0, 0.0, 400)]);
    assert!(flow.on_ack(&config, 100_000, 180_000, &third));
    near(flow.power(), 0.5);
    near(flow.rate_bps(), 100e9);
    // Another path only stores.
    assert!(!flow.on_ack(
        &config,
        100_001,
        180_000,
        &records(&[hop(13.0, 1e6, 1e6, 100)])
    ));
    near(flow.power(), 0.5);
}

/// The reference is replaced by the first ACK of data sent after the last time; with `reacts_per_ack` false the
/// others are ignored, their records too.
#[test]
fn the_reference_follows_once_per_round_trip() {
    for reacts_per_ack in [true, false] {
        let mut config = config();
        config.common.reacts_per_ack = reacts_per_ack;
        let mut flow = PowerTcp::new(&config);
        let mut ack = |una, nxt, us: f64| {
            // The port is used completely.
            let records = records(&[hop(us, us * 12_500.0, 0.0, 100)]);
            flow.on_ack(&config, una, nxt, &records)
                .then(|| flow.rate_bps())
        };
        let next = |rate: f64| 0.9 * (rate * 0.95 + 150e6) + 0.1 * rate;
        ack(1, 100, 0.0);
        assert_eq!(ack(100, 150, 8.0).is_some(), reacts_per_ack);
        near(ack(101, 200, 16.0).expect("replaces"), next(100e9));
        assert_eq!(ack(200, 250, 24.0).is_some(), reacts_per_ack);
        near(ack(201, 300, 32.0).expect("replaces"), next(next(100e9)));
    }
}

/// n flows with windows on a fluid link, as in the paper: what arrives is the windows over T + q / B, and records
/// come back after T. In equilibrium P = 1 + q / (B T) = eta / (1 - a / R), where the rates R are the windows over
/// T: with eta 1 the queue is the sum of all a T.
#[test]
fn equilibrium_queue_is_the_sum_of_the_increases() {
    const STEP_US: f64 = 0.1;
    const STEPS: usize = 80;
    for flows in [2_usize, 4, 10] {
        let config = PowerTcpConfig {
            eta: 1.0,
            ..config()
        };
        let mut all = vec![PowerTcp::new(&config); flows];
        let (mut queue, mut sent, mut at_us) = (0.0, 0.0, 0.0);
        let mut past = Vec::new();
        for step in 0..40_000 {
            past.push(records(&[hop(at_us, sent, queue, 100)]));
            let windows: f64 = all.iter().map(|flow| flow.window_bytes(&config)).sum();
            let arrived = windows / (8.0 + queue / 12_500.0) * STEP_US;
            let left = (queue + arrived).min(12_500.0 * STEP_US);
            (queue, sent, at_us) = (queue + arrived - left, sent + left, at_us + STEP_US);
            if step >= STEPS && step % 5 == 0 {
                let (una, nxt) = (step as u64 - STEPS as u64, step as u64);
                for flow in &mut all {
                    flow.on_ack(&config, una, nxt, &past[step - STEPS]);
                }
            }
        }
        // 150 Mbps in 8 us are 150 bytes.
        let expected = 150.0 * flows as f64;
        assert!(
            (queue / expected - 1.0).abs() < 0.05,
            "{flows}: {queue} {expected}"
        );
    }
}

/// A constant round trip of 1.05 T: p = 1, and the rate grows by gamma a. At 1.26 T p = 1.2.
#[test]
fn round_trips_by_hand() {
    let config = theta();
    let mut flow = ThetaPowerTcp::new(&config);
    let t = 8 * US;
    flow.on_ack(&config, 0, 1, 10, t);
    near(flow.window_bytes(), 100_000.0);
    // A shorter round trip is T from now on: 1 + (6.4 - 8) / 8 = 0.8, and p = 0.8 / 1.05.
    flow.on_ack(&config, 8 * US, 2, 10, 6_400_000);
    near(flow.power(), 0.8 / 1.05);
    near(flow.rate_bps(), 100e9);
    near(flow.window_bytes(), 80_000.0);
    let target = 6_720_000;
    flow.on_ack(&config, 16 * US, 11, 20, target);
    near(flow.power(), 1.04);
    let before = 0.7 * (100e9 / 1.04 + 150e6) + 0.3 * 100e9;
    near(flow.rate_bps(), before);
    flow.on_ack(&config, 24 * US, 21, 30, target);
    near(flow.power(), 1.0);
    near(flow.rate_bps(), before + 0.7 * 150e6);
    // A fall of 4.8 us in 8 us has the smallest gradient.
    flow.on_ack(&config, 32 * US, 31, 40, target + 4_800_000);
    flow.on_ack(&config, 40 * US, 32, 40, target);
    near(flow.power(), 0.5);
    // No time has passed.
    let power = flow.power();
    flow.on_ack(&config, 40 * US, 33, 40, target);
    near(flow.power(), power);
}

/// The round trip grows by 1 us per 8 us: a flow of many at twice the share of the link gives way.
#[test]
fn a_growing_round_trip_lowers_the_rate() {
    let config = theta();
    let mut flow = ThetaPowerTcp::new(&config);
    let mut last = f64::INFINITY;
    for round in 0..10 {
        flow.on_ack(
            &config,
            round * 8 * US,
            round + 1,
            round + 1,
            (8 + round) * US,
        );
        assert!(flow.rate_bps() < last);
        last = flow.rate_bps();
    }
}

proptest! {
    /// Rates stay between their bounds, for any records and round trips.
    #[test]
    fn bounds(acks in prop::collection::vec(
        (0_u64..20 * US, 0_u64..400_000, 0_u64..1_000_000, 0_u64..5_000, 1..50 * US), 1..200)) {
        let (config, theta) = (config(), theta());
        let mut flow = PowerTcp::new(&config);
        let mut delay = ThetaPowerTcp::new(&theta);
        let (mut at_ps, mut sent, mut una) = (0, 0, 0);
        for (later, more, queue_bytes, acked, rtt_ps) in acks {
            (at_ps, sent, una) = (at_ps + later, sent + more, una + acked);
            let hop = HopRecord {
                at_ps,
                sent_bytes: sent,
                queue_bytes,
                link_bps: 100 * GBPS,
            };
            flow.on_ack(&config, una, una + 100_000, &records(&[hop]));
            delay.on_ack(&theta, at_ps, una, una + 100_000, rtt_ps);
            for rate_bps in [flow.rate_bps(), delay.rate_bps()] {
                prop_assert!((1e9..=100e9).contains(&rate_bps), "{rate_bps}");
            }
        }
    }
}
