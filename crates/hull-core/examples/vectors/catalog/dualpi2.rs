//! Vectors of DualPI2's controller.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32, word};
use hull_core::dualpi2::{DualPi2, DualPi2Config, HERTZ};
use hull_core::signal::Signal;
use serde_json::{Value, json};

const MS: u64 = 1_000_000_000;
const US: u64 = 1_000_000;

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "dualpi2",
        description: "Config: target_ps, interval_ps, alpha and beta (1/s scaled by 2^24), coupling, \
            step_ps, drop_on_overload, quiet_bytes. In: kind update with l4s_delay_ps, \
            classic_delay_ps; kind classic with backlog_bytes, ect, random (64 uniform bits, of \
            which the upper and the lower 32 are the two draws); kind l4s with backlog_bytes, \
            delay_ps, random (the upper 32 are the draw against k p). Out: signal (pass, mark or \
            drop; pass for an update), probability (scaled by 2^32).",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut pi2 = DualPi2::new(&DualPi2Config {
        target_ps: number(config, "target_ps"),
        interval_ps: number(config, "interval_ps"),
        alpha: number(config, "alpha"),
        beta: number(config, "beta"),
        coupling: number32(config, "coupling"),
        step_ps: number(config, "step_ps"),
        drop_on_overload: boolean(config, "drop_on_overload"),
        quiet_bytes: number(config, "quiet_bytes"),
    });
    inputs
        .iter()
        .map(|input| {
            let signal = match word(input, "kind") {
                "update" => {
                    pi2.update(
                        number(input, "l4s_delay_ps"),
                        number(input, "classic_delay_ps"),
                    );
                    Signal::Pass
                }
                "classic" => pi2.classic(
                    number(input, "backlog_bytes"),
                    boolean(input, "ect"),
                    number(input, "random"),
                ),
                "l4s" => pi2.l4s(
                    number(input, "backlog_bytes"),
                    number(input, "delay_ps"),
                    number(input, "random"),
                ),
                kind => panic!("kind {kind} must be update, classic or l4s"),
            };
            seen(
                match signal {
                    Signal::Pass => "pass",
                    Signal::Mark => "mark",
                    Signal::Drop => "drop",
                },
                pi2.probability(),
            )
        })
        .collect()
}

fn seen(signal: &str, probability: u64) -> Value {
    json!({"signal": signal, "probability": probability})
}

fn config(settings: &DualPi2Config) -> Value {
    json!({
        "target_ps": settings.target_ps,
        "interval_ps": settings.interval_ps,
        "alpha": settings.alpha,
        "beta": settings.beta,
        "coupling": settings.coupling,
        "step_ps": settings.step_ps,
        "drop_on_overload": settings.drop_on_overload,
        "quiet_bytes": settings.quiet_bytes,
    })
}

fn update(l4s_delay_ps: u64, classic_delay_ps: u64) -> Value {
    json!({"kind": "update", "l4s_delay_ps": l4s_delay_ps, "classic_delay_ps": classic_delay_ps})
}

fn classic(backlog_bytes: u64, ect: bool, random: u64) -> Value {
    json!({"kind": "classic", "backlog_bytes": backlog_bytes, "ect": ect, "random": random})
}

fn l4s(backlog_bytes: u64, delay_ps: u64, random: u64) -> Value {
    json!({"kind": "l4s", "backlog_bytes": backlog_bytes, "delay_ps": delay_ps, "random": random})
}

/// Updates with wandering delays up to `most_ps`, three packets after each.
fn random(updates: u64, most_ps: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    (0..updates)
        .flat_map(|_| {
            let delay_ps = numbers.range(0, most_ps / 20);
            [
                update(delay_ps, numbers.range(0, most_ps)),
                classic(
                    numbers.range(0, 20_000),
                    numbers.range(0, 2) == 0,
                    numbers.next(),
                ),
                l4s(numbers.range(0, 20_000), delay_ps, numbers.next()),
                l4s(100_000, delay_ps / 2, numbers.next()),
            ]
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    let linux = DualPi2Config::linux(1500);
    let simple = DualPi2Config {
        alpha: HERTZ,
        beta: 4 * HERTZ,
        ..linux
    };
    vec![
        by_hand(
            "recursion",
            "Target 15 ms, alpha 1/s, beta 4/s. 40 ms: 0.025 + 4 * 0.040 = 0.185, times 2^32 = \
             794568949.76, rounded towards zero. 40 ms again: + 0.025 = 107374182.4. The larger of \
             both delays counts: 15 ms of 15 and 3 adds 0 - 4 * 0.025 = -429496729.6. 0 ms: -0.015 - \
             4 * 0.015 = -0.075, 322122547.2. And -0.015 = 64424509.44 each, down to zero.",
            config(&simple),
            vec![
                (update(40 * MS, 0), seen("pass", 794_568_949)),
                (update(0, 40 * MS), seen("pass", 901_943_131)),
                (update(3 * MS, 15 * MS), seen("pass", 472_446_402)),
                (update(0, 0), seen("pass", 150_323_855)),
                (update(0, 0), seen("pass", 85_899_346)),
                (update(0, 0), seen("pass", 21_474_837)),
                (update(0, 0), seen("pass", 0)),
            ],
        ),
        by_hand(
            "signals",
            "62.5 ms: 0.0475 + 0.25 = 0.2975, 1277752770.56. 15 ms: -4 * 0.0475 = -0.19, 816043786.24 \
             less, each rounded towards zero: p = 461708984. Classic marks when both draws are below \
             it, drops without ECT, passes below 3000 bytes; L4S marks below twice that, and above a \
             delay of 1 ms.",
            config(&simple),
            vec![
                (update(0, 62_500_000_000), seen("pass", 1_277_752_770)),
                (update(0, 15 * MS), seen("pass", 461_708_984)),
                (
                    classic(3000, true, 461_708_983 << 32 | 461_708_983),
                    seen("mark", 461_708_984),
                ),
                (
                    classic(3000, false, 461_708_983 << 32 | 461_708_983),
                    seen("drop", 461_708_984),
                ),
                (
                    classic(3000, true, 461_708_983 << 32 | 461_708_984),
                    seen("pass", 461_708_984),
                ),
                (
                    classic(3000, true, 461_708_984 << 32),
                    seen("pass", 461_708_984),
                ),
                (classic(2999, true, 0), seen("pass", 461_708_984)),
                (l4s(3000, MS, 923_417_967 << 32), seen("mark", 461_708_984)),
                (l4s(3000, MS, 923_417_968 << 32), seen("pass", 461_708_984)),
                (l4s(2999, MS, 0), seen("pass", 461_708_984)),
                (l4s(0, MS + 1, u64::MAX), seen("mark", 461_708_984)),
            ],
        ),
        computed(
            "linux",
            "Linux's defaults, 60 updates with delays up to 80 ms.",
            config(&linux),
            random(60, 80 * MS, 1),
        ),
        computed(
            "datacentre_overload",
            "Round trips of 50 and 300 us, delays up to 3 ms: overload with drops.",
            config(&DualPi2Config::from_rtt(50 * US, 300 * US, 1500)),
            random(60, 3 * MS, 2),
        ),
        computed(
            "no_drop_on_overload",
            "The same without drops on overload: p stays at 1/2 or below.",
            config(&DualPi2Config {
                drop_on_overload: false,
                ..DualPi2Config::from_rtt(50 * US, 300 * US, 1500)
            }),
            random(60, 3 * MS, 2),
        ),
    ]
}
