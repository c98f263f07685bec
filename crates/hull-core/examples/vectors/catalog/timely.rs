//! Vectors of TIMELY.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32};
use hull_core::timely::{Timely, TimelyConfig};
use serde_json::{Value, json};

const US: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "timely",
        description: "Config: line_rate_bps, min_rate_bps, additive_bps, hyper_bps, hyper_after (N), \
            counts_low, weight (w) and beta in units of 1/1000, low_ps (T_low), high_ps (T_high), \
            min_rtt_ps. In: an ACK: una, first byte not acknowledged after it; nxt, highest byte \
            sent; rtt_ps. Out: rate_bps.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let thousandths = |key| f64::from(number32(config, key)) / 1000.0;
    let config = TimelyConfig {
        line_rate_bps: number(config, "line_rate_bps"),
        min_rate_bps: number(config, "min_rate_bps"),
        additive_bps: number(config, "additive_bps"),
        hyper_bps: number(config, "hyper_bps"),
        hyper_after: number32(config, "hyper_after"),
        counts_low: boolean(config, "counts_low"),
        weight: thousandths("weight"),
        beta: thousandths("beta"),
        low_ps: number(config, "low_ps"),
        high_ps: number(config, "high_ps"),
        min_rtt_ps: number(config, "min_rtt_ps"),
    };
    let mut flow = Timely::new(&config);
    inputs
        .iter()
        .map(|input| {
            let (una, nxt) = (number(input, "una"), number(input, "nxt"));
            flow.on_ack(&config, una, nxt, number(input, "rtt_ps"));
            json!({"rate_bps": flow.rate_bps()})
        })
        .collect()
}

fn config(counts_low: bool) -> Value {
    json!({
        "line_rate_bps": 100 * GBPS, "min_rate_bps": GBPS, "additive_bps": GBPS / 10,
        "hyper_bps": GBPS / 2, "hyper_after": 5, "counts_low": counts_low, "weight": 875,
        "beta": 800, "low_ps": 50 * US, "high_ps": 500 * US, "min_rtt_ps": 20 * US,
    })
}

fn ack(una: u64, nxt: u64, rtt_us: u64) -> Value {
    json!({"una": una, "nxt": nxt, "rtt_ps": rtt_us * US})
}

fn rate(rate_bps: u64) -> Value {
    json!({"rate_bps": rate_bps})
}

/// ACKs of single packets with 1 to 4 in flight, round trips in a random walk from 40 us.
fn random(count: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let (mut rtt_us, mut nxt) = (40, 0);
    (1..=count)
        .map(|packet| {
            rtt_us = (rtt_us + numbers.range(0, 31)).clamp(35, 900) - 15;
            nxt = (packet + numbers.range(0, 4)).max(nxt);
            ack(packet * 1000, nxt * 1000, rtt_us)
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    vec![
        by_hand(
            "branches",
            "1000 us is twice T_high: 1 - 0.8 / 2 kept, once in a window of data. 600 us: 1 - 0.8 / 6 \
             of 60 Gbps is 52. 40 us is below T_low: + 100 Mbps. From 600 us on d is -350, -533.75, \
             -49.21875 and 11.34765625 us: at 60 us + 100 Mbps, at 80 us 1 - 0.8 * 0.5673828125 kept.",
            config(true),
            vec![
                (ack(1000, 2000, 1000), rate(100 * GBPS)),
                (ack(2000, 3000, 1000), rate(100 * GBPS)),
                (ack(3000, 3000, 1000), rate(60 * GBPS)),
                (ack(4000, 4000, 600), rate(52 * GBPS)),
                (ack(5000, 5000, 40), rate(52_100_000_000)),
                (ack(6000, 6000, 60), rate(52_200_000_000)),
                (ack(7000, 7000, 80), rate(28_506_093_750)),
            ],
        ),
        computed(
            "random_walk",
            "300 ACKs, round trips in a random walk.",
            config(true),
            random(300, 10),
        ),
        computed(
            "random_walk_paper",
            "The same where increases below T_low do not count.",
            config(false),
            random(300, 10),
        ),
    ]
}
