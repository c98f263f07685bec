//! Schedules on LogGP against times by hand.

use std::io::Cursor;

use super::*;
use crate::{Schedule, compile};

fn params(charge: Charge) -> Params {
    Params {
        latency_ns: 2500,
        overhead_ns: 1500,
        gap_ns: 1000,
        gap_per_byte_ns: 6.0,
        overhead_per_byte_ns: 0.0,
        eager_bytes: 65_535,
        charge,
    }
}

fn schedule(text: &str) -> Schedule {
    let (out, _) = compile(text.as_bytes(), Cursor::new(Vec::new())).unwrap();
    Schedule::from_bytes(out.into_inner()).unwrap()
}

fn ends(text: &str, params: Params) -> Vec<u64> {
    let report = run(schedule(text), params).unwrap();
    assert_eq!(report.waiting, []);
    report.ends.iter().map(|end| end.at_ns).collect()
}

/// T(s) = o + L + o + (s - 1) G, from the start of a send to the end of its receive; and g more where the
/// receiving interface has a message before its processor.
#[test]
fn one_message_takes_its_closed_form() {
    for (charge, gap) in [(Charge::Receiver, 0), (Charge::Wire, 1000)] {
        for bytes in [1_u64, 8, 1000, 65_535] {
            let text = format!(
                "num_ranks 2\nrank 0 {{\nsend {bytes}b to 1\n}}\nrank 1 {{\nrecv {bytes}b from 0\n}}"
            );
            let time = 1500 + 2500 + gap + 1500 + (bytes - 1) * 6;
            assert_eq!(
                ends(&text, params(charge)),
                [1500, time],
                "{charge:?} {bytes}"
            );
        }
    }
}

/// Two eager messages to one receiver: its processor takes their bytes one after the other, or the wire does at once.
#[test]
fn incast_shares_the_receiver_or_not() {
    let text = "num_ranks 3\nrank 0 {\nrecv 1001b from 1\nrecv 1001b from 2\n}\n\
        rank 1 {\nsend 1001b to 0\n}\nrank 2 {\nsend 1001b to 0\n}";
    assert_eq!(ends(text, params(Charge::Receiver))[0], 4000 + 2 * 7500);
    assert_eq!(
        ends(text, params(Charge::Wire))[0],
        1500 + 2500 + 6000 + 2 * (1000 + 1500)
    );
}

/// A large message's send ends when its receive is posted: at 1 ms, when the message has long arrived.
#[test]
fn rendezvous_waits_for_the_receive() {
    let text = "num_ranks 2\nrank 0 {\na: send 65536b to 1\nb: calc 10\nb requires a\n}\n\
        rank 1 {\na: calc 1000000 cpu 1\nb: recv 65536b from 0\nb requires a\n}";
    assert_eq!(ends(text, params(Charge::Receiver)), [1_000_010, 1_000_000]);
    // On the wire the receiver pays gap and overhead at the match, and the send ends with it.
    assert_eq!(ends(text, params(Charge::Wire)), [1_002_510, 1_002_500]);
}

#[test]
fn dependencies_across_processors_hold() {
    let text = "num_ranks 2\nrank 0 {\na: calc 50000 cpu 1\nb: send 1000b to 1 cpu 0\nb requires a\n}\n\
        rank 1 {\nrecv 1000b from 0\n}";
    assert_eq!(
        ends(text, params(Charge::Receiver)),
        [51_500, 50_000 + 5500 + 999 * 6]
    );
}

#[test]
fn receives_of_any_rank_take_the_first_message() {
    let text = "num_ranks 3\nrank 0 {\na: recv 1b from -1 tag -1\nb: calc 10\nb requires a\n}\n\
        rank 1 {\na: calc 100000\nb: send 1b to 0 tag 5\nb requires a\n}\nrank 2 {\nsend 1b to 0 tag 9\n}";
    let report = run(schedule(text), params(Charge::Receiver)).unwrap();
    assert_eq!(report.unreceived, 1);
    assert_eq!(report.ends[0].at_ns, 100_000 + 5500);
}

#[test]
fn what_waits_is_named() {
    let text = "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\n}\n\
        rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}";
    let report = run(schedule(text), params(Charge::Receiver)).unwrap();
    let waits: Vec<_> = report
        .waiting
        .iter()
        .map(|waiting| (waiting.rank, waiting.index, waiting.from))
        .collect();
    assert_eq!(waits, [(0, 0, 1), (1, 0, 0)]);
    assert_eq!(report.ends[0].left, 2);
}
