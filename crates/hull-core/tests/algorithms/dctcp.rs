//! DCTCP sender: alpha and the window cut.

use hull_core::dctcp::{Dctcp, DctcpConfig, ONE};
use proptest::prelude::*;

/// ACKs as (segments acknowledged, segments newly sent after it, ECE).
fn acks() -> impl Strategy<Value = Vec<(u64, u64, bool)>> {
    prop::collection::vec((0_u64..3, 0_u64..4, any::<bool>()), 1..500)
}

proptest! {
    /// Matches the equations in floating point, with the windows counted from the list of ACKs.
    #[test]
    fn follows_the_equations(
        acks in acks(),
        g in 0..=ONE,
        initial_alpha in 0..=ONE,
        segment in 1_u64..9000,
    ) {
        let mut dctcp = Dctcp::new(&DctcpConfig { g, initial_alpha });
        let one = f64::from(ONE);
        let mut alpha = f64::from(initial_alpha) / one;
        let (mut una, mut nxt) = (0, 10 * segment);
        let (mut window_end, mut acked, mut marked) = (0, 0.0, 0.0);
        let mut cut_at = None;
        let mut roundings = 0.0;
        for (segments, sent, ece) in acks {
            let acked_bytes = (segments * segment).min(nxt - una);
            una += acked_bytes;
            acked += acked_bytes as f64;
            marked += if ece { acked_bytes as f64 } else { 0.0 };
            let updated = dctcp.on_ack(una, nxt, acked_bytes, ece);
            prop_assert_eq!(updated, una > window_end);
            if updated {
                let g = f64::from(g) / one;
                alpha = (1.0 - g) * alpha + g * marked / acked;
                roundings += 1.0;
                (window_end, acked, marked) = (nxt, 0.0, 0.0);
            }
            prop_assert!(dctcp.alpha() <= ONE);
            let difference = (f64::from(dctcp.alpha()) / one - alpha).abs();
            prop_assert!(difference <= (1.0 + roundings) / one, "{}", difference);

            if ece {
                let cwnd_bytes = 100 * segment;
                match dctcp.on_ece(una, nxt, cwnd_bytes) {
                    Some(cut) => {
                        prop_assert!(cut_at.is_none_or(|at| una > at), "one cut per window of data");
                        cut_at = Some(nxt);
                        let expected = cwnd_bytes as f64 * (1.0 - f64::from(dctcp.alpha()) / one / 2.0);
                        prop_assert!((cut as f64 - expected).abs() <= 0.5 + 1e-6);
                        prop_assert!((cwnd_bytes / 2..=cwnd_bytes).contains(&cut));
                    }
                    None => prop_assert!(cut_at.is_some_and(|at| una <= at), "no cut was due"),
                }
            }
            nxt += sent * segment;
        }
    }

    /// With the same share of marks in every window, alpha settles at that share.
    #[test]
    fn alpha_settles_at_a_constant_fraction(
        packets in 1_u64..40,
        marked_share in 0_u64..=100,
        initial_alpha in 0..=ONE,
    ) {
        let g = ONE / 16;
        let mut dctcp = Dctcp::new(&DctcpConfig { g, initial_alpha });
        let marked = packets * marked_share / 100;
        // The first ACK is a window of its own; afterwards each flight is one window.
        for number in 1..=packets * 600 {
            let ece = number % packets < marked;
            dctcp.on_ack(number, number - 1 + packets, 1, ece);
        }
        let settled = f64::from(dctcp.alpha()) / f64::from(ONE);
        let fraction = marked as f64 / packets as f64;
        // 1 / (2 g) units of rounding.
        prop_assert!((settled - fraction).abs() <= 9.0 / f64::from(ONE), "{} {}", settled, fraction);
    }
}

proptest! {
    /// Equation 3.35 over any split into ACKs: the total cut is alpha / 2 of the bytes that the
    /// marked ACKs covered, to within one byte.
    #[test]
    fn the_reaction_per_ack_takes_half_of_alpha(
        acks in prop::collection::vec(1_u64..100_000, 1..200),
        initial_alpha in 0..=ONE,
    ) {
        let mut dctcp = Dctcp::new(&DctcpConfig { g: 0, initial_alpha });
        let taken: u64 = acks.iter().map(|&acked| dctcp.on_ece_per_ack(acked)).sum();
        let marked: u64 = acks.iter().sum();
        let expected = u128::from(marked) * u128::from(initial_alpha) / u128::from(2 * ONE);
        prop_assert_eq!(u128::from(taken), expected);
    }
}
