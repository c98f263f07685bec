//! The latency meter, as the hardware computes it.

use hull_core::hardware::latency_meter::{Examined, LatencyMeter, Pattern};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// `hull_core::hardware::latency_meter::LatencyMeter`.
#[pyclass]
pub struct HardwareLatencyMeter(LatencyMeter);

/// Kind of each frame (0 neither, 1 a probe, 2 truncated), and sequence numbers, 0 if absent.
type Kinds = (Vec<u8>, Vec<u16>);

#[pymethods]
impl HardwareLatencyMeter {
    /// Kinds of events for `on_events`.
    #[classattr]
    const ENTER: u8 = 0;
    #[classattr]
    const LEAVE: u8 = 1;
    #[classattr]
    const TRUNCATED: u8 = 2;
    #[classattr]
    const CLEAR: u8 = 3;
    #[classattr]
    const READ: u8 = 4;

    /// Creates an empty meter.
    #[new]
    fn new(table_bits: u32, bucket_bits: u32) -> Self {
        Self(LatencyMeter::new(table_bits, bucket_bits))
    }

    /// Classifies frames under a pattern. `octets` has a row for each of `lengths`; `bad` are the
    /// flags.
    #[staticmethod]
    fn examine(
        pattern: ([u8; 4], [u16; 4], [u16; 4], u8),
        octets: &[u8],
        lengths: Vec<usize>,
        bad: Vec<bool>,
    ) -> PyResult<Kinds> {
        let (offsets, values, masks, sequence_offset) = pattern;
        let pattern = Pattern {
            offsets,
            values,
            masks,
            sequence_offset,
        };
        let row = octets.len() / lengths.len().max(1);
        if lengths.iter().any(|&length| length > row) || bad.len() != lengths.len() {
            return Err(PyValueError::new_err(
                "lengths is invalid; expected lengths of rows, and a flag for each",
            ));
        }
        let (mut kinds, mut sequences) = (Vec::new(), Vec::new());
        for (at, &length) in lengths.iter().enumerate() {
            let (kind, sequence) = match pattern.examine(&octets[at * row..][..length], bad[at]) {
                Examined::Other => (0, 0),
                Examined::Probe(sequence) => (1, sequence),
                Examined::Truncated => (2, 0),
            };
            kinds.push(kind);
            sequences.push(sequence);
        }
        Ok((kinds, sequences))
    }

    /// Processes events in order. `values` are sequence numbers or, for a READ, buckets. Returns
    /// nine 64-bit numbers per event: stamped, matched, unmatched, outstanding, truncated, minimum,
    /// maximum, sum, the count of the bucket.
    fn on_events<'py>(
        &mut self,
        py: Python<'py>,
        kinds: Vec<u8>,
        values: Vec<u16>,
        times: Vec<u64>,
        shifts: Vec<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let meter = &mut self.0;
        let mut rows = Vec::with_capacity(kinds.len() * 72);
        for (at, &kind) in kinds.iter().enumerate() {
            let mut count = 0;
            match kind {
                Self::ENTER => meter.enter(values[at], times[at]),
                Self::LEAVE => {
                    meter.leave(values[at], times[at], shifts[at]);
                }
                Self::TRUNCATED => meter.truncated(),
                Self::CLEAR => meter.clear(),
                Self::READ => count = meter.bucket(values[at].into()),
                other => {
                    return Err(PyValueError::new_err(format!(
                        "kinds: {other} is invalid; expected 0 to 4"
                    )));
                }
            }
            let all = meter.counts();
            let row = [
                all.stamped.into(),
                all.matched.into(),
                all.unmatched.into(),
                all.outstanding.into(),
                all.truncated.into(),
                all.minimum,
                all.maximum,
                all.sum,
                count.into(),
            ];
            rows.extend(row.iter().flat_map(|number: &u64| number.to_le_bytes()));
        }
        Ok(PyBytes::new(py, &rows))
    }
}
