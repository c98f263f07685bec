//! Erasure coding: groups against plain counts, timers by hand, loss in closed form.

use hull_core::erasure::{ErasureCode, ErasureReceiver, ErasureSender};
use proptest::prelude::*;

/// A transfer is padded to whole groups: 1 GB in 4096-byte packets is 30,518 groups of 8 + 2.
#[test]
fn groups_of_a_transfer() {
    let code = ErasureCode::new(8, 2);
    assert_eq!(code.groups(1_000_000_000, 4096), 30_518);
    assert_eq!(code.packets(30_518), 305_180);
    assert_eq!(code.groups(1, 4096), 1);
    assert_eq!(code.groups(8 * 4096, 4096), 1);
    assert_eq!(code.groups(8 * 4096 + 1, 4096), 2);
    assert_eq!((code.group(9), code.group(10)), (0, 1));
}

/// The timer of group 1 starts with its first packet, expires once and restarts with the next
/// packet.
#[test]
fn timers_by_hand() {
    let mut receiver = ErasureReceiver::new(ErasureCode::new(8, 2), 400);
    assert_eq!(receiver.next_timer_ps(), None);
    assert!(!receiver.on_packet(10, 1000));
    assert!(!receiver.on_packet(11, 1200));
    assert_eq!(receiver.next_timer_ps(), Some(1400));
    assert_eq!(receiver.take_expired(1399), None);
    assert_eq!(receiver.take_expired(1400), Some(1));
    assert_eq!(receiver.take_expired(1400), None);
    assert_eq!(receiver.next_timer_ps(), None);
    // A duplicate starts the timer too.
    assert!(!receiver.on_packet(11, 2000));
    assert_eq!(receiver.next_timer_ps(), Some(2400));
    for number in 12..17 {
        assert!(!receiver.on_packet(number, 2100));
    }
    assert!(receiver.on_packet(19, 2200));
    assert_eq!(receiver.next_timer_ps(), None);
    // Group 0 is incomplete, so complete_below() stays at 0.
    assert_eq!(receiver.complete_below(), 0);
    for number in 2..9 {
        assert!(!receiver.on_packet(number, 2300));
    }
    assert!(receiver.on_packet(0, 2300));
    assert_eq!(receiver.complete_below(), 2);
    assert!(receiver.on_packet(1, 9000));
    assert_eq!(receiver.next_timer_ps(), None);
}

/// The sender learns of complete groups one at a time or as all groups below a number.
#[test]
fn the_sender_by_hand() {
    let mut sender = ErasureSender::new();
    sender.on_answer(0, Some(2));
    assert!(!sender.is_complete(0) && sender.is_complete(2) && !sender.is_complete(3));
    sender.on_answer(1, None);
    assert!(sender.is_complete(0) && !sender.is_complete(1));
    sender.on_answer(1, Some(1));
    assert_eq!(sender.complete_below(), 3);
    // Stale answers have no effect.
    sender.on_answer(0, Some(1));
    assert_eq!(sender.complete_below(), 3);
}

proptest! {
    /// Matches plain counts in any order of arrival; both ends agree if every ACK arrives, and the
    /// bounds hold if some are lost.
    #[test]
    fn matches_plain_counts(
        data in 1_u8..12,
        parity in 1_u8..5,
        arrivals in prop::collection::vec((0_u64..200, any::<bool>()), 1..400),
    ) {
        let code = ErasureCode::new(data, parity);
        let mut receiver = ErasureReceiver::new(code, 100);
        let mut sender = ErasureSender::new();
        let mut arrived = std::collections::BTreeSet::new();
        let size = u64::from(data + parity);
        for (at, (number, acked)) in arrivals.into_iter().enumerate() {
            arrived.insert(number);
            let counts = |group: u64| arrived.range(group * size..(group + 1) * size).count() >= usize::from(data);
            let complete = receiver.on_packet(number, at as u64);
            prop_assert_eq!(complete, counts(number / size));
            let below = (0..).find(|&group| !counts(group)).unwrap();
            prop_assert_eq!(receiver.complete_below(), below);
            if acked {
                sender.on_answer(below, complete.then_some(number / size));
                prop_assert!(sender.complete_below() >= below);
            }
            for group in 0..40 {
                prop_assert!(!sender.is_complete(group) || counts(group));
            }
        }
    }
}

/// With loss p, the share of groups that need a NACK is 1 - (1-p)^10 - 10 p (1-p)^9 - 45 p^2
/// (1-p)^8: 0.1195 at p = 1/8. A fixed generator draws the losses; the tolerance is four standard
/// deviations.
#[test]
fn loss_in_closed_form() {
    let code = ErasureCode::new(8, 2);
    let mut receiver = ErasureReceiver::new(code, 100);
    let mut state = 1_u64;
    let groups = 20_000;
    for number in 0..code.packets(groups) {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        if state >> 61 != 0 {
            receiver.on_packet(number, number);
        }
    }
    let mut nacks = 0;
    while receiver.take_expired(u64::MAX).is_some() {
        nacks += 1;
    }
    let kept: f64 = 7.0 / 8.0;
    let lost: f64 = 1.0 - kept;
    let enough = kept.powi(10) + 10.0 * lost * kept.powi(9) + 45.0 * lost * lost * kept.powi(8);
    let expected = groups as f64 * (1.0 - enough);
    let deviation = (expected * enough).sqrt();
    assert!(
        (f64::from(nacks) - expected).abs() < 4.0 * deviation,
        "{nacks} {expected}"
    );
}

#[test]
#[should_panic(expected = "parity must be above zero")]
fn a_group_needs_parity() {
    ErasureCode::new(8, 0);
}
