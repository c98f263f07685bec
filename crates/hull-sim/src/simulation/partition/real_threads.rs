//! Parts on threads of their own: the run that ThreadSanitizer watches (`make nets`). It is short, because
//! the sanitizer makes threads that wait for each other slow.

use super::ServedBy;
use super::tests::everything;

/// Drops, timeouts, and an end in the drain; the threads are created, wait, sleep and end.
#[test]
fn parts_on_2_3_and_8_threads() {
    let settings = |threads: usize| {
        [
            "topology.fat_tree.k=8",
            "workload.flows.load=40%",
            "workload.flows.sizes={pareto={shape=1.05,mean=\"20KB\"}}",
            "switch.buffer=8pkts",
            "run.warmup=10us",
            "run.duration=30us",
            "run.drain=100us",
            &format!("run.threads={threads}"),
        ]
        .map(str::to_owned)
    };
    let (_, packet_hops, one) = everything(&settings(1), ServedBy::Threads(1));
    assert!(packet_hops > 1000, "{packet_hops}");
    for threads in [2, 3, 8] {
        let (parts, _, several) = everything(&settings(threads), ServedBy::Threads(threads));
        assert_eq!(parts, threads);
        assert!(one == several, "{threads} threads");
    }
}
