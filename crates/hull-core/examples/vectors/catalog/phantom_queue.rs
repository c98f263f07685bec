//! Vectors of the phantom queue.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number, number32};
use hull_core::phantom_queue::{Drain, PhantomQueue, PhantomQueueConfig};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "phantom_queue",
        description: "Config: drain_bps (bit/s); threshold_bytes, a packet is marked when the \
            counter is strictly above it; count_arriving, the packet is added before the \
            comparison; tick_ps (picoseconds), 0 is continuous drain, otherwise the counter drains \
            at the multiples of tick_ps, before a packet of the same instant. In: a packet of bytes \
            leaves at t_ps. Out: mark (CE), and backlog_bytes just after the packet, rounded to \
            nearest. The queue is empty at t_ps = 0.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut queue = PhantomQueue::new(&PhantomQueueConfig {
        drain_bps: number(config, "drain_bps"),
        threshold_bytes: number32(config, "threshold_bytes"),
        count_arriving: boolean(config, "count_arriving"),
        drain: match number(config, "tick_ps") {
            0 => Drain::Continuous,
            tick_ps => Drain::Ticks { tick_ps },
        },
    });
    inputs
        .iter()
        .map(|input| {
            let t_ps = number(input, "t_ps");
            let mark = queue.on_packet(t_ps, number32(input, "bytes"));
            json!({"mark": mark, "backlog_bytes": queue.backlog_bytes(t_ps)})
        })
        .collect()
}

fn config(drain_bps: u64, threshold_bytes: u32, count_arriving: bool, tick_ps: u64) -> Value {
    json!({
        "drain_bps": drain_bps,
        "threshold_bytes": threshold_bytes,
        "count_arriving": count_arriving,
        "tick_ps": tick_ps,
    })
}

fn packet(t_ps: u64, bytes: u32) -> Value {
    json!({"t_ps": t_ps, "bytes": bytes})
}

fn seen(mark: bool, backlog_bytes: u64) -> Value {
    json!({"mark": mark, "backlog_bytes": backlog_bytes})
}

/// Packets of `bytes` back to back on a link of `line_bps`.
fn back_to_back(count: u64, bytes: u32, line_bps: u64) -> Vec<Value> {
    let gap_ps = u64::from(bytes) * 8_000_000_000_000 / line_bps;
    (0..count).map(|n| packet(n * gap_ps, bytes)).collect()
}

/// Packets of mixed sizes with random gaps, mean load `load_pct` of a 1 Gbps link.
fn mixed(count: u64, load_pct: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut t_ps = 0;
    (0..count)
        .map(|_| {
            let bytes = [40, 64, 576, 950, 1500][numbers.range(0, 5) as usize];
            let line_ps = bytes * 8_000;
            let spare_ps = 626 * 8_000 * (100 - load_pct) / load_pct;
            t_ps += line_ps + numbers.range(0, 2 * spare_ps + 1);
            packet(t_ps, bytes as u32)
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    vec![
        by_hand(
            "compare_before_adding",
            "800 Mbps drains 1 byte in 10 ns. t=0: 0, then 1500. 12 us drain 1200: 300, then 1800. \
             5 us drain 500: 1300 > 1000, mark, then 2800. 28 us drain 2800: 0, then 1500. 5 us \
             drain 500: 1000 is not above 1000, then 2500.",
            config(800_000_000, 1000, false, 0),
            vec![
                (packet(0, 1500), seen(false, 1500)),
                (packet(12_000_000, 1500), seen(false, 1800)),
                (packet(17_000_000, 1500), seen(true, 2800)),
                (packet(45_000_000, 1500), seen(false, 1500)),
                (packet(50_000_000, 1500), seen(false, 2500)),
            ],
        ),
        by_hand(
            "add_before_comparing_950",
            "The report's setting: 950-byte packets back to back at 1 Gbps (7.6 us apart), drain \
             950 Mbps, which takes 902.5 bytes in 7.6 us. 950; 47.5 + 950 = 997.5, no mark; 95 + \
             950 = 1045 > 1000, mark; 142.5 + 950 = 1092.5, mark. 997.5 and 1092.5 are half-way; \
             one byte is rounded down to 551882105 / 65536 ps, so that the counter is just below.",
            config(950_000_000, 1000, true, 0),
            vec![
                (packet(0, 950), seen(false, 950)),
                (packet(7_600_000, 950), seen(false, 997)),
                (packet(15_200_000, 950), seen(true, 1045)),
                (packet(22_800_000, 950), seen(true, 1092)),
            ],
        ),
        by_hand(
            "add_before_comparing_1500",
            "Why the report shrank its packets: one 1500-byte packet is above 1000 at once, even \
             into an empty queue (1 ms drains 118750 bytes).",
            config(950_000_000, 1000, true, 0),
            vec![
                (packet(0, 1500), seen(true, 1500)),
                (packet(1_000_000_000, 1500), seen(true, 1500)),
            ],
        ),
        by_hand(
            "ticks_800ns",
            "950 Mbps times 800 ns is 95 bytes per tick. t=0: 1500. t=799999 ps: no tick yet, 1500 > \
             1000, mark, then 3000. t=800000: one tick first, 2905, mark, then 3405 (500 bytes). \
             t=20 us: 24 more ticks, 3405 - 2280 = 1125, mark, then 1165 (40 bytes). t=22.4 us: 3 \
             ticks, 1165 - 285 = 880, no mark, then 920.",
            config(950_000_000, 1000, false, 800_000),
            vec![
                (packet(0, 1500), seen(false, 1500)),
                (packet(799_999, 1500), seen(true, 3000)),
                (packet(800_000, 500), seen(true, 3405)),
                (packet(20_000_000, 40), seen(true, 1165)),
                (packet(22_400_000, 40), seen(false, 920)),
            ],
        ),
        computed(
            "back_to_back_1500",
            "The paper's setting under full load: 1500-byte packets back to back at 1 Gbps; the \
             counter grows by 75 bytes per packet.",
            config(950_000_000, 1000, false, 0),
            back_to_back(20, 1500, 1_000_000_000),
        ),
        computed(
            "back_to_back_1500_ticks",
            "The same with 800 ns ticks.",
            config(950_000_000, 1000, false, 800_000),
            back_to_back(20, 1500, 1_000_000_000),
        ),
        computed(
            "same_instant",
            "Packets at the same picosecond add up without drain; sizes sum exactly, so that 1000 \
             bytes in parts equal the threshold and do not mark.",
            config(950_000_000, 1000, true, 0),
            [333, 333, 334, 1, 0]
                .map(|bytes| packet(5_000, bytes))
                .to_vec(),
        ),
        computed(
            "threshold_zero",
            "Threshold 0, compared before adding: any backlog marks, an empty queue does not.",
            config(1_000_000_000, 0, false, 0),
            vec![
                packet(1_000_000, 1000),
                packet(8_999_999, 1000),
                packet(16_999_999, 1000),
                packet(17_000_000, 1000),
                packet(25_000_000, 1000),
            ],
        ),
        computed(
            "long_idle",
            "An idle time of 200 days empties the queue and nothing overflows.",
            config(9_500_000_000, 1000, false, 0),
            vec![
                packet(0, 65535),
                packet(1, 65535),
                packet(17_280_000_000_000_000_000, 1500),
                packet(17_280_000_000_000_000_001, 1500),
            ],
        ),
        computed(
            "mixed_load_90",
            "60 packets of mixed sizes at about 90% of 1 Gbps.",
            config(950_000_000, 1000, false, 0),
            mixed(60, 90, 1),
        ),
        computed(
            "mixed_load_99_ticks",
            "60 packets of mixed sizes at about 99% of 1 Gbps, counted before the comparison, ticks.",
            config(950_000_000, 3000, true, 800_000),
            mixed(60, 99, 2),
        ),
    ]
}
