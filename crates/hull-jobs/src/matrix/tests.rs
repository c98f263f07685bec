//! Connection matrices of fixtures and of lines written here, with times and bytes counted by hand.

use super::*;
use crate::alpha_beta::time_ns;
use crate::choices::Choices;
use crate::job::Job;
use crate::problem::Problem;

const MATRIX: &str = include_str!("../../../../tests/schedules/triggers.cm");

fn read_job(text: &str, start_unit_ps: u64) -> Result<Job, Problem> {
    let choices = Choices {
        start_unit_ps,
        most_operations: 100_000,
        ..Choices::default()
    };
    job(&read(text)?, &choices)
}

/// A matrix of these lines on 4 hosts.
fn with_header(lines: &[&str]) -> String {
    let triggers = lines.iter().filter(|line| line.starts_with("trigger"));
    let triggers = triggers.count();
    let flows = lines.len() - triggers;
    format!(
        "Nodes 4\nConnections {flows}\nTriggers {triggers}\n{}\n",
        lines.join("\n")
    )
}

fn time_of(lines: &[&str]) -> u64 {
    time_ns(read_job(&with_header(lines), 1_000_000).unwrap().schedule)
}

#[track_caller]
fn assert_refused(text: &str, told: &str) {
    let problem = read_job(text, 1_000_000)
        .expect_err("a mistake")
        .to_string();
    assert!(
        problem.contains(told),
        "{problem:?} should contain {told:?}"
    );
}

#[test]
fn lines_are_read() {
    let matrix = read(MATRIX).unwrap();
    assert_eq!(
        (matrix.nodes, matrix.flows.len(), matrix.failures),
        (3, 6, 1)
    );
    let flow = &matrix.flows[0];
    assert_eq!((flow.line, flow.from, flow.to, flow.id), (6, 0, 1, Some(1)));
    assert_eq!((flow.begin, flow.bytes), (Begin::Start(2.5), 1001));
    assert_eq!((flow.when_sent, flow.when_received), (Some(7), Some(8)));
    assert_eq!(matrix.flows[1].begin, Begin::Trigger(7));
    assert_eq!(matrix.triggers[2].kind, TriggerKind::Barrier(2));
    assert!(matrix.flows[4].is_message && matrix.flows[5].is_message);
}

/// Counted by hand: 2.5 us, 0->1 takes 2000 ns; then 0->2 (3000 ns) since its sender is done, and 1->3 (1500 ns) since its receiver is; 3->0
/// (4000 ns) when both are received, as host 2 tells host 3 with 1 byte (1000 ns).
#[test]
fn triggers_are_dependencies() {
    let job = read_job(MATRIX, 1_000_000).unwrap();
    assert_eq!(job.schedule.ranks(), 4);
    assert_eq!(
        job.remarks.to_string(),
        "failed links without effect: 1; priorities without effect: 1; \
         messages of connections, each a flow of its own: 2; \
         starts in units of 1000000 ps; the file does not name its unit: 1; \
         triggers of other hosts, each carried by 1 byte: 1"
    );
    let bytes = 1001 + 2001 + 501 + 3001 + 2 * 10;
    assert_eq!(job.schedule.counts().send_bytes, bytes + 1);
    assert_eq!(time_ns(job.schedule), 2500 + 2000 + 3000 + 1000 + 4000);
    // In ps, the same start is rounded.
    let job = read_job(MATRIX, 1).unwrap();
    assert!(
        job.remarks
            .to_string()
            .contains("starts that are rounded to whole ns: 1")
    );
    assert_eq!(time_ns(job.schedule), 2000 + 3000 + 1000 + 4000);
}

#[test]
fn starts_of_a_host_do_not_delay_each_other() {
    let flows = [
        "0->1 start 3 size 1",
        "0->2 start 1 size 1",
        "1->2 start 2 size 1",
    ];
    assert_eq!(time_of(&flows), 3000 + 1000);
    let ten = ["0->1 start 3 size 1"; 10];
    assert_eq!(time_of(&ten), 3000 + 1000);
}

/// Each firing begins the flow again: 3 flows fire the first trigger, and their copies the second.
#[test]
fn multishot_begins_a_flow_at_each_firing() {
    let lines = [
        "0->1 id 1 start 0 size 11 send_done_trigger 1",
        "0->1 id 2 start 5 size 11 send_done_trigger 1",
        "0->1 id 3 start 9 size 11 send_done_trigger 1",
        "0->2 id 4 trigger 1 size 101 send_done_trigger 2",
        "0->3 id 5 trigger 2 size 1001",
        "trigger id 1 multishot",
        "trigger id 2 multishot",
    ];
    let job = read_job(&with_header(&lines), 1_000_000).unwrap();
    let counts = job.schedule.counts();
    assert_eq!(
        (counts.sends, counts.send_bytes),
        (9, 3 * (11 + 101 + 1001))
    );
    assert_eq!(time_ns(job.schedule), 9000 + 1010 + 1100 + 2000);
}

#[test]
fn what_a_graph_cannot_say_is_refused() {
    let refused = |lines: &[&str], told: &str| assert_refused(&with_header(lines), told);
    refused(
        &["0->1 start 0 size 0"],
        "line 4: size 0, a flow without end; expected 1 or more",
    );
    let fired = |count: &str| {
        let trigger = format!("trigger id 1 barrier count {count}");
        with_header(&[
            "0->1 id 1 start 0 size 1 send_done_trigger 1",
            "0->1 id 2 start 0 size 1 recv_done_trigger 1",
            "1->2 id 3 trigger 1 size 1",
            &trigger,
        ])
    };
    read_job(&fired("2"), 1).unwrap();
    assert_refused(
        &fired("1"),
        "line 6: trigger 1 is fired 2 times; expected 1: a graph",
    );
    assert_refused(
        &fired("3"),
        "line 6: trigger 1 is fired 2 times; expected 3",
    );
    assert_refused(
        &fired("1").replace("barrier count 1", "oneshot"),
        "expected 1: a graph",
    );
    let circle = [
        "0->1 id 1 trigger 2 size 1 send_done_trigger 1",
        "0->1 id 2 trigger 1 size 1 send_done_trigger 2",
        "trigger id 1 multishot",
        "trigger id 2 oneshot",
    ];
    refused(
        &circle,
        "line 4: trigger 2, which waits for flows that wait for it",
    );
    refused(
        &["0->1 id 1 trigger 2 size 1", "trigger id 2 oneshot"],
        "line 4: trigger 2, which no flow fires; expected one",
    );
    refused(
        &["0->1 start 1e17 size 1"],
        "line 4: start 100000000000000000, ",
    );
}

/// Each of 40 triggers doubles the copies.
#[test]
fn copies_are_bounded() {
    let mut lines =
        vec!["0->1 id 1 start 0 size 1 send_done_trigger 1 recv_done_trigger 1".to_owned()];
    for id in 1..40 {
        let next = id + 1;
        lines.push(format!(
            "0->1 id {next} trigger {id} size 1 send_done_trigger {next} recv_done_trigger {next}"
        ));
        lines.push(format!("trigger id {id} multishot"));
    }
    lines.push("trigger id 40 multishot".to_owned());
    let lines = Vec::from_iter(lines.iter().map(String::as_str));
    assert_refused(&with_header(&lines), "more than 100000 operations");
}

#[test]
fn mistakes_name_line_and_what_is_expected() {
    let with = |old: &str, new: &str| MATRIX.replacen(old, new, 1);
    assert_refused("", "line 1: no `Nodes N`; expected");
    assert_refused(
        &with("Nodes 3", "Nodes 0"),
        "line 2: `Nodes`; expected a number from 1",
    );
    assert_refused(
        &with("Nodes 3", "Nodes 3 4"),
        "line 2: `4`; expected the end of the line",
    );
    assert_refused(
        &with("Nodes 3", "Hosts 3"),
        "line 2: `Hosts`; expected Nodes, Connections",
    );
    assert_refused(
        &with("Triggers", "connections"),
        "line 4: `connections`; expected each count",
    );
    assert_refused(
        &with("Connections 6", "Connections 7"),
        "`Connections 7`; expected 6",
    );
    assert_refused(
        &with("Failures 1\n", ""),
        "line 1: `Failures 0`; expected 1",
    );
    assert_refused(
        &with("0->1", "0->0"),
        "line 6: `0->0`; expected two different hosts",
    );
    assert_refused(
        &with("0->1", "0->x"),
        "line 6: `x`; expected two different hosts",
    );
    assert_refused(
        &with("start 2.5", "start -1"),
        "line 6: `-1`; expected a time from 0",
    );
    assert_refused(
        &with("start 2.5", ""),
        "line 6: `0->1`; expected one of `start TIME`",
    );
    assert_refused(
        &with(" size 1001", ""),
        "line 6: `0->1`; expected `size BYTES`",
    );
    assert_refused(
        &with("id 1 ", ""),
        "line 6: `0->1`; expected `id NUMBER` behind it",
    );
    assert_refused(
        &with("id 1 ", "id 0 "),
        "line 6: `0`; expected a number from 1",
    );
    assert_refused(
        &with("id 1 ", "id 1 id 2 "),
        "line 6: `id`; expected each key once",
    );
    assert_refused(
        &with("id 1 ", "id 2 "),
        "line 7: `id 2`; expected another id than line 6",
    );
    assert_refused(
        &with("size 1001", "bytes 1001"),
        "line 6: `bytes`; expected id, msg",
    );
    assert_refused(
        &with("trigger 7 size", "trigger 6 size"),
        "line 7: `trigger 6`; expected a",
    );
    assert_refused(
        &with("id 7 oneshot", "id 8 oneshot"),
        "`trigger id 8`; expected each trigger",
    );
    assert_refused(
        &with("oneshot", "twoshot"),
        "`twoshot`; expected `trigger id NUMBER oneshot",
    );
    assert_refused(
        &with("TOR", "tor"),
        "`failure`; expected `failure switch_type TOR|AGG|CORE",
    );
    assert_refused(
        &with("failure", "broken"),
        "`broken`; expected `SRC->DST ...`",
    );
}
