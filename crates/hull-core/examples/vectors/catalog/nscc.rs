//! Vectors of NSCC.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32, word};
use hull_core::nscc::{Nscc, NsccAck, NsccNack, NsccNetwork};
use serde_json::{Value, json};

const US: u64 = 1_000_000;

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "nscc",
        description: "Config: link_bps (bit/s), rtt_ps (T), mss_bytes, mtu_bytes, trimming, \
            due_in_32_bits (what the window is owed wraps); \
            window_bytes, the first window, 0 is the largest. The flow's base round trip starts at T. \
            In: kind ack with now_ps, received_bytes, ecn, rtt_ps (0: not known), in_flight_bytes; \
            kind nack with now_ps, packet_bytes, rtt_ps (0: not used), in_flight_bytes, \
            left_to_receiver; kind timeout with packet_bytes. Out: window_bytes, \
            max_window_bytes, average_delay_ps.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let constants = NsccNetwork {
        link_bps: number(config, "link_bps"),
        rtt_ps: number(config, "rtt_ps"),
        mss_bytes: number32(config, "mss_bytes"),
        mtu_bytes: number32(config, "mtu_bytes"),
        trimming: boolean(config, "trimming"),
        due_in_32_bits: boolean(config, "due_in_32_bits"),
    }
    .constants();
    let known = |ps: u64| (ps > 0).then_some(ps);
    let first = known(number(config, "window_bytes"));
    let mut flow = Nscc::new(&constants, constants.network.rtt_ps, first);
    inputs
        .iter()
        .map(|input| {
            match word(input, "kind") {
                "ack" => flow.on_ack(
                    &constants,
                    &NsccAck {
                        now_ps: number(input, "now_ps"),
                        received_bytes: number(input, "received_bytes"),
                        ecn: boolean(input, "ecn"),
                        rtt_ps: known(number(input, "rtt_ps")),
                        in_flight_bytes: number(input, "in_flight_bytes"),
                    },
                ),
                "nack" => flow.on_nack(
                    &constants,
                    &NsccNack {
                        now_ps: number(input, "now_ps"),
                        packet_bytes: number32(input, "packet_bytes"),
                        rtt_ps: known(number(input, "rtt_ps")),
                        in_flight_bytes: number(input, "in_flight_bytes"),
                        left_to_receiver: boolean(input, "left_to_receiver"),
                    },
                ),
                "timeout" => flow.on_timeout(&constants, number32(input, "packet_bytes")),
                kind => panic!("kind {kind} must be ack, nack or timeout"),
            }
            seen(
                flow.window_bytes(),
                flow.max_window_bytes(),
                flow.average_delay_ps(),
            )
        })
        .collect()
}

fn seen(window_bytes: u64, max_window_bytes: u64, average_delay_ps: u64) -> Value {
    json!({
        "window_bytes": window_bytes,
        "max_window_bytes": max_window_bytes,
        "average_delay_ps": average_delay_ps,
    })
}

fn config(link_bps: u64, rtt_ps: u64, trimming: bool, window_bytes: u64) -> Value {
    json!({
        "link_bps": link_bps,
        "rtt_ps": rtt_ps,
        "mss_bytes": 4086,
        "mtu_bytes": 4150,
        "trimming": trimming,
        "due_in_32_bits": false,
        "window_bytes": window_bytes,
    })
}

fn ack(now_ps: u64, received_bytes: u64, ecn: bool, rtt_ps: u64) -> Value {
    json!({
        "kind": "ack",
        "now_ps": now_ps,
        "received_bytes": received_bytes,
        "ecn": ecn,
        "rtt_ps": rtt_ps,
        "in_flight_bytes": 100_000,
    })
}

fn nack(now_ps: u64, in_flight_bytes: u64, left_to_receiver: bool) -> Value {
    json!({
        "kind": "nack",
        "now_ps": now_ps,
        "packet_bytes": 4150,
        "rtt_ps": 0,
        "in_flight_bytes": in_flight_bytes,
        "left_to_receiver": left_to_receiver,
    })
}

/// Random arrivals with delays up to `delay_ps` over a base of `rtt_ps`.
fn random(count: u64, rtt_ps: u64, delay_ps: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut now_ps = 0;
    (0..count)
        .map(|_| {
            now_ps += numbers.range(100_000, 4 * US);
            match numbers.range(0, 20) {
                0 => nack(now_ps, numbers.range(0, 300_000), numbers.range(0, 4) == 0),
                1 => json!({"kind": "timeout", "packet_bytes": 4150}),
                2 => ack(now_ps, 16_600, false, 0),
                _ => {
                    let delay_ps = numbers.range(0, delay_ps);
                    let ecn = numbers.range(0, 3) == 0;
                    ack(now_ps, numbers.range(0, 5) * 4150, ecn, rtt_ps + delay_ps)
                }
            }
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    vec![
        by_hand(
            "increases",
            "The reference network: T = 12 us, D = 9 us, largest window 225,000. 20 us: delay 5 us, \
             average 0.0125 * 5 us; 4 * 4086 / 12 us * 10,000 * 4 us = 54,480,000 are due, 544 \
             bytes of 100,000, and 0.15 * 4086 = 612.9, once per T. 21 us: average 62,500 * 0.9875 \
             + 62,500 = 124,218.75; nothing yet. 23 us: 33,201 bytes are more than 8 MTU; due \
             54,480,000 + 4086 / 3 us * 23,201 * 4 us = 180,879,048, over 101,156 is 1788. 24 us: \
             without a mark at 2 D the average moves towards 3 us; 5 * 4086 * 33,201 = 678,296,430 \
             over 102,944 is 6588.",
            config(100_000_000_000, 12 * US, true, 100_000),
            vec![
                (
                    ack(20 * US, 10_000, false, 17 * US),
                    seen(101_156, 225_000, 62_500),
                ),
                (
                    ack(21 * US, 10_000, false, 17 * US),
                    seen(101_156, 225_000, 124_218),
                ),
                (
                    ack(23 * US, 23_201, false, 17 * US),
                    seen(102_944, 225_000, 185_165),
                ),
                (
                    ack(24 * US, 33_201, false, 30 * US),
                    seen(109_532, 225_000, 220_350),
                ),
            ],
        ),
        by_hand(
            "quick_adapt",
            "A NACK takes its 4150 bytes and is a sample of T: average 0.0125 * 12 us. 10,000 bytes \
             arrive with a mark and no delay, average 150,000 * 0.9875. The period of 12 + 9 us \
             ends after 22 us: W is the 10,000 bytes, below 225,000 / 8, and 5000 bytes in flight \
             are then ignored: the next NACK is, the one after it is not. A NACK left to the \
             receiver takes nothing; a timeout leaves a packet at least.",
            config(100_000_000_000, 12 * US, true, 0),
            vec![
                (nack(US, 200_000, false), seen(220_850, 225_000, 150_000)),
                (
                    ack(2 * US, 10_000, true, 12 * US),
                    seen(220_850, 225_000, 148_125),
                ),
                (
                    nack(22 * US + 1, 5000, false),
                    seen(10_000, 225_000, 296_273),
                ),
                (nack(23 * US, 5000, false), seen(10_000, 225_000, 442_569)),
                (nack(23 * US, 5000, false), seen(5850, 225_000, 587_036)),
                (nack(23 * US, 5000, true), seen(5850, 225_000, 729_698)),
                (
                    json!({"kind": "timeout", "packet_bytes": 4150}),
                    seen(4150, 225_000, 729_698),
                ),
            ],
        ),
        computed(
            "fast_increase",
            "More than a window with next to no delay: W grows by a quarter of what arrives, until a \
             delay of 1 us.",
            config(100_000_000_000, 12 * US, true, 40_000),
            (0..20)
                .map(|number| {
                    let delay_ps = if number == 15 { US } else { 900_000 };
                    ack(number * US, 8300, false, 12 * US + delay_ps)
                })
                .collect(),
        ),
        computed(
            "falling_base",
            "A pair nearer than the longest: base round trip and largest window fall.",
            config(400_000_000_000, 14_022_720, true, 0),
            (1..12)
                .map(|number| {
                    ack(
                        number * 2 * US,
                        16_600,
                        number % 3 == 0,
                        15 * US - number * 700_000,
                    )
                })
                .collect(),
        ),
        computed(
            "random_100g",
            "200 random arrivals at 100 Gbps, delays up to 40 us.",
            config(100_000_000_000, 14_022_720, true, 0),
            random(200, 14_022_720, 40 * US, 1),
        ),
        computed(
            "random_800g_untrimmed",
            "200 random arrivals at 800 Gbps without trimming, delays up to 60 us.",
            config(800_000_000_000, 8_170_000, false, 0),
            random(200, 8_170_000, 60 * US, 2),
        ),
        computed(
            "random_800g_32_bits",
            "The same where what is due wraps at 32 bits.",
            json!({
                "link_bps": 800_000_000_000_u64,
                "rtt_ps": 8_170_000,
                "mss_bytes": 4086,
                "mtu_bytes": 4150,
                "trimming": false,
                "due_in_32_bits": true,
                "window_bytes": 0,
            }),
            random(200, 8_170_000, 60 * US, 2),
        ),
    ]
}
