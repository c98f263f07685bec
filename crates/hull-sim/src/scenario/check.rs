//! Constraints that a scenario's types cannot express: ranges and combinations of keys. Each section's
//! file checks its own keys; this file has the checks across sections.

use std::sync::Arc;

use super::{
    Resolved, Scenario, constant_rate, dscp, host, measure, message, pacer, pfc, qcn, queue_rules,
    rcp, resolved, run, switch, telemetry, transport, transports,
};
use crate::problem::{Problem, need, quoted, require};
use crate::topology::{self, Graph};
use crate::units::Rate;
use crate::workload;

/// Checks a resolved scenario: each section by itself and, if all are valid, the constraints across
/// sections. Returns its network; fails with at least one problem. `last` is the scenario that was
/// resolved before it.
pub(super) fn check(last: Option<&Resolved>, s: &Scenario) -> Result<Arc<Graph>, Vec<Problem>> {
    // An invalid section is replaced by a harmless value, so that others do not report its mistake
    // again.
    let transport = transport::check(&s.transport);
    let mtu = transport::valid_mtu(&s.transport);
    let least = mtu.unwrap_or(1);
    let host = host::check(&s.host, least);
    let link = match host.iter().all(Result::is_ok) {
        true => s.host.rate,
        false => Rate(u64::MAX),
    };
    let pacer = s.pacer.as_ref();
    let sections = [
        vec![name(s)],
        run::check(&s.run),
        vec![topology::check(&s.topology)],
        host,
        switch::check(&s.switch, mtu),
        transport,
        pacer.map_or_else(Vec::new, |pacer| pacer::check(pacer, link, least)),
        s.workload.check(),
        vec![workload::check_groups(&s.groups)],
        measure::check(&s.measure),
    ];
    let problems = sections.into_iter().flatten().filter_map(Result::err);
    let problems: Vec<Problem> = problems.collect();
    match problems.is_empty() {
        true => together(last, s).map_err(|problem| vec![problem]),
        false => Err(problems),
    }
}

fn name(s: &Scenario) -> Result<(), Problem> {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let named = !s.name.is_empty() && s.name.chars().all(fits);
    require(named, "name", quoted(&s.name), "letters, digits, - and _")
}

/// Checks the constraints across sections.
fn together(last: Option<&Resolved>, s: &Scenario) -> Result<Arc<Graph>, Problem> {
    rcp::check(s)?;
    require(
        s.transport.tso_win_divisor == 0 || s.host.offload.is_some(),
        "transport.tso_win_divisor",
        s.transport.tso_win_divisor,
        "0 without host.offload",
    )?;
    qcn::check(s)?;
    transports::check(s)?;
    message::check(s)?;
    constant_rate::check(s)?;
    queue_rules::check_together(s)?;
    telemetry::check(s)?;
    dscp::check(s)?;
    pfc::check(s)?;
    need(
        s.switch.dwrr.is_none() || s.measure.probe.is_none(),
        "measure.probe",
        "a table beside switch.dwrr",
        "none: when a probe leaves a queue that takes turns is not known when it comes",
    )?;
    let graph = resolved::graph_after(last, s)?;
    host::check_nics(s, &graph)?;
    pacer::check_links(s, &graph)?;
    qcn::check_links(s, &graph)?;
    switch::check_ports(&s.switch, &graph)?;
    telemetry::check_links(s, &graph)?;
    measure::check_ports(&s.measure, &graph)?;
    Ok(graph)
}
