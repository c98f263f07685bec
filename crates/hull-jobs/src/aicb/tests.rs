//! Tables of fixtures and of lines written here, with times and bytes counted by hand.

use super::*;
use crate::alpha_beta::time_ns;
use crate::choices::Choices;
use crate::job::Job;

const TABLE: &str = include_str!("../../../../tests/schedules/four_ranks.aicb.csv");

const HEADER: &str = "comm_type,comm_group,comm_group_size,msg_size,stage,dst,src,additional,\
    _elapsed_time,algbw,busbw,count\n";

fn choices(ranks: Option<u32>) -> Choices {
    Choices {
        ranks,
        most_operations: 100_000,
        ..Choices::default()
    }
}

fn job_of(text: &str) -> Job {
    job(&read(text).unwrap(), &choices(None)).unwrap()
}

fn row(columns: &str) -> String {
    format!("{HEADER}{columns}\n")
}

#[track_caller]
fn assert_refused(text: &str, told: &str) {
    let refused = read(text).and_then(|table| job(&table, &choices(None)));
    let problem = refused.expect_err("a mistake").to_string();
    assert!(
        problem.contains(told),
        "{problem:?} should contain {told:?}"
    );
}

#[test]
fn rows_are_read() {
    let table = read(TABLE).unwrap();
    assert_eq!((table.ranks, table.rows.len()), (Some(4), 7));
    let row = &table.rows[0];
    assert_eq!(
        (row.line, row.call, row.group),
        (3, Call::AllReduce, Some(Group::Tensor))
    );
    assert_eq!((row.group_size, row.bytes, row.count), (Some(2), 4000, 2));
    assert_eq!(table.rows[1].time_ns, Some(2500));
    assert_eq!(table.rows[2].call, Call::Computation);
    assert_eq!(table.rows[5].call, Call::Reduce(1));
    assert_eq!(table.rows[6].call, Call::EpochEnd);
}

/// Counted by hand, one row after another, where a message of s bytes takes 1000 + s - 1 ns: two all-reduces of
/// 2 x 2000 B, 2500 ns, a broadcast of 40 B, a reduce-scatter of 8000 B between two, a reduce of 500 B.
#[test]
fn rows_follow_each_other() {
    let job = job_of(TABLE);
    assert_eq!(job.schedule.ranks(), 4);
    assert_eq!(job.remarks.to_string(), "computations without a time: 1");
    let bytes = 2 * 2 * (4 * 2000) + 2 * 40 + 4 * 4000 + 2 * 500;
    assert_eq!(job.schedule.counts().send_bytes, bytes);
    let time = 2 * 2 * 2999 + 2500 + 1039 + 4999 + 1499;
    assert_eq!(time_ns(job.schedule), time);
}

/// Three stages do the same rows: the second one has the message after 1 step, the third after 2.
#[test]
fn stages_pass_messages_in_the_same_row() {
    let text = format!(
        "[rank0 ~ rank2]\n{HEADER}\
         CommType.all_reduce,CommGroup.dp_group,1,8,init,None,None,,None,None,None,1\n\
         CommType.isend,CommGroup.pp_group,1,3001,f,None,None,send_next,None,None,None,1\n\
         CommType.irecv,CommGroup.pp_group,1,3001,f,None,None,recv_prev,None,None,None,1\n\
         CommType.irecv,CommGroup.pp_group,1,1001,b,None,None,recv_next,None,None,None,1\n"
    );
    let job = job_of(&text);
    let counts = job.schedule.counts();
    assert_eq!((counts.sends, counts.send_bytes), (4, 2 * (3001 + 1001)));
    assert_eq!(
        job.remarks.to_string(),
        "collectives without messages, since a data group has 1 rank: 1; \
         receives between stages, which are the sends of other rows: 1"
    );
    assert_eq!(time_ns(job.schedule), 4000 + 2000);
}

/// A barrier of 5 ranks: the longest chain is 4 -> 0 -> 1 -> 3; rank 0 tells the fifth one when 2, which has heard 3, told it.
#[test]
fn barrier_waits_for_all() {
    let job = job_of(&row(
        "CommType.barrier,CommGroup.all,5,77,init,None,None,,None,None,None,1",
    ));
    assert_eq!(job.schedule.ranks(), 5);
    assert_eq!(time_ns(job.schedule), 3 * 1000);
}

#[test]
fn mistakes_name_line_and_what_is_expected() {
    let with = |old: &str, new: &str| TABLE.replacen(old, new, 1);
    assert_refused("", "line 1: ``; expected the columns `comm_type,");
    assert_refused(&with("rank3", "3"), "line 1: `[rank0 ~ 3]`; expected ranks");
    assert_refused(
        &with("rank3", "rank5"),
        "6 ranks, with groups of 2 (tensor), 2 (data)",
    );
    assert_refused(
        &with(",None,2\n", ",None\n"),
        "line 3: 11 columns; expected 12",
    );
    assert_refused(
        &with("CommType.all_reduce", "CommType.all_sum"),
        "line 3: `CommType.all_sum`; expected `CommType.` and",
    );
    assert_refused(
        &with("CommGroup.tp", "CommGroup.x"),
        "line 3: `CommGroup.x_group`; expected",
    );
    assert_refused(
        &with(",4000,", ",4000.5,"),
        "line 3: `4000.5`; expected a size in bytes",
    );
    assert_refused(
        &with("tp_group,2", "tp_group,0"),
        "line 3: `0`; expected the number of ranks",
    );
    assert_refused(
        &with(
            "broadcast,CommGroup.tp_group,2",
            "broadcast,CommGroup.tp_group,4",
        ),
        "line 6: 4 ranks of a group; expected 2, as in line 3",
    );
    assert_refused(
        &with(",1,None,,None", ",2,None,,None"),
        "line 8: `dst` 2; expected a member",
    );
    assert_refused(
        &with("2500", "-1"),
        "line 4: `-1`; expected `None` or a time in ns",
    );
    assert_refused(
        &row("CommType.isend,CommGroup.pp_group,1,8,f,None,None,,None,None,None,1"),
        "line 2: ``; expected `send_next` or `send_prev`",
    );
    assert_refused(
        &row("CommType.barrier,CommGroup.all,1,0,f,None,None,,None,None,None,9999999999"),
        "line 2: more than 100000 operations",
    );
    assert_refused(
        &row("CommType.all_reduce,CommGroup.dp_group,4000000000,8,f,0,0,,None,None,None,1"),
        "more than 100000 operations",
    );
}
