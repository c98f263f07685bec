//! The phantom queue in both forms.

use hull_core::hardware::phantom_queue as hardware;
use hull_core::phantom_queue as simulated;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `hull_core::phantom_queue::PhantomQueue`: times in ps.
#[pyclass]
pub struct PhantomQueue(simulated::PhantomQueue);

fn config(
    drain_bps: u64,
    threshold_bytes: u32,
    count_arriving: bool,
    tick_ps: u64,
) -> PyResult<simulated::PhantomQueueConfig> {
    if drain_bps == 0 {
        return Err(PyValueError::new_err(
            "drain_bps: 0 is invalid; expected above 0",
        ));
    }
    Ok(simulated::PhantomQueueConfig {
        drain_bps,
        threshold_bytes,
        count_arriving,
        drain: match tick_ps {
            0 => simulated::Drain::Continuous,
            tick_ps => simulated::Drain::Ticks { tick_ps },
        },
    })
}

#[pymethods]
impl PhantomQueue {
    /// Creates an empty queue at time zero; `tick_ps` 0 selects a continuous drain.
    #[new]
    fn new(
        drain_bps: u64,
        threshold_bytes: u32,
        count_arriving: bool,
        tick_ps: u64,
    ) -> PyResult<Self> {
        let config = config(drain_bps, threshold_bytes, count_arriving, tick_ps)?;
        Ok(Self(simulated::PhantomQueue::new(&config)))
    }

    /// Whether each packet is marked; packets are in the order of their times (ps).
    fn on_packets(&mut self, times_ps: Vec<u64>, bytes: Vec<u32>) -> Vec<bool> {
        let packets = times_ps.into_iter().zip(bytes);
        packets
            .map(|(at, bytes)| self.0.on_packet(at, bytes))
            .collect()
    }

    /// Backlog in bytes, rounded to nearest.
    fn backlog_bytes(&self, now_ps: u64) -> u64 {
        self.0.backlog_bytes(now_ps)
    }
}

/// `hull_core::hardware::phantom_queue::PhantomQueue`: times in clocks.
#[pyclass]
pub struct HardwarePhantomQueue(hardware::PhantomQueue);

/// Settings: drain_units, byte_units, threshold_bytes, count_arriving, tick_clocks, counter_bits.
type Settings = (u32, u32, u32, bool, u16, u32);

fn settings(all: Settings) -> PyResult<hardware::Settings> {
    let (drain_units, byte_units, threshold_bytes, count_arriving, tick_clocks, counter_bits) = all;
    if drain_units == 0 || byte_units == 0 || counter_bits > 63 {
        return Err(PyValueError::new_err(
            "drain_units and byte_units must be above 0, counter_bits at most 63",
        ));
    }
    Ok(hardware::Settings {
        drain_units,
        byte_units,
        threshold_bytes,
        count_arriving,
        tick_clocks,
        counter_bits,
    })
}

#[pymethods]
impl HardwarePhantomQueue {
    /// Creates an empty queue at clock zero.
    #[new]
    fn new(
        drain_units: u32,
        byte_units: u32,
        threshold_bytes: u32,
        count_arriving: bool,
        tick_clocks: u16,
        counter_bits: u32,
    ) -> PyResult<Self> {
        let all = (
            drain_units,
            byte_units,
            threshold_bytes,
            count_arriving,
            tick_clocks,
            counter_bits,
        );
        Ok(Self(hardware::PhantomQueue::new(&settings(all)?)))
    }

    /// Changes the settings from the clock `now` on; `all` has the arguments of `new`, in its
    /// order.
    fn change(&mut self, now: u64, all: Settings) -> PyResult<()> {
        self.0.change(now, &settings(all)?);
        Ok(())
    }

    /// Register values `(drain_units, byte_units, tick_clocks)` for which the hardware equals the
    /// simulator, or, with `exact`, those without any rounding; `None` if a register is too small.
    #[staticmethod]
    fn registers(
        drain_bps: u64,
        tick_ps: u64,
        clock_ps: u32,
        exact: bool,
    ) -> PyResult<Option<(u32, u32, u16)>> {
        let config = config(drain_bps, 0, false, tick_ps)?;
        let settings = match exact {
            true => hardware::Settings::exact(&config, clock_ps),
            false => hardware::Settings::of(&config, clock_ps),
        };
        Ok(settings.map(|all| (all.drain_units, all.byte_units, all.tick_clocks)))
    }

    /// Whether each packet is marked, in the order of their clocks, and the counter one clock after
    /// each, when the hardware's register can be read.
    fn on_packets(&mut self, clocks: Vec<u64>, bytes: Vec<u32>) -> (Vec<bool>, Vec<u64>) {
        let packets = clocks.into_iter().zip(bytes);
        packets
            .map(|(now, bytes)| (self.0.on_packet(now, bytes), self.0.backlog_units(now + 1)))
            .unzip()
    }

    /// Counter at `now`.
    fn backlog_units(&self, now: u64) -> u64 {
        self.0.backlog_units(now)
    }
}
