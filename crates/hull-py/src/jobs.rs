//! Jobs without a packet: a schedule's counts, and its run on LogGP.

use std::path::PathBuf;

use hull_jobs::ANY;
use hull_jobs::loggp::{Charge, Params, run};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::json;

/// JSON of a schedule's run on LogGP: `end_ns` of each rank, `left` operations of each rank, `messages`, `unreceived`,
/// `counts`, `notes`, and `waiting`, receives as [rank, operation, from, tag] with null for any. `times_ns` are L, o, g, G
/// and O; `eager` is S in bytes. Raises OSError if the file cannot be read, and ValueError with the
/// place of a mistake in it.
#[pyfunction]
pub fn loggp(
    py: Python<'_>,
    path: PathBuf,
    times_ns: [f64; 5],
    eager: u64,
    on_the_wire: bool,
) -> PyResult<String> {
    let [latency, overhead, gap, per_byte, overhead_per_byte] = times_ns;
    let params = Params {
        latency_ns: latency as u64,
        overhead_ns: overhead as u64,
        gap_ns: gap as u64,
        gap_per_byte_ns: per_byte,
        overhead_per_byte_ns: overhead_per_byte,
        eager_bytes: eager,
        charge: if on_the_wire {
            Charge::Wire
        } else {
            Charge::Receiver
        },
    };
    std::fs::metadata(&path).map_err(|error| crate::os_error(&error, &path))?;
    let told = |problem: hull_jobs::Problem| PyValueError::new_err(problem.to_string());
    let (report, counts, notes) = py
        .detach(|| {
            let (mut schedule, notes) = hull_jobs::open(&path)?;
            hull_jobs::check_pairs(&mut schedule, |_, _| false)?;
            let counts = *schedule.counts();
            Ok((run(schedule, params)?, counts, notes))
        })
        .map_err(told)?;
    let any = |number: u32| (number != ANY).then_some(number);
    let waiting = report
        .waiting
        .iter()
        .map(|one| (one.rank, one.index, any(one.from), any(one.tag)));
    json(&serde_json::json!({
        "end_ns": Vec::from_iter(report.ends.iter().map(|end| end.at_ns)),
        "left": Vec::from_iter(report.ends.iter().map(|end| end.left)),
        "messages": report.messages,
        "unreceived": report.unreceived,
        "waiting": Vec::from_iter(waiting),
        "counts": {
            "sends": counts.sends,
            "receives": counts.receives,
            "computations": counts.computations,
            "requires": counts.requires,
            "irequires": counts.irequires,
            "send_bytes": counts.send_bytes.to_string(),
        },
        "notes": {
            "repeated_labels": notes.repeated_labels,
            "first_repeated": notes.first_repeated,
            "lines_behind": notes.lines_behind,
        },
    }))
}
