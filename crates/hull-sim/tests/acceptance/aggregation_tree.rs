//! Partition/aggregate in levels (thesis 2.1.1) in an empty network, to the picosecond, and conservation
//! of its answers in a congested one.
//!
//! With all links at 1 Gbps and 100 us of propagation on each, a packet of 1500 bytes takes S = 12 us on
//! each of two links and arrives after D = 2 S + 200 us. An aggregator asks two workers with one packet
//! each, so the second request leaves S later. Each worker answers with one packet, and the answers
//! arrive S apart as well: the first D + D after the round began, the second S later. Acknowledgments are
//! delayed until the query is over.

use hull_sim::simulation::Quality;

use super::star::{PACKET_PS, US_PS, run, scenario};

const ONE_WAY_PS: u64 = 2 * PACKET_PS + 200 * US_PS;

/// Host 0 asks aggregator 1, which asks workers 2 and 3.
fn tree(deadlines_ps: [u64; 2], settings: &[&str]) -> (Quality, Vec<Option<u64>>) {
    let workload = format!(
        r#"
        [workload.aggregation_tree]
        interval = "10ms"
        arrivals = "fixed"
        queries = 5
        [[workload.aggregation_tree.levels]]
        hosts = 1
        request_size = "1460B"
        response_size = "1460B"
        deadline = "{}ps"
        [[workload.aggregation_tree.levels]]
        hosts = "2-3"
        request_size = "1460B"
        response_size = "1460B"
        deadline = "{}ps"
        "#,
        deadlines_ps[0], deadlines_ps[1]
    );
    let star = [
        "topology.star.hosts=4",
        "host.rate=1Gbps",
        "host.delay=100us",
        "switch.delay=100us",
        "transport.ack_every=2",
        "transport.delayed_ack=3ms",
    ];
    let settings: Vec<&str> = star.iter().chain(settings).copied().collect();
    let outcome = run(&scenario(&workload, &settings), 1);
    let completions = outcome.queries.iter().map(|query| query.completion_ps);
    (outcome.quality.expect("queries"), completions.collect())
}

#[test]
fn a_deadline_at_the_response_time_and_just_below() {
    let (first_ps, second_ps) = (2 * ONE_WAY_PS, 2 * ONE_WAY_PS + PACKET_PS);
    let all_ps = 2 * ONE_WAY_PS + second_ps;
    for (deadlines_ps, quality, completion_ps) in [
        ([all_ps, second_ps], 1.0, all_ps),
        // The round of the workers ends 1 ps after the deadline.
        ([all_ps, second_ps - 1], 0.5, all_ps),
        ([all_ps, first_ps], 0.5, 2 * ONE_WAY_PS + first_ps + 1),
        ([all_ps, first_ps - 1], 0.0, 2 * ONE_WAY_PS + first_ps),
        ([all_ps - 1, second_ps], 0.0, all_ps),
    ] {
        let (found, completions) = tree(deadlines_ps, &[]);
        assert_eq!(found.quality, quality, "{deadlines_ps:?}");
        assert_eq!(completions, [Some(completion_ps); 5], "{deadlines_ps:?}");
        let asked: Vec<u64> = found.levels.values().map(|level| level.asked).collect();
        assert_eq!(asked, [5, 10]);
    }
}

#[test]
fn answers_in_time_and_late_are_conserved_under_congestion() {
    // Long flows keep a queue of 1 ms at the aggregator's port, and requests have jitter of 1 ms.
    let settings = [
        "workload.long_lived={flows=[{src=\"2-3\",dst=1}]}",
        "transport.max_window=55",
        "switch.buffer=150KB",
        "workload.aggregation_tree.queries=50",
        "workload.aggregation_tree.jitter=1ms",
    ];
    let (found, completions) = tree([20_000 * US_PS, 2_000 * US_PS], &settings);
    assert_eq!(completions.len(), 50);
    for (level, asked) in found.levels.values().zip([50, 100]) {
        assert_eq!((level.asked, level.in_time + level.late), (asked, asked));
    }
    let workers = found.levels["2"];
    assert!(workers.late > 10 && workers.in_time > 10, "{found:?}");
}

/// The run ends 50 us after the third query began, when its request is still on the way.
#[test]
fn a_query_without_a_result_counts_with_nothing() {
    let (found, completions) = tree(
        [9_000 * US_PS, 4_000 * US_PS],
        &["run.warmup=0s", "run.duration=30.05ms", "run.drain=0s"],
    );
    assert_eq!(completions.len(), 3);
    assert_eq!(completions[2], None);
    assert!((found.quality - 2.0 / 3.0).abs() < 1e-12);
    let levels = found.levels.values();
    let unanswered: Vec<u64> = levels.map(|level| level.unanswered).collect();
    assert_eq!(unanswered, [1, 0]);
}
