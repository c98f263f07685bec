//! Rate-based DCTCP: windows and cuts by hand, alpha in closed form, the balance of cuts and increases
//! under independent marks.

use hull_core::dctcp_rate::{DctcpRate, DctcpRateConfig};

const GBPS: u64 = 1_000_000_000;

/// 100 Gbps, packets of 1000 bytes, a packet per round trip of 8 us.
fn config() -> DctcpRateConfig {
    DctcpRateConfig {
        line_rate_bps: 100 * GBPS,
        min_rate_bps: GBPS,
        additive_bps: GBPS,
        gain: 1.0 / 16.0,
        packet_bytes: 1000,
    }
}

/// The first ACK, of packet 1 with 4 sent, begins a window that ends above 4000. Packet 2 is marked: a
/// cut by half, alpha being 1, and no other until an ACK is above 5000. Packet 5 ends the window, in
/// which 2 of 4 + 1 packets are marked: alpha is 15/16 + 2/5/16. It adds nothing, for the cut lasts.
/// Packet 6 ends the cut, packet 10 the next window, without a mark.
#[test]
fn windows_by_hand() {
    let config = config();
    let mut flow = DctcpRate::new(&config);
    let mut ack = |packet: u64, marked| {
        flow.on_ack(&config, (packet * 1000, packet * 1000 + 3000), 1000, marked);
        (flow.rate_bps(), flow.alpha())
    };
    assert_eq!(ack(1, false), (100 * GBPS, 1.0));
    assert_eq!(ack(2, true), (50 * GBPS, 1.0));
    assert_eq!(ack(3, true), (50 * GBPS, 1.0));
    assert_eq!(ack(4, false), (50 * GBPS, 1.0));
    let alpha = 15.0 / 16.0 + 0.4 / 16.0;
    assert_eq!(ack(5, false), (50 * GBPS, alpha));
    for packet in 6..=8 {
        assert_eq!(ack(packet, false), (50 * GBPS, alpha));
    }
    assert_eq!(ack(9, false), (51 * GBPS, alpha * 15.0 / 16.0));
    // A mark with the ACK that ends a window counts there, and cuts with the new alpha.
    for packet in 10..=12 {
        ack(packet, false);
    }
    let alpha = alpha * (15.0_f64 / 16.0) * 15.0 / 16.0 + 0.25 / 16.0;
    let (rate_bps, found) = ack(13, true);
    assert!((found - alpha).abs() < 1e-12, "{found} {alpha}");
    assert!((rate_bps as f64 - 51e9 * (1.0 - alpha / 2.0)).abs() < 1.0);
}

/// All packets marked, `n` in flight: F = n / (n + 1) for every window but the first, which ends with
/// n + 1 marked packets of 1 + n + 1. Alpha tends to F as (1 - g)^k; the rate falls to the smallest one.
#[test]
fn alpha_in_closed_form() {
    let config = config();
    let mut flow = DctcpRate::new(&config);
    let (mut packet, in_flight) = (0, 9);
    let mut ack = |packets: u64| {
        for _ in 0..packets {
            packet += 1;
            let una = packet * 1000;
            flow.on_ack(&config, (una, una + in_flight * 1000), 1000, true);
        }
        (flow.rate_bps(), flow.alpha())
    };
    ack(1);
    let (_, first) = ack(10);
    assert!((first - 1.0).abs() < 1e-12);
    for windows in 1..100 {
        let (_, alpha) = ack(10);
        let kept = (15.0 / 16.0_f64).powi(windows);
        assert!(
            (alpha - (1.0 + (first - 1.0) * kept)).abs() < 1e-12,
            "{windows}"
        );
    }
    assert_eq!(ack(1).0, GBPS);
}

/// Packets marked independently with probability p: a cut lasts W packets, then 1 / p - 1 unmarked ones
/// pass and end (1 / p - 1) / W windows. Cuts of R alpha / 2 with alpha = p W / (W + 1), where W + 1
/// packets end a window of W in flight, and increases of a packet per round trip balance.
#[test]
fn rate_rests_where_cuts_and_increases_balance() {
    let config = config();
    for p in [0.02, 0.03, 0.05] {
        let mut flow = DctcpRate::new(&config);
        let (mut una, mut nxt, mut sum, mut state) = (0, 0, 0.0, 1_u64);
        let count = 1_000_000;
        for _ in 0..count {
            una += 1000;
            // A round trip of 8 us: a packet in flight per Gbps.
            nxt = (una + flow.rate_bps() / GBPS * 1000).max(nxt);
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let marked = ((state >> 33) as f64) < p * 2.0_f64.powi(31);
            flow.on_ack(&config, (una, nxt), 1000, marked);
            sum += 1e9 / flow.rate_bps() as f64;
        }
        // Time is one over the rate for each packet: the mean rate over time.
        let found = f64::from(count) / sum;
        let (mut low, mut high) = (1.0, 1000.0);
        for _ in 0..60 {
            let window = (low + high) / 2.0_f64;
            let cut = window * p / 2.0;
            let gain = (1.0 / p - 1.0) / (window + 1.0);
            match cut > gain {
                true => high = window,
                false => low = window,
            }
        }
        assert!((found / low - 1.0).abs() < 0.05, "{p}: {found} {low}");
    }
}
