//! Prague: alpha against its recursion, increase and decrease by hand, window at a constant mark
//! probability, equal rates at unequal round trips; AccECN against plain counts.

use hull_core::accecn::{AccEcnReceiver, AceDecoder, Codepoint};
use hull_core::prague::{ALPHA_ONE, PACKET, Prague, PragueAck, PragueConfig};
use proptest::prelude::*;

const MS: u64 = 1_000_000_000;

/// No scaling.
const PLAIN: PragueConfig = PragueConfig {
    rtt_target_ps: 0,
    transition_rounds: 500,
};

fn ack(una: u64, nxt: u64, acked_packets: u32, marked_packets: u32) -> PragueAck {
    PragueAck {
        now_ps: 1000 * MS,
        una,
        nxt,
        acked_packets,
        marked_packets,
        rtt_ps: 10 * MS,
        slow_start: false,
        window_limited: true,
    }
}

fn packets(window: u64) -> f64 {
    window as f64 / PACKET as f64
}

/// With a window of 10, an unmarked packet adds 1/10, the next 1/11 because 10.1 is rounded up.
#[test]
fn increase_by_hand() {
    let mut flow = Prague::new(&PLAIN, 10, 0);
    flow.on_ack(&ack(1, 11, 1, 0));
    assert!((packets(flow.window()) - 10.1).abs() < 1e-6);
    flow.on_ack(&ack(2, 12, 1, 0));
    assert!((packets(flow.window()) - 10.1 - 1.0 / 11.0).abs() < 2e-6);
    assert_eq!(flow.window_packets(), 11);
}

/// Alpha is 1 until it is measured: the first mark halves the window.
#[test]
fn one_cut_a_round() {
    let mut flow = Prague::new(&PLAIN, 10, 0);
    assert!(flow.on_ack(&ack(1, 11, 1, 1)));
    assert_eq!(flow.window(), 5 * PACKET);
    // ACKs up to 11, the next number at the cut, belong to the same round.
    for una in 2..=11 {
        assert!(!flow.on_ack(&ack(una, una + 5, 1, 1)));
    }
    assert_eq!(flow.window(), 5 * PACKET);
    assert!(flow.on_ack(&ack(12, 17, 1, 1)));
    // The minimum is two packets.
    for una in 3..9 {
        flow.on_ack(&ack(una * 10, una * 10 + 5, 1, 1));
    }
    assert_eq!(flow.window(), 2 * PACKET);
}

/// A loss halves the window and stops the increase until recovery; a flow that the window does not
/// limit does not increase either.
#[test]
fn losses() {
    let mut flow = Prague::new(&PLAIN, 10, 0);
    flow.on_loss();
    assert_eq!(flow.window(), 5 * PACKET);
    flow.on_ack(&ack(1, 5, 1, 0));
    assert!(!flow.on_ack(&ack(2, 6, 1, 1)));
    assert_eq!(flow.window(), 5 * PACKET);
    flow.on_recovered();
    flow.on_ack(&PragueAck {
        window_limited: false,
        ..ack(3, 7, 1, 0)
    });
    assert_eq!(flow.window(), 5 * PACKET);
    flow.on_ack(&ack(4, 8, 1, 0));
    assert!((packets(flow.window()) - 5.2).abs() < 1e-6);
    flow.on_ack(&PragueAck {
        slow_start: true,
        ..ack(5, 9, 3, 1)
    });
    assert_eq!(flow.alpha(), ALPHA_ONE - ALPHA_ONE / 16 + ALPHA_ONE / 48);
}

/// 100 packets of 1500 bytes per 10 ms are 120 Mbit/s; pacing doubles that far below the threshold;
/// bursts last 2^-12 s.
#[test]
fn pacing() {
    let flow = Prague::new(&PLAIN, 100, 0);
    assert_eq!(flow.pacing_bps(1500, 10 * MS, 100), 120_000_000);
    assert_eq!(flow.pacing_bps(1500, 10 * MS, 201), 120_000_000);
    assert_eq!(flow.pacing_bps(1500, 10 * MS, 202), 240_000_000);
    assert_eq!(Prague::burst_packets(120_000_000, 1500), 2);
    assert_eq!(Prague::burst_packets(10_000_000, 1500), 1);
}

proptest! {
    /// Alpha per round matches floating point; it does not move before the first mark.
    #[test]
    fn alpha_follows_its_recursion(rounds in prop::collection::vec((1_u32..200, 0_u32..200), 1..300)) {
        let mut flow = Prague::new(&PLAIN, 10, 0);
        let (mut alpha, mut seen) = (1.0_f64, false);
        for (round, (acked, marked)) in rounds.into_iter().enumerate() {
            let marked = marked.min(acked);
            let una = round as u64 * 100;
            flow.on_ack(&ack(una, una + 100, acked, marked));
            seen |= marked > 0;
            if seen {
                alpha += (f64::from(marked) / f64::from(acked) - alpha) / 16.0;
            }
            let found = flow.alpha() as f64 / ALPHA_ONE as f64;
            prop_assert!((found - alpha).abs() < 40.0 / ALPHA_ONE as f64, "{} {}", found, alpha);
        }
    }

    /// The receiver's counts, sent in three bits, are exact at a sender that gets an ACK for at
    /// most 7 packets. With more, the true count lies between the two bounds and agrees with them
    /// modulo 8.
    #[test]
    fn three_bits(runs in prop::collection::vec(prop::collection::vec(any::<bool>(), 0..30), 1..50)) {
        let mut receiver = AccEcnReceiver::new();
        let mut sender = AceDecoder::new();
        for run in runs {
            let mut marks = 0;
            for &marked in &run {
                receiver.on_packet(if marked { Codepoint::Ce } else { Codepoint::Ect1 }, 1000);
                marks += u64::from(marked);
            }
            let found = sender.on_ack(receiver.ace(), run.len() as u64);
            prop_assert!(found.least <= marks && marks <= found.most);
            prop_assert_eq!((marks - found.least) % 8, 0);
            prop_assert!(found.most <= run.len() as u64);
            if run.len() < 8 {
                prop_assert_eq!((found.least, found.most), (marks, marks));
            }
            sender.accept(marks);
        }
    }

    /// The option's fields wrap at 24 bits.
    #[test]
    fn bytes_wrap(packets in prop::collection::vec((0_u32..70_000, 0_u8..4), 1..600)) {
        let mut receiver = AccEcnReceiver::new();
        prop_assert_eq!((receiver.ace(), receiver.option().ect0, receiver.option().ect1), (5, 1, 1));
        let mut before = receiver.option();
        let (mut counted, mut sent) = ([0_u64; 3], [0_u64; 3]);
        for (bytes, kind) in packets {
            let (codepoint, at) = match kind {
                0 => (Codepoint::Ect0, Some(0)),
                1 => (Codepoint::Ce, Some(1)),
                2 => (Codepoint::Ect1, Some(2)),
                _ => (Codepoint::NotEct, None),
            };
            receiver.on_packet(codepoint, bytes);
            if let Some(at) = at {
                sent[at] += u64::from(bytes);
            }
            let now = receiver.option();
            for (at, (old, new)) in [(before.ect0, now.ect0), (before.ce, now.ce), (before.ect1, now.ect1)].into_iter().enumerate() {
                counted[at] += u64::from(AceDecoder::new_bytes(old, new).unwrap());
            }
            before = now;
        }
        prop_assert_eq!(counted, sent);
        prop_assert_eq!(AceDecoder::new_bytes(100, 99), None);
    }
}

#[test]
fn codepoint_change_requests_an_ack() {
    let mut receiver = AccEcnReceiver::new();
    let seen = [
        Codepoint::Ect1,
        Codepoint::Ect1,
        Codepoint::Ce,
        Codepoint::Ce,
        Codepoint::Ect1,
    ];
    let due = seen.map(|codepoint| receiver.on_packet(codepoint, 1000));
    assert_eq!(due, [false, false, true, false, true]);
}

/// Uniform bits from a fixed generator.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Mean window over `rounds` rounds, one ACK per packet, each marked with `probability`.
fn mean_window(config: &PragueConfig, rtt_ps: u64, probability: f64, rounds: u64) -> f64 {
    let mut flow = Prague::new(config, 30, 0);
    let threshold = (probability * 2.0_f64.powi(31)) as u64;
    let (mut state, mut sent, mut sum, mut count) = (7_u64, 0_u64, 0.0, 0.0);
    for round in 0..rounds {
        let packets_now = flow.window_packets();
        for number in 0..packets_now {
            sent += 1;
            let marked = u32::from(next(&mut state) < threshold);
            flow.on_ack(&PragueAck {
                now_ps: round * rtt_ps + number * rtt_ps / packets_now,
                una: sent,
                nxt: sent + packets_now - 1,
                acked_packets: 1,
                marked_packets: marked,
                rtt_ps,
                slow_start: false,
                window_limited: true,
            });
        }
        if round > rounds / 4 {
            sum += packets(flow.window());
            count += 1.0;
        }
    }
    sum / count
}

/// Balance per packet: an unmarked packet adds 1 / W; a cut takes W p / 2 (alpha = p) once per W
/// packets of its round plus 1 / p packets, the mean wait for the next mark:
/// `(1 - p) (W + 1 / p) = p W^2 / 2`.
#[test]
fn the_window_of_a_scalable_sender() {
    for probability in [0.02, 0.05, 0.1] {
        let window = mean_window(&PLAIN, 10 * MS, probability, 20_000);
        let unmarked: f64 = 1.0 - probability;
        let expected = (unmarked + (unmarked * unmarked + 2.0 * unmarked).sqrt()) / probability;
        assert!((window / expected - 1.0).abs() < 0.1, "{window} {expected}");
    }
}

/// Round trips of 5 and 20 ms below a target of 25 ms: (round trip / target)^2 equalizes the rates,
/// which are 4 to 1 without scaling.
#[test]
fn equal_rates_at_unequal_round_trips() {
    let scaled = PragueConfig {
        rtt_target_ps: 25 * MS,
        transition_rounds: 10,
    };
    let rate = |config: &PragueConfig, rtt_ms: u64| {
        mean_window(config, rtt_ms * MS, 0.1, 40_000) / rtt_ms as f64
    };
    let plain = rate(&PLAIN, 5) / rate(&PLAIN, 20);
    assert!((plain - 4.0).abs() < 0.4, "{plain}");
    let ratio = rate(&scaled, 5) / rate(&scaled, 20);
    assert!((0.8..1.25).contains(&ratio), "{ratio}");
}

/// The scale s at 5 ms of 25 is 1/25, from the round after the transition; at or above the target
/// it is 1.
#[test]
fn the_increase_is_scaled() {
    let config = PragueConfig {
        rtt_target_ps: 25 * MS,
        transition_rounds: 3,
    };
    for (rtt_ms, scale) in [(5, 0.04), (25, 1.0), (60, 1.0)] {
        let mut flow = Prague::new(&config, 10, 0);
        let mut steps = Vec::new();
        for round in 1..7_u64 {
            let before = flow.window();
            let now_ps = round * 100 * MS;
            let rtt_ps = rtt_ms * MS;
            flow.on_ack(&PragueAck {
                now_ps,
                rtt_ps,
                ..ack(round * 20, round * 20 + 20, 1, 0)
            });
            steps.push(packets(flow.window() - before) * packets(before).ceil());
        }
        let expected = [1.0, 1.0, 1.0, scale, scale, scale];
        assert!(
            steps
                .iter()
                .zip(expected)
                .all(|(step, one)| (step - one).abs() < 1e-4),
            "{steps:?}"
        );
    }
}
