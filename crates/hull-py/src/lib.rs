//! `hull._core`: hull-sim for Python. Conversion only: texts and JSON in, JSON out.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hull_sim::measure::{self, RunLabels, TABLES};
use hull_sim::memory;
use hull_sim::part::{self, Identity, PartError};
use hull_sim::scenario::{self, CongestionControl, PacedPath, Pacer};
use hull_sim::simulation::{Control, Failure, Locked};
use hull_sim::topology::{graph_endings as endings, meant_attribute as meant};
use hull_sim::transport::External;
use hull_sim::units::{Rate, Share, Size, Time};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyType;

mod ack;
mod capture;
mod jobs;
mod live;
mod python_control;
mod resolved;
mod tables;

use ack::{Ack, Hop};
use python_control::{PythonControl, Window};
use resolved::Resolved;

/// Allocator of the simulator. Python keeps its own.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

create_exception!(
    hull._core,
    ScenarioError,
    PyValueError,
    "A scenario that cannot be run."
);
create_exception!(
    hull._core,
    Cancelled,
    PyException,
    "The run was told to stop."
);

/// Error of a run that ended without a result.
fn run_error(failure: &Failure) -> PyErr {
    match failure {
        Failure::Cancelled => Cancelled::new_err("cancelled"),
        Failure::TooManyFlows => PyRuntimeError::new_err(
            "more flows are open at once than hull can distinguish: does the load exceed the links?",
        ),
        Failure::Deadlock(locked) => PyRuntimeError::new_err(deadlock(locked)),
        Failure::Job(job) => PyRuntimeError::new_err(job.told()),
        Failure::NotConserved(_) | Failure::NoThread => {
            PyRuntimeError::new_err(format!("error in hull: {failure:?}"))
        }
    }
}

/// Message about ports that wait for each other for ever.
fn deadlock(locked: &Locked) -> String {
    const MOST: usize = 8;
    let shown = locked.cycle.iter().take(MOST).cloned();
    let more = locked.cycle.len().saturating_sub(MOST);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!(
        "switch.pfc: a deadlock of pauses since {}: each of these ports is paused until the next one sends, and the \
         last until the first does: {}{more} (class {}; {} wait behind them); routes that go up and then down have \
         no such cycle",
        Time(locked.since_ps),
        Vec::from_iter(shown).join(", "),
        locked.class,
        Size(locked.bytes),
    )
}

fn json(value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

fn os_error(error: &io::Error, path: &Path) -> PyErr {
    let path = path.display();
    match error.raw_os_error() {
        Some(number) => {
            PyOSError::new_err((number, hull_sim::quote::reason(error), path.to_string()))
        }
        None => PyRuntimeError::new_err(format!("{path}: {error}")),
    }
}

/// Version of hull.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// JSON Schema of a scenario file.
#[pyfunction]
fn schema() -> PyResult<String> {
    json(&scenario::schema())
}

/// JSON list of the scenario's keys, each with key, type, unit, default, required and doc.
#[pyfunction]
fn keys() -> PyResult<String> {
    json(&scenario::keys())
}

/// Possible meanings of an abbreviated key in a file with these resolved scenarios (JSON): all keys
/// that end with it, and the subset in tables that one of the scenarios has. Raises ValueError for
/// invalid JSON.
#[pyfunction]
fn key_meanings(key: &str, scenarios: Vec<String>) -> PyResult<(Vec<String>, Vec<String>)> {
    let scenarios = scenarios
        .iter()
        .map(|text| serde_json::from_str(text))
        .collect::<Result<Vec<serde_json::Value>, _>>()
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    let found = scenario::meanings(key, scenarios.iter());
    Ok((found.possible, found.present))
}

/// JSON object of the result tables: a list of name, unit and meaning for each, such as `flows`.
#[pyfunction]
fn columns() -> PyResult<String> {
    let tables = TABLES.map(|(name, columns)| (name.to_owned(), serde_json::json!(columns)));
    json(&serde_json::Map::from_iter(tables))
}

/// JSON object of the registry of statistics: `of_distribution` has the values of `<statistic>` in
/// a key, and `statistics` is a list in the order of `summary.json`.
#[pyfunction]
fn statistics() -> PyResult<String> {
    json(&serde_json::json!({
        "of_distribution": measure::of_distribution().collect::<Vec<_>>(),
        "statistics": measure::statistics().map(|one| one.to_json()).collect::<Vec<_>>(),
    }))
}

/// JSON object of the congestion controls: which keys of `[transport]` matter to each.
#[pyfunction]
fn controls() -> PyResult<String> {
    let all = CongestionControl::BUILT_IN.iter();
    let all = all.chain(CongestionControl::OF_MESSAGES);
    let all = all.map(|control| (control.to_string(), serde_json::json!(control.keys())));
    json(&serde_json::Map::from_iter(all))
}

/// Memory that this process may still take, bytes; None if it is unknown. Raises ScenarioError if
/// the environment variable `HULL_MEMORY_LIMIT` is no size.
#[pyfunction]
fn available_memory() -> PyResult<Option<u64>> {
    match memory::available() {
        Ok(available) => Ok(available.map(|available| available.bytes)),
        Err(problem) => Err(ScenarioError::new_err(problem.to_string())),
    }
}

/// Parses a quantity as written in a scenario file. `kind` is `rate` (result in bit/s), `time` (s),
/// `size` (bytes) or `share` (1). Raises ValueError with the value found and the expected form.
#[pyfunction]
fn quantity(kind: &str, text: &str) -> PyResult<f64> {
    match kind {
        "rate" => Rate::parse(text).map(|rate| rate.0 as f64),
        "time" => Time::parse(text).map(Time::seconds),
        "size" => Size::parse(text).map(|size| size.0 as f64),
        "share" => Share::parse(text).map(Share::value),
        _ => Err(format!(
            "\"{kind}\" is invalid; expected rate, time, size, share"
        )),
    }
    .map_err(PyValueError::new_err)
}

/// Pacer settings for hosts with this rate, round trip and largest packet, by the rule that sets
/// omitted keys of `[pacer]` (JSON): update_interval_s, eta, beta, association_probability,
/// association_timeout_s, bucket_bytes, fifo_bytes. Raises ValueError for a number out of range.
#[pyfunction]
fn pacer_settings(rate_bps: f64, round_trip_s: f64, mtu_bytes: f64) -> PyResult<String> {
    let whole = |name: &str, value: f64| {
        if value.is_finite() && (0.0..1.8e19).contains(&value) {
            Ok(value.round() as u64)
        } else {
            Err(PyValueError::new_err(format!(
                "{name}: {value} is invalid; expected 0 to 1.8e19"
            )))
        }
    };
    let path = PacedPath {
        rate: Rate(whole("rate", rate_bps)?),
        round_trip: Time(whole("round trip in ps", round_trip_s * 1e12)?),
        mtu: whole("mtu", mtu_bytes)?,
    };
    let pacer = Pacer::default();
    let found = pacer.settings(&path);
    json(&serde_json::json!({
        "update_interval_s": found.update_interval.seconds(),
        "eta": pacer.eta.value(),
        "beta": found.beta,
        "association_probability": pacer.association_probability.value(),
        "association_timeout_s": found.association_timeout.seconds(),
        "bucket_bytes": found.bucket.0,
        "fifo_bytes": found.fifo.0,
    }))
}

/// Attribute of a graph's links, `rate` or `delay`, that another name means, such as `bandwidth`;
/// None if it means neither.
#[pyfunction]
fn meant_attribute(name: &str) -> Option<&'static str> {
    meant(name)
}

/// Usual endings of the names of graph files, such as `.graphml`.
#[pyfunction]
fn graph_endings() -> Vec<&'static str> {
    endings()
}

/// JSON list of the values of a range `"start:stop:step"`; null for a text without a colon. Raises
/// ValueError with the value found and the expected form.
#[pyfunction]
fn range(text: &str) -> PyResult<String> {
    json(&scenario::range(text).map_err(PyValueError::new_err)?)
}

/// Writes a file of a sweep's store. `labels` are run, name, condition, scheme, scenario; `rows`
/// are statistic, unit, value. Returns when the file is on the disk. Raises OSError if it cannot be
/// written.
#[pyfunction]
fn write_statistics(
    py: Python<'_>,
    path: PathBuf,
    labels: (String, String, String, String, String),
    seed: u64,
    rows: Vec<(String, String, f64)>,
) -> PyResult<()> {
    let (run, name, condition, scheme, scenario) = labels;
    let labels = RunLabels {
        run,
        name,
        condition,
        scheme,
        seed,
        scenario,
    };
    py.detach(|| measure::write_statistics(&path, labels, &rows))
        .map_err(|e| os_error(&e, &path))
}

/// One resolved scenario with one seed.
#[pyclass(frozen)]
struct Run {
    scenario: Arc<scenario::Resolved>,
    identity: Identity,
    control: Arc<Control>,
    /// Class of an external congestion control, if the scenario names one.
    own: Option<Py<PyType>>,
}

#[pymethods]
impl Run {
    /// `own` is the class of the external congestion control that the scenario names, if any.
    #[new]
    #[pyo3(signature = (scenario, condition, scheme, seed, own=None))]
    fn new(
        scenario: &Resolved,
        condition: String,
        scheme: String,
        seed: u64,
        own: Option<Py<PyType>>,
    ) -> Self {
        let identity = Identity {
            condition,
            scheme,
            seed,
        };
        Run {
            scenario: Arc::clone(&scenario.0),
            identity,
            control: Arc::default(),
            own,
        }
    }

    /// Runs to the end, writes the tables into `folder`, if given, and returns the summary as JSON.
    /// Raises Cancelled after `cancel`, OSError if a file cannot be written, and RuntimeError for
    /// an exception of an external congestion control.
    #[pyo3(signature = (folder=None))]
    fn execute(&self, py: Python<'_>, folder: Option<PathBuf>) -> PyResult<String> {
        let (own, raised) = match (&self.own, &self.scenario.transport.congestion_control) {
            (Some(class), CongestionControl::External(name)) => {
                let control = self.control.clone();
                let (own, raised) = PythonControl::new(class.bind(py), name.clone(), control)?;
                (Some(own), Some(raised))
            }
            _ => (None, None),
        };
        let result = py.detach(|| {
            part::run(
                &self.scenario,
                own.as_ref().map(|own| own as &dyn External),
                self.identity.clone(),
                folder.as_deref(),
                &self.control,
            )
        });
        if let Some(error) = raised.and_then(|raised| raised.take(py)) {
            return Err(error);
        }
        match result {
            Ok(summary) => json(&summary),
            Err(PartError::Scenario(problem)) => Err(ScenarioError::new_err(problem.to_string())),
            Err(PartError::Simulation(failure)) => Err(run_error(&failure)),
            Err(PartError::Io(e)) => Err(os_error(&e, &folder.unwrap_or_default())),
        }
    }

    /// Requests the run to stop; may be called from any thread.
    fn cancel(&self) {
        self.control.cancel();
    }

    /// Simulated seconds, simulated seconds at the end (an estimate if the run ends after a number
    /// of flows), and packet-hops.
    fn progress(&self) -> (f64, f64, u64) {
        let (simulated_ps, packet_hops, started) = self.control.progress();
        if let Some(share) = started {
            let now = simulated_ps as f64 * 1e-12;
            return (now, now / share, packet_hops);
        }
        let end = self.scenario.run.warmup.seconds() + self.scenario.run.duration.seconds();
        (simulated_ps as f64 * 1e-12, end, packet_hops)
    }
}

/// Python interface of hull's simulator.
#[pymodule]
fn _core(m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add_function(wrap_pyfunction!(version, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(keys, m)?)?;
    m.add_function(wrap_pyfunction!(key_meanings, m)?)?;
    m.add_function(wrap_pyfunction!(columns, m)?)?;
    m.add_function(wrap_pyfunction!(statistics, m)?)?;
    m.add_function(wrap_pyfunction!(resolved::expand, m)?)?;
    m.add_function(wrap_pyfunction!(controls, m)?)?;
    m.add_function(wrap_pyfunction!(available_memory, m)?)?;
    m.add_function(wrap_pyfunction!(quantity, m)?)?;
    m.add_function(wrap_pyfunction!(pacer_settings, m)?)?;
    m.add_function(wrap_pyfunction!(range, m)?)?;
    m.add_function(wrap_pyfunction!(graph_endings, m)?)?;
    m.add_function(wrap_pyfunction!(meant_attribute, m)?)?;
    m.add_function(wrap_pyfunction!(write_statistics, m)?)?;
    m.add_function(wrap_pyfunction!(capture::capture_flows, m)?)?;
    m.add_function(wrap_pyfunction!(jobs::loggp, m)?)?;
    m.add_function(wrap_pyfunction!(jobs::write_goal, m)?)?;
    m.add_function(wrap_pyfunction!(tables::merge_tables, m)?)?;
    m.add_function(wrap_pyfunction!(tables::flow_slowdowns, m)?)?;
    m.add_function(wrap_pyfunction!(tables::slowdown_bins, m)?)?;
    m.add_class::<Resolved>()?;
    m.add_class::<Run>()?;
    m.add_class::<Window>()?;
    m.add_class::<Ack>()?;
    m.add_class::<Hop>()?;
    m.add_class::<live::Live>()?;
    m.add("ScenarioError", m.py().get_type::<ScenarioError>())?;
    m.add("Cancelled", m.py().get_type::<Cancelled>())?;
    Ok(())
}
