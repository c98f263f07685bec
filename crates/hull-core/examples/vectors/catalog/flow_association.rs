//! Vectors of the flow association table.

use super::{Algorithm, Numbers, Vector, by_hand, computed, number, number32, word};
use hull_core::flow_association::{FlowAssociation, FlowAssociationConfig, WhenFull};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "flow_association",
        description: "Config: entries; probability (p_a) scaled by 2^32, an ACK associates when its \
            random bits are below it, 4294967295 is always; timeout_ps (T_i, picoseconds); when_full, \
            ignore or evict_oldest. In: op ece, an ACK with ECN-Echo of flow at t_ps with 32 random \
            bits; op packet, a packet of flow at t_ps. Out: associated: for ece, whether this ACK \
            associated the flow or restarted its timer; for packet, whether the flow is to be paced; \
            len, flows associated at t_ps, after the step. An association made at t is live before t \
            + timeout_ps.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let mut table = FlowAssociation::new(&FlowAssociationConfig {
        entries: number(config, "entries") as usize,
        probability: number32(config, "probability"),
        timeout_ps: number(config, "timeout_ps"),
        when_full: match word(config, "when_full") {
            "ignore" => WhenFull::Ignore,
            _ => WhenFull::EvictOldest,
        },
    });
    inputs
        .iter()
        .map(|input| {
            let t_ps = number(input, "t_ps");
            let flow = number32(input, "flow");
            let associated = match word(input, "op") {
                "ece" => table.on_ece(t_ps, flow, number32(input, "random")),
                _ => table.is_associated(t_ps, flow),
            };
            json!({"associated": associated, "len": table.len(t_ps)})
        })
        .collect()
}

const ALWAYS: u32 = u32::MAX;
const EIGHTH: u32 = 1 << 29;
const TEN_MS: u64 = 10_000_000_000;

fn config(entries: u32, probability: u32, timeout_ps: u64, when_full: &str) -> Value {
    json!({
        "entries": entries,
        "probability": probability,
        "timeout_ps": timeout_ps,
        "when_full": when_full,
    })
}

fn ece(t_ps: u64, flow: u32, random: u32) -> Value {
    json!({"op": "ece", "t_ps": t_ps, "flow": flow, "random": random})
}

fn packet(t_ps: u64, flow: u32) -> Value {
    json!({"op": "packet", "t_ps": t_ps, "flow": flow})
}

fn out(associated: bool, len: usize) -> Value {
    json!({"associated": associated, "len": len})
}

/// Fills `entries` entries one picosecond apart, then adds one flow and looks for it and for the
/// first.
fn overfill(entries: u32) -> Vec<Value> {
    let mut inputs: Vec<Value> = (0..entries)
        .map(|flow| ece(u64::from(flow), flow, 0))
        .collect();
    let t_ps = u64::from(entries);
    inputs.extend([
        ece(t_ps, 1000, 0),
        packet(t_ps, 1000),
        packet(t_ps, 0),
        packet(t_ps, 1),
        ece(t_ps, 1, 0),
    ]);
    inputs
}

fn random(count: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    let mut t_ps = 0;
    (0..count)
        .map(|_| {
            t_ps += numbers.range(0, TEN_MS / 10);
            let flow = numbers.range(0, 6) as u32;
            match numbers.range(0, 3) {
                0 => packet(t_ps, flow),
                _ => ece(t_ps, flow, numbers.next() as u32),
            }
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    vec![
        by_hand(
            "expiry_and_refresh",
            "T_i = 10 ms = 1e10 ps, always. Associated at 0, it would end at 1e10; refreshed at \
             9999999999, it ends at 19999999999: live 1 ps before and gone at that instant. Packets \
             at 5 ms do not extend it.",
            config(64, ALWAYS, TEN_MS, "ignore"),
            vec![
                (packet(0, 7), out(false, 0)),
                (ece(0, 7, ALWAYS), out(true, 1)),
                (packet(5_000_000_000, 7), out(true, 1)),
                (ece(9_999_999_999, 7, ALWAYS), out(true, 1)),
                (packet(10_000_000_000, 7), out(true, 1)),
                (packet(19_999_999_998, 7), out(true, 1)),
                (packet(19_999_999_999, 7), out(false, 0)),
            ],
        ),
        by_hand(
            "probability_one_eighth",
            "p_a = 1/8 is 2^29 = 536870912 of 2^32: 536870911 associates, 536870912 does not. A \
             failed draw does not restart the timer: associated at 0, gone at 10 ms.",
            config(64, EIGHTH, TEN_MS, "ignore"),
            vec![
                (ece(0, 1, 536_870_911), out(true, 1)),
                (ece(0, 2, 536_870_912), out(false, 1)),
                (ece(5_000_000_000, 1, 4_294_967_295), out(false, 1)),
                (packet(9_999_999_999, 1), out(true, 1)),
                (packet(10_000_000_000, 1), out(false, 0)),
            ],
        ),
        computed(
            "probability_zero",
            "p_a = 0: never, not even for random bits of 0.",
            config(64, 0, TEN_MS, "ignore"),
            vec![ece(0, 1, 0), packet(0, 1)],
        ),
        computed(
            "full_ignore",
            "64 entries, a 65th flow: it stays unpaced; a flow in the table may still refresh.",
            config(64, ALWAYS, TEN_MS, "ignore"),
            overfill(64),
        ),
        computed(
            "full_evict_oldest",
            "64 entries, a 65th flow: it takes the place of flow 0, the first to expire.",
            config(64, ALWAYS, TEN_MS, "evict_oldest"),
            overfill(64),
        ),
        computed(
            "evict_after_refresh",
            "Two entries: flow 1 is older but refreshed last, so that flow 2 is evicted.",
            config(2, ALWAYS, TEN_MS, "evict_oldest"),
            vec![
                ece(0, 1, 0),
                ece(1, 2, 0),
                ece(2, 1, 0),
                ece(3, 3, 0),
                packet(3, 1),
                packet(3, 2),
                packet(3, 3),
            ],
        ),
        computed(
            "full_then_expired",
            "Expired entries make room: two flows fill the table and end at 10 ms.",
            config(2, ALWAYS, TEN_MS, "ignore"),
            vec![
                ece(0, 1, 0),
                ece(0, 2, 0),
                ece(1, 3, 0),
                ece(TEN_MS, 3, 0),
                packet(TEN_MS, 1),
                packet(TEN_MS, 3),
            ],
        ),
        computed(
            "random",
            "60 random steps of 6 flows, p_a = 1/8.",
            config(64, EIGHTH, TEN_MS, "ignore"),
            random(60, 6),
        ),
        computed(
            "random_small_table",
            "60 random steps of 6 flows on 3 entries that evict, p_a = 1/2.",
            config(3, 1 << 31, TEN_MS, "evict_oldest"),
            random(60, 7),
        ),
    ]
}
