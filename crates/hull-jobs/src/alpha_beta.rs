//! For tests: the time of a schedule where a message of s bytes takes 1000 + s - 1 ns, and messages do not share links.

use crate::loggp::{self, Charge, Params};
use crate::schedule::Schedule;

/// Time until all operations have ended, ns.
pub fn time_ns(schedule: Schedule) -> u64 {
    let report = loggp::run(
        schedule,
        Params {
            latency_ns: 1000,
            overhead_ns: 0,
            gap_ns: 0,
            gap_per_byte_ns: 1.0,
            overhead_per_byte_ns: 0.0,
            eager_bytes: 0,
            charge: Charge::Wire,
        },
    );
    let report = report.unwrap();
    assert_eq!((report.waiting.len(), report.unreceived), (0, 0));
    assert!(report.ends.iter().all(|end| end.left == 0));
    report.ends.iter().map(|end| end.at_ns).max().unwrap()
}
