//! HPCC ([`hull_core::hpcc`]): a rate and a window from telemetry. Its window counts payload; ps.

use std::sync::Arc;

use hull_core::hpcc::{Controlled, Hpcc, HpccAck, HpccConfig, HpccConstants};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback, LostPacket, Pace, Path};
use crate::network::{Answer, InBand};
use crate::prefetch::prefetch_lines;
use crate::problem::{Problem, need, quoted, require};
use crate::transport::window::Window;
use crate::units::{Rate, Share, Size};

/// Increase of the rate, as a divisor of the link's rate: 10 Mbps at 25 Gbps.
const RATE_OVER_INCREASE: u64 = 2500;
/// Smallest rate, as a divisor of the link's.
const RATE_OVER_LEAST: u64 = 100;
/// Number of flows for which the increase of the window is sized.
const FLOWS: f64 = 100.0;

/// HPCC's parameters (SIGCOMM 2019); defaults as in its authors' simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HpccSettings {
    /// Value that HPCC controls.
    #[serde(default)]
    pub form: HpccForm,
    /// Target utilization of the busiest link.
    #[serde(default = "eta")]
    pub eta: Share,
    /// Number of round trips below the target with additive increase only, before an increase to the target
    /// (maxStage; the paper has 5, the authors' runs 0).
    #[serde(default)]
    pub max_stage: u32,
    /// Additive increase with form = "rate". Unset: the rate of the sender's link over 2500, 10 Mbps at 25 Gbps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_ai: Option<Rate>,
    /// Additive increase with form = "window" (W_AI). Unset: what the sender's link carries in a round trip, times (1
    /// - eta) / 100, for up to 100 flows without a queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub w_ai: Option<Size>,
    /// Smallest rate. Unset: 1% of the sender's link (the authors' runs: 1 Gbps at all rates).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<Rate>,
    /// Whether each ACK changes the rate (fast reaction), not only the first of a round trip.
    #[serde(default = "yes")]
    pub fast_react: bool,
    /// Window at the rate of the sender's link, in payload; form = "rate" also weights queues by it. Unset: what the
    /// link carries in a round trip. The authors' code takes the largest product of round trip and slowest
    /// link among all pairs of hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Size>,
}

/// Value that HPCC controls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HpccForm {
    /// The rate, as in the authors' simulator; the window is what the rate carries in a round trip.
    #[default]
    Rate,
    /// The window, as in the paper; the rate is the window over the round trip.
    Window,
}

const fn eta() -> Share {
    Share(Share::ONE / 100 * 95)
}
const fn yes() -> bool {
    true
}

impl Default for HpccSettings {
    fn default() -> Self {
        HpccSettings {
            form: HpccForm::default(),
            eta: eta(),
            max_stage: 0,
            rate_ai: None,
            w_ai: None,
            min_rate: None,
            fast_react: yes(),
            window: None,
        }
    }
}

impl HpccSettings {
    /// Whether all keys have their defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == HpccSettings::default()
    }

    /// Checks each key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            self.eta.0 > 0 && self.eta.0 <= Share::ONE,
            "transport.hpcc.eta",
            quoted(self.eta),
            "more than 0% to 100%",
        )?;
        require(
            self.max_stage <= 1000,
            "transport.hpcc.max_stage",
            self.max_stage,
            "0 to 1000 round trips",
        )?;
        for (key, is_set, form, other) in [
            ("rate_ai", self.rate_ai.is_some(), HpccForm::Window, "rate"),
            ("w_ai", self.w_ai.is_some(), HpccForm::Rate, "window"),
        ] {
            need(
                !is_set || self.form != form,
                &format!("transport.hpcc.{key}"),
                "a value",
                &format!("no such key without transport.hpcc.form = \"{other}\""),
            )?;
        }
        check_rate("transport.hpcc.rate_ai", self.rate_ai)?;
        check_rate("transport.hpcc.min_rate", self.min_rate)?;
        check_bytes("transport.hpcc.w_ai", self.w_ai)?;
        check_bytes("transport.hpcc.window", self.window)
    }

    /// Settings of a flow over this path.
    fn config(&self, path: &Path) -> HpccConfig {
        let bdp_bytes = path.bdp_bytes(path.rtt_ps).max(1);
        let controlled = match self.form {
            HpccForm::Rate => Controlled::Rate {
                additive_bps: (self.rate_ai)
                    .map_or(path.link_bps / RATE_OVER_INCREASE, |rate| rate.0)
                    as f64,
            },
            HpccForm::Window => Controlled::Window {
                additive_bytes: (self.w_ai).map_or(
                    bdp_bytes as f64 * (1.0 - self.eta.value()) / FLOWS,
                    |size| size.0 as f64,
                ),
            },
        };
        HpccConfig {
            link_bps: path.link_bps,
            base_rtt_ps: path.rtt_ps.max(1),
            window_bytes: self.window.map_or(bdp_bytes, |size| size.0),
            controlled,
            eta: self.eta.value(),
            max_stage: self.max_stage,
            min_rate_bps: least_rate_bps(path, self.min_rate),
            reacts_per_ack: self.fast_react,
            fields: path.fields,
        }
    }
}

/// Smallest rate of a flow over this path, bit/s.
pub(super) fn least_rate_bps(path: &Path, given: Option<Rate>) -> u64 {
    let least_bps = given.map_or(path.link_bps / RATE_OVER_LEAST, |rate| rate.0);
    least_bps.clamp(1, path.link_bps)
}

/// Checks a rate that is not derived.
pub(super) fn check_rate(key: &str, rate: Option<Rate>) -> Result<(), Problem> {
    require(
        rate.is_none_or(|rate| (Rate(1000)..=Rate::MOST).contains(&rate)),
        key,
        quoted(rate.unwrap_or_default()),
        &format!("1kbps to {}", Rate::MOST),
    )
}

/// Checks a size that is not derived.
pub(super) fn check_bytes(key: &str, size: Option<Size>) -> Result<(), Problem> {
    require(
        size.is_none_or(|size| (1..=1_000_000_000).contains(&size.0)),
        key,
        quoted(size.unwrap_or_default()),
        "1B to 1GB",
    )
}

/// Settings that all flows over a path share.
#[derive(Debug)]
struct Shared {
    constants: HpccConstants,
    path: Path,
}

/// HPCC state of one connection. Rate and window are beside the rest, which only ACKs need.
#[derive(Clone, Debug)]
pub struct HpccControl {
    rate_bps: u64,
    window_bytes: u64,
    state: Box<Hpcc>,
    shared: Arc<Shared>,
}

impl HpccControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &HpccSettings) -> Self {
        let constants = settings.config(path).constants();
        let mut control = HpccControl {
            rate_bps: 0,
            window_bytes: 0,
            state: Box::new(Hpcc::new(&constants)),
            shared: Arc::new(Shared {
                constants,
                path: *path,
            }),
        };
        control.take_rate();
        control
    }

    fn take_rate(&mut self) {
        let Shared { constants, path } = &*self.shared;
        self.rate_bps = self.state.rate_bps(constants) as u64;
        let payload_bytes = self.state.window_bytes(constants) as u64;
        self.window_bytes = path.whole_packets_bytes(payload_bytes);
    }
}

impl CongestionControl for HpccControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        if let Answer::Telemetry(records) = ack.echo.answer {
            let event = HpccAck {
                una: ack.una,
                nxt: ack.nxt,
                records,
            };
            if self.state.on_ack(&self.shared.constants, &event) {
                self.take_rate();
            }
        }
        false
    }

    #[inline]
    fn prefetch(&self) {
        prefetch_lines(&*self.state, size_of::<Hpcc>().div_ceil(64).min(4));
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
