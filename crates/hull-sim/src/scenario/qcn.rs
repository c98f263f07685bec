//! QCN: checks that sources and switches are configured together (thesis 5.2).

use super::{CongestionControl, Scenario, Transport};
use crate::problem::{Problem, need, quoted, require};
use crate::topology::Graph;
use crate::transport::ReactionPoint;

/// Checks QCN's settings, and that required keys are present and conflicting ones absent.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let mut sources = s
        .each_transport()
        .filter(|(_, t)| t.congestion_control.is_qcn())
        .peekable();
    if let Some(point) = &s.switch.qcn {
        point.check()?;
        let control = &s.transport.congestion_control;
        need(
            sources.peek().is_some(),
            "switch.qcn",
            format!("a table with transport.congestion_control = \"{control}\""),
            "none but with congestion_control = \"qcn\" or \"qcn-aimd\", which take its feedback",
        )?;
    }
    for (table, transport) in sources {
        of_sources(s, &table, transport)?;
    }
    Ok(())
}

/// Checks that the slowest host's link carries the smallest rate.
pub(super) fn check_links(s: &Scenario, graph: &Graph) -> Result<(), Problem> {
    let (slowest, _) = graph.host_rates();
    for (table, transport) in s.each_transport() {
        let least = transport.qcn.min_rate;
        require(
            least <= slowest || !transport.congestion_control.is_qcn(),
            &format!("{table}.qcn.min_rate"),
            quoted(least),
            &format!("at most the rate of the slowest host's link, \"{slowest}\""),
        )?;
    }
    Ok(())
}

/// Checks a transport whose table is `transport` or `transports.NAME`.
fn of_sources(s: &Scenario, table: &str, transport: &Transport) -> Result<(), Problem> {
    let control = &transport.congestion_control;
    let with = format!("{table}.congestion_control = \"{control}\"");
    if s.switch.qcn.is_none() {
        let told = format!(
            "missing, {with} requires it; expected a table such as {{ equilibrium = \"33KB\" }}"
        );
        return Err(Problem::new("switch.qcn", told));
    }
    let settings = transport.qcn.check(s.host.rate);
    settings
        .and_then(|()| check_averaging(&transport.qcn, control))
        .map_err(|problem| problem.moved("transport", &format!("{table}.")))?;
    for (key, found) in [
        (format!("{table}.ecn"), transport.ecn),
        ("pacer".to_owned(), s.pacer.is_some()),
        ("host.offload".to_owned(), s.host.offload.is_some()),
        (
            "topology.failures".to_owned(),
            !s.topology.failures.is_empty(),
        ),
    ] {
        if found {
            return Err(Problem::new(key, format!("must not be set with {with}")));
        }
    }
    Ok(())
}

/// Checks that QCN-AIMD, which has no target rate, sets no option of the target rate.
fn check_averaging(point: &ReactionPoint, control: &CongestionControl) -> Result<(), Problem> {
    for (key, set) in [
        (
            "transport.qcn.target_rate_reduction",
            point.target_rate_reduction,
        ),
        (
            "transport.qcn.hyper_increase",
            point.hyper_increase.is_some(),
        ),
    ] {
        if set && *control != CongestionControl::Qcn {
            let told = format!(
                "must not be set with transport.congestion_control = \"{control}\": QCN-AIMD has no target"
            );
            return Err(Problem::new(key, told));
        }
    }
    Ok(())
}
