//! Schedules as text: each word of the grammar, and what is refused.

use std::io::Cursor;

use super::*;
use crate::schedule::{Counts, Schedule};

fn read(text: &str) -> Result<(Schedule, Notes), Problem> {
    let (out, notes) = compile(text.as_bytes(), Cursor::new(Vec::new()))?;
    Ok((Schedule::from_bytes(out.into_inner())?, notes))
}

#[track_caller]
fn assert_refused(text: &str, told: &str) {
    let problem = read(text).expect_err("a mistake").to_string();
    assert!(
        problem.contains(told),
        "{problem:?} should contain {told:?}"
    );
}

const PING: &str = "num_ranks 2\n\nrank 0 {\nl1: send 10b to 1 tag 7 cpu 1 nic 2\nl2: recv 5 b from -1 tag -1\nl2 requires l1\n}\n\
    rank 1 {\r\nl1: recv 10b from 0 tag 7\r\nl2: send 5b to 0\r\nl3: calc 100 cpu 3\r\nl2 requires l1\r\nl2 irequires l3\r\n}";

#[test]
fn text_is_read() {
    let (mut schedule, notes) = read(PING).unwrap();
    assert_eq!(
        (schedule.ranks(), schedule.cpus(), schedule.nics()),
        (2, 4, 3)
    );
    assert_eq!(
        *schedule.counts(),
        Counts {
            sends: 2,
            receives: 2,
            computations: 1,
            requires: 2,
            irequires: 1,
            send_bytes: 15,
        }
    );
    let op = schedule.op(0, 1).unwrap();
    assert_eq!(
        (op.kind, op.peer, op.tag, op.size, op.needs),
        (Kind::Receive, ANY, ANY, 5, 1)
    );
    assert_eq!(schedule.roots(1).unwrap(), [0, 2]);
    assert_eq!(schedule.after_end(1, 0).unwrap(), [1]);
    assert_eq!(schedule.after_start(1, 2).unwrap(), [1]);
    assert_eq!(notes, Notes::default());
}

#[test]
fn binary_has_the_size_of_its_definition() {
    let (out, _) = compile(PING.as_bytes(), Cursor::new(Vec::new())).unwrap();
    // 46 + 16 (ranks - 2), and for each rank 8 + 4 roots + 39 operations + 4 dependencies.
    let ranks = (8 + 4 + 39 * 2 + 4) + (8 + 4 * 2 + 39 * 3 + 4 * 2);
    assert_eq!(out.into_inner().len(), 46 + ranks);
}

#[test]
fn comments_are_skipped() {
    let text = "// one\n/* two\n three */ num_ranks 1 // four\nrank 0 { /* five */\ncalc 5 /* six */\n}\n// seven";
    let (schedule, notes) = read(text).unwrap();
    assert_eq!(schedule.counts().computations, 1);
    assert_eq!(notes.lines_behind, 0);
}

#[test]
fn what_is_decided_is_counted() {
    let text =
        "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\nb: calc 3\nb requires a\n}\nrank 1 {\n}";
    let (mut schedule, notes) = read(text).unwrap();
    assert_eq!(
        (
            notes.repeated_labels,
            notes.first_repeated,
            notes.lines_behind
        ),
        (1, 4, 2)
    );
    assert_eq!(schedule.after_end(0, 0).unwrap(), [2]);
}

#[test]
fn mistakes_name_line_and_what_is_expected() {
    assert_refused("", "line 0: the file ends; expected `num_ranks N`");
    assert_refused("ranks 2\n", "line 1: `ranks`; expected `num_ranks`");
    assert_refused(
        "num_ranks 0\n",
        "`0`; expected a number of ranks from 1 to 4194304",
    );
    assert_refused(
        "num_ranks 4000000000\nrank 0 {\n}",
        "expected a number of ranks from 1",
    );
    assert_refused(
        "num_ranks 2\nrank 1 {\n}",
        "line 2: `1`; expected `rank 0 {`",
    );
    assert_refused(
        "num_ranks 1\nrank 0 {\nsend 5 to 0\n}",
        "line 3: `5`; expected a size in bytes",
    );
    assert_refused(
        "num_ranks 1\nrank 0 {\nsend 5b to 1\n}",
        "`1`; expected a rank from 0 to 0",
    );
    assert_refused(
        "num_ranks 1\nrank 0 {\nsend 5b to -1\n}",
        "`-1`; expected a rank from 0 to 0",
    );
    assert_refused(
        "num_ranks 1\nrank 0 {\nsend 5b to 0 cpu 1 tag 2\n}",
        "`tag`; expected",
    );
    assert_refused("num_ranks 1\nrank 0 {\ncalc 5 nic 1\n}", "`nic`; expected");
    assert_refused(
        "num_ranks 1\nrank 0 {\ncalc 5 cpu 256\n}",
        "`256`; expected a processor",
    );
    assert_refused(
        "num_ranks 1\nrank 0 {\na requires b\n}",
        "line 3: `a`; expected a label that",
    );
    assert_refused("num_ranks 1\nrank 0 {\n1a: calc 5\n}", "a label: a letter");
    assert_refused("num_ranks 1\nrank 0 {\nfly 5b\n}", "`fly`; expected `send`");
    assert_refused(
        "num_ranks 1\nrank 0 {\ncalc 5\n",
        "line 3: the file ends; expected `}`, the end of rank 0",
    );
    assert_refused("num_ranks 1\n/* rank 0 {\n}", "expected `*/`");
    assert_refused(
        &format!("num_ranks 1{}", " ".repeat(70_000)),
        "line 1: longer than 65536 bytes",
    );
}

#[test]
fn cycles_are_named() {
    let text = "num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nd: calc 1\n\
        b requires a\nb requires d\nc requires b\nd irequires c\n}";
    assert_refused(text, "rank 0: operations that wait for each other: ");
    assert_refused(text, "; 3 of 4 could never start");
    assert_refused(
        "num_ranks 1\nrank 0 {\na: calc 1\na requires a\n}",
        "0 -> 0; 1 of 1",
    );
}
