//! hull-core for Python: the reference for the tests of `rtl/`. Conversion only; one file per
//! algorithm, with methods for one packet and for many at once.

mod flow_association;
mod latency_meter;
mod pacer;
mod phantom_queue;

use pyo3::prelude::*;

/// Algorithms of hull-core, as the simulator and as the hardware compute them.
#[pymodule]
fn hull_reference(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<flow_association::FlowAssociation>()?;
    module.add_class::<flow_association::HardwareFlowAssociation>()?;
    module.add_class::<latency_meter::HardwareLatencyMeter>()?;
    module.add_class::<pacer::HardwarePacer>()?;
    module.add_class::<pacer::Pacer>()?;
    module.add_class::<phantom_queue::PhantomQueue>()?;
    module.add_class::<phantom_queue::HardwarePhantomQueue>()?;
    Ok(())
}
