//! Vectors of threshold marking.

use super::{Algorithm, Vector, boolean, by_hand, computed, number, number32};
use hull_core::marking::ThresholdMarker;
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "marking",
        description: "Config: threshold_bytes (K), a packet is marked when the queue is strictly \
            above it; count_arriving, the packet is part of the queue. In: queue_bytes_before, what \
            the packet finds; packet_bytes. Out: mark (CE).",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let marker = ThresholdMarker {
        threshold_bytes: number32(config, "threshold_bytes"),
        count_arriving: boolean(config, "count_arriving"),
    };
    inputs
        .iter()
        .map(|input| {
            let queue_bytes_before = number(input, "queue_bytes_before");
            json!({"mark": marker.marks(queue_bytes_before, number32(input, "packet_bytes"))})
        })
        .collect()
}

fn config(threshold_bytes: u32, count_arriving: bool) -> Value {
    json!({"threshold_bytes": threshold_bytes, "count_arriving": count_arriving})
}

fn arrival(queue_bytes_before: u64, packet_bytes: u32) -> Value {
    json!({"queue_bytes_before": queue_bytes_before, "packet_bytes": packet_bytes})
}

/// A queue that fills to `packets` packets of `bytes`.
fn filling(packets: u64, bytes: u32) -> Vec<Value> {
    (0..packets)
        .map(|n| arrival(n * u64::from(bytes), bytes))
        .collect()
}

fn vectors() -> Vec<Vector> {
    let mark = |mark: bool| json!({"mark": mark});
    vec![
        by_hand(
            "strictly_above",
            "K = 30000. 29999 and 30000 are not above 30000, 30001 is.",
            config(30_000, false),
            vec![
                (arrival(0, 1500), mark(false)),
                (arrival(29_999, 1500), mark(false)),
                (arrival(30_000, 1500), mark(false)),
                (arrival(30_001, 1500), mark(true)),
            ],
        ),
        by_hand(
            "count_arriving",
            "K = 30000 with the packet counted: 28500 + 1500 = 30000 is not above, 28501 + 1500 is, \
             and so is 30000 + 40.",
            config(30_000, true),
            vec![
                (arrival(28_500, 1500), mark(false)),
                (arrival(28_501, 1500), mark(true)),
                (arrival(30_000, 40), mark(true)),
            ],
        ),
        computed(
            "filling_6k",
            "K = 6000 with 1500-byte packets: the sixth is the first that finds more than 6000.",
            config(6_000, false),
            filling(8, 1500),
        ),
        computed(
            "filling_6k_count_arriving",
            "The same with the packet counted: marks begin one packet earlier.",
            config(6_000, true),
            filling(8, 1500),
        ),
        computed(
            "threshold_zero",
            "K = 0: an empty queue does not mark.",
            config(0, false),
            vec![arrival(0, 1500), arrival(1, 1500)],
        ),
        computed(
            "threshold_zero_count_arriving",
            "K = 0 with the packet counted: every packet that has bytes is marked.",
            config(0, true),
            vec![arrival(0, 0), arrival(0, 1)],
        ),
        computed(
            "large_queue",
            "Sizes beyond 32 bits, with the largest threshold.",
            config(u32::MAX, true),
            vec![
                arrival(4_294_967_295, 0),
                arrival(4_294_967_295, 1),
                arrival(9_007_199_254_740_991, 1500),
            ],
        ),
    ]
}
