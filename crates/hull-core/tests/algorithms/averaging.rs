//! The averaging principle: times and values of its changes, and theorem 5.4 of the thesis: it is a
//! PD controller with a ripple.

use hull_core::averaging::{Averaging, HALF, ProportionalDerivative};
use proptest::prelude::*;

/// Thesis 5.5.1: feedback changes the value every T, and half of each change is reverted midway.
#[test]
fn changes_by_feedback_and_halfway_back() {
    let mut input = Averaging::new(100, 1000, 1, HALF);
    let mut found = Vec::new();
    for add in [80, 0, -40, 0, 8, 0] {
        found.push(input.next_ps());
        input.change(|now| now + add);
        found.push(input.current() as u64);
    }
    assert_eq!(
        found,
        [
            1000, 180, 1500, 140, 2000, 100, 2500, 120, 3000, 128, 3500, 124
        ]
    );
}

/// Thesis 5.5.3: AP2 averages at T/3 and 2T/3 after the start of each interval.
#[test]
fn averages_twice_at_thirds() {
    let mut input = Averaging::new(0, 3000, 2, HALF);
    let mut found = Vec::new();
    for _ in 0..4 {
        found.push((input.next_ps(), input.is_feedback_next()));
        input.change(|_| 400);
        found.push((input.current() as u64, input.target() == 0));
    }
    assert_eq!(
        found,
        [
            (3000, true),
            (400, true),
            (4000, false),
            (200, true),
            (5000, false),
            (100, true),
            (6000, true),
            (400, false)
        ]
    );
}

#[test]
fn skips_whole_intervals() {
    for (now_ps, next_ps) in [(999, 1000), (1999, 1000), (2000, 2000), (7777, 7000)] {
        let mut input = Averaging::new(5, 1000, 0, HALF);
        input.skip(now_ps);
        assert_eq!(input.next_ps(), next_ps, "{now_ps}");
    }
}

proptest! {
    /// Theorem 5.4 with K = 4, for which every division is exact: the input of controller 1, which
    /// averages, equals controller 2's, `u_m + u_d` of (5.28) to (5.31), at every change.
    #[test]
    fn averaging_is_a_pd_controller_with_a_ripple(
        errors in prop::collection::vec(-1_000_000_i64..1_000_000, 1..200),
        initial in -1000_i64..1000,
    ) {
        let mut input = Averaging::new(initial, 1000, 1, HALF);
        let mut derivative = ProportionalDerivative::default();
        let mut mean = initial;
        for error in errors {
            mean += derivative.four_times_feedback(error);
            input.change(|now| now + 4 * error);
            prop_assert_eq!(input.current(), mean + error);
            input.change(|_| unreachable!("an average needs no other value"));
            prop_assert_eq!(input.current(), mean - error);
        }
    }

    /// Without averages the input equals the plain controller's.
    #[test]
    fn plain_without_averages(errors in prop::collection::vec(-1000_i64..1000, 1..50)) {
        let mut input = Averaging::new(7, 1000, 0, HALF);
        let mut sum = 7;
        for error in errors {
            sum += error;
            input.change(|now| now + error);
            prop_assert_eq!(input.current(), sum);
        }
    }
}
