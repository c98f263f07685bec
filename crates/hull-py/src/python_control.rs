//! A congestion control written in Python: one instance of a class per flow. The simulator calls it and
//! holds the interpreter's lock only during a call.
//!
//! An exception in a callback stops the run: the first one is kept, and no further callback is called.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hull_sim::network::{InBand, PathRate};
use hull_sim::simulation::Control;
use hull_sim::transport::{self, CongestionControl, EchoKind, External, Feedback, Pace, Start};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::ack::Ack;

/// Congestion window and its bounds, bytes.
#[pyclass]
pub struct Window(transport::Window);

#[pymethods]
impl Window {
    /// Congestion window, bytes. Assigned values are clamped to one segment and the largest window.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd()
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: u64) {
        self.0.set_cwnd(bytes);
    }

    /// Slow-start threshold, bytes; above every window before the first reduction.
    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh()
    }

    #[setter]
    fn set_ssthresh(&mut self, bytes: u64) {
        self.0.set_ssthresh(bytes);
    }

    /// Maximum segment size, bytes.
    #[getter]
    fn mss(&self) -> u64 {
        self.0.mss()
    }

    /// Whether the window is below the slow-start threshold.
    #[getter]
    fn in_slow_start(&self) -> bool {
        self.0.in_slow_start()
    }

    /// Grows the window as in RFC 5681 for an ACK of `acked` bytes.
    fn grow(&mut self, acked: u64) {
        self.0.grow(acked);
    }

    /// Grows the window by `room` bytes per window of acknowledgments, for `acked` acknowledged
    /// bytes.
    fn grow_towards(&mut self, room: u64, acked: u64) {
        self.0.grow_towards(room, acked);
    }

    /// Sets window and threshold, but at least the smallest window, and leaves slow start.
    fn reduce_to(&mut self, bytes: u64) {
        self.0.reduce_to(bytes);
    }

    /// Reduces the window by `bytes`, but not below the smallest window, and leaves slow start.
    fn shrink_by(&mut self, bytes: u64) {
        self.0.shrink_by(bytes);
    }

    fn __repr__(&self) -> String {
        let (cwnd, ssthresh) = (self.0.cwnd(), self.0.ssthresh());
        format!("<hull.Window cwnd={cwnd} ssthresh={ssthresh}>")
    }
}

/// First exception of a run's callbacks: place and exception.
#[derive(Debug, Default)]
pub struct Raised(Mutex<Option<(String, PyErr)>>);

impl Raised {
    fn is_some(&self) -> bool {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    fn keep(&self, place: String, error: PyErr) {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        first.get_or_insert((place, error));
    }

    /// Takes the exception as the error that ends the run.
    pub fn take(&self, py: Python<'_>) -> Option<PyErr> {
        let mut first = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (place, cause) = first.take()?;
        let what = cause.value(py);
        let text = match what.str() {
            Ok(text) => text.to_string(),
            Err(_) => String::new(),
        };
        let kind = cause
            .get_type(py)
            .name()
            .map_or_else(|_| "error".to_owned(), |name| name.to_string());
        let line = last_line(py, &cause).map_or_else(String::new, |line| format!(", {line}"));
        let separator = if text.is_empty() { "" } else { ": " };
        let error = PyRuntimeError::new_err(format!("{place}{line}: {kind}{separator}{text}"));
        error.set_cause(py, Some(cause));
        Some(error)
    }
}

/// File and line in which the exception was raised.
fn last_line(py: Python<'_>, error: &PyErr) -> Option<String> {
    let mut at = error.traceback(py)?.into_any();
    while let Ok(next) = at.getattr("tb_next")
        && !next.is_none()
    {
        at = next;
    }
    let line: u64 = at.getattr("tb_lineno").ok()?.extract().ok()?;
    let code = at.getattr("tb_frame").ok()?.getattr("f_code").ok()?;
    let file: String = code.getattr("co_filename").ok()?.extract().ok()?;
    let name = file.rsplit(['/', '\\']).next().unwrap_or(&file);
    Some(format!("line {line} of {name}"))
}

/// State shared by the flows of a run.
#[derive(Debug)]
struct Shared {
    class: Py<PyType>,
    /// Name in the scenario.
    name: String,
    class_name: String,
    raised: Arc<Raised>,
    control: Arc<Control>,
    echo: EchoKind,
    /// Features that the class uses.
    paced: bool,
    asks: InBand,
    samples_every_ack: bool,
    /// Whether the class overrides the methods for these events.
    takes_start: bool,
    takes_sent: bool,
    takes_notice: bool,
}

/// Instance of a flow, created at its first call.
#[derive(Debug)]
struct Instance {
    object: Py<PyAny>,
    window: Py<Window>,
    on_ack: Py<PyAny>,
}

impl Instance {
    fn new(py: Python<'_>, class: &Py<PyType>) -> PyResult<Self> {
        let object = class.call0(py)?;
        let on_ack = object.getattr(py, "on_ack")?;
        let window = transport::Window::new(0, 1, 0, 0, false);
        Ok(Instance {
            object,
            window: Py::new(py, Window(window))?,
            on_ack,
        })
    }
}

impl Shared {
    /// Stops the run because of an exception in a call.
    fn stop(&self, call: &str, error: PyErr) {
        let (name, class) = (&self.name, &self.class_name);
        let place = format!("congestion_control \"{name}\": {class}{call}");
        self.raised.keep(place, error);
        self.control.cancel();
    }
}

/// Controller of one flow.
#[derive(Debug)]
pub struct PythonControl {
    shared: Arc<Shared>,
    instance: OnceLock<Instance>,
}

impl PythonControl {
    /// Creates the prototype of a run. `class` is a subclass of `hull.CongestionControl`; `name` is
    /// its name in the scenario.
    pub fn new(
        class: &Bound<'_, PyType>,
        name: String,
        control: Arc<Control>,
    ) -> PyResult<(Self, Arc<Raised>)> {
        let raised = Arc::new(Raised::default());
        let base = class
            .py()
            .import("hull.inputs.congestion")?
            .getattr("CongestionControl")?;
        let is_true = |name: &str| class.getattr(name)?.is_truthy();
        let has_own = |name: &str| PyResult::Ok(!class.getattr(name)?.is(&base.getattr(name)?));
        let shared = Shared {
            class: class.clone().unbind(),
            name,
            class_name: class.name()?.to_string(),
            raised: raised.clone(),
            control,
            echo: match is_true("dctcp_echo")? {
                true => EchoKind::Dctcp,
                false => EchoKind::Classic,
            },
            paced: is_true("paced")?,
            asks: match (is_true("asks_telemetry")?, is_true("asks_rate")?) {
                (true, _) => InBand::Telemetry,
                (false, true) => InBand::Rate(PathRate::default()),
                (false, false) => InBand::Nothing,
            },
            samples_every_ack: is_true("samples_every_ack")?,
            takes_start: has_own("on_start")?,
            takes_sent: has_own("on_sent")?,
            takes_notice: has_own("on_notice")?,
        };
        let shared = Arc::new(shared);
        let prototype = PythonControl {
            shared,
            instance: OnceLock::new(),
        };
        Ok((prototype, raised))
    }

    /// Calls the instance with the window. An exception stops the run.
    fn call<T: Default>(
        &mut self,
        method: &str,
        window: Option<&mut transport::Window>,
        with: impl FnOnce(Python<'_>, &Instance) -> PyResult<T>,
    ) -> T {
        if self.shared.raised.is_some() {
            return T::default();
        }
        Python::attach(|py| {
            let Some(instance) = self.instance(py) else {
                return T::default();
            };
            let called = || {
                let Some(window) = window else {
                    return with(py, instance);
                };
                instance.window.borrow_mut(py).0 = window.clone();
                let result = with(py, instance)?;
                *window = instance.window.borrow(py).0.clone();
                Ok(result)
            };
            called().unwrap_or_else(|error| {
                self.shared.stop(&format!(".{method}"), error);
                T::default()
            })
        })
    }

    /// Reads an attribute of the instance. A value of another type stops the run.
    fn read<T: for<'a, 'py> FromPyObject<'a, 'py>>(&self, name: &str) -> Option<T> {
        if self.shared.raised.is_some() {
            return None;
        }
        Python::attach(|py| {
            let value = self.instance(py)?.object.bind(py).getattr(name);
            match value.and_then(|value| value.extract().map_err(Into::into)) {
                Ok(value) => Some(value),
                Err(error) => {
                    self.shared.stop(&format!(".{name}"), error);
                    None
                }
            }
        })
    }

    /// Instance of the flow; `None` if its creation failed, which stops the run.
    fn instance(&self, py: Python<'_>) -> Option<&Instance> {
        if self.instance.get().is_none() {
            match Instance::new(py, &self.shared.class) {
                Ok(instance) => self.instance.get_or_init(|| instance),
                Err(error) => {
                    self.shared.stop("()", error);
                    return None;
                }
            };
        }
        self.instance.get()
    }
}

impl CongestionControl for PythonControl {
    fn on_ack(&mut self, window: &mut transport::Window, ack: &Feedback) -> bool {
        self.call("on_ack", Some(window), |py, instance| {
            let event = Ack::of(py, ack)?;
            let window = instance.window.clone_ref(py);
            instance.on_ack.call1(py, (window, event))?.is_truthy(py)
        })
    }

    fn on_loss(&mut self, window: &mut transport::Window, flight: u64) {
        self.call("on_loss", Some(window), |py, instance| {
            let arguments = (instance.window.clone_ref(py), flight);
            instance.object.call_method1(py, "on_loss", arguments)?;
            Ok(())
        });
    }

    fn on_timeout(&mut self, window: &mut transport::Window, flight: u64) {
        self.call("on_timeout", Some(window), |py, instance| {
            let arguments = (instance.window.clone_ref(py), flight);
            instance.object.call_method1(py, "on_timeout", arguments)?;
            Ok(())
        });
    }

    fn on_restart(&mut self, idle_ps: u64) {
        self.call("on_restart", None, |py, instance| {
            instance.object.call_method1(py, "on_restart", (idle_ps,))?;
            Ok(())
        });
    }

    fn on_start(&mut self, start: &Start) {
        if self.shared.takes_start {
            self.call("on_start", None, |py, instance| {
                let arguments = (start.now_ps, start.link_bps);
                instance.object.call_method1(py, "on_start", arguments)?;
                Ok(())
            });
        }
    }

    fn on_notice(&mut self, now_ps: u64, steps: u8) {
        if self.shared.takes_notice {
            self.call("on_notice", None, |py, instance| {
                instance
                    .object
                    .call_method1(py, "on_notice", (now_ps, steps))?;
                Ok(())
            });
        }
    }

    fn sets_pace(&self) -> bool {
        self.shared.paced
    }

    /// Pace by the class's attribute `rate_bps`; None before it is known.
    fn pace(&self) -> Pace {
        if !self.shared.paced {
            return Pace::Window;
        }
        match self.read::<Option<u64>>("rate_bps") {
            Some(Some(rate_bps)) => Pace::Bps(rate_bps),
            Some(None) | None => Pace::OneByOne,
        }
    }

    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        if self.shared.takes_sent {
            self.call("on_sent", None, |py, instance| {
                instance
                    .object
                    .call_method1(py, "on_sent", (now_ps, wire_bytes))?;
                Ok(())
            });
        }
        self.pace()
    }

    fn ask(&self, srtt_ps: u64) -> InBand {
        match self.shared.asks {
            InBand::Rate(_) => InBand::Rate(PathRate::asking(srtt_ps)),
            asks @ (InBand::Nothing | InBand::Telemetry) => asks,
        }
    }

    fn samples_every_ack(&self) -> bool {
        self.shared.samples_every_ack
    }

    fn echo(&self) -> EchoKind {
        self.shared.echo
    }

    /// Value of the class's attribute `alpha`.
    fn alpha(&self) -> Option<f64> {
        self.read::<Option<f64>>("alpha").flatten()
    }
}

impl External for PythonControl {
    fn fresh(&self) -> Box<dyn External> {
        Box::new(PythonControl {
            shared: self.shared.clone(),
            instance: OnceLock::new(),
        })
    }
}
