//! QCN: sequences computed by hand from the thesis's section 5.2, and the expected time between two
//! rate increases from its Markov chain (figure 5.3, equation 5.9).

use hull_core::qcn_congestion_point::{
    CongestionPoint, CongestionPointConfig, MAX_FEEDBACK, Rounding, Sampling,
};
use hull_core::qcn_reaction_point::{Increase, ReactionPoint, ReactionPointConfig};
use proptest::prelude::*;

const PACKET: u64 = 1500;
const GBPS: u64 = 1_000_000_000;

/// The thesis's congestion point: Q_eq = 22 packets, w = 2, and here each packet is sampled.
fn every_packet() -> CongestionPointConfig {
    CongestionPointConfig {
        equilibrium_bytes: 22 * PACKET as u32,
        weight: 2 << 16,
        sampling: Sampling::Random(u32::MAX),
        step_bytes: PACKET as u32,
        rounding: Rounding::Up,
        adaptive: false,
    }
}

fn reaction(increase: Increase) -> ReactionPointConfig {
    ReactionPointConfig {
        line_rate_bps: 10 * GBPS,
        initial_rate_bps: 10 * GBPS,
        min_rate_bps: 1_000_000,
        decrease: 1 << 25, // 1/128
        increase_bps: 5_000_000,
        cycle_bytes: 150_000,
        recovery_cycles: 5,
        timer_ps: None,
        extra_fast_recovery: false,
        target_rate_reduction: false,
        hyper_increase_bps: None,
        increase,
    }
}

/// F_b = (Q - 22) + 2 (Q - Q_old), queues in packets, computed by hand.
#[test]
fn feedback_is_excess_and_twice_the_change() {
    let mut point = CongestionPoint::new(&every_packet());
    for (queue, feedback) in [
        (0, None),      // -22
        (10, Some(8)),  // -12 + 20
        (22, Some(24)), // 0 + 24
        (22, None),     // 0 + 0
        (23, Some(3)),  // 1 + 2
        (25, Some(7)),  // 3 + 4
        (24, None),     // 2 - 2
        (30, Some(20)), // 8 + 12
        (28, Some(2)),  // 6 - 4
        (90, Some(63)), // 68 + 124
        (85, Some(53)), // 63 - 10
    ] {
        let found = point.on_arrival(queue * PACKET, 1500, 0);
        assert_eq!(found, feedback, "queue of {queue} packets");
    }
}

/// A partial step is rounded up: the smallest congestion is reported.
#[test]
fn steps_are_rounded_up() {
    let steps = |excess_bytes: u64| {
        let mut point = CongestionPoint::new(&CongestionPointConfig {
            weight: 0,
            ..every_packet()
        });
        point.on_arrival(22 * PACKET + excess_bytes, 1500, 0)
    };
    assert_eq!(steps(0), None);
    assert_eq!(steps(1), Some(1));
    assert_eq!(steps(1500), Some(1));
    assert_eq!(steps(1501), Some(2));
    assert_eq!(steps(63 * 1500 + 1), Some(MAX_FEEDBACK));
}

/// The standard rounds a partial step down, and sends nothing if nothing is left.
#[test]
fn steps_are_rounded_down() {
    let steps = |excess_bytes: u64| {
        let mut point = CongestionPoint::new(&CongestionPointConfig {
            weight: 0,
            rounding: Rounding::Down,
            ..every_packet()
        });
        point.on_arrival(22 * PACKET + excess_bytes, 1500, 0)
    };
    assert_eq!(steps(1499), None);
    assert_eq!(steps(1500), Some(1));
    assert_eq!(steps(2999), Some(1));
    assert_eq!(steps(64 * 1500), Some(MAX_FEEDBACK));
}

/// Only sampled packets update Q_old; a share p_s of packets is sampled.
#[test]
fn only_sampled_packets_are_seen() {
    let mut point = CongestionPoint::new(&CongestionPointConfig {
        sampling: Sampling::Random(42_949_673), // 1%
        ..every_packet()
    });
    assert_eq!(point.on_arrival(500 * PACKET, 1500, 42_949_673), None);
    // Q_old is still 0: 1 - 22 + 2.
    assert_eq!(point.on_arrival(PACKET, 1500, 42_949_672), None);
    assert_eq!(point.on_arrival(30 * PACKET, 1500, 42_949_672), Some(63)); // 8 + 58
}

/// The standard's sampling: distances of 85 to 115 packets, 100 on average.
#[test]
fn sampling_distances_are_uniform() {
    let mut point = CongestionPoint::new(&CongestionPointConfig {
        sampling: Sampling::Every(150_000),
        weight: 0,
        ..every_packet()
    });
    let mut state = 7_u64;
    let (mut distances, mut last) = (Vec::new(), 0);
    for n in 0..1_000_000_u32 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        if point.on_arrival(23 * PACKET, 1500, (state >> 32) as u32) == Some(1) {
            distances.push(n - last);
            last = n;
        }
    }
    let distances = &distances[1..];
    assert!(
        distances
            .iter()
            .all(|distance| (85..=115).contains(distance))
    );
    let mean = f64::from(distances.iter().sum::<u32>()) / distances.len() as f64;
    // Hundredths are rounded down, and packets up.
    assert!((mean - 99.5).abs() < 0.6, "{mean}");
}

/// The standard's table of distances: 150 KB, 75, 50, 37.5, ... 18.75 for each 8 steps of feedback,
/// here at the midpoint of the jitter; likewise p_s, 1% to 8%.
#[test]
fn congestion_makes_samples_more_frequent() {
    let middle = 1 << 31;
    for (feedback, packets) in [
        (0, 100),
        (7, 100),
        (8, 50),
        (16, 34), // 33 1/3
        (24, 25),
        (32, 20),
        (40, 17), // 16 2/3
        (48, 15), // 14 2/7
        (63, 13), // 12 1/2
    ] {
        let config = CongestionPointConfig {
            sampling: Sampling::Every(150_000),
            weight: 0,
            adaptive: true,
            ..every_packet()
        };
        let mut point = CongestionPoint::new(&config);
        let queue = (22 + feedback) * PACKET;
        point.on_arrival(queue, 1500, middle);
        let next = (1..).find(|_| point.on_arrival(90 * PACKET, 1500, middle).is_some());
        assert_eq!(next, Some(packets), "{feedback} steps");

        let per_cent = 42_949_673; // 1%
        let mut point = CongestionPoint::new(&CongestionPointConfig {
            sampling: Sampling::Random(per_cent),
            ..config
        });
        point.on_arrival(queue, 1500, 0);
        let limit = per_cent * (1 + feedback as u32 / 8);
        assert_eq!(point.on_arrival(90 * PACKET, 1500, limit), None);
        assert!(point.on_arrival(90 * PACKET, 1500, limit - 1).is_some());
    }
}

/// 10 Gbps and F_b = 32: the rate falls by a quarter, and Fast Recovery restores 15/16, 31/32, ...
/// of the cut; from the sixth cycle on R_T rises by 5 Mbps each time.
#[test]
fn recovers_halfway_in_each_cycle_and_then_probes() {
    let mut point = ReactionPoint::new(&reaction(Increase::Averaging), 0);
    // The first feedback lowers the rate below the line rate, which leaves room to probe.
    point.on_feedback(0, 63);
    let base = point.rate_bps();
    assert_eq!(base, 10 * GBPS * 65 / 128);
    point.on_feedback(0, 32);
    assert_eq!((point.target_bps(), point.rate_bps()), (base, base * 3 / 4));
    let (mut rate, mut target) = (base as f64 * 0.75, base as f64);
    for cycle in 1..=12 {
        for _ in 0..99 {
            point.on_sent(1500);
        }
        assert!(
            (point.rate_bps() as f64 - rate).abs() < 16.0,
            "before {cycle}"
        );
        point.on_sent(1500);
        if cycle > 5 {
            target += 5e6;
        }
        rate = (rate + target) / 2.0;
        assert!((point.rate_bps() as f64 - rate).abs() < 16.0, "{cycle}");
        assert_eq!(point.target_bps() as f64, target);
    }
    // Fast Recovery alone leaves 1/32 of the cut.
    let mut recovered = ReactionPoint::new(&reaction(Increase::Averaging), 0);
    recovered.on_feedback(0, 32);
    recovered.on_sent(5 * 150_000);
    let missing = (10 * GBPS - recovered.rate_bps()) as f64;
    assert!((missing - 2.5e9 / 32.0).abs() < 16.0, "{missing}");
}

/// QCN-AIMD adds 5 Mbps in each cycle, from the first on.
#[test]
fn without_averaging_it_adds_a_constant() {
    let mut point = ReactionPoint::new(&reaction(Increase::Additive), 0);
    point.on_feedback(0, 64);
    assert_eq!(point.rate_bps(), 5 * GBPS);
    for cycle in 1..=20 {
        point.on_sent(150_000);
        assert_eq!(point.rate_bps(), 5 * GBPS + cycle * 5_000_000);
    }
}

/// Feedback in the middle of a cycle restarts the byte counter and Fast Recovery.
#[test]
fn feedback_restarts_recovery() {
    let mut point = ReactionPoint::new(&reaction(Increase::Averaging), 0);
    point.on_feedback(0, 32);
    point.on_sent(149_999);
    point.on_feedback(0, 32);
    let after = point.rate_bps();
    assert_eq!(after, 10 * GBPS * 9 / 16);
    point.on_sent(149_999);
    assert_eq!(point.rate_bps(), after);
    point.on_sent(1);
    assert_eq!(point.rate_bps(), (after + 10 * GBPS * 3 / 4) / 2);
}

/// A second message within a cycle leaves R_T as before the first. After a whole cycle it changes
/// R_T.
#[test]
fn extra_fast_recovery_keeps_the_target() {
    let config = ReactionPointConfig {
        extra_fast_recovery: true,
        ..reaction(Increase::Averaging)
    };
    let mut point = ReactionPoint::new(&config, 0);
    point.on_feedback(0, 32);
    point.on_sent(100_000);
    point.on_feedback(0, 32);
    assert_eq!(point.target_bps(), 10 * GBPS);
    assert_eq!(point.rate_bps(), 10 * GBPS * 9 / 16);
    // The cycle continues: 100 KB of it were already sent.
    point.on_sent(49_999);
    assert_eq!(point.rate_bps(), 10 * GBPS * 9 / 16);
    point.on_sent(1);
    let halfway = 10 * GBPS * 25 / 32;
    assert_eq!(point.rate_bps(), halfway);
    point.on_feedback(0, 32);
    assert_eq!(point.target_bps(), halfway);
}

/// For a source that sends little, the timer ends cycles, feedback restarts the timer, and Active
/// Increase begins after five of its periods.
#[test]
fn the_timer_ends_cycles_too() {
    const MS: u64 = 1_000_000_000;
    let config = ReactionPointConfig {
        timer_ps: Some(10 * MS),
        ..reaction(Increase::Averaging)
    };
    let mut point = ReactionPoint::new(&config, 0);
    point.on_feedback(3 * MS, 64);
    assert_eq!(point.next_timer_ps(), 13 * MS);
    point.on_timer(13 * MS - 1);
    assert_eq!(point.rate_bps(), 5 * GBPS);
    point.on_timer(13 * MS);
    assert_eq!(point.rate_bps(), 7_500_000_000);
    // A byte-counter cycle in between averages as well.
    point.on_sent(150_000);
    assert_eq!(point.rate_bps(), 8_750_000_000);
    point.on_timer(53 * MS);
    let missing = 10 * GBPS - point.rate_bps();
    assert!(missing.abs_diff(5 * GBPS / 64) < 8, "{missing}");
    // R_T cannot pass the line rate.
    point.on_timer(63 * MS);
    assert_eq!(point.target_bps(), 10 * GBPS);
}

/// Hyper-active increase by hand: Fast Recovery ends with the sixth cycle of either counter, and
/// from the sixth of both on, step i adds i times R_HAI.
#[test]
fn hyper_active_increase_needs_both_counters() {
    const MS: u64 = 1_000_000_000;
    const MBPS: u64 = 1_000_000;
    let config = ReactionPointConfig {
        line_rate_bps: 100 * GBPS,
        timer_ps: Some(10 * MS),
        hyper_increase_bps: Some(50 * MBPS),
        ..reaction(Increase::Averaging)
    };
    let mut point = ReactionPoint::new(&config, 0);
    point.on_feedback(0, 64);
    point.on_sent(5 * 150_000);
    assert_eq!(point.target_bps(), 10 * GBPS); // Fast Recovery
    point.on_sent(150_000);
    assert_eq!(point.target_bps(), 10 * GBPS + 5 * MBPS); // byte counter 6, timer 0
    point.on_timer(50 * MS);
    assert_eq!(point.target_bps(), 10 * GBPS + 30 * MBPS); // 6 and 5
    point.on_timer(60 * MS);
    assert_eq!(point.target_bps(), 10 * GBPS + 80 * MBPS); // 6 and 6: i = 1
    point.on_sent(150_000);
    assert_eq!(point.target_bps(), 10 * GBPS + 130 * MBPS); // 7 and 6: i = 1
    point.on_timer(70 * MS);
    assert_eq!(point.target_bps(), 10 * GBPS + 230 * MBPS); // 7 and 7: i = 2
    // Feedback restarts Fast Recovery: the target is the rate before it.
    let before = point.rate_bps();
    point.on_feedback(70 * MS, 1);
    point.on_sent(150_000);
    assert_eq!(point.target_bps(), before);
}

/// Target-rate reduction by hand: four cuts to 65/128 leave 665 of 10,000 Mbps, less than a tenth;
/// at the end of the first cycle the target is 1250. Three cuts leave 1309: the target stays.
#[test]
fn a_deep_cut_lowers_the_target() {
    for (cuts, target_bps) in [(4, 10 * GBPS / 8), (3, 10 * GBPS)] {
        let config = ReactionPointConfig {
            extra_fast_recovery: true,
            target_rate_reduction: true,
            ..reaction(Increase::Averaging)
        };
        let mut point = ReactionPoint::new(&config, 0);
        for _ in 0..cuts {
            point.on_feedback(0, 63);
        }
        let cut_bps = point.rate_bps();
        let expected = 1e10 * (65.0_f64 / 128.0).powi(cuts);
        assert!((cut_bps as f64 - expected).abs() < 4.0, "{cut_bps}");
        assert_eq!(point.target_bps(), 10 * GBPS);
        point.on_sent(150_000);
        assert_eq!(point.target_bps(), target_bps);
        assert_eq!(point.rate_bps(), (cut_bps + target_bps) / 2);
        // The second cycle is ordinary Fast Recovery.
        point.on_sent(150_000);
        assert_eq!(point.target_bps(), target_bps);
    }
}

/// Equation 5.9: if each packet is reflected with probability p, ((1 - p)^-100 - 1) / p packets are
/// sent on average per increase: 173.2 at 1%.
#[test]
fn increase_frequency_matches_the_markov_chain() {
    let mut state = 1_u64;
    let mut random = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 32) as u32
    };
    let mut point = ReactionPoint::new(&reaction(Increase::Additive), 0);
    let (mut increases, packets) = (0, 2_000_000);
    for _ in 0..packets {
        let before = point.rate_bps();
        point.on_sent(1500);
        increases += u32::from(point.rate_bps() > before);
        if random() < 42_949_673 {
            point.on_feedback(0, 64);
        }
    }
    let expected = (0.99_f64.powi(-100) - 1.0) / 0.01;
    let found = f64::from(packets) / f64::from(increases);
    assert!((found / expected - 1.0).abs() < 0.02, "{found} {expected}");
}

proptest! {
    /// Remark 5.1: Fast Recovery never takes R_C above R_T, and rates stay within their bounds.
    #[test]
    fn zero_delay_stable_and_bounded(steps in prop::collection::vec((0_u8..64, 0_u32..400_000), 1..60)) {
        let config = reaction(Increase::Averaging);
        let mut point = ReactionPoint::new(&config, 0);
        for (feedback, bytes) in steps {
            if feedback > 0 {
                let before = point.rate_bps();
                point.on_feedback(0, feedback);
                prop_assert!(point.rate_bps() <= before);
                prop_assert!(point.rate_bps() * 2 >= before);
                prop_assert_eq!(point.target_bps(), before);
            }
            point.on_sent(bytes);
            prop_assert!(point.rate_bps() <= point.target_bps());
            prop_assert!((config.min_rate_bps..=config.line_rate_bps).contains(&point.rate_bps()));
        }
    }

    /// F_b matches its formula, in steps, for any queues, weights and steps.
    #[test]
    fn feedback_follows_its_formula(
        old in 0_u64..400_000,
        queue in 0_u64..400_000,
        equilibrium_bytes in 0_u32..200_000,
        weight in 0_u32..(4 << 16),
        step_bytes in 1_u32..5000,
    ) {
        let config = CongestionPointConfig { equilibrium_bytes, weight, step_bytes, ..every_packet() };
        let mut point = CongestionPoint::new(&config);
        point.on_arrival(old, 1500, 0);
        let congestion = queue as f64 - f64::from(equilibrium_bytes)
            + f64::from(weight) / 65536.0 * (queue as f64 - old as f64);
        let expected = (congestion > 0.0)
            .then(|| (congestion / f64::from(step_bytes)).ceil().min(63.0) as u8);
        prop_assert_eq!(point.on_arrival(queue, 1500, 0), expected);
    }
}
