//! The tables of a run: merging its parts' tables, and slowdown by flow size.

use std::path::PathBuf;

use hull_sim::measure::{PartTable, RunTable, SlowedFlows, TableError, size_bins};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::os_error;

/// Error of a table, or a Python exception.
struct Failed(PyErr);

impl From<TableError> for Failed {
    fn from(found: TableError) -> Self {
        Failed(os_error(&found.error, &found.path))
    }
}

/// Writes a table of a run from its parts' tables: path, condition, scheme, seed. `describe` is
/// called with the names of the columns and returns key and text of the file's metadata. Raises
/// OSError.
#[pyfunction]
pub fn merge_tables(
    py: Python<'_>,
    path: PathBuf,
    parts: Vec<(PathBuf, String, String, i32)>,
    describe: Bound<'_, PyAny>,
) -> PyResult<()> {
    let parts = parts.into_iter();
    let parts = parts.map(|(path, condition, scheme, seed)| PartTable {
        path,
        condition,
        scheme,
        seed,
    });
    let call = |names: Vec<&str>| describe.call1((names,))?.extract();
    let table = RunTable::create(&path, parts.collect(), |names| call(names).map_err(Failed));
    let mut table = table.map_err(|Failed(error)| error)?;
    let raised = |found: TableError| os_error(&found.error, &found.path);
    while py.detach(|| table.write_group()).map_err(raised)? {
        py.check_signals()?;
    }
    table.close().map_err(raised)
}

/// Bytes and slowdown of the flows in a part's `flows.parquet` whose slowdown is known, as 64-bit
/// integers and floating-point numbers in native byte order. Raises OSError.
#[pyfunction]
pub fn flow_slowdowns(
    py: Python<'_>,
    path: PathBuf,
) -> PyResult<(Bound<'_, PyBytes>, Bound<'_, PyBytes>)> {
    let found = py.detach(|| SlowedFlows::read(&path));
    let found = found.map_err(|error| os_error(&error, &path))?;
    let bytes = Vec::from_iter(found.bytes.iter().flat_map(|value| value.to_ne_bytes()));
    let slowdowns = Vec::from_iter(found.slowdowns.iter().flat_map(|value| value.to_ne_bytes()));
    Ok((PyBytes::new(py, &bytes), PyBytes::new(py, &slowdowns)))
}

/// Bin: largest size in bytes, and share of all flows up to it.
type Bin = (i64, f64);
/// Part in a bin: number of the bin, number of flows, mean, percentiles.
type PartInBin = (usize, usize, f64, Vec<f64>);

/// Divides the flows of all parts into at most `bins` bins of equally many flows. Returns the bins,
/// and each part's slowdowns in them. `parts` are results of `flow_slowdowns`, `ranks` are
/// percentiles in thousandths. Raises ValueError.
#[pyfunction]
pub fn slowdown_bins(
    py: Python<'_>,
    parts: Vec<(PyBackedBytes, PyBackedBytes)>,
    bins: usize,
    ranks: Vec<u64>,
) -> PyResult<(Vec<Bin>, Vec<Vec<PartInBin>>)> {
    if parts
        .iter()
        .any(|(bytes, slowdowns)| bytes.len() != slowdowns.len())
    {
        return Err(PyValueError::new_err(
            "as many sizes as slowdowns are needed",
        ));
    }
    Ok(py.detach(|| {
        let flows = parts.iter().map(|(bytes, slowdowns)| SlowedFlows {
            bytes: values(bytes, i64::from_ne_bytes),
            slowdowns: values(slowdowns, f64::from_ne_bytes),
        });
        let flows = Vec::from_iter(flows);
        let found = size_bins(&flows, bins);
        let of_parts = flows.iter().map(|part| {
            let filled = part.in_bins(&found, &ranks).into_iter();
            filled
                .map(|of| (of.bin, of.flows, of.mean, of.percentiles))
                .collect()
        });
        let of_parts = of_parts.collect();
        (
            found.iter().map(|bin| (bin.bytes, bin.share)).collect(),
            of_parts,
        )
    }))
}

fn values<T>(bytes: &[u8], read: impl Fn([u8; 8]) -> T) -> Vec<T> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|chunk| read(*chunk))
        .collect()
}
