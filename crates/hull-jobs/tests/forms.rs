//! One call opens every form of job that hull reads; own files of each form.

use std::fs;
use std::path::{Path, PathBuf};

use hull_jobs::{Choices, Form, open_job};

fn fixture(name: &str) -> PathBuf {
    let schedules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/schedules");
    schedules.join(name)
}

#[track_caller]
fn assert_refused(path: &Path, choices: &Choices, told: &str) {
    let problem = open_job(path, choices).expect_err("a mistake").to_string();
    assert!(
        problem.contains(told),
        "{problem:?} should contain {told:?}"
    );
}

#[test]
fn forms_are_opened_by_their_content() {
    for (name, ranks, stages, sends) in [
        ("chain.goal", 3, 0, 3),
        // A ring of 2 for each pair: 2 of 2 messages and 1 of 2, and 2 of the data groups.
        ("two_layers.simai.txt", 4, 2 + 2 + 2, 8 + 4 + 4),
        // Twice 2 all-reduces, 2 broadcasts, 2 reduce-scatters, 2 reduces.
        ("four_ranks.aicb.csv", 4, 4 + 2 + 2 + 2, 16 + 2 + 4 + 2),
        ("triggers.cm", 4, 0, 7),
        ("chakra", 2, 1, 1 + 4),
        ("chakra/pair", 2, 1, 1 + 4),
        ("chakra/pair.1.et", 2, 1, 1 + 4),
    ] {
        let job = open_job(&fixture(name), &Choices::default()).unwrap();
        let found = (job.schedule.ranks(), job.stages.len());
        assert_eq!(found, (ranks, stages), "{name}");
        assert_eq!(job.schedule.counts().sends, sends, "{name}");
    }
}

#[test]
fn other_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it");
    let none = Choices::default();
    assert_refused(&path, &none, "No such file");
    assert_refused(
        folder.path(),
        &none,
        "no trace; expected one file for each rank",
    );
    fs::write(&path, "time,host\n1,2\n").unwrap();
    assert_refused(&path, &none, "line 1: `time,host`; expected a job: GOAL");
    fs::write(&path, "").unwrap();
    assert_refused(
        &path,
        &none,
        "line 1: the end of the line; expected a job: GOAL",
    );
    fs::write(&path, b"MICRO\n1\n\xff").unwrap();
    assert_refused(&path, &none, "byte 8: not text; expected ASCII or UTF-8");
    let five = Choices {
        ranks: Some(5),
        ..none
    };
    assert_refused(&fixture("chakra"), &five, "2 traces; expected 5");
    assert_refused(
        &fixture("two_layers.simai.txt"),
        &five,
        "5 ranks with 2 of a tensor group",
    );
    assert_refused(
        &fixture("four_ranks.aicb.csv"),
        &five,
        "5 ranks, with groups of 2 (tensor)",
    );
    assert_eq!(
        open_job(&fixture("triggers.cm"), &five)
            .unwrap()
            .schedule
            .ranks(),
        5
    );
}

#[test]
fn what_is_decided_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.goal");
    fs::write(
        &path,
        "num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}\nrank 1 {\n}\n",
    )
    .unwrap();
    let job = open_job(&path, &Choices::default()).unwrap();
    let told =
        "labels that a rank declares again, the first in line 4: 1; lines behind the last rank: 2";
    assert_eq!(job.remarks.to_string(), told);
}

/// Text to binary, to text, to binary: the same bytes; and each form is read as what it is.
#[test]
fn goal_is_written_in_both_forms() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let choices = Choices::default();
    let rewrite = |from: &Path, name: &str, binary: bool| {
        let mut job = open_job(from, &choices).unwrap();
        hull_jobs::write_goal(&mut job.schedule, &place(name), binary).unwrap();
    };
    rewrite(&fixture("chain.goal"), "first.bin", true);
    rewrite(&place("first.bin"), "text.goal", false);
    rewrite(&place("text.goal"), "second.bin", true);
    let bytes = |name: &str| fs::read(place(name)).unwrap();
    assert_eq!(bytes("first.bin"), bytes("second.bin"));
    let form = |name: &str| open_job(&place(name), &choices).unwrap().form;
    assert_eq!(form("first.bin"), Form::GoalBinary);
    assert_eq!(form("text.goal"), Form::GoalText);
    let mut job = open_job(&fixture("chain.goal"), &choices).unwrap();
    let again = hull_jobs::write_goal(&mut job.schedule, &place("first.bin"), true);
    assert!(again.unwrap_err().to_string().contains("exists"));
}
