//! Swift: the published constants of flow scaling, increase, decrease and pacing by hand, the time between
//! decreases, timeouts, bounds, and the growth of a window in closed form.

use hull_core::swift::{FlowScaling, Swift, SwiftAck, SwiftConfig, SwiftConstants};
use proptest::prelude::*;

const US: u64 = 1_000_000;

/// The published constants (`swift.toml`) with packets of 9000 bytes and 3 links of 3.0534 us.
fn config() -> SwiftConfig {
    SwiftConfig {
        packet_bytes: 9000,
        target_ps: 29_160_305,
        scaling: FlowScaling {
            range_ps: 100 * US,
            min_packets: 0.1,
            max_packets: 100.0,
            whole_packets: true,
        },
        increase_packets: 1.0,
        beta: 0.8,
        max_decrease: 0.5,
        reset_after: 5,
        min_window_bytes: 10.0,
        max_window_bytes: 9_000_000.0,
        initial_window_bytes: 108_000.0,
        base_rtt_ps: 29_400_000,
    }
}

/// A flow with a window of so many packets.
fn flow(config: &SwiftConfig, packets: f64) -> (SwiftConstants, Swift) {
    let constants = SwiftConfig {
        initial_window_bytes: packets * f64::from(config.packet_bytes),
        ..*config
    }
    .constants();
    let flow = Swift::new(&constants);
    (constants, flow)
}

fn ack(now_us: u64, acked_bytes: u64, delay_us: u64) -> SwiftAck {
    SwiftAck {
        now_ps: now_us * US,
        acked_bytes,
        delay_ps: Some(delay_us * US),
        in_use: true,
    }
}

fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
}

/// a = 100 us / (1 / sqrt(0.1) - 1/10) = 32.65 us, b = -3.265 us.
#[test]
fn the_target_falls_with_the_window() {
    let a = 100e6 / (1.0 / 0.1_f64.sqrt() - 0.1);
    assert!((a * 1e-6 - 32.65).abs() < 0.01);
    let constants = config().constants();
    let whole = |packets: f64| constants.target_ps(packets * 9000.0) - 29_160_305.0;
    for (packets, extra) in [
        (1.0, a * 0.9),
        (1.99, a * 0.9),
        (4.0, a * 0.4),
        (25.9, a * 0.1),
        (0.99, 100e6),
        (0.001, 100e6),
    ] {
        near(whole(packets), extra);
    }
    assert!(whole(100.0).abs() < 1e-3 && whole(1000.0) == 0.0);
    let mut exact = config();
    exact.scaling.whole_packets = false;
    let constants = exact.constants();
    let exact = |packets: f64| constants.target_ps(packets * 9000.0) - 29_160_305.0;
    for (packets, extra) in [
        (0.25, a * 1.9),
        (0.64, a * 1.15),
        (0.1, 100e6),
        (0.01, 100e6),
    ] {
        near(exact(packets), extra);
    }
    near(exact(1.44), a * (1.0 / 1.2 - 0.1));
}

/// Above a packet a window adds a packet: 9000 * 9000 / 36,000 = 2250 bytes for one. Below, an
/// acknowledged packet adds a packet.
#[test]
fn increase_by_hand() {
    let (constants, mut one) = flow(&config(), 4.0);
    one.on_ack(&constants, &ack(100, 9000, 30));
    near(one.window_bytes(), 38_250.0);
    let (constants, mut one) = flow(&config(), 0.5);
    one.on_ack(&constants, &ack(100, 9000, 129));
    near(one.window_bytes(), 13_500.0);
    // A window that is not in use stays, and so does one without a measured delay.
    let (constants, mut one) = flow(&config(), 4.0);
    let idle = SwiftAck {
        in_use: false,
        ..ack(100, 9000, 30)
    };
    one.on_ack(&constants, &idle);
    let unknown = SwiftAck {
        delay_ps: None,
        ..ack(100, 9000, 30)
    };
    one.on_ack(&constants, &unknown);
    near(one.window_bytes(), 36_000.0);
}

/// 100 packets: target 29.160305 us. Delay 40 us: 0.8 * 10.839695 / 40 of the window; 400 us: half.
#[test]
fn decrease_by_hand() {
    let (constants, mut one) = flow(&config(), 144.0);
    one.on_ack(&constants, &ack(100, 9000, 40));
    near(
        one.window_bytes(),
        144.0 * 9000.0 * (1.0 - 0.8 * 10.839_695 / 40.0),
    );
    let (constants, mut one) = flow(&config(), 144.0);
    one.on_ack(&constants, &ack(100, 9000, 400));
    near(one.window_bytes(), 72.0 * 9000.0);
}

/// The smoothed round trip is 40 us after the first ACK, 7/8 40 + 80/8 = 45 after the second. The next
/// decrease may come 45 us after the first one, not 44.
#[test]
fn one_decrease_in_a_smoothed_round_trip() {
    for (us, again) in [(144, false), (145, true)] {
        let (constants, mut one) = flow(&config(), 400.0);
        one.on_ack(&constants, &ack(100, 9000, 40));
        one.on_ack(&constants, &ack(101, 9000, 80));
        assert_eq!(one.rtt_ps(&constants), 45 * US);
        let before = one.window_bytes();
        one.on_ack(&constants, &ack(us, 9000, 80));
        assert_eq!(one.window_bytes() < before, again, "{us}");
    }
}

/// Half a packet and 45 us: a packet in 90 us. Until a round trip is measured the unloaded one counts.
#[test]
fn below_a_packet_the_sender_is_paced() {
    let (constants, one) = flow(&config(), 0.5);
    assert_eq!(one.gap_ps(&constants), Some(2 * 29_400_000));
    let (constants, mut one) = flow(&config(), 0.8);
    one.on_ack(&constants, &ack(100, 9000, 150));
    let expected = 150e6 / (0.8 * (1.0 - 0.8 * (150.0 - 129.160_305) / 150.0));
    let found = one.gap_ps(&constants).expect("below a packet") as f64;
    assert!((found - expected).abs() <= 1.0, "{found} {expected}");
    let (constants, one) = flow(&config(), 1.0);
    assert_eq!(one.gap_ps(&constants), None);
}

#[test]
fn losses_halve_once_and_timeouts_in_a_row_reset() {
    let (constants, mut one) = flow(&config(), 64.0);
    one.on_ack(&constants, &ack(0, 9000, 29));
    let start = one.window_bytes();
    one.on_loss(&constants, 10 * US);
    one.on_loss(&constants, 38 * US);
    near(one.window_bytes(), start / 2.0);
    one.on_loss(&constants, 39 * US);
    near(one.window_bytes(), start / 4.0);

    let (constants, mut one) = flow(&config(), 64.0);
    let windows = [32.0, 16.0, 8.0, 4.0];
    for (round, packets) in windows.into_iter().enumerate() {
        // Packets of one window time out together and count once.
        let now_ps = 30 * US * (1 + round as u64);
        for packet in 0..8 {
            one.on_timeout(&constants, now_ps + packet);
        }
        near(one.window_bytes(), packets * 9000.0);
    }
    one.on_timeout(&constants, 300 * US);
    near(one.window_bytes(), 10.0);
    // An ACK ends the row.
    one.on_ack(&constants, &ack(301, 9000, 30));
    near(one.window_bytes(), 9010.0);
    one.on_timeout(&constants, 400 * US);
    near(one.window_bytes(), 4505.0);
}

/// Between ACKs of a packet each, W^2 grows by 2 packets^2 and at most by 1/W^2 more: after n ACKs
/// W0^2 + 2 n <= W^2 <= W0^2 + 2 n + n / W0^2.
#[test]
fn growth_in_closed_form() {
    let mut far = config();
    far.target_ps = 1_000 * US;
    let (constants, mut one) = flow(&far, 10.0);
    for n in 1..=5000 {
        one.on_ack(&constants, &ack(n, 9000, 30));
        let packets = one.window_bytes() / 9000.0;
        let (square, n) = (packets * packets, n as f64);
        let least = 100.0 + 2.0 * n;
        assert!((least - 1e-6..=least + n / 100.0).contains(&square), "{n}");
    }
}

/// A fluid of N equal flows on one queue, with exact flow scaling: the delay at rest is the target of the
/// window that each then has, d = base + a / sqrt(w) + b with N w = C d.
#[test]
fn equal_flows_rest_at_their_target() {
    let mut exact = config();
    (exact.scaling.whole_packets, exact.increase_packets) = (false, 0.001);
    let packet_us = 7.2;
    for flows in [2.0, 8.0, 30.0] {
        let (constants, mut one) = flow(&exact, 3.0);
        let mut now_ps = 0;
        let delay_us = |one: &Swift| (flows * one.window_bytes() / 9000.0 * packet_us).max(29.4);
        for _ in 0..400_000 {
            let delay_ps = (delay_us(&one) * 1e6) as u64;
            now_ps += delay_ps;
            let of_window = SwiftAck {
                now_ps,
                acked_bytes: one.window_bytes() as u64,
                delay_ps: Some(delay_ps),
                in_use: true,
            };
            one.on_ack(&constants, &of_window);
        }
        // The closed form by bisection.
        let a = 100.0 / (1.0 / 0.1_f64.sqrt() - 0.1);
        let (mut low, mut high) = (29.160_305, 129.160_305);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            let window = middle / packet_us / flows;
            let target = 29.160_305 + (a / window.sqrt() - a / 10.0).clamp(0.0, 100.0);
            match target > middle {
                true => low = middle,
                false => high = middle,
            }
        }
        let (found, expected) = (delay_us(&one), low);
        assert!(
            (found / expected - 1.0).abs() < 0.005,
            "{flows}: {found} {expected}"
        );
    }
}

proptest! {
    /// The window stays within its bounds, and the gap is a round trip at the least.
    #[test]
    fn windows_have_bounds(events in prop::collection::vec((0_u8..4, 1_u64..400, 1_u64..90_000), 1..300)) {
        let (constants, mut one) = flow(&config(), 12.0);
        let mut now_us = 0;
        for (kind, us, bytes) in events {
            now_us += us;
            match kind {
                0 => one.on_loss(&constants, now_us * US),
                1 => one.on_timeout(&constants, now_us * US),
                _ => one.on_ack(&constants, &ack(now_us, bytes, us)),
            }
            prop_assert!((10.0..=9_000_000.0).contains(&one.window_bytes()));
            let rtt_ps = one.rtt_ps(&constants);
            prop_assert!(one.gap_ps(&constants).is_none_or(|gap_ps| gap_ps >= rtt_ps));
        }
    }
}
