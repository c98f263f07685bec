//! PowerTCP and theta-PowerTCP ([`hull_core::powertcp`]): a rate and a window from telemetry, or from round
//! trips. Their windows count payload; ps.

use std::sync::Arc;

use hull_core::powertcp::{
    PowerConfig, PowerTcp, PowerTcpConfig, ThetaPowerTcp, ThetaPowerTcpConfig,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hpcc::{check_rate, least_rate_bps};
use super::{Answer, CongestionControl, Feedback, InBand, LostPacket, Pace, Path};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::{Rate, Share};

/// Increase per round trip, as a divisor of the link's rate: 150 Mbps at 25 Gbps is 6 in 1000.
const INCREASE: (u64, u64) = (6, 1000);

/// Parameters of PowerTCP and theta-PowerTCP (NSDI 2022); defaults as in their authors' simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerTcpSettings {
    /// Target of PowerTCP's power (the paper has 100%).
    #[serde(default = "eta")]
    pub eta: Share,
    /// Weight of a new rate. Unset: 90%, and 70% in theta-PowerTCP.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gamma: Option<Share>,
    /// Additive increase. Unset: 0.6% of the sender's link, 150 Mbps at 25 Gbps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_ai: Option<Rate>,
    /// Smallest current, as a share of a link's rate (the paper has none: 0%).
    #[serde(default = "min_gradient")]
    pub min_gradient: Share,
    /// Share of the smallest round trip that theta-PowerTCP allows without a reduction (the paper has 0%).
    #[serde(default = "slack")]
    pub delay_slack: Share,
    /// Smallest rate. Unset: 1% of the sender's link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<Rate>,
    /// Whether each ACK changes the rate (fast reaction), not only the first of a round trip.
    #[serde(default = "yes")]
    pub fast_react: bool,
}

const fn eta() -> Share {
    Share(Share::ONE / 100 * 95)
}
const fn min_gradient() -> Share {
    Share(Share::ONE / 2)
}
const fn slack() -> Share {
    Share(Share::ONE / 100 * 5)
}
const fn yes() -> bool {
    true
}

impl Default for PowerTcpSettings {
    fn default() -> Self {
        PowerTcpSettings {
            eta: eta(),
            gamma: None,
            rate_ai: None,
            min_gradient: min_gradient(),
            delay_slack: slack(),
            min_rate: None,
            fast_react: yes(),
        }
    }
}

impl PowerTcpSettings {
    /// Whether all keys have their defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == PowerTcpSettings::default()
    }

    /// Checks each key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        for (key, share) in [("eta", Some(self.eta)), ("gamma", self.gamma)] {
            require(
                share.is_none_or(|share| share.0 > 0 && share.0 <= Share::ONE),
                &format!("transport.powertcp.{key}"),
                quoted(share.unwrap_or_default()),
                "more than 0% to 100%",
            )?;
        }
        for (key, share) in [
            ("min_gradient", self.min_gradient),
            ("delay_slack", self.delay_slack),
        ] {
            require(
                share.0 <= Share::ONE,
                &format!("transport.powertcp.{key}"),
                quoted(share),
                "0% to 100%",
            )?;
        }
        check_rate("transport.powertcp.rate_ai", self.rate_ai)?;
        check_rate("transport.powertcp.min_rate", self.min_rate)
    }

    /// Settings of a flow over this path, with this default of gamma.
    fn common(&self, path: &Path, gamma: Share) -> PowerConfig {
        let (of, whole) = INCREASE;
        let additive_bps = self
            .rate_ai
            .map_or(path.link_bps / whole * of, |rate| rate.0);
        PowerConfig {
            link_bps: path.link_bps,
            base_rtt_ps: path.rtt_ps.max(1),
            gamma: self.gamma.unwrap_or(gamma).value(),
            additive_bps: additive_bps as f64,
            min_gradient: self.min_gradient.value(),
            min_rate_bps: least_rate_bps(path, self.min_rate),
            reacts_per_ack: self.fast_react,
        }
    }
}

/// Settings that all flows over a path share.
#[derive(Debug)]
struct Shared<C> {
    config: C,
    path: Path,
}

/// PowerTCP state of one connection. Rate and window are beside the rest, which only ACKs need.
#[derive(Clone, Debug)]
pub struct PowerTcpControl {
    rate_bps: u64,
    window_bytes: u64,
    state: Box<PowerTcp>,
    shared: Arc<Shared<PowerTcpConfig>>,
}

impl PowerTcpControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &PowerTcpSettings) -> Self {
        let config = PowerTcpConfig {
            common: settings.common(path, Share(Share::ONE / 10 * 9)),
            eta: settings.eta.value(),
            fields: path.fields,
        };
        let mut control = PowerTcpControl {
            rate_bps: 0,
            window_bytes: 0,
            state: Box::new(PowerTcp::new(&config)),
            shared: Arc::new(Shared {
                config,
                path: *path,
            }),
        };
        control.take_rate();
        control
    }

    fn take_rate(&mut self) {
        let Shared { config, path } = &*self.shared;
        self.rate_bps = self.state.rate_bps() as u64;
        let payload_bytes = self.state.window_bytes(config) as u64;
        self.window_bytes = path.whole_packets_bytes(payload_bytes);
    }
}

impl CongestionControl for PowerTcpControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        if let Answer::Telemetry(records) = ack.echo.answer
            && (self.state).on_ack(&self.shared.config, ack.una, ack.nxt, records)
        {
            self.take_rate();
        }
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    fn sets_pace(&self) -> bool {
        true
    }

    #[inline]
    fn pace(&self) -> Pace {
        Pace::Bps(self.rate_bps)
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        Some(self.window_bytes)
    }

    fn ask(&self, _srtt_ps: u64) -> InBand {
        InBand::Telemetry
    }
}

/// theta-PowerTCP state of one connection.
#[derive(Clone, Debug)]
pub struct ThetaPowerTcpControl {
    rate_bps: u64,
    window_bytes: u64,
    state: ThetaPowerTcp,
    shared: Arc<Shared<ThetaPowerTcpConfig>>,
}

impl ThetaPowerTcpControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &PowerTcpSettings) -> Self {
        let config = ThetaPowerTcpConfig {
            common: settings.common(path, Share(Share::ONE / 10 * 7)),
            slack: settings.delay_slack.value(),
        };
        let mut control = ThetaPowerTcpControl {
            rate_bps: 0,
            window_bytes: 0,
            state: ThetaPowerTcp::new(&config),
            shared: Arc::new(Shared {
                config,
                path: *path,
            }),
        };
        control.take_rate();
        control
    }

    fn take_rate(&mut self) {
        self.rate_bps = self.state.rate_bps() as u64;
        let payload_bytes = self.state.window_bytes() as u64;
        self.window_bytes = self.shared.path.whole_packets_bytes(payload_bytes);
    }
}

impl CongestionControl for ThetaPowerTcpControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        let config = &self.shared.config;
        if let Some(rtt_ps) = ack.rtt_ps
            && (self.state).on_ack(config, ack.now_ps, ack.una, ack.nxt, rtt_ps)
        {
            self.take_rate();
        }
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    fn sets_pace(&self) -> bool {
        true
    }

    #[inline]
    fn pace(&self) -> Pace {
        Pace::Bps(self.rate_bps)
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        Some(self.window_bytes)
    }
}
