//! `hull._core.capture_flows`: hull-capture for Python.

use std::collections::BTreeMap;

use std::path::PathBuf;

use hull_capture::{Capture, Flow, Limits};
use hull_sim::damaged::{DAMAGED, undamaged};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::json;

/// Name and values of a column.
type Column<'py> = (&'static str, Bound<'py, PyBytes>);

/// Reads a packet capture. Returns its flows as columns (little-endian, by name), the addresses
/// that `src` and `dst` number, and a JSON object that counts what was read and what was left out.
/// Raises ValueError.
#[pyfunction]
pub fn capture_flows<'py>(
    py: Python<'py>,
    path: PathBuf,
    idle_ns: i64,
    flows: usize,
) -> PyResult<(Vec<Column<'py>>, Vec<String>, String)> {
    let read = py.detach(|| undamaged(|| hull_capture::read(&path, Limits { idle_ns, flows })));
    let read = read.unwrap_or_else(|| Err(DAMAGED.to_owned()));
    let Capture {
        flows,
        addresses,
        counts,
    } = read.map_err(PyValueError::new_err)?;
    let columns = vec![
        ("start_ns", column(py, &flows, |f| f.start_ns.to_le_bytes())),
        ("end_ns", column(py, &flows, |f| f.end_ns.to_le_bytes())),
        ("bytes", column(py, &flows, |f| f.bytes.to_le_bytes())),
        ("src", column(py, &flows, |f| f.src.to_le_bytes())),
        ("dst", column(py, &flows, |f| f.dst.to_le_bytes())),
        ("src_port", column(py, &flows, |f| f.src_port.to_le_bytes())),
        ("dst_port", column(py, &flows, |f| f.dst_port.to_le_bytes())),
    ];
    let mut others = BTreeMap::<&str, (u64, u64)>::new();
    for (kind, (packets, bytes)) in &counts.others {
        let of = others.entry(kind.name()).or_default();
        *of = (of.0 + packets, of.1 + bytes);
    }
    let counts = json(&serde_json::json!({
        "packets": counts.packets,
        "others": others,
        "fragments": counts.fragments,
        "unreadable": counts.unreadable,
        "without_time": counts.without_time,
        "without_data": counts.without_data,
        "repeated": counts.repeated,
        "cut_off": counts.cut_off,
        "resolution_ns": counts.resolution_ns,
    }))?;
    Ok((columns, addresses, counts))
}

fn column<'py, const N: usize>(
    py: Python<'py>,
    flows: &[Flow],
    value: impl Fn(&Flow) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let bytes = Vec::from_iter(flows.iter().flat_map(value));
    PyBytes::new(py, &bytes)
}
