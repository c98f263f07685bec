//! The hardware's phantom queue against the simulator's, and against exact fractions.

use hull_core::hardware::phantom_queue::{COUNTER_BITS, PhantomQueue as Hardware, Settings};
use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use proptest::prelude::*;

const CLOCKS_PS: [u32; 4] = [8_000, 6_400, 3_200, 2_560];

fn config(drain_bps: u64, threshold_bytes: u32, count_arriving: bool) -> PhantomQueueConfig {
    PhantomQueueConfig {
        drain_bps,
        threshold_bytes,
        count_arriving,
        drain: Drain::Continuous,
    }
}

proptest! {
    // Up to the hardware's saturation: 1.1 MB at the slowest drain rate, which few cases reach.
    #[test]
    fn agrees_with_the_simulators_queue_at_whole_clocks(
        packets in prop::collection::vec((0_u64..3_000, 1_u32..=9_216), 1..300),
        drain_bps in 123_000_000_u64..400_000_000_000,
        threshold_bytes in 0_u32..200_000,
        count_arriving: bool,
        clock in 0_usize..CLOCKS_PS.len(),
        tick in prop_oneof![Just(0_u64), 1_u64..1_000],
    ) {
        let clock_ps = CLOCKS_PS[clock];
        let mut config = config(drain_bps, threshold_bytes, count_arriving);
        if tick > 0 {
            config.drain = Drain::Ticks { tick_ps: tick * u64::from(clock_ps) };
        }
        let settings = Settings::of(&config, clock_ps).expect("the registers are large enough");
        let mut simulated = PhantomQueue::new(&config);
        let mut hardware = Hardware::new(&settings);
        let mut now = 0;
        for (clocks, bytes) in packets {
            now += clocks;
            let now_ps = now * u64::from(clock_ps);
            let marked = hardware.on_packet(now, bytes);
            prop_assert_eq!(marked, simulated.on_packet(now_ps, bytes));
            let backlog = hardware.backlog_units(now);
            let byte = u64::from(settings.byte_units);
            let simulated_bytes = simulated.backlog_bytes(now_ps);
            if backlog == (1 << COUNTER_BITS) - 1 {
                prop_assert!(simulated_bytes >= backlog / byte);
                return Ok(());
            }
            prop_assert_eq!((backlog + byte / 2) / byte, simulated_bytes);
        }
    }

    #[test]
    fn reduced_drain_fraction_is_the_exact_rate(
        packets in prop::collection::vec((0_u64..3_000, 64_u32..=1_518), 1..300),
        megabits in 1_u64..100_000,
    ) {
        let config = config(megabits * 1_000_000, 1_000, false);
        let settings = Settings::exact(&config, 6_400).expect("the registers are large enough");
        let mut hardware = Hardware::new(&settings);
        // The counter in bits * 1e12, and the time in ps: a rate times a time is exact.
        let (mut exact, mut last, mut now) = (0_i128, 0_u64, 0_u64);
        for (clocks, bytes) in packets {
            now += clocks;
            exact -= i128::from(config.drain_bps) * i128::from((now - last) * 6_400);
            last = now;
            exact = exact.max(0);
            prop_assert_eq!(hardware.on_packet(now, bytes), exact > 8_000_000_000_000_000);
            exact += i128::from(bytes) * 8_000_000_000_000;
        }
    }
}

#[test]
fn published_drain_is_nineteen_twentieths_of_a_byte() {
    let settings = Settings::exact(&config(950_000_000, 1_000, false), 8_000).expect("fits");
    assert_eq!((settings.drain_units, settings.byte_units), (19, 20));
}

#[test]
fn counter_saturates() {
    let settings = Settings {
        counter_bits: 20,
        ..Settings::exact(&config(950_000_000, 1_000, false), 8_000).expect("fits")
    };
    let mut queue = Hardware::new(&settings);
    for _ in 0..100 {
        queue.on_packet(0, 1_500);
    }
    assert_eq!(queue.backlog_units(0), (1 << 20) - 1);
    assert_eq!(queue.backlog_units(10), (1 << 20) - 1 - 190);
}

#[test]
fn registers_that_are_too_small_are_refused() {
    let slow = config(122_000, 1_000, false);
    assert_eq!(Settings::of(&slow, 8_000), None);
    assert_eq!(
        Settings::of(&config(950_000_000, 1 << 20, false), 8_000),
        None
    );
    assert_eq!(
        Settings::of(&config(950_000_000, 1_000, false), 65_536),
        None
    );
    let mut ticks = config(950_000_000, 1_000, false);
    ticks.drain = Drain::Ticks { tick_ps: 800_001 };
    assert_eq!(Settings::of(&ticks, 8_000), None);
}

/// 1000 bytes of 20 units; 100 clocks at 19 units, then 100 at 40.
#[test]
fn old_rate_drains_up_to_the_clock_of_a_change() {
    let slow = Settings {
        drain_units: 19,
        byte_units: 20,
        threshold_bytes: 600,
        count_arriving: false,
        tick_clocks: 0,
        counter_bits: 52,
    };
    let fast = Settings {
        drain_units: 40,
        threshold_bytes: 500,
        ..slow
    };
    let mut queue = Hardware::new(&slow);
    queue.on_packet(0, 1_000);
    queue.change(100, &fast);
    assert_eq!(queue.backlog_units(100), 18_100);
    assert_eq!(queue.backlog_units(200), 14_100);
    assert!(queue.on_packet(200, 60), "705 bytes are above 500");
}
