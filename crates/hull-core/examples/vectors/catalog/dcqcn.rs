//! Vectors of DCQCN.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32, word};
use hull_core::dcqcn::{Dcqcn, DcqcnConfig};
use serde_json::{Value, json};

const US: u64 = 1_000_000;
const GBPS: u64 = 1_000_000_000;

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dcqcn",
        description: "Config: line_rate_bps, min_rate_bps, additive_bps (R_AI), hyper_bps (R_HAI), \
            gain_inverse (1 / g), alpha_ps, decrease_ps (0: each mark cuts), increase_ps, \
            increase_bytes (0: no byte counter), recovery_cycles (F), clamps_target, \
            mark_interval_ps. In: now_ps; kind mark, or sent with bytes, or time. Out: rate_bps \
            (R_C), target_bps (R_T), alpha in units of 10^-9, rounded to nearest.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let some = |key| Some(number(config, key)).filter(|value| *value > 0);
    let config = DcqcnConfig {
        line_rate_bps: number(config, "line_rate_bps"),
        min_rate_bps: number(config, "min_rate_bps"),
        additive_bps: number(config, "additive_bps"),
        hyper_bps: number(config, "hyper_bps"),
        gain: 1.0 / f64::from(number32(config, "gain_inverse")),
        alpha_ps: number(config, "alpha_ps"),
        decrease_ps: some("decrease_ps"),
        increase_ps: number(config, "increase_ps"),
        increase_bytes: some("increase_bytes"),
        recovery_cycles: number32(config, "recovery_cycles"),
        clamps_target: boolean(config, "clamps_target"),
        mark_interval_ps: number(config, "mark_interval_ps"),
    };
    let mut flow = Dcqcn::new(&config);
    inputs
        .iter()
        .map(|input| {
            let now_ps = number(input, "now_ps");
            match word(input, "kind") {
                "mark" => flow.on_mark(&config, now_ps),
                "sent" => flow.on_sent(&config, now_ps, number(input, "bytes")),
                "time" => flow.advance(&config, now_ps),
                other => panic!("kind {other}"),
            }
            out(
                flow.rate_bps(),
                flow.target_bps(),
                (flow.alpha() * 1e9 + 0.5) as u64,
            )
        })
        .collect()
}

fn out(rate_bps: u64, target_bps: u64, alpha: u64) -> Value {
    json!({"rate_bps": rate_bps, "target_bps": target_bps, "alpha": alpha})
}

fn mark(now_ps: u64) -> Value {
    json!({"kind": "mark", "now_ps": now_ps})
}

fn sent(now_ps: u64, bytes: u64) -> Value {
    json!({"kind": "sent", "now_ps": now_ps, "bytes": bytes})
}

fn time(now_ps: u64) -> Value {
    json!({"kind": "time", "now_ps": now_ps})
}

fn adapter() -> Value {
    json!({
        "line_rate_bps": 100 * GBPS, "min_rate_bps": GBPS, "additive_bps": GBPS / 50,
        "hyper_bps": GBPS / 5, "gain_inverse": 256, "alpha_ps": US, "decrease_ps": 4 * US,
        "increase_ps": 300 * US, "increase_bytes": 0, "recovery_cycles": 1,
        "clamps_target": false, "mark_interval_ps": 0,
    })
}

fn paper() -> Value {
    json!({
        "line_rate_bps": 40 * GBPS, "min_rate_bps": GBPS / 25, "additive_bps": GBPS / 25,
        "hyper_bps": 2 * GBPS / 5, "gain_inverse": 256, "alpha_ps": 55 * US, "decrease_ps": 0,
        "increase_ps": 55 * US, "increase_bytes": 10_000_000, "recovery_cycles": 5,
        "clamps_target": true, "mark_interval_ps": 50 * US,
    })
}

/// Marks and packets at random times.
fn random(count: u64, longest_us: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut now_ps = 0;
    (0..count)
        .map(|_| {
            now_ps += numbers.range(1, longest_us * US);
            match numbers.range(0, 3) {
                0 => mark(now_ps),
                1 => sent(now_ps, numbers.range(64, 4_000_000)),
                _ => time(now_ps),
            }
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    let mut two = adapter();
    two["gain_inverse"] = json!(2);
    vec![
        by_hand(
            "adapter",
            "g = 1/2 in place of 1/256. The first mark starts the timers and cuts nothing; alpha is 1/2 \
             after 1 us, 1/16 after 4. The mark at 4.5 us comes too late for the check at 4.001 us, \
             which cuts for the first one: 100 (1 - 1/32) = 96.875 Gbps. Alpha takes that mark at 5 us, \
             1/32 + 1/2, and falls by 1/8 to 8 us: 17/256. The check at 8.001 us leaves 96.875 (1 - \
             17/512) = 93.658447265625 Gbps and the target; the cycle ends at 308.001 us, half way.",
            two,
            vec![
                (mark(0), out(100 * GBPS, 100 * GBPS, 1_000_000_000)),
                (time(US), out(100 * GBPS, 100 * GBPS, 500_000_000)),
                (time(4 * US), out(100 * GBPS, 100 * GBPS, 62_500_000)),
                (
                    mark(4 * US + US / 2),
                    out(96_875_000_000, 100 * GBPS, 62_500_000),
                ),
                (time(5 * US), out(96_875_000_000, 100 * GBPS, 531_250_000)),
                (
                    time(8 * US + 1000),
                    out(93_658_447_265, 100 * GBPS, 66_406_250),
                ),
                (time(308 * US + 1000), out(96_829_223_633, 100 * GBPS, 0)),
            ],
        ),
        by_hand(
            "paper",
            "Two marks 50 us apart halve twice, one in between is ignored. 55 us after the second alpha \
             falls by 1/256 and the first cycle ends, half way to 20 Gbps. 10 MB end another.",
            paper(),
            vec![
                (mark(0), out(20 * GBPS, 40 * GBPS, 1_000_000_000)),
                (mark(50 * US - 1), out(20 * GBPS, 40 * GBPS, 1_000_000_000)),
                (mark(50 * US), out(10 * GBPS, 20 * GBPS, 1_000_000_000)),
                (time(105 * US), out(15 * GBPS, 20 * GBPS, 996_093_750)),
                (
                    sent(106 * US, 10_000_000),
                    out(17_500_000_000, 20 * GBPS, 996_093_750),
                ),
            ],
        ),
        computed(
            "adapter_random",
            "120 marks, packets and times up to 40 us apart.",
            adapter(),
            random(120, 40, 3),
        ),
        computed(
            "paper_random",
            "120 marks, packets and times up to 100 us apart.",
            paper(),
            random(120, 100, 4),
        ),
        computed(
            "paper_seldom",
            "120 marks, packets and times up to 2 ms apart: hyper increase.",
            paper(),
            random(120, 2000, 5),
        ),
    ]
}
