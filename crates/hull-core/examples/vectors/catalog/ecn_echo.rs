//! Vectors of the two ECN-Echo receivers.

use super::{Algorithm, Numbers, Vector, boolean, by_hand, computed, number32, word};
use hull_core::ecn_echo::{AckNow, ClassicEcho, DctcpEcho};
use serde_json::{Value, json};

pub fn algorithm() -> Algorithm {
    Algorithm {
        name: "ecn_echo",
        description: "Config: receiver, dctcp (two-state machine) or classic (RFC 3168); ack_every, \
            m. In: op data, a packet in order with its ce and cwr bits (dctcp ignores cwr); op \
            ack_sent, an ACK goes out for another reason. Out: previous, ECE of the ACK to send at \
            once for the packets before this one, null for none (always null for classic); current, \
            ECE of the ACK to send for this packet, or the bit that the other ACK carries; null to \
            delay; pending, packets that wait for their ACK.",
        run,
        vectors: vectors(),
    }
}

fn run(config: &Value, inputs: &[Value]) -> Vec<Value> {
    let ack_every = number32(config, "ack_every");
    let ece = |ack: Option<AckNow>| ack.map(|ack| ack.ece);
    match word(config, "receiver") {
        "dctcp" => {
            let mut echo = DctcpEcho::new(ack_every);
            let step = |input: &Value| {
                let (previous, current) = match word(input, "op") {
                    "data" => {
                        let (previous, current) = echo.on_data(boolean(input, "ce"));
                        (ece(previous), ece(current))
                    }
                    _ => (None, Some(echo.on_ack_sent())),
                };
                json!({"previous": previous, "current": current, "pending": echo.pending()})
            };
            inputs.iter().map(step).collect()
        }
        _ => {
            let mut echo = ClassicEcho::new(ack_every);
            let step = |input: &Value| {
                let current = match word(input, "op") {
                    "data" => ece(echo.on_data(boolean(input, "ce"), boolean(input, "cwr"))),
                    _ => Some(echo.on_ack_sent()),
                };
                json!({"previous": null, "current": current, "pending": echo.pending()})
            };
            inputs.iter().map(step).collect()
        }
    }
}

fn config(receiver: &str, ack_every: u32) -> Value {
    json!({"receiver": receiver, "ack_every": ack_every})
}

fn data(ce: bool, cwr: bool) -> Value {
    json!({"op": "data", "ce": ce, "cwr": cwr})
}

fn ack_sent() -> Value {
    json!({"op": "ack_sent"})
}

fn out(previous: Option<bool>, current: Option<bool>, pending: u32) -> Value {
    json!({"previous": previous, "current": current, "pending": pending})
}

/// Data packets with the CE bits of a pattern of 0 and 1.
fn pattern(ce_bits: &str) -> Vec<Value> {
    ce_bits.chars().map(|bit| data(bit == '1', false)).collect()
}

fn random(count: u64, seed: u64) -> Vec<Value> {
    let mut numbers = Numbers(seed);
    (0..count)
        .map(|_| match numbers.range(0, 8) {
            0 => ack_sent(),
            choice => data(choice < 4, numbers.range(0, 6) == 0),
        })
        .collect()
}

fn vectors() -> Vec<Vector> {
    vec![
        by_hand(
            "dctcp_transitions",
            "m = 2, CE 0 0 0 1 1 1 1 0. Packets 1-2: ACK without ECE. 3 waits; 4 (CE) sends the ACK \
             for 3 without ECE and its own with ECE; 5 waits; 6 completes 5-6 with ECE; 7 waits; 8 \
             sends the ACK for 7 with ECE and its own without.",
            config("dctcp", 2),
            vec![
                (data(false, false), out(None, None, 1)),
                (data(false, false), out(None, Some(false), 0)),
                (data(false, false), out(None, None, 1)),
                (data(true, false), out(Some(false), Some(true), 0)),
                (data(true, false), out(None, None, 1)),
                (data(true, false), out(None, Some(true), 0)),
                (data(true, false), out(None, None, 1)),
                (data(false, false), out(Some(true), Some(false), 0)),
            ],
        ),
        by_hand(
            "classic_latch",
            "m = 2. Packet 1 is CE: latched, waits; 2: ACK with ECE. 3-4 without CE: still ECE. 5 \
             carries CWR: cleared, waits; 6: ACK without ECE. 7 carries CWR and CE: latched again; 8: \
             ECE.",
            config("classic", 2),
            vec![
                (data(true, false), out(None, None, 1)),
                (data(false, false), out(None, Some(true), 0)),
                (data(false, false), out(None, None, 1)),
                (data(false, false), out(None, Some(true), 0)),
                (data(false, true), out(None, None, 1)),
                (data(false, false), out(None, Some(false), 0)),
                (data(true, true), out(None, None, 1)),
                (data(false, false), out(None, Some(true), 0)),
            ],
        ),
        computed(
            "dctcp_every_packet",
            "m = 1: each packet is acknowledged with its own bit; nothing is ever pending.",
            config("dctcp", 1),
            pattern("0110100"),
        ),
        computed(
            "dctcp_alternating",
            "m = 2, the bit changes with every packet: from the first CE on each is acknowledged at once.",
            config("dctcp", 2),
            pattern("01010101"),
        ),
        computed(
            "dctcp_first_marked",
            "The first packet is CE: a transition with nothing before it to acknowledge.",
            config("dctcp", 2),
            pattern("1110"),
        ),
        computed(
            "dctcp_timer",
            "The delayed-ACK timer fires with one packet pending, before and after a transition.",
            config("dctcp", 3),
            vec![
                data(true, false),
                ack_sent(),
                data(false, false),
                data(false, false),
                ack_sent(),
                data(true, false),
                data(true, false),
                data(true, false),
            ],
        ),
        computed(
            "dctcp_random",
            "60 random steps with m = 4.",
            config("dctcp", 4),
            random(60, 3),
        ),
        computed(
            "classic_every_packet",
            "m = 1: ECE from the first mark to the CWR.",
            config("classic", 1),
            vec![
                data(false, false),
                data(true, false),
                data(false, false),
                data(false, true),
                data(false, false),
            ],
        ),
        computed(
            "classic_random",
            "60 random steps with m = 2.",
            config("classic", 2),
            random(60, 4),
        ),
    ]
}
