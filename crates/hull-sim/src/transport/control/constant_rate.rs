//! Traffic without congestion control, as of UDP: packets of the full size leave at a constant rate, alone
//! or in trains (frames of a video). Nothing is acknowledged or sent again, and neither loss nor marks
//! change the rate. It models the competing traffic of heistp/l4s-tests at e21cd91, "Underutilization
//! with Bursty Traffic".
//!
//! Rates are bit/s of packets with their headers, without framing. The last packet of a train of n is
//! followed by a gap at rate / n in whole bit/s.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback, Pace};
use crate::problem::{Problem, need, quoted, require};
use crate::transport::receiver::EchoKind;
use crate::transport::window::Window;
use crate::units::Rate;

/// Parameters of traffic without congestion control.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConstantRate {
    /// Rate of each flow, headers included; required with congestion_control = "constant_rate".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Packets per train, back to back at the rate of the host; the trains keep the rate on average.
    #[serde(default = "one")]
    pub burst: u32,
    /// Whether its packets carry ECT(1), so that L4S queues take them; false: ECT(0). Requires
    /// transport.ecn.
    #[serde(default)]
    pub l4s: bool,
}

const fn one() -> u32 {
    1
}

impl Default for ConstantRate {
    fn default() -> Self {
        ConstantRate {
            rate: None,
            burst: one(),
            l4s: false,
        }
    }
}

impl ConstantRate {
    /// Whether no key is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == ConstantRate::default()
    }

    /// Checks the settings of a transport that uses them, or not, and may send ECT.
    pub(crate) fn check(&self, is_used: bool, ecn: bool) -> Result<(), Problem> {
        let key = |name: &str| format!("transport.constant_rate.{name}");
        need(
            !is_used || self.rate.is_some(),
            &key("rate"),
            "no rate",
            "a rate, such as \"2Mbps\"",
        )?;
        if let Some(rate) = self.rate {
            require(
                rate >= Rate(1000),
                &key("rate"),
                quoted(rate),
                "a rate of at least 1kbps",
            )?;
        }
        require(
            (1..=1000).contains(&self.burst),
            &key("burst"),
            self.burst,
            "1 to 1000 packets",
        )?;
        require(
            ecn || !self.l4s,
            &key("l4s"),
            self.l4s,
            "false without transport.ecn = true",
        )
    }
}

/// The state of one flow.
#[derive(Clone, Debug)]
pub struct ConstantRateControl {
    between_trains: Pace,
    burst: u32,
    /// Packets of the current train that have left.
    sent: u32,
    l4s: bool,
}

impl ConstantRateControl {
    /// The source of a flow that has sent nothing.
    pub fn new(settings: &ConstantRate) -> Self {
        let rate_bps = settings.rate.map_or(0, |rate| rate.0);
        ConstantRateControl {
            between_trains: Pace::Bps(rate_bps / u64::from(settings.burst)),
            burst: settings.burst,
            sent: 0,
            l4s: settings.l4s,
        }
    }
}

impl CongestionControl for ConstantRateControl {
    fn on_ack(&mut self, _window: &mut Window, _ack: &Feedback) -> bool {
        false // no acknowledgment comes
    }

    fn sets_pace(&self) -> bool {
        true
    }

    fn on_sent(&mut self, _now_ps: u64, _wire_bytes: u16) -> Pace {
        self.sent += 1;
        if self.sent < self.burst {
            return Pace::Window;
        }
        self.sent = 0;
        self.between_trains
    }

    fn adjusts_gap(&self) -> bool {
        false
    }

    fn echo(&self) -> EchoKind {
        EchoKind::Silent
    }

    fn is_l4s(&self) -> bool {
        self.l4s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Trains of three at 3 Mbps leave back to back, and a gap of three packets' time follows each.
    #[test]
    fn a_train_keeps_the_rate_on_average() {
        let mut source = ConstantRateControl::new(&ConstantRate {
            rate: Some(Rate(3_000_000)),
            burst: 3,
            l4s: false,
        });
        let train = [Pace::Window, Pace::Window, Pace::Bps(1_000_000)];
        for _ in 0..2 {
            assert_eq!([0; 3].map(|now_ps| source.on_sent(now_ps, 1500)), train);
        }
    }

    #[test]
    fn invalid_settings() {
        let rate = Some(Rate(1_000_000));
        let cases = [
            (None, 1, false, false, "rate: found no rate"),
            (
                Some(Rate(999)),
                1,
                false,
                false,
                "rate: \"999bps\" is invalid",
            ),
            (rate, 0, false, false, "burst: 0 is invalid"),
            (rate, 1001, false, false, "burst: 1001 is invalid"),
            (rate, 1, true, false, "l4s: true is invalid"),
        ];
        for (rate, burst, l4s, ecn, told) in cases {
            let settings = ConstantRate { rate, burst, l4s };
            let problem = settings.check(true, ecn).expect_err(told).to_string();
            assert!(problem.contains(told), "{problem}");
        }
        assert!(ConstantRate::default().check(false, false).is_ok());
    }
}
