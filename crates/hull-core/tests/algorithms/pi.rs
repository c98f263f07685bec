//! PI: its operating point under the fluid model of TCP with the coefficients of Hollot et al.'s
//! Proposition 2, its coefficients against the published ones, the recursion by hand, empty queues.

use hull_core::pi::{Pi, PiConfig};
use hull_core::queue_estimate::{Link, QueueUnit};
use proptest::prelude::*;

const PS: f64 = 1e12;

/// Proposition 2 for C packets/s, N flows, a round trip of R s and samples every T s: (a, b).
fn proposition_2(capacity: f64, flows: f64, round_trip: f64, interval: f64) -> (f64, f64) {
    let zero = 2.0 * flows / (round_trip * round_trip * capacity);
    let plant_gain = (round_trip * capacity).powi(3) / (2.0 * flows).powi(2);
    let gain = zero * (zero * round_trip).hypot(1.0) / plant_gain;
    (
        gain * (1.0 / zero + interval / 2.0),
        gain * (1.0 / zero - interval / 2.0),
    )
}

fn scaled(coefficient: f64) -> u64 {
    (coefficient * 2.0_f64.powi(64)) as u64
}

fn link(packets_per_second: f64) -> Link {
    Link {
        rate_bps: (packets_per_second * 12_000.0) as u64,
        typical_packet_bytes: 1500,
        unit: QueueUnit::Packets,
    }
}

/// The example of the paper that introduces PI: 3750 packets/s, 60 flows, 0.2 s and 175 packets of
/// queue, 160 samples/s give a = 1.822e-5 and b = 1.816e-5.
#[test]
fn coefficients_match_the_published_ones() {
    let (a, b) = proposition_2(3750.0, 60.0, 0.2 + 175.0 / 3750.0, 1.0 / 160.0);
    assert!((a - 1.822e-5).abs() < 0.03e-5, "{a}");
    assert!((b - 1.816e-5).abs() < 0.03e-5, "{b}");
    assert!((a - b - 6e-8).abs() < 0.5e-8, "{}", a - b);
}

/// Fluid model of N TCP flows with mark probability p: dW/dt = 1/R - W W(t-R) p(t-R) / 2R,
/// dq/dt = N W / R - C. Returns the mean queue and the mean p over the last quarter of `seconds`.
fn fluid(capacity: f64, flows: f64, propagation: f64, reference: u32, seconds: f64) -> (f64, f64) {
    let round_trip = propagation + f64::from(reference) / capacity;
    let interval = round_trip / 40.0;
    let (a, b) = proposition_2(capacity, flows, round_trip, interval);
    let mut pi = Pi::new(&PiConfig {
        reference,
        a: scaled(a),
        b: scaled(b),
        interval_ps: (interval * PS) as u64,
        link: link(capacity),
    });
    let interval_ps = (interval * PS) as u64;
    let step = interval / 5.0;
    let delay = (round_trip / step) as usize;
    let steps = (seconds / step) as usize;
    let (mut window, mut queue) = (1.0_f64, 0.0_f64);
    let mut history = vec![(1.0, 0.0); delay + 1];
    let (mut queue_sum, mut probability_sum, mut samples) = (0.0, 0.0, 0.0);
    for n in 0..steps {
        if n > 0 && n % 5 == 0 {
            // Another packet arrives just before the sample: less than that remains at the sample.
            let (sample_ps, packets) = (n as u64 / 5 * interval_ps, queue.round() as u64);
            pi.on_arrival(sample_ps - 1, packets, 1500, 0);
            pi.on_arrival(sample_ps, packets, 1500, 0);
        }
        let probability = pi.probability() as f64 / 2.0_f64.powi(64);
        let round_trip = propagation + queue / capacity;
        let (old_window, old_probability) = history[n % (delay + 1)];
        history[n % (delay + 1)] = (window, probability);
        let change = (1.0 - window * old_window / 2.0 * old_probability) / round_trip;
        queue = (queue + step * (flows * window / round_trip - capacity)).max(0.0);
        window = (window + step * change).max(1.0);
        if n >= steps * 3 / 4 {
            queue_sum += queue;
            probability_sum += probability;
            samples += 1.0;
        }
    }
    (queue_sum / samples, probability_sum / samples)
}

/// The queue settles at q_ref and the probability at TCP's 2 / W^2 for any number of flows above
/// the design value of the coefficients.
#[test]
fn integral_action_keeps_the_reference() {
    for (capacity, flows, propagation, reference, seconds) in [
        (3750.0, 60.0, 0.2, 175, 200.0),
        (833_333.0, 20.0, 500e-6, 40, 2.0),
    ] {
        let (queue, probability) = fluid(capacity, flows, propagation, reference, seconds);
        let reference = f64::from(reference);
        assert!(
            (queue / reference - 1.0).abs() < 0.02,
            "{queue} {reference}"
        );
        let window = (capacity * propagation + reference) / flows;
        let expected = 2.0 / (window * window);
        assert!(
            (probability / expected - 1.0).abs() < 0.03,
            "{probability} {expected}"
        );
    }
}

/// a = 1/1024, b = 1/2048, q_ref = 100. A packet takes 1 us, an interval 1000 us. Arrivals just
/// before each sample set its queue: n + 1 packets, one of which finishes at the sample.
#[test]
fn follows_its_recursion() {
    let mut pi = Pi::new(&PiConfig {
        reference: 100,
        a: 1 << 54,
        b: 1 << 53,
        interval_ps: 1_000_000_000,
        link: link(1e6),
    });
    let (mut expected, mut last) = (0.0_f64, 0.0);
    for (n, queue) in [300_u64, 120, 500, 100, 40, 0, 700, 2000, 0, 0]
        .into_iter()
        .enumerate()
    {
        let sample_ps = (n as u64 + 1) * 1_000_000_000;
        // The additional packet finishes at the sample.
        pi.on_arrival(sample_ps - 1_000_000, queue, 1500, 0);
        pi.on_arrival(sample_ps, 0, 1500, 0);
        let queue = queue as f64;
        expected = (expected + (queue - 100.0) / 1024.0 - (last - 100.0) / 2048.0).clamp(0.0, 1.0);
        last = queue;
        let found = pi.probability() as f64 / 2.0_f64.powi(64);
        assert!((found - expected).abs() < 1e-9, "{n}: {found} {expected}");
    }
}

proptest! {
    /// After 1000 packets of 1 ns each, the link is idle: sample n finds 1001 - 500 n packets,
    /// later samples none, and each is a step of the recursion.
    #[test]
    fn idle_time_counts_as_many_samples(intervals in 1_u64..3000, reference in 1_u32..200) {
        let (a, b) = (1_u64 << 54, (1 << 54) - (1 << 44));
        let mut pi = Pi::new(&PiConfig {
            reference,
            a,
            b,
            interval_ps: 500_000,
            link: link(1e9),
        });
        pi.on_arrival(0, 1000, 1500, 0);
        pi.on_arrival(intervals * 500_000, 0, 1500, 0);
        let (mut expected, mut last, reference) = (0_i128, 0, i128::from(reference));
        for n in 1..=intervals {
            let queue = i128::from(1001_u64.saturating_sub(500 * n));
            let change = i128::from(a) * (queue - reference) - i128::from(b) * (last - reference);
            expected = (expected + change).clamp(0, i128::from(u64::MAX));
            last = queue;
        }
        prop_assert_eq!(i128::from(pi.probability()), expected);
    }
}

/// Packets are marked with the probability: random bits below it mark.
#[test]
fn marks_below_its_probability() {
    let mut pi = Pi::new(&PiConfig {
        reference: 0,
        a: 1 << 62,
        b: 1,
        interval_ps: 1_000_000,
        link: link(1e6),
    });
    pi.on_arrival(0, 1, 1500, 0);
    // At 1 us one of the two packets remains: p = 1/4.
    assert!(pi.on_arrival(1_000_000, 1, 1500, (1 << 30) - 1));
    assert!(!pi.on_arrival(1_000_000, 1, 1500, 1 << 30));
    assert_eq!(pi.probability(), 1 << 62);
}
