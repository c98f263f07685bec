//! The hardware pacer: without its delay it matches the simulator's pacer bit for bit.

use hull_core::hardware::pacer as hardware;
use hull_core::pacer::{Admission, Pacer, PacerConfig, WhenFifoFull};
use proptest::prelude::*;

const CLOCK_PS: u32 = 6_400;
const STEP_PS: u64 = 2 * CLOCK_PS as u64;

fn testbed() -> PacerConfig {
    PacerConfig {
        initial_rate_bps: 100_000_000,
        ..crate::pacer::testbed()
    }
}

/// Settings around the testbed's, with times in whole steps.
fn configs() -> impl Strategy<Value = PacerConfig> {
    (
        (
            500_000_u64..=100_000_000_000,
            1_u32..6_000,
            1_500_u32..40_000,
        ),
        (0_u32..=65_536, 0_u32..400_000_000),
        prop_oneof![Just(0), Just(500_000_u64), 1_u64..3_000_000],
        prop_oneof![Just(0), 1_u64..2_000],
        200_u64..10_000,
        any::<bool>(),
    )
        .prop_map(
            |(sizes, filter, rate_step_bps, tick_steps, interval_steps, drop)| PacerConfig {
                max_rate_bps: 100_000_000_000,
                initial_rate_bps: sizes.0,
                bucket_bytes: sizes.1,
                fifo_bytes: sizes.2,
                update_interval_ps: interval_steps * STEP_PS,
                eta: filter.0,
                beta: filter.1,
                rate_step_bps,
                token_tick_ps: tick_steps * STEP_PS,
                when_full: if drop {
                    WhenFifoFull::Drop
                } else {
                    WhenFifoFull::Bypass
                },
                ..testbed()
            },
        )
}

fn hold(settings: hardware::Settings) -> hardware::Settings {
    hardware::Settings {
        when_full: hardware::WhenFull::Hold,
        ..settings
    }
}

proptest! {
    #[test]
    fn without_delay_it_matches_the_simulator(
        config in configs(),
        start_steps in 0_u64..100_000,
        // Steps since the last event; bytes; paced; whether a packet arrives or the head is polled.
        events in prop::collection::vec(
            (0_u64..3_000, 1_u32..=9_000, prop::bool::weighted(0.8), any::<bool>()), 1..200),
    ) {
        let settings = hardware::Settings::of(&config, CLOCK_PS).expect("all registers are wide enough");
        let mut steps = start_steps;
        let mut simulated = Pacer::new(&config, steps * STEP_PS);
        let mut hardware = hardware::Pacer::new(&settings, CLOCK_PS, 0, steps * 2);
        let mut fifo = std::collections::VecDeque::new();
        for (pause, bytes, paced, packet) in events {
            steps += pause;
            let (now_ps, now) = (steps * STEP_PS, steps * 2);
            if packet {
                let admission = simulated.admit(now_ps, bytes, paced);
                let same = match hardware.admit(now, bytes, paced) {
                    hardware::Admission::Pass => Admission::Pass,
                    hardware::Admission::Queued => Admission::Queued,
                    hardware::Admission::Dropped => Admission::Dropped,
                    hardware::Admission::Held => panic!("no policy of the simulator"),
                };
                prop_assert_eq!(admission, same);
                if admission == Admission::Queued {
                    fifo.push_back(bytes);
                }
            } else if let Some(&head) = fifo.front() {
                let leaves = simulated.poll(now_ps, head);
                prop_assert_eq!(leaves, hardware.poll(now, head));
                if leaves {
                    fifo.pop_front();
                }
                if let Some(&head) = fifo.front() {
                    // The simulator's wake-up time, rounded up to a step.
                    let wake_ps = simulated.next_wake_ps(head);
                    prop_assert_eq!(wake_ps.div_ceil(STEP_PS) * 2, hardware.next_wake(head));
                }
            }
            prop_assert_eq!(simulated.rate_bps(), hardware.rate_bps());
            prop_assert_eq!(simulated.backlog_bytes(), hardware.backlog_bytes());
        }
    }

    /// Hold: the state is as if each packet had been offered only when it was accepted.
    #[test]
    fn held_packet_leaves_the_state_unchanged(
        config in configs(),
        packets in prop::collection::vec((0_u64..300, 1_u32..=1_500), 1..150),
    ) {
        let settings = hold(hardware::Settings::of(&config, CLOCK_PS).expect("wide enough"));
        let mut pacer = hardware::Pacer::new(&settings, CLOCK_PS, hardware::RATE_DELAY, 0);
        let mut now = 0;
        for (pause, bytes) in packets {
            now += pause * 2;
            let mut other = pacer.clone();
            if pacer.admit(now, bytes, true) == hardware::Admission::Held {
                other.advance(now);
                prop_assert_eq!(&pacer, &other);
                prop_assert!(pacer.backlog_bytes() + bytes > settings.fifo_bytes);
            }
            prop_assert!(pacer.backlog_bytes() <= settings.fifo_bytes);
        }
    }
}

/// The new rate generates tokens from `rate_delay` clocks after the sampling.
#[test]
fn the_rate_changes_after_its_delay() {
    let settings = hardware::Settings::of(&testbed(), 8_000).expect("the testbed fits");
    assert_eq!(settings.update_interval, 8_000);
    // 0.125 * 8e12 * 2^32 / 64e6, by hand.
    assert_eq!(settings.gain, 15_625 << 32);
    let mut pacer = hardware::Pacer::new(&settings, 8_000, 158, 0);
    for _ in 0..3 {
        pacer.admit(0, 1500, true);
    }
    // The recorded vector `rate_update_moves_departure`.
    pacer.advance(8_156);
    assert_eq!(pacer.rate_bps(), 100_000_000);
    pacer.advance(8_158);
    assert_eq!(pacer.rate_bps(), 158_004_500);
    // 800 bytes in 8,000 clocks, 15.8 in 158; 684.2 missing at 158004500 bit/s take 4330.2 clocks.
    assert!(!pacer.poll(12_488, 1500));
    assert!(pacer.poll(12_490, 1500));
}

/// Settings that no register can hold are rejected.
#[test]
fn settings_that_do_not_fit() {
    let fits = |change: fn(&mut PacerConfig)| {
        let mut config = testbed();
        change(&mut config);
        hardware::Settings::of(&config, 8_000).is_some()
    };
    assert!(fits(|_| ()));
    assert!(!fits(|config| config.max_rate_bps = 1 << 40));
    assert!(!fits(|config| config.bucket_bytes = 1 << 20));
    assert!(!fits(|config| config.fifo_bytes = 1 << 24));
    assert!(!fits(|config| config.update_interval_ps = 64_000_001));
    assert!(!fits(|config| config.update_interval_ps = 255 * 8_000));
    assert!(!fits(|config| config.update_interval_ps = 8_000 << 24));
    assert!(!fits(|config| config.token_tick_ps = 4_000));
    assert!(!fits(|config| config.rate_step_bps = 1 << 32));
}

/// A larger bucket adds no tokens; a shorter T_r counts from the last sampling; the next sampling
/// clamps the rate.
#[test]
fn settings_that_change() {
    let before = hardware::Settings::of(&testbed(), 8_000).expect("registers");
    let mut pacer = hardware::Pacer::new(&before, 8_000, hardware::RATE_DELAY, 0);
    assert_eq!(pacer.admit(0, 3_000, true), hardware::Admission::Pass);
    let after = hardware::Settings {
        bucket_bytes: 6_000,
        update_interval: 1_000,
        max_rate_bps: 50_000_000,
        ..before
    };
    pacer.change(200, &after);
    assert_eq!(pacer.rate_bps(), 100_000_000);
    // 3,000 bytes are missing since clock 0, as before the change.
    assert_eq!(pacer.admit(200, 3_500, true), hardware::Admission::Queued);
    pacer.advance(1_000 + hardware::RATE_DELAY);
    assert_eq!(pacer.rate_bps(), 50_000_000);
}
