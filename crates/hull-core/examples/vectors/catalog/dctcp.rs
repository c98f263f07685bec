//! Vectors of the DCTCP sender.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32};
use hull_core::dctcp::{Dctcp, DctcpConfig, ONE};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dctcp",
        description: "Config: g and initial_alpha, fixed point with 2^30 as 1.0. In: an ACK: una, \
            first byte not acknowledged after it; nxt, highest byte sent before it lets new data go; \
            acked_bytes, newly acknowledged; ece; cwnd_bytes at this ACK. Out: updated, whether a \
            window of data ended with this ACK and alpha was updated; alpha (2^30 is 1.0, rounded to \
            nearest); cwnd_bytes, the reduced window (rounded to nearest) or null for no reduction. \
            Alpha is updated before the window is reduced.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut dctcp = Dctcp::new(&DctcpConfig {
        g: number32(config, "g"),
        initial_alpha: number32(config, "initial_alpha"),
    });
    inputs
        .iter()
        .map(|input| {
            let una = number(input, "una");
            let nxt = number(input, "nxt");
            let ece = boolean(input, "ece");
            let updated = dctcp.on_ack(una, nxt, number(input, "acked_bytes"), ece);
            let cwnd_bytes = ece
                .then(|| dctcp.on_ece(una, nxt, number(input, "cwnd_bytes")))
                .flatten();
            json!({"updated": updated, "alpha": dctcp.alpha(), "cwnd_bytes": cwnd_bytes})
        })
        .collect()
}

fn config(g: u32, initial_alpha: u32) -> Value {
    json!({"g": g, "initial_alpha": initial_alpha})
}

fn ack(una: u64, nxt: u64, acked_bytes: u64, ece: bool, cwnd_bytes: u64) -> Value {
    json!({"una": una, "nxt": nxt, "acked_bytes": acked_bytes, "ece": ece, "cwnd_bytes": cwnd_bytes})
}

fn out(updated: bool, alpha: u32, cwnd_bytes: Option<u64>) -> Value {
    json!({"updated": updated, "alpha": alpha, "cwnd_bytes": cwnd_bytes})
}

/// ACKs of one packet of 1000 bytes each for a sender that keeps `packets` in flight; bit n of the
/// repeated pattern is ECE of ACK n.
fn stream(count: u64, packets: u64, ece_bits: &str) -> Vec<Value> {
    let bits: Vec<bool> = ece_bits.chars().map(|bit| bit == '1').collect();
    (1..=count)
        .map(|n| {
            let ece = bits[(n as usize - 1) % bits.len()];
            let nxt = (n - 1 + packets) * 1000;
            ack(n * 1000, nxt, 1000, ece, packets * 1000)
        })
        .collect()
}

fn random(count: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let (mut una, mut nxt) = (0, 0);
    (0..count)
        .map(|_| {
            nxt = (una + numbers.range(2, 30) * 1460).max(nxt);
            let acked_bytes = numbers.range(0, 3).min((nxt - una) / 1460) * 1460;
            una += acked_bytes;
            ack(una, nxt, acked_bytes, numbers.range(0, 3) == 0, nxt - una)
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    const G: u32 = ONE / 16;
    vec![
        by_hand(
            "one_window",
            "g = 1/16, alpha = 0, 4 packets of 1000 bytes in flight. The first ACK ends the window \
             that began at 0: F = 0, alpha = 0; the next window ends when una passes 4000. ACK 2000 \
             has ECE: first cut, alpha = 0, so that cwnd stays 4000; no cut until una passes 5000. \
             ACK 3000 has ECE: no cut. ACK 5000 ends the window: 2000 of 4000 bytes marked, F = 1/2, \
             alpha = 1/32 = 33554432 / 2^30. ACK 6000 has ECE and passes 5000: cwnd = 4000 (1 - \
             1/64) = 3937.5, rounded to 3938; the next window's end is 8000, so alpha stays.",
            config(G, 0),
            vec![
                (ack(1000, 4000, 1000, false, 4000), out(true, 0, None)),
                (ack(2000, 5000, 1000, true, 4000), out(false, 0, Some(4000))),
                (ack(3000, 6000, 1000, true, 4000), out(false, 0, None)),
                (ack(4000, 7000, 1000, false, 4000), out(false, 0, None)),
                (
                    ack(5000, 8000, 1000, false, 4000),
                    out(true, 33_554_432, None),
                ),
                (
                    ack(6000, 9000, 1000, true, 4000),
                    out(false, 33_554_432, Some(3938)),
                ),
            ],
        ),
        by_hand(
            "alpha_one_halves",
            "g = 1/16, alpha = 1, F = 1: alpha stays 1 and the window is halved, as with TCP: 30000 \
             to 15000; an odd 3001 gives 1500.5, rounded to 1501.",
            config(G, ONE),
            vec![
                (
                    ack(1000, 3000, 1000, true, 30_000),
                    out(true, ONE, Some(15_000)),
                ),
                (ack(3000, 5000, 2000, true, 3001), out(false, ONE, None)),
                (
                    ack(4000, 6000, 1000, true, 3001),
                    out(true, ONE, Some(1501)),
                ),
            ],
        ),
        computed(
            "all_marked",
            "alpha rises from 0 towards 1 with every packet marked, 2 packets in flight.",
            config(G, 0),
            stream(40, 2, "1"),
        ),
        computed(
            "marks_end",
            "alpha decays from 1 without marks; the window is never reduced.",
            config(G, ONE),
            stream(40, 2, "0"),
        ),
        computed(
            "every_third",
            "Each third ACK marked, 6 in flight: one cut per window.",
            config(G, 0),
            stream(40, 6, "001"),
        ),
        computed(
            "one_packet_window",
            "One packet in flight: each ACK is a window of data of its own.",
            config(G, 0),
            stream(10, 1, "10"),
        ),
        computed(
            "g_one",
            "g = 1: alpha is the fraction of the last window.",
            config(ONE, ONE / 3),
            stream(20, 4, "0110100"),
        ),
        computed(
            "duplicate_acks",
            "ACKs that acknowledge nothing neither end a window nor change F.",
            config(G, ONE / 2),
            vec![
                ack(0, 5000, 0, true, 5000),
                ack(1000, 5000, 1000, false, 5000),
                ack(1000, 6000, 0, true, 5000),
                ack(1000, 6000, 0, true, 5000),
                ack(6000, 6000, 5000, false, 5000),
                ack(6000, 7000, 0, true, 5000),
            ],
        ),
        computed(
            "large_numbers",
            "Sequences and windows beyond 32 bits.",
            config(G, ONE / 4),
            vec![
                ack(1, 8_000_000_000, 1, true, 6_000_000_000),
                ack(
                    8_000_000_000,
                    14_000_000_000,
                    7_999_999_999,
                    true,
                    6_000_000_000,
                ),
                ack(8_000_000_001, 14_000_000_001, 1, false, 6_000_000_000),
                ack(
                    14_000_000_002,
                    20_000_000_000,
                    6_000_000_001,
                    true,
                    6_000_000_000,
                ),
            ],
        ),
        computed(
            "random",
            "60 ACKs of 0 to 2 segments of 1460 bytes, a third with ECE.",
            config(G, ONE),
            random(60, 5),
        ),
    ]
}
