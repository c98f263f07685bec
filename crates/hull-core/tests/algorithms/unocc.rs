//! UnoCC: constants against printed values, epochs, decrease and quick adapt by hand, growth in
//! closed form, bounds.

use hull_core::unocc::{UnoCc, UnoCcAck, UnoCcConfig};
use proptest::prelude::*;

const US: u64 = 1_000_000;

fn config(bdp_bytes: u64, intra_bdp_bytes: u64, base_rtt_ps: u64) -> UnoCcConfig {
    UnoCcConfig {
        bdp_bytes,
        intra_bdp_bytes,
        base_rtt_ps,
        mss_bytes: 4096,
        packet_bytes: 4160,
        k_bytes: 24_576,
        mark_gain: 0.65,
    }
}

/// The published setting between the data centres, and inside one.
fn inter() -> UnoCcConfig {
    config(22_400_515, 175_344, 1_792_041_280)
}

fn intra() -> UnoCcConfig {
    config(175_344, 175_344, 14_027_520)
}

fn ack(now_ps: u64, acked_bytes: u64, ecn: bool, rtt_ps: u64, sent_at_ps: u64) -> UnoCcAck {
    UnoCcAck {
        now_ps,
        acked_bytes,
        ecn,
        rtt_ps,
        sent_at_ps: Some(sent_at_ps),
    }
}

/// A flow with a BDP of 409,600 bytes on 40 us that has sent its window of 100 packets by 10 us:
/// epochs run.
fn begun() -> UnoCc {
    let mut flow = UnoCc::new(&config(409_600, 102_400, 40 * US), 0);
    for _ in 0..100 {
        flow.on_send(10 * US, 4096);
    }
    flow
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

#[test]
fn constants_match_the_printed_values() {
    assert_eq!(
        format!("{:.8}", UnoCc::new(&inter(), 0).decrease()),
        "0.00438366"
    );
    assert_eq!(
        format!("{:.6}", UnoCc::new(&intra(), 0).decrease()),
        "0.491717"
    );
    assert_eq!(UnoCc::new(&inter(), 0).window_bytes(), 22_400_515.0);
    // Pacing a BDP per base round trip is the link's rate: 4160 bytes in 332.8 ns, where the BDP is
    // exact.
    assert_eq!(
        UnoCc::new(&config(175_344, 1, 14_027_520), 0).gap_ps(),
        332_800
    );
}

/// An epoch with 3/4 of its bytes marked: E = 0.65 * 3/4, W falls by E beta, or 0.35 of it near the
/// base.
#[test]
fn decrease_by_hand() {
    let beta = 4.0 * 24_576.0 / (24_576.0 + 409_600.0);
    for (rtt_ps, scale) in [(43 * US, 1.0), (42_200_000, 0.35), (42_200_001, 1.0)] {
        let mut flow = begun();
        // Sent before the boundary at 10 us: the epoch does not end.
        flow.on_ack(&ack(49 * US, 8192, true, rtt_ps, 9 * US));
        assert_eq!(flow.window_bytes(), 409_600.0);
        // The additive increase cannot exceed the BDP.
        flow.on_ack(&ack(50 * US, 4096, false, rtt_ps, 9 * US));
        assert_eq!(flow.window_bytes(), 409_600.0);
        flow.on_ack(&ack(51 * US, 4096, true, rtt_ps, 10 * US));
        let share = 0.65 * 12_288.0 / 16_384.0;
        near(flow.mark_share(), share);
        near(
            flow.window_bytes(),
            409_600.0 * (1.0 - share * beta * scale),
        );
    }
}

/// The next boundary is the old one plus the round trip times the ratio of the BDPs: 10 + 44 / 4 =
/// 21 us. E falls from 0.65 to 0.65 (0.35 + 0.5) = 0.5525: no decrease, and the epoch's 8192 bytes
/// increase W. Then E rises.
#[test]
fn falling_marked_share_increases_the_window() {
    let beta = 4.0 * 24_576.0 / (24_576.0 + 409_600.0);
    let mut flow = begun();
    flow.on_ack(&ack(54 * US, 4096, true, 44 * US, 10 * US));
    let mut window = 409_600.0 * (1.0 - 0.65 * beta);
    near(flow.window_bytes(), window);
    flow.on_ack(&ack(60 * US, 4096, false, 44 * US, 21 * US - 1));
    window += 409.6 * 4096.0 / window;
    near(flow.window_bytes(), window);
    flow.on_ack(&ack(65 * US, 4096, true, 44 * US, 21 * US));
    window += 409.6 * 8192.0 / window;
    near(flow.mark_share(), 0.5525);
    near(flow.window_bytes(), window);
    flow.on_ack(&ack(76 * US, 4096, true, 44 * US, 32 * US));
    let share = 0.5525 * 0.35 + 0.65;
    near(flow.mark_share(), share);
    near(flow.window_bytes(), window * (1.0 - share * beta));
}

/// An epoch without marks lowers E and changes W only by the increase.
#[test]
fn an_unmarked_epoch_lowers_the_share() {
    let mut flow = begun();
    flow.on_ack(&ack(54 * US, 4096, true, 44 * US, 10 * US));
    let window = flow.window_bytes();
    flow.on_ack(&ack(65 * US, 4096, false, 44 * US, 21 * US));
    near(flow.mark_share(), 0.65 * 0.35);
    near(flow.window_bytes(), window + 409.6 * 4096.0 / window);
}

/// A period is 42 us from the first ACK, excluding that ACK. With 20 packets in it, fewer than half
/// of 100, W becomes 0.96 * 20 packets; epochs stop until as much has been sent.
#[test]
fn quick_adapt_by_hand() {
    let mut flow = begun();
    flow.on_ack(&ack(50 * US, 4096, true, 44 * US, 0));
    for _ in 0..19 {
        flow.on_ack(&ack(91 * US, 4096, true, 44 * US, 0));
    }
    assert_eq!(flow.window_bytes(), 409_600.0);
    flow.on_ack(&ack(92 * US, 4096, true, 44 * US, 10 * US));
    let window = 0.96 * 20.0 * 4096.0;
    near(flow.window_bytes(), window);
    // Packets sent before end no epoch and begin no period.
    flow.on_ack(&ack(140 * US, 4096, true, 44 * US, 92 * US - 1));
    near(flow.window_bytes(), window);
    assert_eq!(flow.mark_share(), 0.0);
    for _ in 0..20 {
        flow.on_send(140 * US, 4096);
    }
    flow.on_ack(&ack(184 * US, 4096, true, 44 * US, 140 * US));
    near(flow.mark_share(), 0.65);
    // Enough in the next period: 10 packets with a window of less than 20.
    let window = flow.window_bytes();
    for _ in 0..9 {
        flow.on_ack(&ack(225 * US, 4096, true, 44 * US, 0));
    }
    flow.on_ack(&ack(226 * US, 4096, true, 44 * US, 0));
    assert_eq!(flow.window_bytes(), window);
}

/// The gap follows the window, updated at most every 2 us.
#[test]
fn gap_update_is_rate_limited() {
    let mut flow = begun();
    assert_eq!(flow.gap_ps(), 4160 * 40 * US / 409_600);
    flow.on_ack(&ack(2 * US, 4096, true, 44 * US, 10 * US));
    assert!(flow.window_bytes() < 409_600.0);
    assert_eq!(flow.gap_ps(), 4160 * 40 * US / 409_600);
    flow.on_ack(&ack(2 * US + 1, 0, true, 44 * US, 0));
    assert_eq!(flow.gap_ps(), (4160.0 * 40e6 / flow.window_bytes()) as u64);
}

proptest! {
    /// Unmarked ACKs of W bytes add 0.001 BDP: W^2 grows by 2 * 0.001 BDP n, up to the second order
    /// of a step.
    #[test]
    fn growth_in_closed_form(acks in 1_u64..300) {
        let mut flow = UnoCc::new(&config(10_000_000, 100_000, 1000 * US), 0);
        for _ in 0..2442 {
            flow.on_send(0, 4096);
        }
        // Quick adapt moves W away from the BDP.
        flow.on_ack(&ack(0, 0, true, 1000 * US, 0));
        flow.on_ack(&ack(1050 * US, 1_000_000, true, 1000 * US, 0));
        let start = flow.window_bytes();
        prop_assert_eq!(start, 960_000.0);
        for _ in 0..acks {
            flow.on_ack(&ack(1051 * US, 4096, false, 1000 * US, 0));
        }
        let step = 0.001 * 10_000_000.0;
        let expected = start * start + 2.0 * step * 4096.0 * acks as f64;
        let found = flow.window_bytes() * flow.window_bytes();
        let second = acks as f64 * (step * 4096.0 / start) * (step * 4096.0 / start);
        prop_assert!(found >= expected * (1.0 - 1e-12) && found <= expected + second * 1.0001);
    }

    /// W stays between a packet and the BDP, E between 0 and 1.
    #[test]
    fn bounds(events in prop::collection::vec(
        (0_u64..30 * US, 0_u64..50_000, any::<bool>(), 14 * US..100 * US, any::<bool>()), 1..400)) {
        let mut flow = UnoCc::new(&intra(), 0);
        let mut now_ps = 0;
        for (gap_ps, bytes, ecn, rtt_ps, sends) in events {
            now_ps += gap_ps;
            if sends {
                flow.on_send(now_ps, 4096);
            } else {
                flow.on_ack(&ack(now_ps, bytes, ecn, rtt_ps, now_ps.saturating_sub(rtt_ps)));
            }
            prop_assert!((4096.0..=175_344.0).contains(&flow.window_bytes()));
            prop_assert!((0.0..=1.0).contains(&flow.mark_share()));
        }
    }
}
