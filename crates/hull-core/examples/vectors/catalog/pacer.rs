//! Vectors of the pacer.

use std::collections::VecDeque;

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32, word};
use hull_core::pacer::{Admission, Pacer, PacerConfig, WhenFifoFull};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "pacer",
        description: "Config: rates in bit/s (max_rate_bps, min_rate_bps, initial_rate_bps, \
            rate_step_bps; step 0 is none), bucket_bytes (full at the start), fifo_bytes, \
            update_interval_ps (T_r), eta scaled by 2^16, beta per second scaled by 2^8, \
            token_tick_ps (0: continuous tokens), when_full (drop or bypass), start_ps. Rate updates \
            at the multiples of T_r after start_ps, token ticks at the multiples of the tick; at one \
            instant: tokens at the old rate, rate update, packet. In: op admit, the host hands over \
            bytes at t_ps, paced or not; op poll, may the head of head_bytes leave at t_ps; op wake, \
            when to poll next. Out: admission (pass, queued, dropped); leaves; t_ps; and after each \
            step rate_bps (the rate that makes tokens) and backlog_bytes.",
        run,
        vectors: vectors(),
    }
}

fn pacer_config(config: &Value) -> PacerConfig {
    PacerConfig {
        max_rate_bps: number(config, "max_rate_bps"),
        min_rate_bps: number(config, "min_rate_bps"),
        initial_rate_bps: number(config, "initial_rate_bps"),
        bucket_bytes: number32(config, "bucket_bytes"),
        fifo_bytes: number32(config, "fifo_bytes"),
        update_interval_ps: number(config, "update_interval_ps"),
        eta: number32(config, "eta"),
        beta: number32(config, "beta"),
        rate_step_bps: number(config, "rate_step_bps"),
        token_tick_ps: number(config, "token_tick_ps"),
        when_full: match word(config, "when_full") {
            "drop" => WhenFifoFull::Drop,
            _ => WhenFifoFull::Bypass,
        },
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut pacer = Pacer::new(&pacer_config(config), number(config, "start_ps"));
    inputs
        .iter()
        .map(|input| {
            let mut output = match word(input, "op") {
                "admit" => {
                    let (t_ps, bytes) = (number(input, "t_ps"), number32(input, "bytes"));
                    let admission = pacer.admit(t_ps, bytes, boolean(input, "paced"));
                    json!({"admission": match admission {
                        Admission::Pass => "pass",
                        Admission::Queued => "queued",
                        Admission::Dropped => "dropped",
                    }})
                }
                "poll" => {
                    let head_bytes = number32(input, "head_bytes");
                    json!({"leaves": pacer.poll(number(input, "t_ps"), head_bytes)})
                }
                _ => json!({"t_ps": pacer.next_wake_ps(number32(input, "head_bytes"))}),
            };
            output["rate_bps"] = json!(pacer.rate_bps());
            output["backlog_bytes"] = json!(pacer.backlog_bytes());
            output
        })
        .collect()
}

/// The testbed's settings with tokens and rate without steps.
fn continuous() -> Value {
    json!({
        "max_rate_bps": 1_000_000_000,
        "min_rate_bps": 500_000,
        "initial_rate_bps": 100_000_000,
        "bucket_bytes": 3000,
        "fifo_bytes": 128_000,
        "update_interval_ps": 64_000_000,
        "eta": 8192,
        "beta": 16 * 256,
        "rate_step_bps": 0,
        "token_tick_ps": 0,
        "when_full": "drop",
        "start_ps": 0,
    })
}

/// The testbed's settings with its ticks and rate steps.
fn netfpga() -> Value {
    with(
        continuous(),
        json!({"rate_step_bps": 500_000, "token_tick_ps": 16_000_000}),
    )
}

fn with(mut config: Value, changes: Value) -> Value {
    for (key, value) in changes.as_object().expect("changes must be an object") {
        config[key] = value.clone();
    }
    config
}

fn admit(t_ps: u64, bytes: u32, paced: bool) -> Value {
    json!({"op": "admit", "t_ps": t_ps, "bytes": bytes, "paced": paced})
}

fn poll(t_ps: u64, head_bytes: u32) -> Value {
    json!({"op": "poll", "t_ps": t_ps, "head_bytes": head_bytes})
}

fn wake(head_bytes: u32) -> Value {
    json!({"op": "wake", "head_bytes": head_bytes})
}

fn admitted(admission: &str, rate_bps: u64, backlog_bytes: u32) -> Value {
    json!({"admission": admission, "rate_bps": rate_bps, "backlog_bytes": backlog_bytes})
}

fn polled(leaves: bool, rate_bps: u64, backlog_bytes: u32) -> Value {
    json!({"leaves": leaves, "rate_bps": rate_bps, "backlog_bytes": backlog_bytes})
}

fn due(t_ps: u64, rate_bps: u64, backlog_bytes: u32) -> Value {
    json!({"t_ps": t_ps, "rate_bps": rate_bps, "backlog_bytes": backlog_bytes})
}

/// The steps of a caller that keeps the FIFO: it hands over the arrivals (time, bytes, paced) and
/// polls whenever it has to, until the FIFO is empty.
fn drive(config: &Value, arrivals: &[(u64, u32, bool)]) -> Vec<Value> {
    let mut pacer = Pacer::new(&pacer_config(config), number(config, "start_ps"));
    let mut fifo = VecDeque::new();
    let mut arrivals = arrivals.iter().peekable();
    let mut steps = Vec::new();
    loop {
        let wake_ps = fifo.front().map(|&head_bytes| {
            steps.push(wake(head_bytes));
            (pacer.next_wake_ps(head_bytes), head_bytes)
        });
        match (wake_ps, arrivals.peek()) {
            (Some((wake_ps, head_bytes)), next) if next.is_none_or(|next| wake_ps <= next.0) => {
                steps.push(poll(wake_ps, head_bytes));
                if pacer.poll(wake_ps, head_bytes) {
                    fifo.pop_front();
                }
            }
            (_, Some(&&(t_ps, bytes, paced))) => {
                arrivals.next();
                steps.push(admit(t_ps, bytes, paced));
                if pacer.admit(t_ps, bytes, paced) == Admission::Queued {
                    fifo.push_back(bytes);
                }
            }
            _ => return steps,
        }
    }
}

fn driven(
    name: &'static str,
    description: &'static str,
    config: Value,
    arrivals: &[(u64, u32, bool)],
) -> Vector {
    let steps = drive(&config, arrivals);
    computed(name, description, config, steps)
}

/// Bursts of segments as large send offload makes them: `packets` of 1500 bytes at 1 Gbps.
fn bursts(count: u64, packets: u64, period_ps: u64) -> Vec<(u64, u32, bool)> {
    (0..count)
        .flat_map(|burst| {
            (0..packets).map(move |n| (burst * period_ps + n * 12_000_000, 1500, true))
        })
        .collect()
}

fn random(count: u64, seed: u64) -> Vec<(u64, u32, bool)> {
    let mut numbers = Numbers(seed);
    let mut t_ps = 0;
    (0..count)
        .map(|_| {
            t_ps += numbers.range(0, 40_000_000);
            let bytes = [64, 950, 1500][numbers.range(0, 3) as usize];
            (t_ps, bytes, numbers.range(0, 4) > 0)
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    let m100 = 100_000_000;
    vec![
        by_hand(
            "rate_update_moves_departure",
            "R = 100 Mbps, bucket 3000. Two packets of 1500 empty the bucket, the third waits; its \
             tokens take 120 us, but the update at 64 us comes first. There 64 us at 100 Mbps gave \
             800 bytes. R = 0.875 * 100 Mbps + 0.125 * 4500 * 8 / 64 us + 8 * 16 * 1500 = 87.5 + \
             70.3125 + 0.192 Mbps = 158004500. The missing 700 bytes take 5600 / 158004500 s = \
             35442028.55 ps: the head leaves at 99442029 ps. At 128 us M = Q = 0: R = 0.875 * \
             158004500 = 138253937.5, shown as 138253938; it falls the same way at 192 us and a \
             packet at that instant comes after the update: 120972195.3.",
            continuous(),
            vec![
                (admit(0, 1500, true), admitted("pass", m100, 0)),
                (admit(0, 1500, true), admitted("pass", m100, 0)),
                (admit(0, 1500, true), admitted("queued", m100, 1500)),
                (wake(1500), due(64_000_000, m100, 1500)),
                (poll(63_999_999, 1500), polled(false, m100, 1500)),
                (poll(64_000_000, 1500), polled(false, 158_004_500, 1500)),
                (wake(1500), due(99_442_029, 158_004_500, 1500)),
                (poll(99_442_028, 1500), polled(false, 158_004_500, 1500)),
                (poll(99_442_029, 1500), polled(true, 158_004_500, 0)),
                (
                    admit(128_000_000, 0, false),
                    admitted("pass", 138_253_938, 0),
                ),
                (
                    admit(192_000_000, 100, false),
                    admitted("pass", 120_972_195, 0),
                ),
            ],
        ),
        by_hand(
            "token_ticks",
            "Constant rate (eta = beta = 0) of 100 Mbps: 200 bytes per 16 us. Two packets of 1500 \
             empty the bucket; the third needs 8 ticks (7.5 rounded up): 128 us, after the update at \
             64 us. 1600 - 1500 = 100 remain; a fourth at 130 us needs 1400 more, 7 ticks after the \
             one at 128 us: 240 us, after the update at 192 us.",
            with(netfpga(), json!({"eta": 0, "beta": 0})),
            vec![
                (admit(0, 1500, true), admitted("pass", m100, 0)),
                (admit(0, 1500, true), admitted("pass", m100, 0)),
                (admit(0, 1500, true), admitted("queued", m100, 1500)),
                (wake(1500), due(64_000_000, m100, 1500)),
                (poll(64_000_000, 1500), polled(false, m100, 1500)),
                (wake(1500), due(128_000_000, m100, 1500)),
                (poll(127_999_999, 1500), polled(false, m100, 1500)),
                (poll(128_000_000, 1500), polled(true, m100, 0)),
                (
                    admit(130_000_000, 1500, true),
                    admitted("queued", m100, 1500),
                ),
                (wake(1500), due(192_000_000, m100, 1500)),
                (poll(192_000_000, 1500), polled(false, m100, 1500)),
                (wake(1500), due(240_000_000, m100, 1500)),
                (poll(240_000_000, 1500), polled(true, m100, 0)),
            ],
        ),
        by_hand(
            "rate_steps",
            "The same update as in the first vector, R = 158.0045 Mbps, with steps of 0.5 Mbps: 158.0 \
             Mbps makes tokens. At 128 us the full-precision R gives 138.2539 Mbps, shown as 138.5; \
             at 192 us 120.9722, shown as 121.0; at 256 us 105.8507, shown as 106.0.",
            with(continuous(), json!({"rate_step_bps": 500_000})),
            vec![
                (admit(0, 1500, true), admitted("pass", m100, 0)),
                (admit(0, 1500, true), admitted("pass", m100, 0)),
                (admit(0, 1500, true), admitted("queued", m100, 1500)),
                (poll(64_000_000, 1500), polled(false, 158_000_000, 1500)),
                (poll(100_000_000, 1500), polled(true, 158_000_000, 0)),
                (
                    admit(128_000_000, 0, false),
                    admitted("pass", 138_500_000, 0),
                ),
                (
                    admit(192_000_000, 0, false),
                    admitted("pass", 121_000_000, 0),
                ),
                (
                    admit(256_000_000, 0, false),
                    admitted("pass", 106_000_000, 0),
                ),
            ],
        ),
        driven(
            "bursts",
            "Three bursts of six 1500-byte packets, one per 500 us, continuous tokens and rate.",
            continuous(),
            &bursts(3, 6, 500_000_000),
        ),
        driven(
            "bursts_netfpga",
            "The same with 16 us ticks and 0.5 Mbps steps.",
            netfpga(),
            &bursts(3, 6, 500_000_000),
        ),
        driven(
            "unpaced_counts",
            "Packets of a flow that is not paced pass through an empty bucket and still raise the \
             rate.",
            with(continuous(), json!({"initial_rate_bps": 500_000})),
            &[
                (0, 1500, true),
                (0, 1500, true),
                (1_000_000, 1500, true),
                (2_000_000, 1500, false),
                (14_000_000, 1500, false),
                (26_000_000, 1500, false),
            ],
        ),
        driven(
            "fifo_full_drop",
            "A FIFO of 4000 bytes: two packets of 1500 wait, the third finds no room and is dropped; \
             one of 1000 fits exactly.",
            with(continuous(), json!({"fifo_bytes": 4000})),
            &[
                (0, 1500, true),
                (0, 1500, true),
                (1, 1500, true),
                (2, 1500, true),
                (3, 1500, true),
                (4, 1000, true),
                (5, 1, true),
            ],
        ),
        driven(
            "fifo_full_bypass",
            "The same where packets that find no room pass.",
            with(
                continuous(),
                json!({"fifo_bytes": 4000, "when_full": "bypass"}),
            ),
            &[
                (0, 1500, true),
                (0, 1500, true),
                (1, 1500, true),
                (2, 1500, true),
                (3, 1500, true),
                (4, 1000, true),
                (5, 1, true),
            ],
        ),
        driven(
            "packet_above_bucket",
            "A bucket of 1000 bytes and packets of 1500: each leaves when the bucket is full and \
             takes it to -500 bytes, so that the next waits for 1500 bytes of tokens.",
            with(
                continuous(),
                json!({"bucket_bytes": 1000, "eta": 0, "beta": 0}),
            ),
            &[(0, 1500, true), (0, 1500, true), (0, 1500, true)],
        ),
        driven(
            "long_idle",
            "After 100 s without packets the rate is at its smallest and the bucket full.",
            continuous(),
            &[
                (0, 1500, true),
                (100_000_000_000_001, 1500, true),
                (100_000_000_000_002, 1500, true),
                (100_000_000_000_003, 1500, true),
            ],
        ),
        driven(
            "rate_clamped",
            "A start off the grid, and a host that hands over more than the line rate: the rate stops \
             at the largest.",
            with(continuous(), json!({"eta": 65536, "start_ps": 100_000_000})),
            &[
                (100_000_001, 60_000, false),
                (128_000_000, 60_000, false),
                (191_999_999, 1500, true),
                (192_000_000, 1500, true),
            ],
        ),
        driven(
            "ten_gbps",
            "The paper's 10 Gbps simulation: T_r = 7.2 us, beta = 375.",
            with(
                continuous(),
                json!({"max_rate_bps": 10_000_000_000_u64, "update_interval_ps": 7_200_000, "beta": 375 * 256}),
            ),
            &bursts(2, 5, 50_000_000),
        ),
        driven(
            "random",
            "40 packets of mixed sizes, three quarters of them paced, ticks and steps.",
            netfpga(),
            &random(40, 8),
        ),
    ]
}
