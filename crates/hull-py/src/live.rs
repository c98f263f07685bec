//! `hull._core.Live`: a running simulation for Python. Conversion only.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hull_sim::simulation;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::resolved::Resolved;
use crate::{ScenarioError, run_error};

/// Run that is observed while it advances. In a box, as Python's objects are not aligned to cache lines.
#[pyclass(frozen)]
pub struct Live(Mutex<Box<simulation::Live>>);

impl Live {
    fn run(&self) -> MutexGuard<'_, Box<simulation::Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn picoseconds(seconds: f64) -> u64 {
    (seconds * 1e12).round() as u64
}

#[pymethods]
impl Live {
    /// The run shows the flows `shown` and sums the goodput of `long`: each the number of the first
    /// flow, and how many. It shows throughput as the mean of the last `average` seconds, and the share of time
    /// with at most each latency of `edges` (s, ascending).
    #[new]
    fn new(
        py: Python<'_>,
        scenario: &Resolved,
        seed: u64,
        shown: (u64, u64),
        long: (u64, u64),
        average: f64,
        edges: Vec<f64>,
    ) -> PyResult<Self> {
        let [shown, long] = [shown, long].map(|(first, count)| first..first + count);
        let live = py.detach(|| {
            simulation::Live::new(&scenario.0, seed, shown, long, picoseconds(average), edges)
                .map_err(|problem| problem.to_string())
        });
        let live = live.map_err(ScenarioError::new_err)?;
        Ok(Live(Mutex::new(Box::new(live))))
    }

    /// Simulates up to `until` (s), or for about `hops` packet-hops. Returns the simulated seconds
    /// so far.
    fn advance(&self, py: Python<'_>, until: f64, hops: u64) -> PyResult<f64> {
        let advanced = py.detach(|| self.run().advance(picoseconds(until), hops));
        match advanced {
            Ok(reached_ps) => Ok(reached_ps as f64 / 1e12),
            Err(failure) => Err(run_error(&failure)),
        }
    }

    /// Number of packets carried so far, counted at each link.
    fn packet_hops(&self) -> u64 {
        self.run().packet_hops()
    }

    /// Observations since the last call, as JSON with at most `most` samples.
    fn take<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyBytes>> {
        let json = py.detach(|| serde_json::to_vec(&self.run().take(most)));
        let json = json.map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        Ok(PyBytes::new(py, &json))
    }
}
