//! PIE: recursion with its divisors, bounds, spacing of drops, burst allowance, operating point of
//! the fluid model.

use hull_core::pie::{Pie, PieConfig};
use hull_core::signal::Signal;
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;

fn pie() -> Pie {
    Pie::new(&PieConfig {
        burst_ps: 0,
        ..PieConfig::published(1500)
    })
}

/// Updates p after a departure with this delay.
fn update(pie: &mut Pie, delay_ps: u64) {
    pie.on_departure(0, delay_ps, 100_000);
    pie.update(100_000);
}

/// The RFC's table: the gains are divided by 2048 below 1e-6, 512 below 1e-5, 128 below 1e-4, 32
/// below 1e-3, 8 below 1e-2, 2 below 0.1.
fn divisor(p: f64) -> f64 {
    let table = [
        (1e-6, 2048.0),
        (1e-5, 512.0),
        (1e-4, 128.0),
        (1e-3, 32.0),
        (1e-2, 8.0),
        (0.1, 2.0),
    ];
    table
        .iter()
        .find(|(below, _)| p < *below)
        .map_or(1.0, |(_, divisor)| *divisor)
}

proptest! {
    #[test]
    fn follows_its_recursion(delays in prop::collection::vec(1_u64..400_000, 1..300)) {
        let mut pie = pie();
        let (mut p, mut before) = (0.0_f64, 0.0);
        for delay_us in delays {
            update(&mut pie, delay_us * 1_000_000);
            let delay = delay_us as f64 / 1e6;
            let mut change = (0.125 * (delay - 0.015) + 1.25 * (delay - before)) / divisor(p);
            if p >= 0.1 {
                change = change.min(0.02);
            }
            if delay > 0.25 {
                change += 0.02;
            }
            let expected = (p + change).clamp(0.0, 1.0);
            before = delay;
            // Continue from the implementation's p: rounding may cross a step of the table.
            p = pie.probability();
            prop_assert!((p - expected).abs() < 1e-12, "{} {}", p, expected);
        }
    }

    /// At a constant p with a high delay the share of drops is near p / 1.85, and the gap between
    /// two drops is at least 0.85 / p and at most 8.5 / p packets.
    #[test]
    fn drops_are_spread(rounds in 200_u32..2000, seed in any::<u64>()) {
        let mut pie = pie();
        for _ in 0..rounds {
            update(&mut pie, 16 * MS);
        }
        let p = pie.probability();
        prop_assume!(p > 0.002);
        let (mut state, mut last, mut drops) = (seed, None, 0_u64);
        let packets = 200_000_u64;
        for number in 0..packets {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            if pie.on_arrival(100_000, false, (state >> 32) as u32) == Signal::Drop {
                if let Some(last) = last {
                    let gap = (number - last) as f64;
                    prop_assert!(gap >= 0.85 / p - 1.0 && gap <= 8.5 / p + 1.0, "{} {}", gap, p);
                }
                last = Some(number);
                drops += 1;
            }
        }
        // A gap is 0.85 / p plus a geometric part: 1.85 / p on average; 10% exceeds five standard
        // deviations.
        let expected = packets as f64 * p / 1.85;
        prop_assert!((drops as f64 / expected - 1.0).abs() < 0.1 + 1.0 / expected.sqrt() * 2.0, "{} {}", drops, expected);
    }
}

/// Two updates in a row with no delay and an empty queue cut p by 1/64; the first only adds the
/// controller's change.
#[test]
fn decays_when_empty() {
    let mut pie = pie();
    for _ in 0..3000 {
        update(&mut pie, 20 * MS);
    }
    let high = pie.probability();
    assert!(high > 0.3);
    pie.on_departure(0, 0, 0);
    pie.update(0);
    let once = high + 0.125 * -0.015 + 1.25 * -0.02;
    assert!((pie.probability() - once).abs() < 1e-12);
    pie.update(0);
    assert!((pie.probability() - (once - 0.125 * 0.015) * 63.0 / 64.0).abs() < 1e-12);
}

/// Packets that arrive within the first 150 ms of departures are admitted at any p.
#[test]
fn bursts_are_allowed() {
    let mut pie = Pie::new(&PieConfig::published(1500));
    for _ in 0..3000 {
        update(&mut pie, 20 * MS);
    }
    let drops = |pie: &Pie| {
        let mut pie = pie.clone();
        (0..100).any(|_| pie.on_arrival(100_000, false, 0) == Signal::Drop)
    };
    pie.on_departure(149 * MS, 20 * MS, 100_000);
    assert!(!drops(&pie));
    pie.on_departure(150 * MS, 20 * MS, 100_000);
    assert!(drops(&pie));
    // Fewer than two packets in the queue: admitted.
    assert_eq!(pie.on_arrival(2999, false, 0), Signal::Pass);
}

/// ECT packets are marked up to p = 0.1 and dropped above.
#[test]
fn marks_while_p_is_small() {
    for (updates, signal) in [(1500, Signal::Mark), (20_000, Signal::Drop)] {
        let mut pie = pie();
        for _ in 0..updates {
            update(&mut pie, 16 * MS);
        }
        assert_eq!(
            pie.probability() <= 0.1,
            signal == Signal::Mark,
            "{}",
            pie.probability()
        );
        let seen = (0..1000)
            .map(|_| pie.on_arrival(100_000, true, 0))
            .find(|&one| one != Signal::Pass);
        assert_eq!(seen, Some(signal));
    }
}

/// Fluid model: N flows of TCP, dW/dt = 1/R - W^2 p / 2R, settle at the target delay with p = 2 /
/// W^2. 20 Mbit/s, 1500-byte packets, 50 ms round trip without the queue.
#[test]
fn settles_at_the_target() {
    let mut pie = pie();
    let (capacity, propagation, flows) = (20e6 / 12_000.0, 0.05, 8.0);
    let step = 5e-4;
    let (mut window, mut queue) = (5.0_f64, 0.0_f64);
    let (mut delay_sum, mut samples) = (0.0, 0.0);
    for n in 0..1_200_000 {
        let delay = queue / capacity;
        if n % 30 == 0 {
            update(&mut pie, (delay * 1e12) as u64);
        }
        let round_trip = propagation + delay;
        window += step * (1.0 - window * window * pie.probability() / 2.0) / round_trip;
        queue = (queue + step * (flows * window / round_trip - capacity)).max(0.0);
        if n > 600_000 {
            delay_sum += delay;
            samples += 1.0;
        }
    }
    let delay: f64 = delay_sum / samples;
    assert!((delay - 0.015).abs() < 0.015 * 0.05, "{delay}");
    let expected = 2.0 / (capacity * 0.065 / flows).powi(2);
    assert!(
        (pie.probability() / expected - 1.0).abs() < 0.1,
        "{} {expected}",
        pie.probability()
    );
}
