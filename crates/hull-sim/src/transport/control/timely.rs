//! TIMELY ([`hull_core::timely`]): the rate of each connection follows the gradient of its round trips.
//! Bit/s, bytes on the wire, ps.

use std::sync::Arc;

use hull_core::timely::{Timely, TimelyConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nic_rate::{self, RateWindow};
use super::{CongestionControl, Feedback, LostPacket, Pace, Path};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::{RelativeRate, Share, Time};

/// TIMELY's parameters; the defaults are from HPCC's simulator (9f4be2a).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TimelySettings {
    /// Weight of a new difference of round trips in the gradient.
    pub weight: Share,
    /// Strength of a decrease.
    pub beta: Share,
    /// Round trip below which the rate increases (T_low).
    pub low: Time,
    /// Round trip above which the rate decreases (T_high).
    pub high: Time,
    /// Round trip that the gradient is divided by.
    pub min_rtt: Time,
    /// Increase in a round trip, a rate or a share of the link's. Unset: 1/1000 of the link, 100 Mbps at 100
    /// Gbps (paper: 10Mbps at 10 Gbps).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive: Option<RelativeRate>,
    /// Increase after hyper_after increases in a row. Unset: 1/200 of the link, five times the default of
    /// additive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper: Option<RelativeRate>,
    /// Increases in a row before those by hyper (N).
    pub hyper_after: u32,
    /// Whether increases below low count among them (HPCC's simulator); false: those by the gradient only
    /// (paper).
    pub counts_low: bool,
    /// Smallest rate, or share of the link's. Unset: 1/100 of the link, 1 Gbps at 100 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<RelativeRate>,
    /// Whether bytes in flight are limited to what the rate carries in the unloaded round trip.
    pub window: bool,
}

const US: u64 = 1_000_000;

impl Default for TimelySettings {
    fn default() -> Self {
        TimelySettings {
            weight: Share(Share::ONE / 1000 * 875),
            beta: Share(Share::ONE / 10 * 8),
            low: Time(50 * US),
            high: Time(500 * US),
            min_rtt: Time(20 * US),
            additive: None,
            hyper: None,
            hyper_after: 5,
            counts_low: true,
            min_rate: None,
            window: false,
        }
    }
}

impl TimelySettings {
    /// Whether no key is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == TimelySettings::default()
    }

    /// Checks each key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let key = |name: &str| format!("transport.timely.{name}");
        for (name, share) in [("weight", self.weight), ("beta", self.beta)] {
            let fits = (1..=Share::ONE).contains(&share.0);
            require(fits, &key(name), quoted(share), "more than 0% to 100%")?;
        }
        let second = Time(1_000_000 * US);
        for (name, time) in [("high", self.high), ("min_rtt", self.min_rtt)] {
            let fits = (Time(100_000)..=second).contains(&time);
            require(fits, &key(name), quoted(time), "100ns to 1s")?;
        }
        require(
            self.low <= self.high,
            &key("low"),
            quoted(self.low),
            "at most transport.timely.high",
        )?;
        let after = self.hyper_after;
        require(after <= 1000, &key("hyper_after"), after, "0 to 1000")?;
        nic_rate::check(&key("additive"), self.additive)?;
        nic_rate::check(&key("hyper"), self.hyper)?;
        nic_rate::check(&key("min_rate"), self.min_rate)
    }

    /// Settings of the algorithm on a path.
    fn config(&self, path: &Path) -> TimelyConfig {
        TimelyConfig {
            line_rate_bps: path.link_bps,
            min_rate_bps: nic_rate::of(self.min_rate, path, 100),
            additive_bps: nic_rate::of(self.additive, path, 1000),
            hyper_bps: nic_rate::of(self.hyper, path, 200),
            hyper_after: self.hyper_after,
            counts_low: self.counts_low,
            weight: self.weight.value(),
            beta: self.beta.value(),
            low_ps: self.low.0,
            high_ps: self.high.0,
            min_rtt_ps: self.min_rtt.0,
        }
    }
}

/// What the connections of a path share.
#[derive(Debug)]
struct Shared {
    config: TimelyConfig,
    /// Path whose window limits a flow.
    window: Option<Path>,
}

/// State of one connection.
#[derive(Clone, Debug)]
pub struct TimelyControl {
    shared: Arc<Shared>,
    state: Timely,
    window: RateWindow,
}

impl TimelyControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &TimelySettings) -> Self {
        let shared = Shared {
            config: settings.config(path),
            window: settings.window.then_some(*path),
        };
        let state = Timely::new(&shared.config);
        TimelyControl {
            window: RateWindow::new(shared.window.as_ref(), state.rate_bps()),
            shared: Arc::new(shared),
            state,
        }
    }
}

impl CongestionControl for TimelyControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        if let Some(rtt_ps) = ack.rtt_ps {
            let Shared { config, window } = &*self.shared;
            self.state.on_ack(config, ack.una, ack.nxt, rtt_ps);
            self.window.follow(window.as_ref(), self.state.rate_bps());
        }
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    fn sets_pace(&self) -> bool {
        true
    }

    #[inline]
    fn pace(&self) -> Pace {
        Pace::Bps(self.state.rate_bps())
    }

    fn adjusts_gap(&self) -> bool {
        false
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        Some(self.window.bytes())
    }
}

#[cfg(test)]
mod tests {
    use hull_core::telemetry::Fields;

    use super::super::RoundTripLine;
    use super::*;

    /// The values of the recorded runs at 100 Gbps.
    #[test]
    fn steps_follow_the_link() {
        let path = Path {
            link_bps: 100_000_000_000,
            rtt_ps: 4_160_000,
            near_rtt_ps: 4_160_000,
            mtu_bytes: 1056,
            header_bytes: 56,
            trims: false,
            fields: Fields::Exact,
            links: 0,
            unloaded: RoundTripLine::constant(4_160_000),
            initial_window_bytes: None,
        };
        let config = TimelySettings::default().config(&path);
        assert_eq!((config.weight, config.beta), (0.875, 0.8));
        let rates = [config.min_rate_bps, config.additive_bps, config.hyper_bps];
        assert_eq!(rates, [1_000_000_000, 100_000_000, 500_000_000]);
        let window = true;
        let flow = |settings| TimelyControl::new(&path, &settings).own_window_bytes();
        assert_eq!(flow(TimelySettings::default()), Some(u64::MAX));
        let with = TimelySettings {
            window,
            ..TimelySettings::default()
        };
        assert_eq!(flow(with), Some(52 * 1056));
    }

    #[test]
    fn invalid_settings() {
        let none = TimelySettings::default;
        for (settings, told) in [
            (
                TimelySettings {
                    weight: Share(0),
                    ..none()
                },
                "weight: \"0%\" is invalid",
            ),
            (
                TimelySettings {
                    low: Time(501 * US),
                    ..none()
                },
                "low: \"501us\" is invalid",
            ),
            (
                TimelySettings {
                    min_rtt: Time(0),
                    ..none()
                },
                "min_rtt: \"0ps\" is invalid",
            ),
            (
                TimelySettings {
                    hyper_after: 1001,
                    ..none()
                },
                "hyper_after: 1001 is invalid",
            ),
        ] {
            let problem = settings.check().expect_err(told).to_string();
            assert!(problem.contains(told), "{problem}");
        }
        assert!(none().check().is_ok());
    }
}
