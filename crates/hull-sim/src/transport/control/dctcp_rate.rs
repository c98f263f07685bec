//! Rate-based DCTCP ([`hull_core::dctcp_rate`]): the rate of each connection, and the window that
//! follows it, react to the marked share once per window of data. Bit/s, bytes on the wire, ps.

use std::sync::Arc;

use hull_core::dctcp_rate::{DctcpRate, DctcpRateConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nic_rate::{self, RateWindow};
use super::{CongestionControl, Feedback, LostPacket, Pace, Path};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::{RelativeRate, Share};

/// Parameters of rate-based DCTCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DctcpRateSettings {
    /// Weight of a window's marked share in alpha (g).
    pub gain: Share,
    /// Increase after a window without a cut, a rate or a share of the link's. Unset: the payload of a packet
    /// per unloaded round trip (HPCC's simulator: 615Mbps, a packet of 1000 bytes in 13 us).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive: Option<RelativeRate>,
    /// Smallest rate, or share of the link's. Unset: 1/100 of the link, 1 Gbps at 100 Gbps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<RelativeRate>,
    /// Whether bytes in flight are limited to what the rate carries in the unloaded round trip.
    pub window: bool,
}

impl Default for DctcpRateSettings {
    fn default() -> Self {
        DctcpRateSettings {
            gain: Share(Share::ONE / 16),
            additive: None,
            min_rate: None,
            window: true,
        }
    }
}

impl DctcpRateSettings {
    /// Whether no key is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == DctcpRateSettings::default()
    }

    /// Checks each key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            (1..=Share::ONE).contains(&self.gain.0),
            "transport.dctcp_rate.gain",
            quoted(self.gain),
            "more than 0% to 100%",
        )?;
        nic_rate::check("transport.dctcp_rate.additive", self.additive)?;
        nic_rate::check("transport.dctcp_rate.min_rate", self.min_rate)
    }

    /// Settings of the algorithm on a path.
    fn config(&self, path: &Path) -> DctcpRateConfig {
        let additive_bps = match self.additive {
            Some(_) => nic_rate::of(self.additive, path, 1),
            None => {
                let bits_ps = u128::from(path.mss_bytes()) * 8_000_000_000_000;
                let rate_bps = bits_ps / u128::from(path.rtt_ps.max(1));
                rate_bps.min(u128::from(path.link_bps)) as u64
            }
        };
        DctcpRateConfig {
            line_rate_bps: path.link_bps,
            min_rate_bps: nic_rate::of(self.min_rate, path, 100),
            additive_bps,
            gain: self.gain.value(),
            packet_bytes: u64::from(path.mtu_bytes),
        }
    }
}

/// What the connections of a path share.
#[derive(Debug)]
struct Shared {
    config: DctcpRateConfig,
    /// Path whose window limits a flow.
    window: Option<Path>,
}

/// State of one connection.
#[derive(Clone, Debug)]
pub struct DctcpRateControl {
    shared: Arc<Shared>,
    state: DctcpRate,
    window: RateWindow,
}

impl DctcpRateControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &DctcpRateSettings) -> Self {
        let shared = Shared {
            config: settings.config(path),
            window: settings.window.then_some(*path),
        };
        let state = DctcpRate::new(&shared.config);
        DctcpRateControl {
            window: RateWindow::new(shared.window.as_ref(), state.rate_bps()),
            shared: Arc::new(shared),
            state,
        }
    }
}

impl CongestionControl for DctcpRateControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        let Shared { config, window } = &*self.shared;
        let bytes = (ack.una, ack.nxt);
        self.state.on_ack(config, bytes, ack.acked, ack.echo.marked);
        self.window.follow(window.as_ref(), self.state.rate_bps());
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

    fn alpha(&self) -> Option<f64> {
        Some(self.state.alpha())
    }
}

#[cfg(test)]
mod tests {
    use hull_core::telemetry::Fields;

    use super::super::RoundTripLine;
    use super::*;

    /// 1000 bytes in 13 us are 615.4 Mbps (HPCC's simulator takes 615); a set value stays.
    #[test]
    fn increase_is_a_packet_per_round_trip() {
        let path = Path {
            link_bps: 100_000_000_000,
            rtt_ps: 13_000_000,
            near_rtt_ps: 13_000_000,
            mtu_bytes: 1048,
            header_bytes: 48,
            trims: false,
            fields: Fields::Exact,
            links: 0,
            unloaded: RoundTripLine::constant(13_000_000),
            initial_window_bytes: None,
        };
        let settings = DctcpRateSettings::default();
        let config = settings.config(&path);
        assert_eq!(config.additive_bps, 615_384_615);
        assert_eq!((config.min_rate_bps, config.gain), (1_000_000_000, 0.0625));
        let additive = Some(RelativeRate::Share(Share(Share::ONE / 50)));
        let set = DctcpRateSettings {
            additive,
            ..settings
        };
        assert_eq!(set.config(&path).additive_bps, 2_000_000_000);
        let flow = DctcpRateControl::new(&path, &set);
        assert_eq!(flow.own_window_bytes(), Some(163 * 1048));
    }

    #[test]
    fn invalid_settings() {
        let none = DctcpRateSettings::default;
        let zero = Some(RelativeRate::Share(Share(0)));
        for (settings, told) in [
            (
                DctcpRateSettings {
                    gain: Share(0),
                    ..none()
                },
                "gain: \"0%\" is invalid",
            ),
            (
                DctcpRateSettings {
                    additive: zero,
                    ..none()
                },
                "additive: \"0%\" is invalid",
            ),
            (
                DctcpRateSettings {
                    min_rate: zero,
                    ..none()
                },
                "min_rate: \"0%\" is invalid",
            ),
        ] {
            let problem = settings.check().expect_err(told).to_string();
            assert!(problem.contains(told), "{problem}");
        }
        assert!(none().check().is_ok());
    }
}
