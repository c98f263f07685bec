//! Vectors of the pacer by departure times.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32, word};
use hull_core::departure_pacer::{Departure, DeparturePacer, DeparturePacerConfig, WhenFifoFull};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "departure_pacer",
        description: "Config: rates in bit/s (max_rate_bps, min_rate_bps, initial_rate_bps), \
            bucket_bytes (full at the start), fifo_bytes, update_interval_ns (T_r), eta scaled by \
            2^16, beta per second scaled by 2^8, when_full (drop or bypass). Rate updates at the \
            multiples of T_r, before a packet of the same instant. In: the host hands over bytes at \
            t_ns, paced or not. Out: departure_ns, t_ns if the packet leaves at once, null if it is \
            dropped; and just after it rate_bps and backlog_bytes (rounded down).",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut pacer = DeparturePacer::new(&DeparturePacerConfig {
        max_rate_bps: number(config, "max_rate_bps"),
        min_rate_bps: number(config, "min_rate_bps"),
        initial_rate_bps: number(config, "initial_rate_bps"),
        bucket_bytes: number32(config, "bucket_bytes"),
        fifo_bytes: number32(config, "fifo_bytes"),
        update_interval_ns: number(config, "update_interval_ns"),
        eta: number32(config, "eta"),
        beta: number32(config, "beta"),
        when_full: match word(config, "when_full") {
            "drop" => WhenFifoFull::Drop,
            _ => WhenFifoFull::Bypass,
        },
    });
    let run_one = |input: &Value| {
        let t_ns = number(input, "t_ns");
        let departure = pacer.on_packet(t_ns, number32(input, "bytes"), boolean(input, "paced"));
        let departure_ns = match departure {
            Departure::Now => Some(t_ns),
            Departure::At(departure_ns) => Some(departure_ns),
            Departure::Dropped => None,
        };
        out(departure_ns, pacer.rate_bps(), pacer.backlog_bytes(t_ns))
    };
    inputs.iter().map(run_one).collect()
}

fn packet(t_ns: u64, bytes: u32, paced: bool) -> Value {
    json!({"t_ns": t_ns, "bytes": bytes, "paced": paced})
}

fn out(departure_ns: Option<u64>, rate_bps: u64, backlog_bytes: u64) -> Value {
    json!({"departure_ns": departure_ns, "rate_bps": rate_bps, "backlog_bytes": backlog_bytes})
}

/// The testbed's settings, with `changes`.
fn testbed(changes: Value) -> Value {
    let mut config = json!({
        "max_rate_bps": 1_000_000_000,
        "min_rate_bps": 500_000,
        "initial_rate_bps": 100_000_000,
        "bucket_bytes": 3000,
        "fifo_bytes": 128_000,
        "update_interval_ns": 64_000,
        "eta": 8192,
        "beta": 16 * 256,
        "when_full": "drop",
    });
    for (key, value) in changes.as_object().expect("changes must be an object") {
        config[key] = value.clone();
    }
    config
}

/// Packets at random times, some after a long silence.
fn random(count: u64, seed: u64, longest_gap_ns: u64, largest: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut t_ns = 0;
    let mut next = || {
        t_ns += match numbers.range(0, 40) {
            0 => numbers.range(0, 1000 * longest_gap_ns),
            1..=15 => 0,
            _ => numbers.range(0, longest_gap_ns),
        };
        let bytes = [64, 950, 1514, largest][numbers.range(0, 4) as usize] as u32;
        packet(t_ns, bytes, numbers.range(0, 4) > 0)
    };
    (0..count).map(|_| next()).collect()
}

fn vectors() -> Vec<Vector> {
    let m100 = 100_000_000;
    vec![
        by_hand(
            "departures_and_update",
            "R = 100 Mbps: a byte takes 80 ns. Two packets of 1500 bytes empty the bucket. For the third \
             800 bytes of tokens are made until the update at 64 us, which gives 0.875 * 100 + 0.125 * \
             4500 * 8 / 64 us = 157.8125 Mbps as things are; its other 700 bytes take 35.485 us more: \
             99485.15 ns, rounded up. For the fourth M = 6000 and Q = 1500: 87.5 + 93.75 + 8 * 16 * 1500 \
             bit/s = 181.442 Mbps, 66136.84 ns for 1500 bytes. A packet that is not paced leaves at once; \
             155621.99 of 165621.99 ns are left, 2818.9 bytes of 3000. At 64 us 1840.7 are left, counted as \
             1840, and M = 7500: R = 87.5 + 117.1875 + 0.23552 = 204.92302 Mbps. The update after that \
             would give less (M = 1500), so the fifth waits for 1500 bytes at R, 58558.57 ns more.",
            testbed(json!({})),
            vec![
                (packet(0, 1500, true), out(Some(0), m100, 0)),
                (packet(0, 1500, true), out(Some(0), m100, 0)),
                (packet(0, 1500, true), out(Some(99_486), m100, 1500)),
                (packet(0, 1500, true), out(Some(165_622), m100, 3000)),
                (packet(10_000, 1500, false), out(Some(10_000), m100, 2818)),
                (
                    packet(64_000, 1500, true),
                    out(Some(224_181), 204_923_020, 3340),
                ),
            ],
        ),
        by_hand(
            "full_fifo",
            "R stays 100 Mbps (eta = beta = 0), room for 3000 bytes. Two packets empty the bucket, two \
             wait until 120 and 240 us, the fifth is dropped. At 120 us 1500 bytes are left, and one \
             more fits: 360 us.",
            testbed(json!({"eta": 0, "beta": 0, "fifo_bytes": 3000})),
            vec![
                (packet(0, 1500, true), out(Some(0), m100, 0)),
                (packet(0, 1500, true), out(Some(0), m100, 0)),
                (packet(0, 1500, true), out(Some(120_000), m100, 1500)),
                (packet(0, 1500, true), out(Some(240_000), m100, 3000)),
                (packet(0, 1500, true), out(None, m100, 3000)),
                (packet(120_000, 1500, true), out(Some(360_000), m100, 3000)),
            ],
        ),
        by_hand(
            "larger_than_bucket",
            "R stays 100 Mbps. 65000 bytes find a full bucket of 3000 and leave at once; then 62000 \
             bytes of tokens are owed, 4.96 ms. The next packet of 1500 leaves 120 us after that. \
             Another of 65000 bytes waits until the bucket is full: 240 us later still.",
            testbed(json!({"eta": 0, "beta": 0})),
            vec![
                (packet(0, 65_000, true), out(Some(0), m100, 62_000)),
                (packet(0, 1500, true), out(Some(5_080_000), m100, 63_500)),
                (
                    packet(5_080_000, 65_000, true),
                    out(Some(5_320_000), m100, 65_000),
                ),
            ],
        ),
        by_hand(
            "silence",
            "1 s is 15625 updates: 64 one by one, the rest at once; R is at its smallest, 0.5 Mbps, \
             well before that. The bucket is full again: 3000 bytes leave at once. 1 s is a multiple of \
             T_r, so 4 bytes of tokens are made until the next update, which gives 0.4375 + 0.125 * 4500 \
             * 8 / 64 us = 70.75 Mbps: 1496 bytes more take 169.159 us, so that 1500 bytes wait 233.159 \
             us.",
            testbed(json!({"initial_rate_bps": 1_000_000_000})),
            vec![
                (packet(0, 1500, false), out(Some(0), 1_000_000_000, 0)),
                (
                    packet(1_000_000_000, 3000, true),
                    out(Some(1_000_000_000), 500_000, 0),
                ),
                (
                    packet(1_000_000_000, 1500, true),
                    out(Some(1_000_233_160), 500_000, 1500),
                ),
            ],
        ),
        computed(
            "testbed_random",
            "Random packets with the testbed's settings, some of 3000 bytes, silences up to 40 ms.",
            testbed(json!({})),
            random(150, 1, 40_000, 3000),
        ),
        computed(
            "segments_random",
            "A link of 100 Gbps with the settings scaled, packets up to 64 KB as segmentation offload \
             hands them over.",
            testbed(json!({
                "max_rate_bps": 100_000_000_000_u64,
                "min_rate_bps": 50_000_000,
                "initial_rate_bps": 10_000_000_000_u64,
                "bucket_bytes": 65_536,
                "fifo_bytes": 4_000_000,
                "update_interval_ns": 7200,
                "beta": 375 * 256,
                "when_full": "bypass",
            })),
            random(150, 2, 8_000, 65_226),
        ),
        computed(
            "slow_filter_random",
            "eta of 1/64, so that 64 updates do not end the decay and the rest is done at once.",
            testbed(json!({"eta": 1024, "fifo_bytes": 6000, "when_full": "bypass"})),
            random(120, 3, 60_000, 1514),
        ),
    ]
}
