//! RCP at the ports of switches (thesis 5.5.3): the rate that they offer to flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, need, quoted, require};
use super::{CongestionControl, Scenario};
use crate::units::{Share, Time};

/// RCP and its versions with the averaging principle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RcpAlgorithm {
    /// RCP.
    #[default]
    Rcp,
    /// Half of a change is taken back halfway to the next (AP).
    ApRcp,
    /// Twice, at a third and at two thirds (AP2).
    Ap2Rcp,
    /// The PD controller that AP is equivalent to.
    PdRcp,
}

/// RCP at the ports of switches; alpha and beta are its gains.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rcp {
    /// RCP, or one of its versions with the averaging principle.
    #[serde(default)]
    pub algorithm: RcpAlgorithm,
    /// Weight of the rate that is to spare.
    pub alpha: Share,
    /// Weight of the queue.
    pub beta: Share,
    /// Time between two updates of the rate (T).
    pub interval: Time,
    /// Round trip that the gain is made for (d0); with round_trip_gain its first value.
    pub round_trip: Time,
    /// Share of the way that d0 moves in each interval to the mean round trip of the packets, which sources
    /// measure and packets carry (RCP: 0.02); 0 holds it.
    #[serde(default)]
    pub round_trip_gain: Share,
    /// Share of the way back that an averaging change takes (thesis: one half; others are remark 5.4's).
    #[serde(default = "half")]
    pub averaging: Share,
    /// First rate that is offered, as a share of the link's.
    #[serde(default = "twentieth")]
    pub initial: Share,
}

const fn half() -> Share {
    Share(Share::ONE / 2)
}
const fn twentieth() -> Share {
    Share(Share::ONE / 20)
}

/// Checks RCP's settings, where there are some, and that they go with the rest.
pub(super) fn check(scenario: &Scenario) -> Result<(), Problem> {
    let asked = scenario.transport.congestion_control == CongestionControl::Rcp;
    let Some(rcp) = &scenario.switch.rcp else {
        return need(
            !asked,
            "switch.rcp",
            "no such table",
            "one with transport.congestion_control = \"rcp\": nobody else says a rate",
        );
    };
    require(
        asked,
        "transport.congestion_control",
        quoted(&scenario.transport.congestion_control),
        "\"rcp\" with the table switch.rcp: nothing else takes its rate",
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
    settings(rcp)
}

fn settings(rcp: &Rcp) -> Result<(), Problem> {
    for (key, gain) in [
        ("switch.rcp.alpha", rcp.alpha),
        ("switch.rcp.beta", rcp.beta),
    ] {
        let fits = gain.0 <= 100 * Share::ONE;
        require(fits, key, quoted(gain), "0 to 100 (10000%)")?;
    }
    for (key, time) in [
        ("switch.rcp.interval", rcp.interval),
        ("switch.rcp.round_trip", rcp.round_trip),
    ] {
        let fits = (1_000_000..=1_000_000_000_000).contains(&time.0);
        require(fits, key, quoted(time), "1us to 1s")?;
    }
    require(
        (1..Share::ONE).contains(&rcp.averaging.0),
        "switch.rcp.averaging",
        quoted(rcp.averaging),
        "above 0 and below 1",
    )?;
    require(
        rcp.round_trip_gain.0 <= Share::ONE,
        "switch.rcp.round_trip_gain",
        quoted(rcp.round_trip_gain),
        "0 to 1",
    )?;
    require(
        (1..=Share::ONE).contains(&rcp.initial.0),
        "switch.rcp.initial",
        quoted(rcp.initial),
        "above 0 and at most 1",
    )
}
