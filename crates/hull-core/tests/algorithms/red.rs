//! RED: the average against its step response, counted marks against the probability, distances
//! between marks against the uniform distribution, decay while idle.

use hull_core::queue_estimate::{Link, QueueUnit};
use hull_core::red::{Red, RedConfig};
use proptest::prelude::*;

/// 1500 bytes in 1.2 us.
const LINK: Link = Link {
    rate_bps: 10_000_000_000,
    typical_packet_bytes: 1500,
    unit: QueueUnit::Packets,
};
const PACKET_PS: u64 = 1_200_000;

fn share(value: f64) -> u32 {
    (value * 4_294_967_296.0) as u32
}

/// The thesis's figure 2.15.
fn figure_2_15() -> RedConfig {
    RedConfig {
        min_threshold: 50,
        max_threshold: 150,
        max_probability: share(0.1),
        weight: 1 << 23,
        gentle: false,
        by_size: false,
        hard_drop: false,
        independent: false,
        link: LINK,
    }
}

/// SplitMix64.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 32) as u32
    }
}

/// A RED queue whose average has settled at `queue` packets.
fn settled(config: &RedConfig, queue: u64) -> Red {
    let fast = RedConfig {
        weight: 1 << 32,
        ..*config
    };
    let mut red = Red::new(&fast);
    for n in 0..60 {
        red.on_arrival(n * PACKET_PS, queue, 1500, u32::MAX);
    }
    assert_eq!(red.average(), queue);
    red
}

proptest! {
    /// n samples of a constant queue from an average of zero: q (1 - (1 - w)^n).
    #[test]
    fn the_average_follows_its_step_response(
        queue in 1_u64..5_000_000,
        samples in 1_i32..3000,
        weight_bits in 1_u32..12,
    ) {
        let weight = 1_u64 << (32 - weight_bits);
        let config = RedConfig { weight, ..figure_2_15() };
        let mut red = Red::new(&config);
        for n in 0..samples {
            red.on_arrival(n as u64, queue, 1500, 0);
        }
        let kept = (1.0 - 0.5_f64.powi(weight_bits as i32)).powi(samples);
        let expected = queue as f64 * (1.0 - kept);
        prop_assert!((red.average() as f64 - expected).abs() < 0.6, "{} {}", red.average(), expected);
    }

    /// For any weight and queues, the average falls short of the floating-point recursion by less
    /// than 2^-24 / w.
    #[test]
    fn the_average_follows_the_recursion_for_any_weight(
        weight in 1_u64 << 8..=1 << 32,
        queues in prop::collection::vec(1_u64..5_000_000, 1..500),
    ) {
        let mut red = Red::new(&RedConfig { weight, ..figure_2_15() });
        let w = weight as f64 / 4_294_967_296.0;
        let mut average = 0.0;
        for (n, &queue) in queues.iter().enumerate() {
            red.on_arrival(n as u64, queue, 1500, 0);
            average += w * (queue as f64 - average);
            let short = average - red.average() as f64;
            let most = 0.5 + 1e-6 + 1.0 / (16_777_216.0 * w);
            prop_assert!((-0.500_001..=most).contains(&short), "{} {}", red.average(), average);
        }
    }

    /// After an idle time of m packets and one arrival: avg (1 - w)^(m + 1).
    #[test]
    fn the_average_decays_while_the_link_is_idle(
        packets in 0_u64..5000,
        queue in 100_u64..100_000,
        weight in prop::sample::select(vec![1_u64 << 23, 429_496_730, 1 << 32]),
    ) {
        let config = RedConfig { weight, ..figure_2_15() };
        let mut red = Red::new(&config);
        for n in 0..20_000 {
            red.on_arrival(n, queue, 1500, 0);
        }
        let before = red.average() as f64;
        let empty_ps = 19_999 + (queue + 1) * PACKET_PS;
        let half_ps = PACKET_PS / 2;
        red.on_arrival(empty_ps + packets * PACKET_PS + half_ps, 0, 1500, 0);
        let kept = 1.0 - weight as f64 / 4_294_967_296.0;
        let expected = before * kept.powi(packets as i32 + 1);
        prop_assert!((red.average() as f64 - expected).abs() < 1.5, "{} {}", red.average(), expected);
    }
}

#[test]
fn a_queue_that_was_just_emptied_is_not_idle() {
    let config = RedConfig {
        weight: 1 << 23,
        ..figure_2_15()
    };
    let mut red = settled(&config, 1000);
    let average = red.average();
    // 60 arrivals so far, the last at 59 packets' time with 1000 before it: busy until 1060.
    red.on_arrival(1059 * PACKET_PS, 1000, 1500, u32::MAX);
    assert_eq!(red.average(), average);
}

/// 1 / p_b = 20 packets: each distance from 1 to 20 is equally frequent (chi-squared with 19
/// degrees of freedom, 0.1% above 43.8), and the share of marks is 2 p_b / (1 + p_b).
#[test]
fn the_distance_between_marks_is_uniform() {
    let mut red = settled(&figure_2_15(), 100);
    let mut numbers = Numbers(7);
    let (mut distance, mut counts, marks) = (0, [0_u32; 21], 100_000);
    for _ in 0..marks {
        loop {
            distance += 1;
            if red.on_arrival(60 * PACKET_PS, 100, 1500, numbers.next()) {
                break;
            }
        }
        counts[distance] += 1;
        distance = 0;
    }
    let expected = f64::from(marks) / 20.0;
    let chi_squared: f64 = counts[1..]
        .iter()
        .map(|&count| (f64::from(count) - expected).powi(2) / expected)
        .sum();
    assert!(chi_squared < 43.8, "{chi_squared} {counts:?}");
    assert_eq!(counts[0], 0);
}

/// Independent draws with p = 1 / 20: distance n has the share (1 - p)^(n - 1) p, in 59 bins and the
/// rest (chi-squared with 59 degrees of freedom, 0.1% above 98.3).
#[test]
fn the_distance_between_independent_marks_is_geometric() {
    let config = RedConfig {
        independent: true,
        ..figure_2_15()
    };
    let mut red = settled(&config, 100);
    let mut numbers = Numbers(11);
    let (mut distance, mut counts, marks) = (0_usize, [0_u32; 61], 100_000);
    for _ in 0..marks {
        loop {
            distance += 1;
            if red.on_arrival(60 * PACKET_PS, 100, 1500, numbers.next()) {
                break;
            }
        }
        counts[distance.min(60)] += 1;
        distance = 0;
    }
    let p = 0.05_f64;
    let chi_squared: f64 = (1..=60)
        .map(|n| {
            let none_before = (1.0 - p).powi(n - 1);
            let share = if n < 60 { none_before * p } else { none_before };
            let expected = f64::from(marks) * share;
            (f64::from(counts[n as usize]) - expected).powi(2) / expected
        })
        .sum();
    assert!(chi_squared < 98.3, "{chi_squared} {counts:?}");
}

/// hard_drop drops exactly where every packet would be marked: from max_th, or with gentle from
/// twice max_th.
#[test]
fn hard_drop_replaces_marking_every_packet() {
    for (hard_drop, gentle) in [(false, false), (false, true), (true, false), (true, true)] {
        let config = RedConfig {
            hard_drop,
            gentle,
            ..figure_2_15()
        };
        let certain = if gentle { 300 } else { 150 };
        for queue in [0, 49, 100, 149, 151, 299, 301, 1000] {
            let mut red = settled(&config, queue);
            let marked = red.on_arrival(60 * PACKET_PS, queue, 1500, 0);
            assert_eq!(red.refuses(), hard_drop && queue > certain, "{queue}");
            assert_eq!(marked, queue > 50 && !red.refuses(), "{queue}");
        }
    }
}

/// Share of marks: p with independent draws; else the distances are uniform on 1 .. 1 / p, with the
/// mean (1 + 1 / p) / 2.
#[test]
fn marking_frequency_follows_the_average() {
    let gentle = RedConfig {
        gentle: true,
        ..figure_2_15()
    };
    let independent = RedConfig {
        independent: true,
        ..figure_2_15()
    };
    let cases = [
        (independent, 49, 1500, 0.0),
        (independent, 75, 1500, 0.025),
        (independent, 125, 1500, 0.075),
        (independent, 151, 1500, 1.0),
        (figure_2_15(), 49, 1500, 0.0),
        (figure_2_15(), 75, 1500, 0.025),
        (figure_2_15(), 100, 1500, 0.05),
        (figure_2_15(), 125, 1500, 0.075),
        (figure_2_15(), 151, 1500, 1.0),
        (gentle, 150, 1500, 0.1),
        (gentle, 301, 1500, 1.0),
        (
            RedConfig {
                by_size: true,
                ..figure_2_15()
            },
            100,
            300,
            0.01,
        ),
    ];
    for (config, queue, packet_bytes, probability) in cases {
        let mut red = settled(&config, queue);
        let mut numbers = Numbers(queue);
        let arrivals = 2_000_000;
        let marks = (0..arrivals)
            .filter(|_| red.on_arrival(60 * PACKET_PS, queue, packet_bytes, numbers.next()))
            .count();
        let found = marks as f64 / f64::from(arrivals);
        let expected = if probability == 0.0 || config.independent {
            probability
        } else {
            2.0 / (1.0 + 1.0 / probability)
        };
        assert!(
            (found - expected).abs() <= 0.01 * expected,
            "{queue}: {found} {expected}"
        );
    }
}

/// Between max_th and twice that, gentle RED's p_b rises linearly from max_p to 1: with the count
/// at zero, random bits above p_b mark nothing and bits below it mark everything.
#[test]
fn gentle_grows_on_a_line() {
    let config = RedConfig {
        gentle: true,
        ..figure_2_15()
    };
    for (queue, probability) in [(180, 0.28), (225, 0.55), (270, 0.82)] {
        for (random, marked) in [(probability - 0.001, true), (probability + 0.001, false)] {
            let mut red = settled(&config, queue);
            red.on_arrival(60 * PACKET_PS, queue, 1500, 0);
            assert_eq!(
                red.on_arrival(60 * PACKET_PS, queue, 1500, share(random)),
                marked
            );
        }
    }
}

/// Byte mode and packet mode agree when all packets have the typical size.
#[test]
fn bytes_and_packets_agree() {
    let bytes = RedConfig {
        min_threshold: 75_000,
        max_threshold: 225_000,
        link: Link {
            unit: QueueUnit::Bytes,
            ..LINK
        },
        ..figure_2_15()
    };
    let (mut in_packets, mut in_bytes) = (Red::new(&figure_2_15()), Red::new(&bytes));
    let mut numbers = Numbers(3);
    let (mut now_ps, mut marks) = (0, 0);
    for n in 0..100_000_u64 {
        now_ps += u64::from(numbers.next()) % 3 * PACKET_PS;
        let (queue, random) = ((n / 50) % 200, numbers.next());
        let mark = in_packets.on_arrival(now_ps, queue, 1500, random);
        assert_eq!(
            in_bytes.on_arrival(now_ps, queue * 1500, 1500, random),
            mark,
            "{n}"
        );
        marks += u32::from(mark);
    }
    assert!(marks > 1000, "{marks}");
}
