//! Load balancers: each rule by hand, rounds as permutations, uniformity of random draws.

use hull_core::entropy::{
    Bitmap, Ecmp, Feedback, Flowlet, LoadBalance, LoadBalancer, Mixed, Oblivious, PerPacket, Plb,
    PlbConfig, Reps, Subflows, SubflowsConfig,
};
use proptest::prelude::*;

const US: u64 = 1_000_000;

/// Random bits that draw EV `ev` of `paths`.
fn drawing(ev: u16, paths: u16) -> u64 {
    ((u64::from(ev) << 32).div_ceil(u64::from(paths))) << 32
}

/// The EVs of the next packets, at time zero, with `random` bits.
fn walk(balancer: &mut impl LoadBalance, packets: usize, random: u64) -> Vec<u16> {
    (0..packets).map(|_| balancer.next_ev(random, 0)).collect()
}

#[test]
fn draws_are_uniform() {
    for paths in [1, 3, 64, 250] {
        let mut balancer = PerPacket::new(paths);
        let mut counts = vec![0_u32; usize::from(paths)];
        for step in 0..1000 * u64::from(paths) {
            let random = (step << 32) / (1000 * u64::from(paths));
            counts[usize::from(balancer.next_ev(random << 32, 0))] += 1;
        }
        assert!(
            counts.iter().all(|count| (999..=1001).contains(count)),
            "{paths}"
        );
    }
    assert_eq!(PerPacket::new(250).next_ev(u64::MAX, 0), 249);
}

#[test]
fn ecmp_keeps_its_path() {
    let mut balancer = Ecmp::new(64);
    assert_eq!(balancer.next_ev(drawing(17, 64), 0), 17);
    balancer.on_feedback(17, Feedback::Timeout, US);
    assert_eq!(walk(&mut balancer, 5, u64::MAX), [17; 5]);
}

proptest! {
    /// Each round of an oblivious walk is a permutation; another mask gives another order.
    #[test]
    fn oblivious_rounds_are_permutations(bits in 0_u32..9, masks in prop::collection::vec(any::<u64>(), 5)) {
        let paths = 1_u16 << bits;
        let mut balancer = Oblivious::new(paths, masks[0]);
        for round in 1..masks.len() {
            let evs = walk(&mut balancer, usize::from(paths), masks[round]);
            let mask = masks[round - 1] as u16 & (paths - 1);
            let expected: Vec<u16> = (0..paths).map(|index| index ^ mask).collect();
            prop_assert_eq!(evs, expected);
        }
    }

    /// Without feedback, the bitmap and mixed balancers walk like the oblivious one.
    #[test]
    fn no_feedback_walks_obliviously(bits in 0_u32..8, first in any::<u64>(), random in any::<u64>()) {
        let paths = 1_u16 << bits;
        let expected = walk(&mut Oblivious::new(paths, first), 600, random);
        prop_assert_eq!(&walk(&mut Bitmap::new(paths, first), 600, random), &expected);
        prop_assert_eq!(&walk(&mut Mixed::new(paths, first), 600, random), &expected);
        let mut balancer = LoadBalancer::Mixed(Mixed::new(paths, first));
        prop_assert_eq!(&walk(&mut balancer, 600, random), &expected);
    }

    /// For any feedback, penalties stay within 15, and each packet lowers at most one of them by
    /// one. While the order stays, an EV with a penalty is taken only if all have one; a new order
    /// during a search may hide a free EV.
    #[test]
    fn the_bitmap_avoids_penalties(
        bits in 0_u32..5,
        reorders in any::<bool>(),
        events in prop::collection::vec((any::<u64>(), 0_u8..6, 0_u16..16), 1..400),
    ) {
        let paths = 1_u16 << bits;
        let mut balancer = Bitmap::new(paths, 0);
        let penalties = |balancer: &Bitmap| (0..paths).map(|ev| balancer.penalty(ev)).collect::<Vec<_>>();
        for (random, kind, ev) in events {
            let before = penalties(&balancer);
            let feedback = match kind {
                0 => Feedback::Ecn,
                1 => Feedback::Nack,
                2 => Feedback::Timeout,
                _ => {
                    let ev = balancer.next_ev(if reorders { random } else { 0 }, 0);
                    let after = penalties(&balancer);
                    let sum = |all: &[u8]| all.iter().map(|&one| u32::from(one)).sum::<u32>();
                    prop_assert!(sum(&before) - sum(&after) <= 1);
                    let had_one = before[usize::from(ev)] > 0;
                    let all_had_one = before.iter().all(|&penalty| penalty > 0);
                    prop_assert!(reorders || !had_one || all_had_one);
                    continue;
                }
            };
            balancer.on_feedback(ev & (paths - 1), feedback, 0);
            prop_assert!(penalties(&balancer).iter().all(|&penalty| penalty <= 15));
        }
    }

    /// Mixed reuses a good EV exactly once for each unmarked ACK.
    #[test]
    fn mixed_reuses_each_good_ev_once(acks in prop::collection::vec((0_u16..64, any::<bool>()), 0..200)) {
        let mut balancer = Mixed::new(64, 0);
        let mut good = Vec::new();
        for &(ev, marked) in &acks {
            balancer.on_feedback(ev, if marked { Feedback::Ecn } else { Feedback::Good }, 0);
            if !marked {
                good.push(ev);
            }
        }
        prop_assert_eq!(walk(&mut balancer, good.len(), 0), good);
        let mut bitmap = Bitmap::new(64, 0);
        for &(ev, marked) in &acks {
            if marked {
                bitmap.on_feedback(ev, Feedback::Ecn, 0);
            }
        }
        prop_assert_eq!(walk(&mut balancer, 100, 0), walk(&mut bitmap, 100, 0));
    }
}

/// EVs 0 to 3 in order; 1 has a NACK (4), 2 a mark (1). The first packet takes 0; the second skips
/// 1 (now 3) and 2 (still 1) and takes 3; then 0, 3 again (1 at 2), 0, 3 (1 at 1), 0, 3 (1 at 0),
/// then 0, 1, 3 (2 at 0), ...
#[test]
fn bitmap_by_hand() {
    let mut balancer = Bitmap::new(4, 0);
    balancer.on_feedback(1, Feedback::Nack, 0);
    balancer.on_feedback(2, Feedback::Ecn, 0);
    assert_eq!(walk(&mut balancer, 8, 0), [0, 3, 0, 3, 0, 3, 0, 3]);
    assert_eq!((balancer.penalty(1), balancer.penalty(2)), (0, 1));
    assert_eq!(walk(&mut balancer, 7, 0), [0, 1, 3, 0, 1, 2, 3]);
}

/// All four EVs timed out: the walk wraps around to its first EV, whose penalty drops by one.
#[test]
fn bitmap_with_penalties_everywhere() {
    let mut balancer = Bitmap::new(4, 0);
    for ev in 0..4 {
        balancer.on_feedback(ev, Feedback::Timeout, 0);
    }
    assert_eq!(walk(&mut balancer, 4, 0), [0, 1, 2, 3]);
    assert_eq!(balancer.penalty(2), 14);
}

/// After nine good ACKs the ring holds the last eight EVs; each is used once, then EVs are random.
#[test]
fn reps_recycles_once() {
    let mut balancer = Reps::new(64);
    for ev in 10..19 {
        balancer.on_feedback(ev, Feedback::Good, 0);
    }
    balancer.on_feedback(5, Feedback::Ecn, 0);
    assert_eq!(walk(&mut balancer, 3, drawing(63, 64)), [11, 12, 13]);
    balancer.on_feedback(20, Feedback::Good, 0);
    let rest = [14, 15, 16, 17, 18, 20, 63, 63];
    assert_eq!(walk(&mut balancer, 8, drawing(63, 64)), rest);
}

/// A timeout freezes the balancer: it cycles through the ring and adds good EVs to it. The first
/// feedback after 10 ms unfreezes it: 16 random EVs follow, during which no timeout freezes it.
#[test]
fn reps_freezes() {
    let mut balancer = Reps::new(64);
    for ev in 1..4 {
        balancer.on_feedback(ev, Feedback::Good, 0);
    }
    assert_eq!(walk(&mut balancer, 4, 0), [1, 2, 3, 0]);
    balancer.on_feedback(9, Feedback::Timeout, 0);
    assert_eq!(walk(&mut balancer, 5, 0), [1, 2, 3, 1, 2]);
    balancer.on_feedback(4, Feedback::Good, US);
    assert_eq!(walk(&mut balancer, 5, 0), [3, 4, 1, 2, 3]);
    balancer.on_feedback(4, Feedback::Ecn, 10_000 * US);
    assert!(balancer.frozen());
    balancer.on_feedback(7, Feedback::Good, 10_000 * US + 1);
    assert!(!balancer.frozen());
    balancer.on_feedback(8, Feedback::Timeout, 10_001 * US);
    assert!(!balancer.frozen());
    assert_eq!(walk(&mut balancer, 18, drawing(50, 64)), {
        let mut expected = vec![50; 16];
        expected.extend([7, 50]);
        expected
    });
}

/// Three subflows with a base round trip of 100 us. A subflow that is silent for more than 50 us
/// moves at the first timeout after 100 us, and not again within 100 us.
#[test]
fn silent_subflows_move() {
    let config = SubflowsConfig {
        paths: 250,
        subflows: 3,
        base_rtt_ps: 100 * US,
    };
    let mut balancer = Subflows::new(&config, 0);
    // Subflows 1, 2, 0 draw 20, 30, 10.
    for ev in [20, 30, 10] {
        assert_eq!(balancer.next_ev(drawing(ev, 250), 0), ev);
    }
    balancer.on_feedback(20, Feedback::Good, 60 * US);
    balancer.on_feedback(10, Feedback::Ecn, 60 * US);
    balancer.on_feedback(30, Feedback::Timeout, 100 * US);
    assert_eq!(walk(&mut balancer, 3, drawing(99, 250)), [20, 30, 10]);
    balancer.on_feedback(30, Feedback::Nack, 101 * US);
    assert_eq!(walk(&mut balancer, 3, drawing(99, 250)), [20, 99, 10]);
    // An ACK of a packet on a subflow's old path counts for the subflow.
    balancer.on_feedback(30, Feedback::Good, 170 * US);
    balancer.on_feedback(20, Feedback::Good, 170 * US);
    balancer.on_feedback(99, Feedback::Timeout, 202 * US);
    assert_eq!(walk(&mut balancer, 3, drawing(77, 250)), [20, 99, 77]);
    balancer.on_feedback(99, Feedback::Timeout, 230 * US);
    assert_eq!(walk(&mut balancer, 3, drawing(55, 250)), [55, 55, 77]);
}

/// With rounds of 10 us, two consecutive rounds with more than a quarter marked move the flow.
#[test]
fn plb_moves_after_two_congested_rounds() {
    let mut balancer = Plb::new(&PlbConfig {
        paths: 250,
        base_rtt_ps: 10 * US,
        timeout_ps: 400 * US,
    });
    assert_eq!(balancer.next_ev(drawing(3, 250), 0), 3);
    let round = |balancer: &mut Plb, start_us: u64, marked: u64| {
        for ack in 1..=8 {
            let feedback = if ack <= marked {
                Feedback::Ecn
            } else {
                Feedback::Good
            };
            balancer.on_feedback(3, feedback, start_us * US + ack);
        }
    };
    // The first ACK is a round of its own; later rounds have 8 ACKs.
    balancer.on_feedback(3, Feedback::Good, 1);
    for (number, marked) in [3, 2, 3, 2].into_iter().enumerate() {
        round(&mut balancer, 1 + number as u64 * 10, marked);
        balancer.on_feedback(
            3,
            Feedback::Good,
            (10 + number as u64 * 10) * US + 10 + number as u64,
        );
        assert_eq!(balancer.next_ev(u64::MAX, 0), 3, "{number}");
    }
    for (number, ev) in [(4, 3), (5, 200)] {
        round(&mut balancer, 1 + number * 10, 8);
        balancer.on_feedback(3, Feedback::Good, (10 + number * 10) * US + 10 + number);
        assert_eq!(balancer.next_ev(drawing(200, 250), 0), ev);
    }
    // Losses move the flow immediately, at most once per timeout.
    balancer.on_feedback(200, Feedback::Timeout, 100 * US);
    assert_eq!(balancer.next_ev(drawing(7, 250), 0), 7);
    balancer.on_feedback(7, Feedback::Nack, 500 * US);
    assert_eq!(balancer.next_ev(drawing(8, 250), 0), 7);
    balancer.on_feedback(7, Feedback::Nack, 500 * US + 1);
    assert_eq!(balancer.next_ev(drawing(8, 250), 0), 8);
}

#[test]
fn a_gap_begins_a_flowlet() {
    let mut balancer = Flowlet::new(250, 10 * US);
    for (at_us, drawn, ev) in [(0, 5, 5), (10, 6, 5), (20, 7, 5), (31, 8, 8), (31, 9, 8)] {
        assert_eq!(balancer.next_ev(drawing(drawn, 250), at_us * US), ev);
    }
}

#[test]
#[should_panic(expected = "paths must be a power of two")]
fn the_walk_needs_a_power_of_two() {
    Oblivious::new(250, 0);
}
