//! Uno's phantom queue: single steps against the counter, growth under full load in closed form,
//! marking ramp, saturation.

use hull_core::ramp::{self, RampMarker};
use hull_core::uno_phantom_queue::{UnoPhantomQueue, UnoPhantomQueueConfig, share_bytes};
use proptest::prelude::*;

const SIZE: u64 = 22_400_515;
/// A packet of 4160 bytes at 100 Gbps.
const PACKET_PS: u64 = 332_800;

fn published(slowdown_pct: u32) -> UnoPhantomQueueConfig {
    UnoPhantomQueueConfig {
        link_bps: 100_000_000_000,
        slowdown_pct,
        packet_bytes: 4160,
        size_bytes: SIZE,
        ramp: RampMarker {
            low_bytes: share_bytes(SIZE, 2),
            high_bytes: share_bytes(SIZE, 60),
            max_probability: ramp::ONE,
        },
    }
}

/// Uno's drain rates: 1 / 1.05 and 1 / 1.1 of the link's; thresholds in integer arithmetic.
#[test]
fn published_settings() {
    assert_eq!(published(5).step_ps(), 349_440);
    assert_eq!(published(10).step_ps(), 366_080);
    assert_eq!(published(5).ramp.low_bytes, 448_010);
    assert_eq!(published(5).ramp.high_bytes, 13_440_300);
    let share = PACKET_PS as f64 / published(5).step_ps() as f64;
    assert!((share - 0.9524).abs() < 5e-5);
}

/// Under full load the counter grows by 4160 (1 - 1 / 1.05) = 198.1 bytes a packet, so n times that
/// after n packets, to within two packets. No packet is marked before 448,010 bytes, near packet
/// 2262, and every packet is from 13,440,300 bytes on, near packet 67,848.
#[test]
fn full_load_in_closed_form() {
    let mut queue = UnoPhantomQueue::new(&published(5));
    let growth = 4160.0 * (1.0 - 1.0 / 1.05);
    let (mut first_certain, mut first_possible) = (None, None);
    for number in 0..70_000_u64 {
        let now_ps = number * PACKET_PS;
        queue.on_arrival(now_ps, 4160);
        let expected = growth * number as f64;
        let found = queue.backlog_bytes(now_ps) as f64;
        assert!(
            (found - expected).abs() <= 2.0 * 4160.0,
            "{number} {found} {expected}"
        );
        let left_ps = now_ps + PACKET_PS - 1;
        if queue.clone().on_departure(left_ps, u32::MAX) && first_certain.is_none() {
            first_certain = Some(number);
        }
        if queue.on_departure(left_ps, 0) && first_possible.is_none() {
            first_possible = Some(number);
        }
    }
    let near = |found: Option<u64>, bytes: f64| {
        let expected = bytes / growth;
        (found.unwrap() as f64 - expected).abs() <= 2.0 * 4160.0 / growth
    };
    assert!(near(first_possible, 448_010.0), "{first_possible:?}");
    assert!(near(first_certain, 13_440_300.0), "{first_certain:?}");
}

proptest! {
    /// Matches single steps: arrivals add; steps on the grid of the first departure remove 4160
    /// bytes or the remainder.
    #[test]
    fn batched_steps_match_single_steps(
        slowdown_pct in 0_u32..30,
        size in 4160_u64..200_000,
        packets in prop::collection::vec((0_u64..2_000_000, 64_u32..9000, any::<bool>()), 1..200),
    ) {
        let config = UnoPhantomQueueConfig { size_bytes: size, ramp: RampMarker { low_bytes: 0, high_bytes: size, max_probability: ramp::ONE }, ..published(slowdown_pct) };
        let mut queue = UnoPhantomQueue::new(&config);
        let (mut now_ps, mut backlog, mut step_ps) = (0, 0_u64, None);
        for (gap_ps, bytes, leaves) in packets {
            now_ps += gap_ps;
            while let Some(at_ps) = step_ps.filter(|&at_ps| at_ps <= now_ps) {
                backlog = backlog.saturating_sub(4160);
                step_ps = Some(at_ps + config.step_ps());
            }
            prop_assert_eq!(queue.backlog_bytes(now_ps), backlog);
            if leaves {
                queue.on_departure(now_ps, 0);
                if step_ps.is_none() {
                    backlog = backlog.saturating_sub(4160);
                    step_ps = Some(now_ps + config.step_ps());
                }
            } else {
                queue.on_arrival(now_ps, bytes);
                backlog = (backlog + u64::from(bytes)).min(size);
            }
            prop_assert_eq!(queue.backlog_bytes(now_ps), backlog);
        }
    }

    /// For uniform random bits, the share of marks is the counter's position between the
    /// thresholds.
    #[test]
    fn marks_in_proportion(backlog in 0_u32..30_000) {
        let config = UnoPhantomQueueConfig { ramp: RampMarker { low_bytes: 5000, high_bytes: 25_000, max_probability: ramp::ONE }, ..published(5) };
        let mut queue = UnoPhantomQueue::new(&config);
        queue.on_arrival(0, backlog);
        let marks = (0..1000_u32).filter(|&step| queue.clone().on_departure(0, step * 4_294_967)).count();
        let expected = ((f64::from(backlog) - 5000.0) / 20_000.0).clamp(0.0, 1.0) * 1000.0;
        prop_assert!((marks as f64 - expected).abs() <= 1.0, "{} {}", marks, expected);
    }
}

/// The counter saturates at its size, so it is empty after that size's drain time.
#[test]
fn saturates() {
    let mut queue = UnoPhantomQueue::new(&UnoPhantomQueueConfig {
        size_bytes: 41_600,
        ..published(5)
    });
    queue.on_departure(0, 0);
    for _ in 0..1000 {
        queue.on_arrival(0, 4160);
    }
    assert_eq!(queue.backlog_bytes(0), 41_600);
    assert_eq!(queue.backlog_bytes(9 * 349_440), 4160);
    assert_eq!(queue.backlog_bytes(10 * 349_440), 0);
}

/// Equal thresholds act as one: no marks at it, all marked above.
#[test]
fn one_threshold() {
    let ramp = RampMarker {
        low_bytes: 5000,
        high_bytes: 5000,
        max_probability: ramp::ONE,
    };
    assert!(!ramp.marks(5000, 0));
    assert!(ramp.marks(5001, u32::MAX));
}
