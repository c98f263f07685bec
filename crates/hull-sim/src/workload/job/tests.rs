//! Jobs on a network that takes the same time for each message, against times by hand.

use std::path::PathBuf;

use super::super::test_network::{TestNetwork, build};
use super::super::{JobRecord, Workload};
use super::RankRecord;

/// A schedule in a file that is removed with it.
struct Schedule(PathBuf);

impl Schedule {
    fn new(name: &str, text: &str) -> Self {
        let path =
            std::env::temp_dir().join(format!("hull-job-{}-{name}.goal", std::process::id()));
        std::fs::write(&path, text).expect("a folder for temporary files");
        Schedule(path)
    }

    fn keys(&self, more: &str) -> String {
        format!("workload.job = {{ schedule = {:?}{more} }}", self.0)
    }
}

impl Drop for Schedule {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Runs a schedule on four hosts; a message takes 1 us and 1 ns for each byte.
fn run(name: &str, text: &str, more: &str) -> JobRecord {
    let schedule = Schedule::new(name, text);
    let mut traffic = build(&schedule.keys(more), 4, "1s").expect("good");
    let network = TestNetwork {
        delay_ps: |message| 1_000_000 + 1000 * message.bytes,
        ..TestNetwork::default()
    };
    network.run(&mut traffic);
    traffic.job().expect("a job")
}

fn ends_ns(job: &JobRecord) -> Vec<u64> {
    job.ranks.iter().map(|rank| rank.end_ps / 1000).collect()
}

const CHAIN: &str = "num_ranks 3\nrank 0 {\na: calc 500\nb: send 100b to 1\nb requires a\n}\n\
    rank 1 {\na: recv 100b from 0\nb: calc 200\nc: send 50b to 2\nb requires a\nc requires b\n}\n\
    rank 2 {\na: recv 50b from 1\n}";

#[test]
fn arrival_starts_work_at_the_receiver() {
    let job = run("chain", CHAIN, "");
    assert_eq!(ends_ns(&job), [500, 500 + 1100 + 200, 1800 + 1050]);
    assert_eq!(job.step_ps(), Some(2_850_000));
    let computed: Vec<u64> = job.ranks.iter().map(|rank| rank.compute_ps).collect();
    assert_eq!(computed, [500_000, 200_000, 0]);
    assert!(!job.has_failed());
}

#[test]
fn overhead_is_spent_at_both_ends() {
    let job = run("overhead", CHAIN, ", overhead = \"10ns\", start = \"1us\"");
    assert_eq!(
        ends_ns(&job),
        [1510, 1510 + 1100 + 10 + 200 + 10, 2830 + 1050 + 10]
    );
    assert_eq!(job.step_ps(), Some(2_890_000));
}

#[test]
fn large_send_ends_when_its_receive_is_posted() {
    let text = "num_ranks 2\nrank 0 {\na: send 1000b to 1\nb: calc 1\nb requires a\n}\n\
        rank 1 {\na: calc 5000\nb: recv 1000b from 0\nb requires a\n}";
    assert_eq!(ends_ns(&run("eager", text, "")), [1, 5000]);
    assert_eq!(
        ends_ns(&run("late", text, ", eager = \"999B\"")),
        [5001, 5000]
    );
    let early = text.replace("5000", "10");
    assert_eq!(
        ends_ns(&run("early", &early, ", eager = \"999B\"")),
        [2001, 2000]
    );
}

#[test]
fn interface_keeps_its_gap() {
    let text = "num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 1b to 1\nsend 1b to 1\n}\n\
        rank 1 {\nrecv 1b from 0\nrecv 1b from 0\nrecv 1b from 0\n}";
    // Two packets of 166.4 ns, in whole ns.
    let job = run(
        "gap",
        text,
        ", gap = { packet = \"166400ps\", payload = \"4096B\" }",
    );
    assert_eq!(ends_ns(&job)[1], 1001 + 2 * 332);
    assert_eq!(ends_ns(&run("no-gap", text, ""))[1], 1001);
}

#[test]
fn processor_does_one_task_at_a_time() {
    let text = "num_ranks 1\nrank 0 {\ncalc 100\ncalc 100\ncalc 100 cpu 1\nsend 1b to 0\nrecv 1b from 0\n}";
    let job = run("processors", text, "");
    assert_eq!(ends_ns(&job), [200]);
    assert_eq!(job.ranks[0].ended, 5);
}

#[test]
fn what_can_make_no_progress_says_who_waits_for_whom() {
    let text = "num_ranks 2\nrank 0 {\na: send 1000b to 1 tag 1\nb: send 1000b to 1 tag 2\nb requires a\n}\n\
        rank 1 {\na: recv 1000b from 0 tag 2\nb: recv 1000b from 0 tag 1\nb requires a\n}";
    let job = run("stuck", text, ", eager = \"0B\"");
    assert!(job.has_failed());
    assert_eq!(
        job.told(),
        "workload.job: nothing moves after 0ps, and 4 operations are left; there wait rank 1 in operation 0 for a \
         message of rank 0 with tag 2"
    );
    assert!(!run("not-stuck", text, "").has_failed());
}

#[test]
fn messages_without_a_receive_are_counted() {
    let text = "num_ranks 2\nrank 0 {\nsend 1b to 1\nsend 2b to 1\n}\nrank 1 {\nrecv 1b from 0\n}";
    let job = run("unreceived", text, "");
    assert_eq!(job.remarks, [("messages without a receive".to_owned(), 1)]);
    assert!(!job.has_failed());
}

#[test]
fn ranks_are_placed_in_order_or_at_random() {
    let hosts =
        |job: JobRecord| Vec::from_iter(job.ranks.iter().map(|rank: &RankRecord| rank.host));
    assert_eq!(hosts(run("linear", CHAIN, "")), [0, 1, 2]);
    assert_eq!(hosts(run("list", CHAIN, ", hosts = [\"1-3\"]")), [1, 2, 3]);
    let mut random = hosts(run("random", CHAIN, ", placement = \"random\""));
    random.sort_unstable();
    random.dedup();
    assert_eq!(random.len(), 3);
}

#[test]
fn mistakes_name_the_key_and_the_line() {
    let refused = |text: &str| {
        let schedule = Schedule::new("bad", text);
        let told = build(&schedule.keys(""), 4, "1s")
            .expect_err("a mistake")
            .to_string();
        told.replace(&schedule.0.display().to_string(), "FILE")
    };
    assert_eq!(
        refused("num_ranks 1\nrank 0 {\nsend 1b to 7\n}"),
        "workload.job.schedule: FILE: line 3: `7`; expected a rank from 0 to 0"
    );
    let five = (0..5).map(|rank| format!("rank {rank} {{\n}}\n"));
    assert_eq!(
        refused(&format!("num_ranks 5\n{}", five.collect::<String>())),
        "workload.job.hosts: 4 hosts for the 5 ranks of FILE; expected 5 or more"
    );
    assert_eq!(
        refused("num_ranks 2\nrank 0 {\nrecv 1b from 1 tag 3\n}\nrank 1 {\n}"),
        "workload.job.schedule: FILE: rank 0: 1 receive from rank 1 with tag 3 without a send, the first operation 0"
    );
}
