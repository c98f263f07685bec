//! DCQCN ([`hull_core::dcqcn`]): the rate of each connection follows the marks of its packets, in the
//! NIC. Bit/s, bytes on the wire, ps.

use std::sync::Arc;

use hull_core::dcqcn::{Dcqcn, DcqcnConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nic_rate::{self, RateWindow};
use super::{CongestionControl, Feedback, LostBy, LostPacket, Pace, Path};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::{RelativeRate, Share, Size, Time};

/// Origin of DCQCN's constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum DcqcnVariant {
    /// Mellanox adapters, as in HPCC's simulator (9f4be2a, run.py).
    #[default]
    Adapter,
    /// The paper (SIGCOMM 2015).
    Paper,
}

/// DCQCN's parameters. An unset key has the variant's value.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DcqcnSettings {
    /// Origin of the constants that are unset.
    pub variant: DcqcnVariant,
    /// Weight of a new sample of alpha (g). Both: 1/256.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain: Option<Share>,
    /// Period of alpha's timer. Adapter: 1us; paper: 55us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha_interval: Option<Time>,
    /// Period of the check for marks that cut the rate; 0s: each mark cuts. Adapter: 4us; paper: 0s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decrease_interval: Option<Time>,
    /// Period of the increase timer. Adapter: 300us; paper: 55us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub increase_interval: Option<Time>,
    /// Bytes sent after which the rate also increases; 0B: the timer alone counts. Adapter: 0B; paper: 10MB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub byte_counter: Option<Size>,
    /// Cycles of fast recovery (F). Adapter: 1; paper: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery_cycles: Option<u32>,
    /// Additive increase of the target (R_AI), a rate or a share of the link's. Adapter: 1/5000 of the link;
    /// paper: 40 Mbps at 40 Gbps, 1/1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additive: Option<RelativeRate>,
    /// Hyper increase of the target (R_HAI), a rate or a share of the link's. Both: 10 times the default of
    /// additive; the paper gives none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hyper: Option<RelativeRate>,
    /// Smallest rate, or share of the link's. Adapter: 1 Gbps at 100 Gbps, 1/100; paper: 1/1000 (it gives
    /// none).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_rate: Option<RelativeRate>,
    /// Time after a mark in which the sender ignores others, as if the receiver sent one notification in it.
    /// Adapter: 0s; paper: 50us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark_interval: Option<Time>,
    /// Whether each cut lowers the target to the rate; false: only the first one after an increase. Adapter:
    /// false; paper: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clamp_target: Option<bool>,
    /// Whether a negative acknowledgment counts as a mark, as in ConWeave's simulator (236a801).
    pub loss_is_mark: bool,
    /// Whether bytes in flight are limited to what the rate carries in the unloaded round trip (DCQCN+w).
    pub window: bool,
}

/// Constants of a variant.
struct Constants {
    alpha_ps: u64,
    decrease_ps: u64,
    increase_ps: u64,
    increase_bytes: u64,
    recovery_cycles: u32,
    /// The link's rate over R_AI, and over the smallest rate.
    additive_divisor: u64,
    min_divisor: u64,
    mark_interval_ps: u64,
    clamps_target: bool,
}

const US: u64 = 1_000_000;
/// R_HAI over R_AI.
const HYPER: u64 = 10;

const ADAPTER: Constants = Constants {
    alpha_ps: US,
    decrease_ps: 4 * US,
    increase_ps: 300 * US,
    increase_bytes: 0,
    recovery_cycles: 1,
    additive_divisor: 5000,
    min_divisor: 100,
    mark_interval_ps: 0,
    clamps_target: false,
};

const PAPER: Constants = Constants {
    alpha_ps: 55 * US,
    decrease_ps: 0,
    increase_ps: 55 * US,
    increase_bytes: 10_000_000,
    recovery_cycles: 5,
    additive_divisor: 1000,
    min_divisor: 1000,
    mark_interval_ps: 50 * US,
    clamps_target: true,
};

impl DcqcnSettings {
    /// Whether no key is set.
    pub(crate) fn is_default(&self) -> bool {
        *self == DcqcnSettings::default()
    }

    /// Checks each key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        let key = |name: &str| format!("transport.dcqcn.{name}");
        if let Some(gain) = self.gain {
            require(
                (1..=Share::ONE).contains(&gain.0),
                &key("gain"),
                quoted(gain),
                "more than 0% to 100%",
            )?;
        }
        for (name, found, least) in [
            ("alpha_interval", self.alpha_interval, 1000),
            ("decrease_interval", self.decrease_interval, 0),
            ("increase_interval", self.increase_interval, 1000),
            ("mark_interval", self.mark_interval, 0),
        ] {
            let Some(found) = found else { continue };
            let allowed = format!("{} to 1s", Time(least));
            let range = Time(least)..=Time(1_000_000 * US);
            require(range.contains(&found), &key(name), quoted(found), &allowed)?;
        }
        if let Some(cycles) = self.recovery_cycles {
            let allowed = "0 to 1000";
            require(cycles <= 1000, &key("recovery_cycles"), cycles, allowed)?;
        }
        nic_rate::check(&key("additive"), self.additive)?;
        nic_rate::check(&key("hyper"), self.hyper)?;
        nic_rate::check(&key("min_rate"), self.min_rate)
    }

    /// Settings of the algorithm on a path.
    fn config(&self, path: &Path) -> DcqcnConfig {
        let of = match self.variant {
            DcqcnVariant::Adapter => ADAPTER,
            DcqcnVariant::Paper => PAPER,
        };
        let time_ps = |found: Option<Time>, default_ps| found.map_or(default_ps, |time| time.0);
        let bytes = self.byte_counter.map_or(of.increase_bytes, |size| size.0);
        let some = |value: u64| Some(value).filter(|value| *value > 0);
        let additive = of.additive_divisor;
        DcqcnConfig {
            line_rate_bps: path.link_bps,
            min_rate_bps: nic_rate::of(self.min_rate, path, of.min_divisor),
            additive_bps: nic_rate::of(self.additive, path, additive),
            hyper_bps: nic_rate::of(self.hyper, path, additive / HYPER),
            gain: self.gain.map_or(1.0 / 256.0, Share::value),
            alpha_ps: time_ps(self.alpha_interval, of.alpha_ps),
            decrease_ps: some(time_ps(self.decrease_interval, of.decrease_ps)),
            increase_ps: time_ps(self.increase_interval, of.increase_ps),
            increase_bytes: some(bytes),
            recovery_cycles: self.recovery_cycles.unwrap_or(of.recovery_cycles),
            clamps_target: self.clamp_target.unwrap_or(of.clamps_target),
            mark_interval_ps: time_ps(self.mark_interval, of.mark_interval_ps),
        }
    }
}

/// What the connections of a path share.
#[derive(Debug)]
struct Shared {
    config: DcqcnConfig,
    /// Path whose window limits a flow.
    window: Option<Path>,
    loss_is_mark: bool,
}

/// DCQCN state of one connection.
#[derive(Clone, Debug)]
pub struct DcqcnControl {
    shared: Arc<Shared>,
    state: Dcqcn,
    window: RateWindow,
}

impl DcqcnControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &DcqcnSettings) -> Self {
        let shared = Shared {
            config: settings.config(path),
            window: settings.window.then_some(*path),
            loss_is_mark: settings.loss_is_mark,
        };
        let state = Dcqcn::new(&shared.config);
        DcqcnControl {
            window: RateWindow::new(shared.window.as_ref(), state.rate_bps()),
            shared: Arc::new(shared),
            state,
        }
    }

    fn follow(&mut self) {
        let path = self.shared.window.as_ref();
        self.window.follow(path, self.state.rate_bps());
    }
}

impl CongestionControl for DcqcnControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        let config = &self.shared.config;
        match ack.echo.marked {
            true => self.state.on_mark(config, ack.now_ps),
            false => self.state.advance(config, ack.now_ps),
        }
        self.follow();
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, lost: &LostPacket) {
        match lost.by {
            LostBy::Nack { .. } | LostBy::Group | LostBy::Gap if self.shared.loss_is_mark => {
                self.state.on_mark(&self.shared.config, lost.now_ps);
                self.follow();
            }
            LostBy::Nack { .. } | LostBy::Group | LostBy::Gap | LostBy::Timeout => {}
        }
    }

    fn sets_pace(&self) -> bool {
        true
    }

    #[inline]
    fn pace(&self) -> Pace {
        Pace::Bps(self.state.rate_bps())
    }

    #[inline]
    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        let config = &self.shared.config;
        self.state.on_sent(config, now_ps, u64::from(wire_bytes));
        self.follow();
        self.pace()
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

    fn path(link_bps: u64) -> Path {
        Path {
            link_bps,
            rtt_ps: 4_160_000,
            near_rtt_ps: 4_160_000,
            mtu_bytes: 1048,
            header_bytes: 48,
            trims: false,
            fields: Fields::Exact,
            links: 0,
            unloaded: RoundTripLine::constant(4_160_000),
            initial_window_bytes: None,
        }
    }

    /// The values of the recorded runs at 100 Gbps, and the paper's at 40 Gbps.
    #[test]
    fn constants_of_the_variants() {
        let adapter = DcqcnSettings::default().config(&path(100_000_000_000));
        let rates = |of: &DcqcnConfig| [of.min_rate_bps, of.additive_bps, of.hyper_bps];
        assert_eq!(rates(&adapter), [1_000_000_000, 20_000_000, 200_000_000]);
        let times = (adapter.alpha_ps, adapter.decrease_ps, adapter.increase_ps);
        assert_eq!(times, (US, Some(4 * US), 300 * US));
        assert_eq!((adapter.recovery_cycles, adapter.increase_bytes), (1, None));
        let settings = DcqcnSettings {
            variant: DcqcnVariant::Paper,
            additive: Some(RelativeRate::Share(Share(Share::ONE / 100))),
            min_rate: Some(RelativeRate::Absolute(crate::units::Rate(10_000_000))),
            ..DcqcnSettings::default()
        };
        let paper = settings.config(&path(40_000_000_000));
        assert_eq!(rates(&paper), [10_000_000, 400_000_000, 400_000_000]);
        assert_eq!((paper.decrease_ps, paper.clamps_target), (None, true));
        assert_eq!(paper.increase_bytes, Some(10_000_000));
    }

    /// 52 packets in a round trip of 4.16 us at 100 Gbps, 26 at half the rate; a cut of alpha = 1 at the
    /// first mark, as `decrease_interval = "0s"` makes it.
    #[test]
    fn window_follows_the_rate() {
        let settings = DcqcnSettings {
            window: true,
            decrease_interval: Some(Time(0)),
            ..DcqcnSettings::default()
        };
        let mut flow = DcqcnControl::new(&path(100_000_000_000), &settings);
        assert_eq!(flow.own_window_bytes(), Some(52 * 1048));
        flow.state.on_mark(&flow.shared.config, US);
        assert_eq!(flow.on_sent(US, 1048), Pace::Bps(50_000_000_000));
        assert_eq!(flow.own_window_bytes(), Some(26 * 1048));
    }

    #[test]
    fn invalid_settings() {
        let none = DcqcnSettings::default;
        let share = |value| Some(RelativeRate::Share(Share(value)));
        let time = |ps| Some(Time(ps));
        for (settings, told) in [
            (
                DcqcnSettings {
                    gain: Some(Share(0)),
                    ..none()
                },
                "gain: \"0%\" is invalid",
            ),
            (
                DcqcnSettings {
                    alpha_interval: time(0),
                    ..none()
                },
                "alpha_interval: \"0ps\" is",
            ),
            (
                DcqcnSettings {
                    increase_interval: time(999),
                    ..none()
                },
                "expected 1ns to 1s",
            ),
            (
                DcqcnSettings {
                    recovery_cycles: Some(1001),
                    ..none()
                },
                "recovery_cycles: 1001",
            ),
            (
                DcqcnSettings {
                    additive: share(0),
                    ..none()
                },
                "additive: \"0%\" is invalid",
            ),
            (
                DcqcnSettings {
                    min_rate: share(Share::ONE + 1),
                    ..none()
                },
                "min_rate: \"100.0000",
            ),
        ] {
            let problem = settings.check().expect_err(told).to_string();
            assert!(problem.contains(told), "{problem}");
        }
        assert!(none().check().is_ok());
    }
}
