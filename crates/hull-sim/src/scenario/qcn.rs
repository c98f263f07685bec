//! QCN: that sources and switches go together (thesis 5.2).

use super::{CongestionControl, Scenario};
use crate::problem::{Problem, need, require};
use crate::transport::ReactionPoint;

/// Checks QCN's settings, and that what it needs is there and nothing that it cannot be with.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let control = &s.transport.congestion_control;
    let sources = control.is_qcn();
    if let Some(point) = &s.switch.qcn {
        point.check()?;
        need(
            sources,
            "switch.qcn",
            format!("a table with transport.congestion_control = \"{control}\""),
            "none but with congestion_control = \"qcn\" or \"qcn-aimd\", which take its feedback",
        )?;
    }
    if !sources {
        return Ok(());
    }
    need(
        s.switch.qcn.is_some(),
        "switch.qcn",
        format!("no table with transport.congestion_control = \"{control}\""),
        "a table, such as [switch.qcn] with equilibrium = \"33KB\"",
    )?;
    s.transport.qcn.check(s.host.rate)?;
    check_averaging(&s.transport.qcn, control)?;
    for (key, found) in [
        ("transport.ecn", s.transport.ecn),
        ("pacer", s.pacer.is_some()),
        ("host.offload", s.host.offload.is_some()),
        ("topology.failures", !s.topology.failures.is_empty()),
    ] {
        require(
            !found,
            key,
            "it set",
            &format!("that it is not with transport.congestion_control = \"{control}\""),
        )?;
    }
    Ok(())
}

/// QCN-AIMD has no target.
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
        require(
            !set || *control == CongestionControl::Qcn,
            key,
            format!("it set with transport.congestion_control = \"{control}\""),
            "the key with congestion_control = \"qcn\" only: QCN-AIMD has no target",
        )?;
    }
    Ok(())
}
