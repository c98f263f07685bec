//! Vectors of rate-based DCTCP.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32};
use hull_core::dctcp_rate::{DctcpRate, DctcpRateConfig};
use serde_json::{Value, json};

const GBPS: u64 = 1_000_000_000;

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dctcp_rate",
        description: "Config: line_rate_bps, min_rate_bps, additive_bps, gain_inverse (1 / g), \
            packet_bytes. In: an ACK: una, first byte not acknowledged after it; nxt, highest byte \
            sent; acked_bytes; marked. Out: rate_bps, alpha in units of 10^-9, rounded to nearest.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let config = DctcpRateConfig {
        line_rate_bps: number(config, "line_rate_bps"),
        min_rate_bps: number(config, "min_rate_bps"),
        additive_bps: number(config, "additive_bps"),
        gain: 1.0 / f64::from(number32(config, "gain_inverse")),
        packet_bytes: number(config, "packet_bytes"),
    };
    let mut flow = DctcpRate::new(&config);
    inputs
        .iter()
        .map(|input| {
            let bytes = (number(input, "una"), number(input, "nxt"));
            let acked_bytes = number(input, "acked_bytes");
            flow.on_ack(&config, bytes, acked_bytes, boolean(input, "marked"));
            out(flow.rate_bps(), (flow.alpha() * 1e9 + 0.5) as u64)
        })
        .collect()
}

fn out(rate_bps: u64, alpha: u64) -> Value {
    json!({"rate_bps": rate_bps, "alpha": alpha})
}

fn ack(una: u64, nxt: u64, marked: bool) -> Value {
    json!({"una": una, "nxt": nxt, "acked_bytes": 1000, "marked": marked})
}

fn config() -> Value {
    json!({
        "line_rate_bps": 100 * GBPS, "min_rate_bps": GBPS, "additive_bps": 615_000_000,
        "gain_inverse": 16, "packet_bytes": 1000,
    })
}

/// ACKs of single packets with a varying number in flight, one of `every` marked at random.
fn random(count: u64, every: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut nxt = 0;
    (1..=count)
        .map(|packet| {
            let una = packet * 1000;
            nxt = (una + numbers.range(1, 20) * 1000).max(nxt);
            ack(una, nxt, numbers.range(0, every) == 0)
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    vec![
        by_hand(
            "one_cut",
            "The first ACK begins a window of all 2 packets sent, to 2000. The second is marked: half, \
             alpha being 1, until an ACK is above 4000. The third ends the window: 1 of 2 + 1 packets \
             is marked, alpha = 15/16 + 1/48; the next one ends above 5000. The fifth ends the cut. The \
             sixth ends the window without a mark, alpha = 15/16 of it, and adds 615 Mbps.",
            config(),
            vec![
                (ack(1000, 2000, false), out(100 * GBPS, 1_000_000_000)),
                (ack(2000, 4000, true), out(50 * GBPS, 1_000_000_000)),
                (ack(3000, 5000, false), out(50 * GBPS, 958_333_333)),
                (ack(4000, 6000, false), out(50 * GBPS, 958_333_333)),
                (ack(5000, 7000, false), out(50 * GBPS, 958_333_333)),
                (ack(6000, 8000, false), out(50_615_000_000, 898_437_500)),
            ],
        ),
        computed(
            "seldom_marked",
            "200 packets, 1 of 20 marked.",
            config(),
            random(200, 20, 8),
        ),
        computed(
            "often_marked",
            "200 packets, 1 of 2 marked.",
            config(),
            random(200, 2, 9),
        ),
    ]
}
