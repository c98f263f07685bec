//! The flow association table in both forms.

use hull_core::flow_association as simulated;
use hull_core::hardware::flow_association as hardware;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn when_full(evict_oldest: bool) -> simulated::WhenFull {
    match evict_oldest {
        true => simulated::WhenFull::EvictOldest,
        false => simulated::WhenFull::Ignore,
    }
}

fn entries(entries: usize) -> PyResult<usize> {
    match entries {
        0 => Err(PyValueError::new_err(
            "entries: 0 is invalid; expected above 0",
        )),
        entries => Ok(entries),
    }
}

/// `hull_core::flow_association::FlowAssociation`: times in ps.
#[pyclass]
pub struct FlowAssociation(simulated::FlowAssociation);

#[pymethods]
impl FlowAssociation {
    /// Creates an empty table.
    #[new]
    fn new(
        entries: usize,
        probability: u32,
        timeout_ps: u64,
        evict_oldest: bool,
    ) -> PyResult<Self> {
        let config = simulated::FlowAssociationConfig {
            entries: self::entries(entries)?,
            probability,
            timeout_ps,
            when_full: when_full(evict_oldest),
        };
        Ok(Self(simulated::FlowAssociation::new(&config)))
    }

    /// Processes an ACK with ECN-Echo. Returns whether it associated the flow or restarted its
    /// timer.
    fn on_ece(&mut self, now_ps: u64, flow: u32, random: u32) -> bool {
        self.0.on_ece(now_ps, flow, random)
    }

    /// Whether packets of `flow` must be paced.
    fn is_associated(&mut self, now_ps: u64, flow: u32) -> bool {
        self.0.is_associated(now_ps, flow)
    }

    /// Number of associated flows.
    fn len(&self, now_ps: u64) -> usize {
        self.0.len(now_ps)
    }
}

/// `hull_core::hardware::flow_association::FlowAssociation` and its LFSR: times in clocks.
#[pyclass]
pub struct HardwareFlowAssociation {
    table: hardware::FlowAssociation,
    random: hardware::Lfsr,
}

#[pymethods]
impl HardwareFlowAssociation {
    /// Creates an empty table.
    #[new]
    fn new(
        entries: usize,
        probability: u32,
        timeout_clocks: u32,
        evict_oldest: bool,
        seed: u32,
    ) -> PyResult<Self> {
        let settings = hardware::Settings {
            entries: self::entries(entries)?,
            probability,
            timeout_clocks,
            when_full: when_full(evict_oldest),
        };
        Ok(Self {
            table: hardware::FlowAssociation::new(&settings),
            random: hardware::Lfsr::new(seed),
        })
    }

    /// Sets p_a and the behaviour of a full table from the next call on.
    fn change(&mut self, probability: u32, evict_oldest: bool) {
        self.table.change(probability, when_full(evict_oldest));
    }

    /// Restarts the generator from a seed.
    fn seed(&mut self, seed: u32) {
        self.random = hardware::Lfsr::new(seed);
    }

    /// Processes clocks in order: an ACK with ECN-Echo of `ece_flows` if `ece`, then a look-up of
    /// `flows` if `lookup`. Returns ten 32-bit numbers per clock: random bits of the ACK or 0,
    /// whether it associated, whether the flow looked up is associated, live flows, associations,
    /// refreshed, expired, ignored, evicted and missed draws.
    fn on_clocks<'py>(
        &mut self,
        py: Python<'py>,
        clocks: Vec<u64>,
        ece: Vec<bool>,
        ece_flows: Vec<u32>,
        lookup: Vec<bool>,
        flows: Vec<u32>,
    ) -> Bound<'py, PyBytes> {
        let mut rows = Vec::with_capacity(clocks.len() * 40);
        for (at, &now) in clocks.iter().enumerate() {
            let random = if ece[at] { self.random.draw() } else { 0 };
            let associated = ece[at] && self.table.on_ece(now, ece_flows[at], random);
            let found = lookup[at] && self.table.is_associated(now, flows[at]);
            let live = self.table.len(now) as u64;
            let all = self.table.counts();
            let row = [
                u64::from(random),
                u64::from(associated),
                u64::from(found),
                live,
                all.associations,
                all.refreshed,
                all.expired,
                all.ignored,
                all.evicted,
                all.missed,
            ];
            rows.extend(row.iter().flat_map(|&number| (number as u32).to_le_bytes()));
        }
        PyBytes::new(py, &rows)
    }
}
