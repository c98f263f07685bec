//! HPCC: the first round trip, the reference, stages and hops by hand; the fixed points of a link without
//! and with a queue in closed form; bounds.

use hull_core::hpcc::{Controlled, Hpcc, HpccAck, HpccConfig, HpccConstants};
use hull_core::telemetry::{Fields, HopRecord, HopRecords};
use proptest::prelude::*;

const US: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;

/// 100 Gbps and 8 us: 100,000 bytes.
fn config() -> HpccConfig {
    HpccConfig {
        link_bps: 100 * GBPS,
        base_rtt_ps: 8 * US,
        window_bytes: 100_000,
        controlled: Controlled::Rate { additive_bps: 40e6 },
        eta: 0.95,
        max_stage: 0,
        min_rate_bps: GBPS,
        reacts_per_ack: true,
        fields: Fields::Exact,
    }
}

fn record(at_us: u64, sent_bytes: u64, queue_bytes: u64, gbps: u64) -> HopRecord {
    HopRecord {
        queue_bytes,
        sent_bytes,
        at_ps: at_us * US,
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

/// A flow, its constants, and the ACKs that it gets: of `una`, with `nxt` sent.
struct Flow {
    constants: HpccConstants,
    state: Hpcc,
}

impl Flow {
    fn new(config: &HpccConfig) -> Self {
        let constants = config.constants();
        Flow {
            constants,
            state: Hpcc::new(&constants),
        }
    }

    /// Rate after an ACK, Gbps.
    fn ack(&mut self, una: u64, nxt: u64, hops: &[HopRecord]) -> f64 {
        let records = &records(hops);
        self.state
            .on_ack(&self.constants, &HpccAck { una, nxt, records });
        self.state.rate_bps(&self.constants) * 1e-9
    }
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

/// The first ACK stores. 2 us later the port has sent 12,500 bytes, half of what 100 Gbps carry: u = 0.5,
/// U = (1 * 6 + 0.5 * 2) / 8 = 0.875, and the rate 100 / (0.875 / 0.95) + 0.04 is bounded by 100. The queue
/// of 20,000 and then 10,000 bytes counts as 10,000 / 100,000: u = 1.1, U = (0.875 * 4 + 1.1 * 4) / 8 =
/// 0.9875. All of these ACKs are of the first window, so the reference stays at 100 Gbps.
#[test]
fn the_first_round_trip_by_hand() {
    let mut flow = Flow::new(&config());
    near(flow.ack(1_000, 100_000, &[record(0, 5_000, 0, 100)]), 100.0);
    near(flow.state.window_bytes(&flow.constants), 100_000.0);
    near(
        flow.ack(2_000, 101_000, &[record(2, 17_500, 20_000, 100)]),
        100.0,
    );
    near(flow.state.utilization(), 0.875);
    let rate = flow.ack(3_000, 102_000, &[record(6, 67_500, 10_000, 100)]);
    near(flow.state.utilization(), 0.9875);
    near(rate, 100.0 * 0.95 / 0.9875 + 0.04);
    near(flow.state.window_bytes(&flow.constants), rate * 1000.0);
    // Full use for a round trip or longer: U = 1, from the same reference.
    near(
        flow.ack(100_000, 180_000, &[record(16, 192_500, 0, 100)]),
        95.04,
    );
}

/// Byte 100,001 was sent after the first ACK: its ACK replaces the reference, and the next one follows it.
#[test]
fn the_reference_follows_once_per_round_trip() {
    for reacts_per_ack in [true, false] {
        let mut flow = Flow::new(&HpccConfig {
            reacts_per_ack,
            ..config()
        });
        flow.ack(1_000, 100_000, &[record(0, 0, 0, 100)]);
        let early = flow.ack(100_000, 200_000, &[record(8, 100_000, 0, 100)]);
        near(early, if reacts_per_ack { 95.04 } else { 100.0 });
        let from_us = if reacts_per_ack { 8 } else { 0 };
        let until = 100_000 + (16 - from_us) * 12_500;
        let sent = until - 100_000 + 100_000 * u64::from(reacts_per_ack);
        near(
            flow.ack(100_001, 200_000, &[record(16, sent, 0, 100)]),
            95.04,
        );
        // The next window ends at 200,000.
        let early = flow.ack(200_000, 300_000, &[record(24, sent + 100_000, 0, 100)]);
        near(
            early,
            if reacts_per_ack {
                95.04 * 0.95 + 0.04
            } else {
                95.04
            },
        );
        let from_us = if reacts_per_ack { 24 } else { 16 };
        let sent = sent + 100_000 * u64::from(reacts_per_ack) + (32 - from_us) * 12_500;
        let rate = flow.ack(200_001, 300_000, &[record(32, sent, 0, 100)]);
        near(rate, 95.04 * 0.95 + 0.04);
    }
}

/// With max_stage 2 and half of the link used: the rate falls to 50 Gbps with U = 1.9, then adds 0.04 Gbps
/// for two round trips, and is doubled to the target in the third.
#[test]
fn stages_delay_the_increase() {
    let mut flow = Flow::new(&HpccConfig {
        max_stage: 2,
        ..config()
    });
    flow.ack(1, 0, &[record(0, 0, 90_000, 100)]);
    // 1.0 of the link, and 90,000 of 100,000 bytes in its queue.
    near(flow.ack(2, 2, &[record(8, 100_000, 90_000, 100)]), 50.04);
    let mut sent = 100_000;
    for (step, rate) in [
        (1, 50.08),
        (2, 50.12),
        (3, 50.12 * 0.95 / 0.5 + 0.04),
        (4, 95.308),
    ] {
        sent += 50_000;
        let found = flow.ack(2 + step, 2 + step, &[record(8 + 8 * step, sent, 0, 100)]);
        near(found, rate);
    }
}

/// The busiest of three hops counts with its own time. 4 us: 25% of 100 Gbps. 8 us: 90% of 25 Gbps with a
/// queue of 1,000 bytes, which in the window's form is 1,000 bytes of 25,000, and in the rate's with a window
/// of 50,000 bytes counts twice. Another number of hops is another path.
#[test]
fn the_busiest_hop_counts() {
    let (rate, window) = (
        config().controlled,
        Controlled::Window {
            additive_bytes: 50.0,
        },
    );
    for (controlled, window_bytes, queue) in [
        (rate, 100_000, 0.04),
        (rate, 50_000, 0.08),
        (window, 50_000, 0.04),
    ] {
        let mut flow = Flow::new(&HpccConfig {
            controlled,
            window_bytes,
            ..config()
        });
        let first = [
            record(0, 0, 0, 100),
            record(1, 0, 2_000, 25),
            record(3, 0, 0, 400),
        ];
        flow.ack(1, 0, &first);
        let second = [
            record(4, 12_500, 0, 100),
            record(9, 22_500, 1_000, 25),
            record(13, 12_500, 0, 400),
        ];
        let found = flow.ack(2, 1, &second);
        near(flow.state.utilization(), 0.9 + queue);
        let additive = match controlled {
            Controlled::Rate { .. } => 0.04,
            Controlled::Window { .. } => 100.0 * 50.0 / window_bytes as f64,
        };
        let expected = 100.0 * 0.95 / (0.9 + queue) + additive;
        near(found, expected.min(100.0));
        let before = flow.state.clone();
        near(flow.ack(3, 3, &second[..2]), found);
        near(flow.state.utilization(), before.utilization());
    }
}

/// A link that n flows share, each with the rate that HPCC gives it, one round trip at a time. Without a
/// queue U is the sum of rates over B, and in the fixed point R = R eta / U + a: U = eta / (1 - a / R), where R
/// = U B / n.
#[test]
fn fixed_point_of_a_link_without_a_queue() {
    for flows in [1, 2, 16] {
        for eta in [0.95, 0.9] {
            let mut all: Vec<Flow> = (0..flows)
                .map(|_| Flow::new(&HpccConfig { eta, ..config() }))
                .collect();
            let mut sent = 0.0;
            let mut rates = vec![100.0 / flows as f64; flows];
            for round in 0..2000 {
                let hop = record(8 * round, sent as u64, 0, 100);
                for (flow, rate) in all.iter_mut().zip(&mut rates) {
                    *rate = flow.ack(round + 1, round, &[hop]).min(100.0 / flows as f64);
                }
                sent += rates.iter().sum::<f64>() * 1000.0;
            }
            let used = rates.iter().sum::<f64>() / 100.0;
            let expected = eta + flows as f64 * 0.04 / 100.0;
            assert!(
                (used - expected).abs() < 1e-4,
                "{flows} {eta}: {used} {expected}"
            );
        }
    }
}

proptest! {
    /// The rate stays between its bounds, and the window follows it, for any records.
    #[test]
    fn bounds(acks in prop::collection::vec(
        (0_u64..20 * US, 0_u64..400_000, 0_u64..1_000_000, 0_u64..5_000), 1..200)) {
        let mut flow = Flow::new(&config());
        let (mut at_ps, mut sent, mut una) = (0, 0, 0);
        for (later, more, queue_bytes, acked) in acks {
            (at_ps, sent, una) = (at_ps + later, sent + more, una + acked);
            let hop = HopRecord {
                at_ps,
                sent_bytes: sent,
                queue_bytes,
                link_bps: 100 * GBPS,
            };
            let rate = flow.ack(una, una + 100_000, &[hop]);
            prop_assert!((1.0 - 1e-9..=100.0 + 1e-9).contains(&rate), "{rate}");
            let window = flow.state.window_bytes(&flow.constants);
            prop_assert!((window / rate / 1000.0 - 1.0).abs() < 1e-9);
        }
    }
}
