//! RCP: that sources and switches go together (thesis 5.5.3).

use super::{CongestionControl, Scenario};
use crate::problem::{Problem, need, quoted, require};

/// Checks RCP's settings, where there are some, and that they go with the rest.
pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    let mut transports = scenario.each_transport();
    let asked = transports.any(|(_, one)| one.congestion_control == CongestionControl::Rcp);
    let Some(rcp) = &scenario.switch.rcp else {
        return need(
            !asked,
            "switch.rcp",
            "no such table",
            "one with transport.congestion_control = \"rcp\": nobody else says a rate",
        );
    };
    let external = matches!(
        scenario.transport.congestion_control,
        CongestionControl::External(_)
    );
    require(
        asked || external,
        "transport.congestion_control",
        quoted(&scenario.transport.congestion_control),
        "\"rcp\" with the table switch.rcp, or a class of your own: nothing else takes its rate",
    )?;
    require(
        scenario.switch.priorities == 1,
        "switch.priorities",
        scenario.switch.priorities,
        "1 with the table switch.rcp",
    )?;
    require(
        scenario.host.offload.is_none(),
        "host.offload",
        "a size",
        "none with the table switch.rcp: a source that keeps a rate sends packet by packet",
    )?;
    rcp.check()
}
