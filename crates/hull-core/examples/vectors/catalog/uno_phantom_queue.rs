//! Vectors of Uno's phantom queue.

use super::{Algorithm, Numbers, Vector, by_hand, computed, number, number32, word};
use hull_core::ramp::{self, RampMarker};
use hull_core::uno_phantom_queue::{UnoPhantomQueue, UnoPhantomQueueConfig, share_bytes};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "uno_phantom_queue",
        description: "Config: link_bps (bit/s), slowdown_pct, packet_bytes (a step of the drain), \
            size_bytes, low_bytes, high_bytes. In: kind arrival with t_ps, bytes; kind departure \
            with t_ps, random (32 uniform bits). Out: mark (CE; false for an arrival), \
            backlog_bytes just after the packet. The queue is empty at t_ps = 0.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut queue = UnoPhantomQueue::new(&UnoPhantomQueueConfig {
        link_bps: number(config, "link_bps"),
        slowdown_pct: number32(config, "slowdown_pct"),
        packet_bytes: number32(config, "packet_bytes"),
        size_bytes: number(config, "size_bytes"),
        ramp: RampMarker {
            low_bytes: number(config, "low_bytes"),
            high_bytes: number(config, "high_bytes"),
            max_probability: ramp::ONE,
        },
    });
    inputs
        .iter()
        .map(|input| {
            let t_ps = number(input, "t_ps");
            let mark = match word(input, "kind") {
                "arrival" => {
                    queue.on_arrival(t_ps, number32(input, "bytes"));
                    false
                }
                "departure" => queue.on_departure(t_ps, number32(input, "random")),
                kind => panic!("kind {kind} must be arrival or departure"),
            };
            seen(mark, queue.backlog_bytes(t_ps))
        })
        .collect()
}

fn config(slowdown_pct: u32, size_bytes: u64, low_bytes: u64, high_bytes: u64) -> Value {
    json!({
        "link_bps": 100_000_000_000_u64,
        "slowdown_pct": slowdown_pct,
        "packet_bytes": 4160,
        "size_bytes": size_bytes,
        "low_bytes": low_bytes,
        "high_bytes": high_bytes,
    })
}

fn arrival(t_ps: u64, bytes: u32) -> Value {
    json!({"kind": "arrival", "t_ps": t_ps, "bytes": bytes})
}

fn departure(t_ps: u64, random: u32) -> Value {
    json!({"kind": "departure", "t_ps": t_ps, "random": random})
}

fn seen(mark: bool, backlog_bytes: u64) -> Value {
    json!({"mark": mark, "backlog_bytes": backlog_bytes})
}

/// Arrivals and departures with random sizes and gaps.
fn random(count: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut t_ps = 0;
    (0..count)
        .map(|_| {
            t_ps += numbers.range(0, 400_000);
            if numbers.range(0, 2) == 0 {
                arrival(t_ps, [64, 1000, 4160, 4160][numbers.range(0, 4) as usize])
            } else {
                departure(t_ps, numbers.next() as u32)
            }
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    let size = 22_400_515;
    vec![
        by_hand(
            "steps",
            "5% at 100 Gbps: a step every 332,800 * 1.05 = 349,440 ps from the first departure on, \
             which takes 4160 at once. Two packets arrive, one leaves: 8320 is seen, which is above \
             8000, then 4160. At 349,439 ps no step is due; at 349,440 one is, before the packet: 0 \
             + 64. Down to zero, not below: at 698,880 64 go. 12,480 at 700,000; at 1,048,320 a step \
             leaves 8320.",
            config(5, 1_000_000, 4000, 8000),
            vec![
                (arrival(0, 4160), seen(false, 4160)),
                (arrival(0, 4160), seen(false, 8320)),
                (departure(0, u32::MAX), seen(true, 4160)),
                (departure(349_439, u32::MAX), seen(false, 4160)),
                (arrival(349_440, 64), seen(false, 64)),
                (departure(698_880, 0), seen(false, 0)),
                (arrival(700_000, 12_480), seen(false, 12_480)),
                (departure(1_048_320, u32::MAX), seen(true, 8320)),
            ],
        ),
        by_hand(
            "marks",
            "Thresholds 4000 and 8000: 4000 never, 8000 is a probability of 1, of which no 32 bits \
             are too many; 6000 is 1/2, so that 2^31 - 1 marks and 2^31 does not. The size of 9000 \
             holds the counter.",
            config(5, 9000, 4000, 8000),
            vec![
                (departure(0, 0), seen(false, 0)),
                (arrival(1, 4000), seen(false, 4000)),
                (departure(1, 0), seen(false, 4000)),
                (arrival(1, 2000), seen(false, 6000)),
                (departure(1, 2_147_483_647), seen(true, 6000)),
                (departure(1, 2_147_483_648), seen(false, 6000)),
                (arrival(1, 2000), seen(false, 8000)),
                (departure(1, u32::MAX), seen(true, 8000)),
                (arrival(1, 4160), seen(false, 9000)),
            ],
        ),
        computed(
            "full_load",
            "Uno's thresholds scaled down by 1000: packets back to back, each leaves as the next one \
             comes; the counter grows by 198 bytes a packet.",
            config(
                5,
                size / 1000,
                share_bytes(size, 2) / 1000,
                share_bytes(size, 60) / 1000,
            ),
            (0..40)
                .flat_map(|number| {
                    let t_ps = number * 332_800;
                    let random = (number as u32).wrapping_mul(2_654_435_769);
                    [arrival(t_ps, 4160), departure(t_ps + 332_799, random)]
                })
                .collect(),
        ),
        computed(
            "random_10",
            "200 random packets with a slowdown of 10%.",
            config(10, 60_000, 5000, 40_000),
            random(200, 1),
        ),
    ]
}
