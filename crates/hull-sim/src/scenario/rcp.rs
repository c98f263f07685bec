//! RCP: checks that sources and switches are configured together (thesis 5.5.3).

use super::{CongestionControl, Scenario};
use crate::problem::{Problem, quoted, require};

/// Checks RCP's settings, if present, and their constraints with other keys.
pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    let mut transports = scenario.each_transport();
    let asks = transports.find(|(_, one)| one.congestion_control == CongestionControl::Rcp);
    let asked = asks.is_some();
    let asks = asks.map_or_else(String::new, |(table, _)| {
        format!("{table}.congestion_control")
    });
    let Some(rcp) = &scenario.switch.rcp else {
        let told = format!(
            "missing, {asks} = \"rcp\" requires it: it supplies the rate; expected a table such as {{ alpha = \
             0.1, beta = 1, interval = \"1ms\", round_trip = \"1ms\" }}"
        );
        return match asked {
            true => Err(Problem::new("switch.rcp", told)),
            false => Ok(()),
        };
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
