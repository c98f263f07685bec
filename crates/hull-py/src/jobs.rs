//! Jobs without a packet: a schedule's counts, and its run on LogGP.

use std::path::{Path, PathBuf};

use hull_jobs::loggp::{Charge, Params, run};
use hull_jobs::{ANY, Choices, Counts};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::json;

/// Writes a job as GOAL, as text or in the binary form, to a new file. Returns JSON: `counts` and `remarks`. `ranks` is for
/// files that do not say it, `start_unit_ps` for connection matrices. Raises OSError if a file cannot be read or
/// written, and ValueError with the place of a mistake.
#[pyfunction]
#[pyo3(signature = (path, out, binary, ranks=None, start_unit_ps=1_000_000))]
pub fn write_goal(
    py: Python<'_>,
    path: PathBuf,
    out: PathBuf,
    binary: bool,
    ranks: Option<u32>,
    start_unit_ps: u64,
) -> PyResult<String> {
    must_exist(&path)?;
    let told = |problem: hull_jobs::Problem| PyValueError::new_err(problem.to_string());
    let choices = Choices {
        ranks,
        start_unit_ps,
        ..Choices::default()
    };
    let (counts, remarks) = py
        .detach(|| {
            let mut job = hull_jobs::open_job(&path, &choices)?;
            hull_jobs::write_goal(&mut job.schedule, &out, binary)?;
            Ok((*job.schedule.counts(), job.remarks))
        })
        .map_err(told)?;
    json(&serde_json::json!({ "counts": counted(&counts), "remarks": remarks.list() }))
}

/// Raises OSError unless there is a file, a folder, or a Chakra trace whose files begin with `path`.
fn must_exist(path: &Path) -> PyResult<()> {
    let mut first = path.as_os_str().to_owned();
    first.push(".0.et");
    if !Path::new(&first).is_file() {
        std::fs::metadata(path).map_err(|error| crate::os_error(&error, path))?;
    }
    Ok(())
}

/// What a schedule holds.
fn counted(counts: &Counts) -> serde_json::Value {
    serde_json::json!({
        "sends": counts.sends,
        "receives": counts.receives,
        "computations": counts.computations,
        "requires": counts.requires,
        "irequires": counts.irequires,
        "send_bytes": counts.send_bytes.to_string(),
    })
}

/// JSON of a schedule's run on LogGP: `end_ns` of each rank, `left` operations of each rank, `messages`, `unreceived`,
/// `counts`, `remarks` as [text, number], and `waiting`, receives as [rank, operation, from, tag] with null for any. `times_ns` are L, o, g, G
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
    must_exist(&path)?;
    let told = |problem: hull_jobs::Problem| PyValueError::new_err(problem.to_string());
    let (report, counts, remarks) = py
        .detach(|| {
            let mut job = hull_jobs::open_job(&path, &Choices::default())?;
            hull_jobs::check_pairs(&mut job.schedule, |_, _| false)?;
            let counts = *job.schedule.counts();
            Ok((run(job.schedule, params)?, counts, job.remarks))
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
        "counts": counted(&counts),
        "remarks": remarks.list(),
    }))
}
