//! What a scenario's types cannot say: ranges and how keys fit together. Each section's file has
//! the checks of its own keys; here is what concerns several.

use super::{Scenario, host, measure, pacer, qcn, rcp, run, switch, transport, transports};
use crate::problem::{Problem, need, quoted, require};
use crate::topology;

/// Checks one resolved scenario.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let named = !s.name.is_empty()
        && s.name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    require(named, "name", quoted(&s.name), "letters, digits, - and _")?;
    let mtu = s.transport.mtu.0;
    run::check(&s.run)?;
    topology::check(&s.topology)?;
    host::check(&s.host, mtu)?;
    switch::check(&s.switch, mtu)?;
    transport::check(&s.transport)?;
    rcp::check(s)?;
    require(
        s.transport.tso_win_divisor == 0 || s.host.offload.is_some(),
        "transport.tso_win_divisor",
        s.transport.tso_win_divisor,
        "0 without host.offload",
    )?;
    qcn::check(s)?;
    if let Some(pacer) = &s.pacer {
        pacer::check(pacer, s.host.rate, mtu)?;
        require(
            s.host.nic_queues == 1,
            "host.nic_queues",
            s.host.nic_queues,
            "1 with a pacer, which takes packets from one queue",
        )?;
    }
    super::workload::check(&s.workload)?;
    transports::check(s)?;
    measure::check(&s.measure)?;
    need(
        s.switch.dwrr.is_none() || s.measure.probe.is_none(),
        "measure.probe",
        "a table beside switch.dwrr",
        "none: when a probe leaves a queue that takes turns is not known when it comes",
    )?;
    let graph = s.graph()?;
    switch::check_ports(&s.switch, &graph)?;
    measure::check_ports(&s.measure, &graph)
}
