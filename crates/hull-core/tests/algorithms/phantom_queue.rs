//! Phantom queue against an exact fluid integration, and its invariants.

use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use proptest::prelude::*;

/// The same queue in whole 1e-12 bits, where a rate times a time is exact.
struct Fluid {
    drain_bps: i128,
    backlog: i128,
    last_ps: u64,
}

const PER_BYTE: i128 = 8_000_000_000_000;

impl Fluid {
    fn at(&self, now_ps: u64) -> i128 {
        let elapsed_ps = i128::from(now_ps - self.last_ps);
        (self.backlog - self.drain_bps * elapsed_ps).max(0)
    }

    /// Backlog before the packet.
    fn on_packet(&mut self, now_ps: u64, bytes: u32) -> i128 {
        let before = self.at(now_ps);
        self.backlog = before + i128::from(bytes) * PER_BYTE;
        self.last_ps = now_ps;
        before
    }
}

/// Packets as (time since the one before in units of a 1500-byte time at the drain rate / 1000,
/// bytes).
fn packets() -> impl Strategy<Value = Vec<(u64, u32)>> {
    prop::collection::vec((0_u64..2_000, 1_u32..=1500), 1..300)
}

fn drain_rates() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(950_000_000),
        Just(9_500_000_000),
        1_000_000_u64..400_000_000_000
    ]
}

fn gap_ps(thousandths: u64, drain_bps: u64) -> u64 {
    thousandths * 12_000_000_000_000 / drain_bps
}

proptest! {
    #[test]
    fn marks_match_the_fluid_queue(
        packets in packets(),
        drain_bps in drain_rates(),
        threshold_bytes in 0_u32..20_000,
        count_arriving: bool,
    ) {
        let mut queue = PhantomQueue::new(&PhantomQueueConfig {
            drain_bps, threshold_bytes, count_arriving, drain: Drain::Continuous,
        });
        let mut fluid = Fluid { drain_bps: i128::from(drain_bps), backlog: 0, last_ps: 0 };
        let threshold = i128::from(threshold_bytes) * PER_BYTE;
        let mut now_ps = 0;
        let mut seen_bytes = u64::from(threshold_bytes);
        for (gap, bytes) in packets {
            now_ps += gap_ps(gap, drain_bps);
            seen_bytes += u64::from(bytes);
            let mark = queue.on_packet(now_ps, bytes);
            let before = fluid.on_packet(now_ps, bytes);
            let compared = if count_arriving { fluid.at(now_ps) } else { before };
            // The documented error: relative drain_bps / 1.05e18 of all bytes counted so far.
            let error = seen_bytes as f64 * PER_BYTE as f64 * drain_bps as f64 / 1.04e18;
            if (compared - threshold).abs() as f64 > error {
                prop_assert_eq!(mark, compared > threshold, "at {} ps", now_ps);
            }
            let backlog = fluid.at(now_ps) as f64 / PER_BYTE as f64;
            let difference = (queue.backlog_bytes(now_ps) as f64 - backlog).abs();
            prop_assert!(difference <= 0.5 + error / PER_BYTE as f64 + 1e-6, "{}", difference);
        }
    }

    #[test]
    fn sums_of_bytes_are_exact(
        sizes in prop::collection::vec(0_u32..=9000, 1..50),
        drain_bps in drain_rates(),
    ) {
        let sum: u32 = sizes.iter().sum();
        for (threshold_bytes, above) in [(sum, false), (sum.saturating_sub(1), sum > 0)] {
            let mut queue = PhantomQueue::new(&PhantomQueueConfig {
                drain_bps, threshold_bytes, count_arriving: true, drain: Drain::Continuous,
            });
            let mut mark = false;
            for &bytes in &sizes {
                mark = queue.on_packet(7, bytes);
            }
            prop_assert_eq!(mark, above);
            prop_assert_eq!(queue.backlog_bytes(7), u64::from(sum));
        }
    }

    #[test]
    fn mark_and_backlog_agree(
        packets in packets(),
        drain_bps in drain_rates(),
        threshold_bytes in 0_u32..5_000,
        tick_ps in prop_oneof![Just(0_u64), 1_u64..2_000_000],
    ) {
        let drain = if tick_ps == 0 { Drain::Continuous } else { Drain::Ticks { tick_ps } };
        let mut queue = PhantomQueue::new(&PhantomQueueConfig {
            drain_bps, threshold_bytes, count_arriving: false, drain,
        });
        let mut now_ps = 0;
        for (gap, bytes) in packets {
            now_ps += gap_ps(gap, drain_bps);
            let before = queue.backlog_bytes(now_ps);
            let mark = queue.on_packet(now_ps, bytes);
            if mark {
                prop_assert!(before >= u64::from(threshold_bytes));
            } else {
                prop_assert!(before <= u64::from(threshold_bytes));
            }
            let after = queue.backlog_bytes(now_ps);
            prop_assert!(after.abs_diff(before + u64::from(bytes)) <= 1);
        }
    }

    #[test]
    fn ticks_stay_within_one_tick_of_continuous(
        packets in packets(),
        drain_bps in drain_rates(),
        tick_ps in 1_u64..2_000_000,
        look_ps in 0_u64..100_000_000,
    ) {
        let config = PhantomQueueConfig {
            drain_bps, threshold_bytes: 1000, count_arriving: false, drain: Drain::Continuous,
        };
        let mut smooth = PhantomQueue::new(&config);
        let mut stepped = PhantomQueue::new(&PhantomQueueConfig {
            drain: Drain::Ticks { tick_ps }, ..config
        });
        let tick_bytes = (drain_bps as f64 * tick_ps as f64 / 8e12).ceil() as u64 + 1;
        let mut now_ps = 0;
        for (gap, bytes) in packets {
            now_ps += gap_ps(gap, drain_bps);
            smooth.on_packet(now_ps, bytes);
            stepped.on_packet(now_ps, bytes);
            for t_ps in [now_ps, now_ps + look_ps] {
                let difference = stepped.backlog_bytes(t_ps).abs_diff(smooth.backlog_bytes(t_ps));
                prop_assert!(difference <= tick_bytes, "{} of {}", difference, tick_bytes);
            }
        }
    }
}

#[test]
fn an_overloaded_queue_saturates() {
    let mut queue = PhantomQueue::new(&PhantomQueueConfig {
        drain_bps: 1,
        threshold_bytes: u32::MAX,
        count_arriving: true,
        drain: Drain::Continuous,
    });
    for _ in 0..10 {
        assert!(!queue.on_packet(0, u32::MAX), "saturated at the threshold");
    }
    assert_eq!(queue.backlog_bytes(u64::MAX), 0);
}

/// Clearing a queue before departures already reported to it leaves a queue that starts empty then.
#[test]
fn cleared_queue_equals_an_empty_one() {
    for drain in [Drain::Continuous, Drain::Ticks { tick_ps: 800_000 }] {
        let config = PhantomQueueConfig {
            drain_bps: 950_000_000,
            threshold_bytes: 1000,
            count_arriving: false,
            drain,
        };
        let (mut used, mut fresh) = (PhantomQueue::new(&config), PhantomQueue::new(&config));
        for n in 0..20 {
            used.on_packet(n * 12_000_000, 1500);
        }
        let now_ps = 100_000_123;
        used.clear(now_ps);
        for n in 0..20 {
            let at_ps = now_ps + n * n * 700_000;
            assert_eq!(used.on_packet(at_ps, 1500), fresh.on_packet(at_ps, 1500));
            assert_eq!(used.backlog_bytes(at_ps), fresh.backlog_bytes(at_ps));
        }
    }
}
