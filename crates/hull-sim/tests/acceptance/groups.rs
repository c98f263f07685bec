//! Groups of flows: rows and statistics agree with a manual count, labels of a flow list take
//! precedence, and nothing else in a run changes.

use std::path::PathBuf;

use hull_sim::memory::Estimate;
use hull_sim::problem::Problem;
use hull_sim::scenario::{Resolved, Scenario, expand};
use hull_sim::simulation::{Outcome, verify};

use super::star::{BASE, run, scenario};

const FLOWS: &str = r#"
[workload.flows]
flows_per_second = 20000
sizes.pareto = { shape = 1.2, mean = "30KB", cut = "1MB" }
"#;
const SETTINGS: [&str; 2] = ["topology.star.hosts=6", "run.duration=50ms"];
const GROUPS: &str =
    "groups={ rpc = \"bytes<10KB\", backups = \"src:h3\", to_storage = \"dst:4-5&bytes>=20KB\" }";

fn with(settings: &[&str]) -> Scenario {
    scenario(FLOWS, &[&SETTINGS, settings].concat())
}

/// Flows of each group: name, then bytes and count of each size class.
fn counted(outcome: &Outcome) -> Vec<(String, Vec<(u64, usize)>)> {
    let groups = outcome.flows.groups();
    let of_class = |of: &hull_sim::measure::ClassSummary| (of.bytes, of.count);
    groups
        .iter()
        .map(|(name, of)| (name.clone(), of.fct.iter().map(of_class).collect()))
        .collect()
}

#[test]
fn statistics_match_a_manual_count() {
    let outcome = run(&with(&[GROUPS]), 1);
    let rows = outcome.flows.rows();
    let mut by_hand = [[(0, 0); 4]; 4];
    for row in rows {
        let group = if row.bytes < 10_000 {
            1
        } else if row.src == 3 {
            2
        } else if (4..=5).contains(&row.dst) && row.bytes >= 20_000 {
            3
        } else {
            0
        };
        assert_eq!(usize::from(row.group), group);
        let class = [10_000, 100_000, 10_000_000]
            .iter()
            .filter(|&&most| row.bytes > most)
            .count();
        by_hand[group][class].0 += row.bytes;
        by_hand[group][class].1 += 1;
    }
    let names = ["other", "rpc", "backups", "to_storage"];
    let expected: Vec<_> = names.into_iter().zip(by_hand).collect();
    let found = counted(&outcome);
    assert_eq!(found.len(), 4);
    for ((name, classes), (expected_name, expected)) in found.iter().zip(expected) {
        assert_eq!(name, expected_name);
        assert_eq!(classes[..], expected[..], "{name}");
        assert!(classes.iter().map(|of| of.1).sum::<usize>() > 20, "{name}");
    }
    // Completion times and slowdowns also equal the values in the rows with this label.
    let groups = outcome.flows.groups();
    let of = rows.iter().filter(|row| row.group == 1);
    let (mut most_ps, mut slowest, mut acked) = (0, 0.0_f64, 0);
    for row in of {
        most_ps = most_ps.max(row.fct_ps);
        slowest = slowest.max(row.slowdown().expect("an ideal"));
        acked += usize::from(matches!(row.acked, hull_sim::workload::Acked::After(_)));
    }
    let class = &groups["rpc"].fct[0];
    assert_eq!(class.fct.map(|fct| fct.max_us), Some(most_ps as f64 * 1e-6));
    assert_eq!(class.acked.map(|of| of.count), Some(acked));
    let slowdown = groups["rpc"].slowdown[0].slowdown.expect("flows");
    assert!(slowdown.p999 <= slowest + 1e-6 && slowdown.p99 > 1.0);
}

#[test]
fn groups_change_nothing_else() {
    let (bare, grouped) = (run(&with(&[]), 1), run(&with(&[GROUPS]), 1));
    assert!(bare.flows.groups().is_empty());
    let mut rows = grouped.flows.rows().to_vec();
    rows.iter_mut().for_each(|row| row.group = 0);
    assert_eq!(rows, bare.flows.rows());
    let rest = |outcome: &Outcome| format!("{:?} {:?}", outcome.packets, outcome.links);
    assert_eq!(rest(&grouped), rest(&bare));
}

#[test]
fn resolved_file_keeps_the_order_of_groups() {
    let scenario = with(&["groups={ z = \"bytes<1KB\", a = \"bytes<2KB\" }"]);
    let text = scenario.to_toml().expect("a scenario");
    let again: &Scenario = &expand(&text, "again.toml", &[]).expect("the same")[0].scenario;
    assert_eq!(again, &scenario);
    assert_eq!(Vec::from_iter(again.groups.keys()), ["z", "a"]);
}

/// Writes these rows to a flow list of its own; returns its path and the key that names it.
fn flow_list(name: &str, rows: &str) -> (PathBuf, String) {
    let path = std::env::temp_dir().join(format!("hull-grouped-{}-{name}.csv", std::process::id()));
    let text = format!("start_ps,src,dst,bytes,group\n{rows}");
    std::fs::write(&path, text).expect("a temporary file");
    let key = format!("[workload]\nflows = \"{}\"\n", path.display());
    (path, key)
}

const ROWS: &str = "0,1,0,7000,logs\n10,3,0,8000,\n20,3,0,90000,\n30,2,0,500,to_storage\n40,2,4,50000,other\n\
                    50,1,2,60000,\n";

#[test]
fn row_label_takes_precedence() {
    let (path, key) = flow_list("good", ROWS);
    let outcome = run(&scenario(&key, &[&SETTINGS[..], &[GROUPS]].concat()), 1);
    let alone = run(&scenario(&key, &SETTINGS), 1);
    std::fs::remove_file(path).expect("file exists");
    let groups = |outcome: &Outcome| {
        let rows = outcome.flows.rows().iter();
        let mut groups = Vec::from_iter(rows.map(|row| (row.start_ps, row.group)));
        groups.sort_unstable();
        groups
    };
    // other, rpc, backups, to_storage, logs: without [groups] the labels are the list's.
    assert_eq!(
        groups(&outcome),
        [(0, 4), (10, 1), (20, 2), (30, 3), (40, 3), (50, 0)]
    );
    assert_eq!(
        groups(&alone),
        [(0, 1), (10, 0), (20, 0), (30, 2), (40, 0), (50, 0)]
    );
    let names = |outcome: &Outcome| Vec::from_iter(outcome.flows.groups().into_keys());
    assert_eq!(
        names(&outcome),
        ["other", "rpc", "backups", "to_storage", "logs"]
    );
    assert_eq!(names(&alone), ["other", "logs", "to_storage"]);
}

#[test]
fn empty_column_is_not_a_group() {
    let (path, key) = flow_list("none", "0,1,0,7000,\n10,3,0,8000,other\n");
    let outcome = run(&scenario(&key, &SETTINGS), 1);
    std::fs::remove_file(path).expect("file exists");
    assert!(outcome.flows.groups().is_empty());
}

#[test]
fn invalid_groups_are_rejected() {
    for (groups, parts) in [
        (
            "rpc = \"bytes<10apples\"",
            [
                "groups.rpc: \"bytes<10apples\" is invalid",
                "a size, such as",
            ],
        ),
        (
            "rpc = \"port:80\"",
            ["groups.rpc: \"port:80\"", "src:, dst: or host:"],
        ),
        (
            "rpc = \"src:1&\"",
            ["groups.rpc: \"src:1&\"", "\"\" is none"],
        ),
        ("rpc = 5", ["groups.rpc: 5 is invalid", "expected"]),
        (
            "other = \"src:1\"",
            ["groups: \"other\" is invalid", "names of letters"],
        ),
        (
            "rpc = \"src:h9\"",
            [
                "groups.rpc: \"src:h9\" is invalid",
                "0 to 5, by name, such as h5",
            ],
        ),
        (
            "rpc = \"dst:4-9\"",
            ["groups.rpc: \"dst:4-9\" is invalid", "0 to 5"],
        ),
    ] {
        let text = format!("{BASE}{FLOWS}[groups]\n{groups}\n");
        let settings = SETTINGS.map(str::to_owned);
        let message = match expand(&text, "my.toml", &settings) {
            Err(error) => error.to_string(),
            Ok(cells) => verify(&cells[0].scenario).expect_err(groups).to_string(),
        };
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    }
}

/// Checks a workload with these groups as `hull check` does.
fn checked(workload: &str, groups: &str) -> Result<Estimate, Problem> {
    let scenario = scenario(workload, &[&SETTINGS[..], &[groups]].concat());
    verify(&Resolved::new(scenario)?)
}

#[test]
fn group_matching_no_flow_is_rejected() {
    let (path, key) = flow_list("idle", ROWS);
    let few = "groups={ rpc = \"bytes<10KB\", idle = \"bytes<9KB\" }";
    let problem = checked(&key, few);
    // With other traffic, whose flows are not known in advance, it is accepted.
    let beside = format!("{key}bulk = {{ flows = 1, size = \"8KB\" }}\n");
    let taken = checked(&beside, few);
    std::fs::remove_file(path).expect("file exists");
    let problem = problem.expect_err("idle").to_string();
    for part in [
        "groups.idle: \"bytes<9KB\" fits none",
        "none of 6 flows of workload.flows",
    ] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
    assert!(taken.is_ok(), "{taken:?}");
}
