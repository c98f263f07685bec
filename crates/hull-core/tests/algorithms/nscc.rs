//! NSCC: constants against printed values, each rule by hand, closed forms, bounds.

use hull_core::nscc::{Nscc, NsccAck, NsccConstants, NsccNack, NsccNetwork};
use proptest::prelude::*;

const US: u64 = 1_000_000;
const MTU: u64 = 4150;
/// 12 us of link delay plus six times a full packet and its ACK at 100 Gbps.
const T: u64 = 12 * US + 6 * (4150 + 64) * 80;

fn network(link_bps: u64, rtt_ps: u64) -> NsccConstants {
    NsccNetwork {
        link_bps,
        rtt_ps,
        mss_bytes: 4086,
        mtu_bytes: 4150,
        trimming: true,
        due_in_32_bits: false,
    }
    .constants()
}

fn ack(now_ps: u64, received_bytes: u64, ecn: bool, rtt_ps: u64) -> NsccAck {
    NsccAck {
        now_ps,
        received_bytes,
        ecn,
        rtt_ps: Some(rtt_ps),
        in_flight_bytes: 100_000,
    }
}

fn nack(now_ps: u64, in_flight_bytes: u64) -> NsccNack {
    NsccNack {
        now_ps,
        packet_bytes: 4150,
        rtt_ps: None,
        in_flight_bytes,
        left_to_receiver: false,
    }
}

/// The values that the reference prints for 100 Gbps and 14.0227 us, to the printed digit.
#[test]
fn constants_match_the_printed_values() {
    assert_eq!(T, 14_022_720);
    let constants = network(100_000_000_000, T);
    assert_eq!(format!("{:.5}", constants.bdp_scale), "1.16856");
    assert_eq!(format!("{:.5}", constants.delay_scale), "0.87642");
    assert_eq!(
        format!("{:.3}", constants.target_delay_ps as f64 / 1e6),
        "10.517"
    );
    assert_eq!(format!("{:.0}", constants.fair_bytes), "23874");
    assert_eq!(format!("{:.0}", constants.floor_bytes), "716");
    assert_eq!(format!("{:.5}", constants.fast_scale), "0.29214");
    assert_eq!(constants.quick_adapt_delay_ps, 42_068_160);
    assert_eq!(constants.adjust_bytes, 33_200);
    let flow = Nscc::new(&constants, T, None);
    assert_eq!(flow.window_bytes(), 262_926);
    assert_eq!(flow.max_window_bytes(), 262_926);
    // On the reference network a and b are simple: alpha = 4 MSS / 12 us for any D.
    let simple = network(100_000_000_000, 12 * US);
    assert_eq!(simple.bdp_scale, 1.0);
    assert_eq!(simple.delay_scale, 0.75);
    assert!((simple.proportional * 12e6 - 4.0 * 4086.0).abs() < 1e-9);
}

/// The reference network, T = 12 us, D = 9 us: 10,000 bytes with a delay of 5 us earn
/// 4 MSS / 12 us * 10,000 * 4 us = 54,480,000. The ACK arrives more than T after time zero, so the window of
/// 100,000 grows by 544 and the floor of 612.9: 101,156.
#[test]
fn proportional_increase_by_hand() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, Some(100_000));
    flow.on_ack(&constants, &ack(20 * US, 10_000, false, 17 * US));
    assert_eq!(flow.average_delay_ps(), 62_500);
    assert_eq!(flow.window_bytes(), 101_156);
    // Within T and with at most 8 MTU the window stays and the pending increase grows: 2 *
    // 54,480,000.
    flow.on_ack(&constants, &ack(21 * US, 10_000, false, 17 * US));
    flow.on_ack(&constants, &ack(22 * US, 10_000, false, 17 * US));
    assert_eq!(flow.window_bytes(), 101_156);
    // 20,000 + 13,201 bytes are more than 33,200: 54,480 * 3,320.1 / 101,156 = 1788.1.
    flow.on_ack(&constants, &ack(23 * US, 13_201, false, 17 * US));
    assert_eq!(flow.window_bytes(), 102_944);
}

/// Delay at least D, no mark: the increase is 5 MSS n. 33,201 bytes on a window of 100,000 add
/// 20,430 * 33,201 / 100,000 = 6782.9, before T has passed.
#[test]
fn fair_increase_by_hand() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, Some(100_000));
    flow.on_ack(&constants, &ack(11 * US, 33_201, false, 21 * US));
    assert_eq!(flow.window_bytes(), 106_782);
    // The average moves towards a quarter of the base round trip only above D.
    assert_eq!(flow.average_delay_ps(), 112_500);
    flow.on_ack(&constants, &ack(11 * US, 0, false, 22 * US));
    assert_eq!(flow.average_delay_ps(), 37_500 + 111_093);
}

/// At 800 Gbps and 12 us fair increase is 5 MSS 8 n: 33,000 bytes earn 5,393,520,000, or 2^32 less
/// in 32 bits. With 201 more, a window of 1,000,000 grows by 5426 bytes, or by 1131 in 32 bits.
#[test]
fn increase_due_may_wrap() {
    for (due_in_32_bits, more) in [(false, 5426), (true, 1131)] {
        let mut constants = network(800_000_000_000, 12 * US);
        constants.network.due_in_32_bits = due_in_32_bits;
        let mut flow = Nscc::new(&constants, 12 * US, Some(1_000_000));
        flow.on_ack(&constants, &ack(10 * US, 33_000, false, 21 * US));
        flow.on_ack(&constants, &ack(11 * US, 201, false, 21 * US));
        assert_eq!(flow.window_bytes(), 1_000_000 + more);
    }
}

/// With marks and a delay of 2 D, the average after k samples is 2 D (1 - 0.9875^k): above D from k
/// = 56 on (0.9875^55 = 0.5006). Until then only the floor of 612 bytes moves W; then W *= 1 - 0.8
/// (avg - D) / avg.
#[test]
fn decrease_waits_for_the_average() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, Some(150_000));
    for k in 1..=55 {
        flow.on_ack(&constants, &ack(12 * US + k, 100, true, 30 * US));
        assert_eq!(flow.window_bytes(), 150_612, "{k}");
        let average = 18e6 * (1.0 - 0.9875_f64.powi(k as i32));
        assert!((flow.average_delay_ps() as f64 - average).abs() < 60.0);
    }
    flow.on_ack(&constants, &ack(12 * US + 56, 100, true, 30 * US));
    let average = 18e6 * (1.0 - 0.9875_f64.powi(56));
    let expected = 150_612.0 * (1.0 - 0.8 * (average - 9e6) / average);
    assert!((flow.window_bytes() as f64 - expected).abs() < 2.0);
    // At most one cut per base round trip.
    let cut = flow.window_bytes();
    flow.on_ack(&constants, &ack(24 * US + 56, 100, true, 30 * US));
    assert!(flow.window_bytes() >= cut);
    flow.on_ack(&constants, &ack(24 * US + 57, 100, true, 30 * US));
    assert!(flow.window_bytes() < cut);
}

/// Even a very long delay cuts the window by at most half.
#[test]
fn decrease_is_at_most_half() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, Some(200_000));
    for _ in 0..2000 {
        flow.on_ack(&constants, &ack(11 * US, 0, true, 12_000 * US));
    }
    assert_eq!(flow.window_bytes(), 200_000);
    flow.on_ack(&constants, &ack(12 * US + 1, 0, true, 12_000 * US));
    // Plus the floor of T: 0.15 MSS.
    assert_eq!(flow.window_bytes(), 100_000 + 612);
}

/// With almost no delay over a window's worth of bytes, a quarter of the received bytes is added at
/// once: nothing for the first W bytes, then n / 4 for each ACK of n bytes, up to the maximum
/// window.
#[test]
fn fast_increase_by_hand() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, Some(40_000));
    let now_ps = 11 * US;
    flow.on_ack(&constants, &ack(now_ps, 20_000, false, 12 * US));
    flow.on_ack(&constants, &ack(now_ps, 10_000, false, 12 * US));
    assert_eq!(flow.window_bytes(), 40_000);
    // 40,001 > 40,000; the increase for 30,000 bytes is pending: 16,344 * 0.75 * 30,000 =
    // 367,740,000.
    flow.on_ack(&constants, &ack(now_ps, 10_001, false, 12 * US));
    let grown = 40_000 + 2500;
    assert_eq!(flow.window_bytes(), grown + 367_740_000 / grown);
    let before = flow.window_bytes();
    flow.on_ack(&constants, &ack(now_ps, 4000, false, 12 * US + 999_999));
    assert_eq!(flow.window_bytes(), before + 1000);
    // A delay of 1 us ends fast increase.
    flow.on_ack(&constants, &ack(now_ps, 4000, false, 13 * US));
    flow.on_ack(&constants, &ack(now_ps, 4000, false, 12 * US));
    assert_eq!(flow.window_bytes(), before + 1000);
}

/// Periods of 12 + 9 us. In the second a packet is trimmed and 10,000 bytes arrive, below 225,000 /
/// 8: W becomes 10,000. Marked ACKs and NACKs of the 30,000 bytes in flight then have no effect.
#[test]
fn quick_adapt_by_hand() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, None);
    assert_eq!(flow.max_window_bytes(), 225_000);
    // The first period begins; a NACK subtracts its packet.
    flow.on_nack(&constants, &nack(US, 200_000));
    assert_eq!(flow.window_bytes(), 225_000 - MTU);
    flow.on_ack(&constants, &ack(2 * US, 10_000, false, 12 * US));
    // Exactly at its end another packet is subtracted. Just after it W becomes the bytes that
    // arrived.
    flow.on_nack(&constants, &nack(22 * US, 200_000));
    assert_eq!(flow.window_bytes(), 225_000 - 2 * MTU);
    flow.on_nack(&constants, &nack(22 * US + 1, 30_000));
    assert_eq!(flow.window_bytes(), 10_000);
    // 30,000 bytes were in flight: 7 NACKs account for 29,050, the eighth exceeds them.
    for _ in 0..7 {
        flow.on_nack(&constants, &nack(23 * US, 30_000));
        assert_eq!(flow.window_bytes(), 10_000);
    }
    flow.on_nack(&constants, &nack(23 * US, 30_000));
    assert_eq!(flow.window_bytes(), 10_000 - MTU);
}

/// Enough bytes arrive in the period, so quick adapt does not run, but its trigger persists. The
/// next period brings less than a packet: W becomes a packet.
#[test]
fn quick_adapt_stays_triggered() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, None);
    flow.on_nack(&constants, &nack(US, 200_000));
    flow.on_ack(&constants, &ack(2 * US, 28_125, true, 12 * US));
    let before = flow.window_bytes();
    flow.on_ack(&constants, &ack(23 * US, 0, true, 12 * US));
    assert!(flow.window_bytes() >= before);
    flow.on_ack(&constants, &ack(45 * US, 100, true, 12 * US));
    assert_eq!(flow.window_bytes(), MTU);
}

/// A delay above 4 D triggers quick adapt without any NACK.
#[test]
fn long_delay_triggers_quick_adapt() {
    let constants = network(100_000_000_000, 12 * US);
    for (delay_us, window) in [(36, 225_000), (37, 5000)] {
        let mut flow = Nscc::new(&constants, 12 * US, None);
        flow.on_ack(&constants, &ack(US, 0, true, 12 * US));
        flow.on_ack(&constants, &ack(23 * US, 5000, true, (12 + delay_us) * US));
        assert_eq!(flow.window_bytes(), window, "{delay_us}");
    }
}

/// A trim at the last hop under receiver credit leaves the window; a timeout subtracts its packet.
#[test]
fn nack_and_timeout() {
    let constants = network(100_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, Some(50_000));
    let last_hop = NsccNack {
        left_to_receiver: true,
        ..nack(US, 50_000)
    };
    flow.on_nack(&constants, &last_hop);
    assert_eq!(flow.window_bytes(), 50_000);
    // A sample of T: 0.0125 * 12 us.
    assert_eq!(flow.average_delay_ps(), 150_000);
    flow.on_timeout(&constants, 4150);
    assert_eq!(flow.window_bytes(), 50_000 - MTU);
    for _ in 0..20 {
        flow.on_timeout(&constants, 4150);
    }
    assert_eq!(flow.window_bytes(), MTU);
}

/// Smaller samples lower the base round trip and the maximum window; larger ones do not raise them.
#[test]
fn base_round_trip_falls() {
    let constants = network(400_000_000_000, 12 * US);
    let mut flow = Nscc::new(&constants, 12 * US, None);
    assert_eq!(flow.max_window_bytes(), 900_000);
    flow.on_ack(&constants, &ack(US, 100, true, 8 * US));
    assert_eq!(flow.base_rtt_ps(), 8 * US);
    assert_eq!(flow.max_window_bytes(), 600_000);
    assert_eq!(flow.window_bytes(), 600_000);
    flow.on_ack(&constants, &ack(US, 100, true, 10 * US));
    assert_eq!(flow.base_rtt_ps(), 8 * US);
    let low = NsccNack {
        rtt_ps: Some(6 * US),
        ..nack(US, 0)
    };
    flow.on_nack(&constants, &low);
    assert_eq!(flow.max_window_bytes(), 450_000);
    assert_eq!(flow.window_bytes(), 450_000);
}

proptest! {
    /// For arbitrary input, the window stays between a packet and the maximum window.
    #[test]
    fn the_window_stays_in_its_bounds(
        gbps in 1_u64..1000,
        rtt_us in 5_u64..100,
        trimming in any::<bool>(),
        arrivals in prop::collection::vec(
            (0_u64..30 * US, 0_u64..40_000, any::<bool>(), 0_u64..400 * US, 0_u8..8), 1..300),
    ) {
        let constants = NsccNetwork {
            link_bps: gbps * 1_000_000_000,
            rtt_ps: rtt_us * US,
            mss_bytes: 4086,
            mtu_bytes: 4150,
            trimming,
            due_in_32_bits: false,
        }
        .constants();
        let mut flow = Nscc::new(&constants, rtt_us * US, None);
        let mut now_ps = 0;
        for (gap_ps, bytes, ecn, rtt_ps, kind) in arrivals {
            now_ps += gap_ps;
            match kind {
                0 => flow.on_nack(&constants, &NsccNack { rtt_ps: Some(rtt_ps), ..nack(now_ps, bytes) }),
                1 => flow.on_timeout(&constants, 4150),
                2 => flow.on_ack(
                    &constants,
                    &NsccAck { rtt_ps: None, ..ack(now_ps, bytes, ecn, 0) },
                ),
                _ => flow.on_ack(&constants, &ack(now_ps, bytes, ecn, rtt_ps)),
            }
            prop_assert!(flow.window_bytes() >= MTU);
            if kind > 2 {
                // A lower base round trip alone does not cut a window that is otherwise unchanged.
                prop_assert!(flow.window_bytes() <= constants_max(&constants, rtt_us * US));
            }
        }
    }

    /// Without marks and with a constant delay below D, each T acknowledges a window of bytes and
    /// adds alpha (D - delay) and eta: the growth per T is 4 MSS a b (1 - delay / D) + 0.15 MSS a.
    #[test]
    fn growth_in_a_round_trip(gbps in 50_u64..800, delay_us in 1_u64..9) {
        let constants = network(gbps * 1_000_000_000, 12 * US);
        let start = constants_max(&constants, 12 * US) / 4;
        let mut flow = Nscc::new(&constants, 12 * US, Some(start));
        // A window's worth of bytes in 100 ACKs over T.
        for k in 1..=100 {
            let now_ps = k * 12 * US / 100;
            let rtt_ps = (12 + delay_us) * US;
            flow.on_ack(&constants, &ack(now_ps, start / 100, false, rtt_ps));
        }
        // One more, just after T, pays out the rest.
        flow.on_ack(&constants, &ack(12 * US + 1, 0, false, (12 + delay_us) * US));
        let grown = flow.window_bytes() as f64 - start as f64;
        let below = 1.0 - delay_us as f64 / 9.0;
        let share = 4.0 * 4086.0 * constants.bdp_scale * constants.delay_scale * below;
        let expected = share + 0.15 * 4086.0 * constants.bdp_scale;
        // W grows within T, and each step is rounded down.
        prop_assert!(grown <= expected * 1.001 + 1.0, "{} {}", grown, expected);
        let slower = start as f64 / (start as f64 + expected);
        prop_assert!(grown >= expected * slower * 0.97 - 110.0, "{} {}", grown, expected);
    }
}

/// 1.5 C times a round trip, at least a packet.
fn constants_max(constants: &NsccConstants, rtt_ps: u64) -> u64 {
    let bdp = u128::from(constants.network.link_bps) * u128::from(rtt_ps) / 8_000_000_000_000;
    (bdp as u64 * 3 / 2).max(MTU)
}
