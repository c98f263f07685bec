//! QCN (thesis 5.2): the congestion point of switches and the reaction point of sources.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{MIN_RATE, Problem, need, quoted, rate, require};
use super::{CongestionControl, Scenario};
use crate::units::{Rate, Share, Size, Time};

/// QCN's congestion point at each port (thesis 5.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CongestionPoint {
    /// Queue that it aims at (Q_eq): 22 packets in the thesis.
    #[serde(default = "equilibrium")]
    pub equilibrium: Size,
    /// Weight w of the queue's change since the last sample.
    #[serde(default = "weight")]
    pub weight: Share,
    /// Share of the data packets that are sampled (p_s), at random, unless `interval` is given.
    #[serde(default = "sampling")]
    pub sampling: Share,
    /// Bytes between two samples, give or take 15% (IEEE 802.1Qau: 150KB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Size>,
    /// What one of the 63 steps of the feedback stands for; 1500B is a packet, as in the fluid model.
    #[serde(default = "step")]
    pub step: Size,
    /// What becomes of a part of a step.
    #[serde(default)]
    pub rounding: QcnRounding,
    /// Whether congestion makes samples more frequent, up to eight times at the largest feedback
    /// (IEEE 802.1Qau).
    #[serde(default)]
    pub adaptive: bool,
}

/// What becomes of a part of a step of QCN's feedback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum QcnRounding {
    /// It counts as a step: all congestion is told.
    #[default]
    Up,
    /// It is dropped: less than a step is not told (IEEE 802.1Qau).
    Down,
}

/// QCN's reaction point in each source (thesis 5.2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactionPoint {
    /// Share of the rate that one step of feedback takes (G_d).
    #[serde(default = "decrease")]
    pub decrease: Share,
    /// What Active Increase adds to the target in each cycle, QCN-AIMD to the rate (R_AI).
    #[serde(default = "increase")]
    pub increase: Rate,
    /// Bytes sent in a cycle.
    #[serde(default = "cycle")]
    pub cycle: Size,
    /// Cycles of Fast Recovery.
    #[serde(default = "recovery_cycles")]
    pub recovery_cycles: u32,
    /// Period of the timer, each of which is a cycle too (remark 5.2); without it there is no timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Time>,
    /// Whether feedback leaves target and byte counter as they are when no cycle has ended since the
    /// feedback before it (IEEE 802.1Qau, "extra fast recovery").
    #[serde(default)]
    pub extra_fast_recovery: bool,
    /// Whether a target above ten times the rate becomes an eighth of itself at the end of the first cycle
    /// after feedback (IEEE 802.1Qau, "target rate reduction").
    #[serde(default)]
    pub target_rate_reduction: bool,
    /// What hyper-active increase adds to the target, times the number of cycles that both the byte counter
    /// and the timer are beyond Fast Recovery (IEEE 802.1Qau: 50Mbps); needs a timer. Without it there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Rate>,
    /// Rate at which a source starts; without it, the rate of its link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<Rate>,
    /// Smallest rate.
    #[serde(default = "min_rate")]
    pub min_rate: Rate,
}

const fn equilibrium() -> Size {
    Size(33_000)
}
const fn weight() -> Share {
    Share(2 * Share::ONE)
}
const fn sampling() -> Share {
    Share(Share::ONE / 100)
}
const fn step() -> Size {
    Size(1500)
}
const fn decrease() -> Share {
    Share(Share::ONE / 128)
}
const fn increase() -> Rate {
    Rate(5_000_000)
}
const fn cycle() -> Size {
    Size(150_000)
}
const fn recovery_cycles() -> u32 {
    5
}
const fn min_rate() -> Rate {
    Rate(10_000_000)
}

impl Default for ReactionPoint {
    fn default() -> Self {
        ReactionPoint {
            decrease: decrease(),
            increase: increase(),
            cycle: cycle(),
            recovery_cycles: recovery_cycles(),
            timer: None,
            extra_fast_recovery: false,
            target_rate_reduction: false,
            hyper_increase: None,
            initial_rate: None,
            min_rate: min_rate(),
        }
    }
}

/// Checks QCN's settings, and that what it needs is there and nothing that it cannot be with.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let control = &s.transport.congestion_control;
    let sources = control.is_qcn();
    if let Some(point) = &s.switch.qcn {
        check_congestion_point(point)?;
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
    check_reaction_point(&s.transport.qcn, s.host.rate)?;
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

fn check_congestion_point(point: &CongestionPoint) -> Result<(), Problem> {
    let interval = point.interval.unwrap_or(Size(1));
    for (key, size, least) in [
        ("switch.qcn.equilibrium", point.equilibrium, 0),
        ("switch.qcn.step", point.step, 1),
        ("switch.qcn.interval", interval, 1),
    ] {
        require(
            (least..=1_000_000_000).contains(&size.0),
            key,
            quoted(size),
            &format!("{least}B to 1GB"),
        )?;
    }
    require(
        point.weight.0 <= 1000 * Share::ONE,
        "switch.qcn.weight",
        quoted(point.weight),
        "0 to 1000",
    )?;
    require(
        (1..=Share::ONE).contains(&point.sampling.0),
        "switch.qcn.sampling",
        quoted(point.sampling),
        "above 0 and at most 1",
    )
}

fn check_reaction_point(point: &ReactionPoint, link: Rate) -> Result<(), Problem> {
    require(
        (1..=Share::ONE).contains(&point.decrease.0),
        "transport.qcn.decrease",
        quoted(point.decrease),
        "above 0 and at most 1",
    )?;
    rate("transport.qcn.increase", point.increase)?;
    require(
        (1..=1_000_000_000).contains(&point.cycle.0),
        "transport.qcn.cycle",
        quoted(point.cycle),
        "1B to 1GB",
    )?;
    require(
        point.recovery_cycles <= 1000,
        "transport.qcn.recovery_cycles",
        point.recovery_cycles,
        "0 to 1000",
    )?;
    if let Some(timer) = point.timer {
        require(
            (1_000_000..=1_000_000_000_000).contains(&timer.0),
            "transport.qcn.timer",
            quoted(timer),
            "1us to 1s",
        )?;
    }
    if let Some(increase) = point.hyper_increase {
        rate("transport.qcn.hyper_increase", increase)?;
        require(
            point.timer.is_some(),
            "transport.qcn.hyper_increase",
            quoted(increase),
            "none without transport.qcn.timer, which counts its cycles too",
        )?;
    }
    let least = point.min_rate;
    require(
        (MIN_RATE..=link).contains(&least),
        "transport.qcn.min_rate",
        quoted(least),
        &format!("1Mbps to host.rate, \"{link}\""),
    )?;
    let first = point.initial_rate.unwrap_or(link);
    require(
        (least..=link).contains(&first),
        "transport.qcn.initial_rate",
        quoted(first),
        &format!("from transport.qcn.min_rate to host.rate, \"{link}\""),
    )
}
