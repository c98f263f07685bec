//! QCN's reaction point as a congestion control (thesis 5.2.2), and without averaging QCN-AIMD (5.4.1):
//! the window is constant, packets leave at a rate, and notices of congestion points reduce it. Losses
//! are retransmitted as in TCP, at that rate. Rates bit/s, bytes on the wire, ps.

use hull_core::qcn_reaction_point::{self, Increase, ReactionPointConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback, Pace, Start};
use crate::network::rules::Notice;
use crate::problem::{MIN_RATE, Problem, quoted, rate, require};
use crate::transport::window::Window;
use crate::units::{Rate, Share, Size, Time};

/// QCN's reaction point in each source (thesis 5.2.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReactionPoint {
    /// Share by which one step of feedback reduces the rate (G_d).
    #[serde(default = "decrease")]
    pub decrease: Share,
    /// Increase per cycle of the target in Active Increase, and of the rate with QCN-AIMD (R_AI).
    #[serde(default = "increase")]
    pub increase: Rate,
    /// Bytes sent in a cycle.
    #[serde(default = "cycle")]
    pub cycle: Size,
    /// Cycles of Fast Recovery.
    #[serde(default = "recovery_cycles")]
    pub recovery_cycles: u32,
    /// Period of the timer; each period is a cycle too (remark 5.2). Unset: no timer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer: Option<Time>,
    /// Whether feedback leaves target and byte counter unchanged if no cycle has ended since the
    /// previous feedback (IEEE 802.1Qau, "extra fast recovery").
    #[serde(default)]
    pub extra_fast_recovery: bool,
    /// Whether a target above ten times the rate is divided by eight at the end of the first cycle
    /// after feedback (IEEE 802.1Qau, "target rate reduction").
    #[serde(default)]
    pub target_rate_reduction: bool,
    /// Hyper-active increase: added to the target, times the number of cycles that both byte
    /// counter and timer are beyond Fast Recovery (IEEE 802.1Qau: 50Mbps); needs a timer. Unset:
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hyper_increase: Option<Rate>,
    /// Initial rate of a source (default: the rate of its link).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rate: Option<Rate>,
    /// Smallest rate.
    #[serde(default = "min_rate")]
    pub min_rate: Rate,
    /// Rate limiters of a host, to which its flows are hashed; flows of a limiter share its rate and
    /// feedback (thesis 2.4, 5.1). Unset: one for each flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limiters: Option<u32>,
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
            rate_limiters: None,
        }
    }
}

impl ReactionPoint {
    /// Checks the settings, for hosts with this link.
    pub(crate) fn check(&self, link: Rate) -> Result<(), Problem> {
        require(
            (1..=Share::ONE).contains(&self.decrease.0),
            "transport.qcn.decrease",
            quoted(self.decrease),
            "above 0 and at most 1",
        )?;
        rate("transport.qcn.increase", self.increase)?;
        require(
            (1..=1_000_000_000).contains(&self.cycle.0),
            "transport.qcn.cycle",
            quoted(self.cycle),
            "1B to 1GB",
        )?;
        require(
            self.recovery_cycles <= 1000,
            "transport.qcn.recovery_cycles",
            self.recovery_cycles,
            "0 to 1000",
        )?;
        if let Some(timer) = self.timer {
            require(
                (1_000_000..=1_000_000_000_000).contains(&timer.0),
                "transport.qcn.timer",
                quoted(timer),
                "1us to 1s",
            )?;
        }
        if let Some(increase) = self.hyper_increase {
            rate("transport.qcn.hyper_increase", increase)?;
            require(
                self.timer.is_some(),
                "transport.qcn.hyper_increase",
                quoted(increase),
                "none without transport.qcn.timer, which counts its cycles too",
            )?;
        }
        if let Some(limiters) = self.rate_limiters {
            require(
                (1..=4096).contains(&limiters),
                "transport.qcn.rate_limiters",
                limiters,
                "1 to 4096",
            )?;
        }
        let least = self.min_rate;
        require(
            (MIN_RATE..=link).contains(&least),
            "transport.qcn.min_rate",
            quoted(least),
            &format!("1Mbps to host.rate, \"{link}\""),
        )?;
        let first = self.initial_rate.unwrap_or(link);
        require(
            (least..=link).contains(&first),
            "transport.qcn.initial_rate",
            quoted(first),
            &format!("from transport.qcn.min_rate to host.rate, \"{link}\""),
        )
    }
}

/// Rate limiter of one flow, or of all flows of a shared one.
#[derive(Clone, Debug)]
pub struct QcnControl(Box<Limiter>);

#[derive(Clone, Debug)]
struct Limiter {
    config: ReactionPointConfig,
    /// Initial rate, if it is not the rate of the source's link, bit/s.
    initial_rate_bps: Option<u64>,
    point: qcn_reaction_point::ReactionPoint,
}

impl QcnControl {
    /// Creates the control with these settings. It has the smallest rate until its flow starts.
    pub fn new(settings: &ReactionPoint, increase: Increase) -> Self {
        let config = ReactionPointConfig {
            line_rate_bps: settings.min_rate.0,
            initial_rate_bps: settings.min_rate.0,
            min_rate_bps: settings.min_rate.0,
            decrease: u32::try_from(settings.decrease.scaled(1 << 32)).unwrap_or(u32::MAX),
            increase_bps: settings.increase.0,
            cycle_bytes: settings.cycle.0 as u32,
            recovery_cycles: settings.recovery_cycles,
            timer_ps: settings.timer.map(|time| time.0),
            extra_fast_recovery: settings.extra_fast_recovery,
            target_rate_reduction: settings.target_rate_reduction,
            hyper_increase_bps: settings.hyper_increase.map(|rate| rate.0),
            increase,
        };
        QcnControl(Box::new(Limiter {
            point: qcn_reaction_point::ReactionPoint::new(&config, 0),
            config,
            initial_rate_bps: settings.initial_rate.map(|rate| rate.0),
        }))
    }
}

impl CongestionControl for QcnControl {
    fn on_start(&mut self, start: &Start) {
        let Limiter {
            config,
            initial_rate_bps,
            point,
        } = &mut *self.0;
        config.line_rate_bps = start.link_bps;
        config.initial_rate_bps = initial_rate_bps.unwrap_or(start.link_bps);
        *point = qcn_reaction_point::ReactionPoint::new(config, start.now_ps);
    }

    fn on_ack(&mut self, _window: &mut Window, _ack: &Feedback) -> bool {
        false
    }

    fn on_loss(&mut self, _window: &mut Window, _flight: u64) {}

    fn on_timeout(&mut self, _window: &mut Window, _flight: u64) {}

    fn on_notice(&mut self, now_ps: u64, steps: Notice) {
        self.0.point.on_feedback(now_ps, steps);
    }

    fn sets_pace(&self) -> bool {
        true
    }

    fn pace(&self) -> Pace {
        Pace::Bps(self.0.point.rate_bps())
    }

    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        self.0.point.on_timer(now_ps);
        let pace = self.pace();
        self.0.point.on_sent(u32::from(wire_bytes));
        pace
    }

    /// A rate limiter sends the next packet once the last one has had its time at the rate.
    fn adjusts_gap(&self) -> bool {
        false
    }

    fn holds_window(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A notice of 64 of 128 steps halves the rate, from the gap behind the next packet.
    #[test]
    fn feedback_reduces_the_rate_of_the_next_gap() {
        let link = Rate(10_000_000_000);
        let mut control = QcnControl::new(&ReactionPoint::default(), Increase::Averaging);
        control.on_start(&Start {
            now_ps: 1_000_000,
            link_bps: link.0,
            flow: 0,
        });
        assert_eq!(control.on_sent(1_000_000, 1500), Pace::Bps(10_000_000_000));
        control.on_notice(1_500_000, 64);
        assert_eq!(control.pace(), Pace::Bps(5_000_000_000));
        assert_eq!(control.on_sent(2_200_000, 1500), Pace::Bps(5_000_000_000));
        assert!(!control.adjusts_gap());
    }

    /// A source starts at the rate of its own link, and never exceeds it.
    #[test]
    fn each_source_starts_at_the_rate_of_its_own_link() {
        for (initial_bps, link_bps, expected_bps) in [
            (None, 1_000_000_000, 1_000_000_000),
            (None, 40_000_000_000, 40_000_000_000),
            (Some(10_000_000_000), 1_000_000_000, 1_000_000_000),
            (Some(500_000_000), 1_000_000_000, 500_000_000),
        ] {
            let settings = ReactionPoint {
                initial_rate: initial_bps.map(Rate),
                ..ReactionPoint::default()
            };
            let mut control = QcnControl::new(&settings, Increase::Additive);
            control.on_start(&Start {
                now_ps: 0,
                link_bps,
                flow: 0,
            });
            assert_eq!(control.pace(), Pace::Bps(expected_bps));
        }
    }
}
