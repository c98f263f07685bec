//! Swift ([`hull_core::swift`]): a window by the delay of packets. Bytes on the wire, ps.
//!
//! Packets of messages pass no stack and no receive path of a host, and an ACK carries no time of the
//! receiver: the delay of a packet is the fabric's alone. So there is no target for hosts.

use std::sync::Arc;

use hull_core::swift::{FlowScaling, Swift as State, SwiftAck, SwiftConfig, SwiftConstants};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback, LostBy, LostPacket, Pace, Path};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::{Share, Size, Time};

/// Swift's parameters; csg-htsim's unless the key says otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Swift {
    /// Target delay without the links of the path and without flow scaling (csg-htsim: 20us, and it counts one
    /// link more than there are). Unset: the target without flow scaling is the unloaded round trip over as
    /// many links plus half of the longest one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_target: Option<Time>,
    /// Addition to the target for each link of the path, with base_target (csg-htsim: base_target / 6.55).
    /// Unset: what a link adds to the unloaded round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_hop: Option<Time>,
    /// Largest addition to the target by flow scaling; 0s for none. Unset: 5 times base_target, or 2.5 times the
    /// longest round trip.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fs_range: Option<Time>,
    /// Window, in packets, at and below which flow scaling adds the most.
    pub fs_min_window: f64,
    /// Window, in packets, from which on flow scaling adds nothing.
    pub fs_max_window: f64,
    /// Whether flow scaling rounds the window down to whole packets, as csg-htsim does. Any window below a packet
    /// then adds the most.
    pub fs_whole_packets: bool,
    /// Whether the window grows only while it is in use (csg-htsim: false).
    pub cwnd_validation: bool,
    /// Additive increase in a round trip, packets.
    pub ai: f64,
    /// Factor of the decrease (beta).
    pub beta: Share,
    /// Largest share of the window that a decrease, a loss or a timeout removes (max_mdf).
    pub max_decrease: Share,
    /// Timeouts in a row from which on the window is the smallest.
    pub reset_after: u32,
    /// Smallest window.
    pub min_window: Size,
    /// Largest window, packets (csg-htsim: 1000). Unset: what the sender's link carries in the largest target,
    /// and at least 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_window: Option<u32>,
}

impl Default for Swift {
    fn default() -> Self {
        Swift {
            base_target: None,
            per_hop: None,
            fs_range: None,
            fs_min_window: 0.1,
            fs_max_window: 100.0,
            fs_whole_packets: false,
            cwnd_validation: true,
            ai: 1.0,
            beta: Share(Share::ONE / 100 * 80),
            max_decrease: Share(Share::ONE / 2),
            reset_after: 5,
            min_window: Size(10),
            max_window: None,
        }
    }
}

impl Swift {
    /// Whether all settings have their defaults.
    pub(crate) fn is_default(&self) -> bool {
        *self == Swift::default()
    }

    /// Checks the settings.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        for (key, time) in [
            ("base_target", self.base_target),
            ("per_hop", self.per_hop),
            ("fs_range", self.fs_range),
        ] {
            require(
                time.is_none_or(|time| time <= Time(1_000_000_000_000)),
                &format!("transport.swift.{key}"),
                quoted(time.unwrap_or_default()),
                "0s to 1s",
            )?;
        }
        require(
            self.per_hop.is_none() || self.base_target.is_some(),
            "transport.swift.per_hop",
            quoted(self.per_hop.unwrap_or_default()),
            "no such key without transport.swift.base_target",
        )?;
        require(
            (0.001..=1e6).contains(&self.fs_max_window),
            "transport.swift.fs_max_window",
            self.fs_max_window,
            "0.001 to 1000000 packets",
        )?;
        require(
            self.fs_min_window >= 0.000_1 && self.fs_min_window < self.fs_max_window,
            "transport.swift.fs_min_window",
            self.fs_min_window,
            "0.0001 packets to below transport.swift.fs_max_window",
        )?;
        require(
            self.ai > 0.0 && self.ai <= 1000.0,
            "transport.swift.ai",
            self.ai,
            "more than 0 to 1000 packets",
        )?;
        for (key, share) in [("beta", self.beta), ("max_decrease", self.max_decrease)] {
            require(
                share.0 > 0 && share.0 < Share::ONE,
                &format!("transport.swift.{key}"),
                quoted(share),
                "more than 0% to less than 100%",
            )?;
        }
        require(
            self.reset_after > 0,
            "transport.swift.reset_after",
            self.reset_after,
            "at least 1",
        )?;
        require(
            (1..=300).contains(&self.min_window.0),
            "transport.swift.min_window",
            quoted(self.min_window),
            "1B to 300B, below a packet",
        )?;
        require(
            self.max_window
                .is_none_or(|most| (1..=1_000_000).contains(&most)),
            "transport.swift.max_window",
            self.max_window.unwrap_or_default(),
            "1 to 1000000 packets",
        )
    }

    /// Target without flow scaling over a path, ps.
    fn target_ps(&self, path: &Path) -> u64 {
        let Some(base) = self.base_target else {
            return path.unloaded.over_ps(path.links) + path.rtt_ps / 2;
        };
        let per_hop_ps = self.per_hop.map_or(path.unloaded.link_ps, |time| time.0);
        base.0 + u64::from(path.links) * per_hop_ps
    }

    fn config(&self, path: &Path) -> SwiftConfig {
        let target_ps = self.target_ps(path);
        let base_ps = self.base_target.map_or(path.rtt_ps / 2, |base| base.0);
        let range_ps = self.fs_range.map_or(5 * base_ps, |range| range.0);
        let packet_bytes = u64::from(path.mtu_bytes);
        let most_bytes = match self.max_window {
            Some(packets) => u64::from(packets) * packet_bytes,
            None => path.bdp_bytes(target_ps + range_ps).max(2 * packet_bytes),
        };
        let initial_bytes = path.initial_window_bytes;
        SwiftConfig {
            packet_bytes: u32::from(path.mtu_bytes),
            target_ps,
            scaling: FlowScaling {
                range_ps,
                min_packets: self.fs_min_window,
                max_packets: self.fs_max_window,
                whole_packets: self.fs_whole_packets,
            },
            increase_packets: self.ai,
            beta: self.beta.value(),
            max_decrease: self.max_decrease.value(),
            reset_after: self.reset_after,
            min_window_bytes: self.min_window.0 as f64,
            max_window_bytes: most_bytes as f64,
            initial_window_bytes: initial_bytes.unwrap_or(path.largest_window_bytes()) as f64,
            base_rtt_ps: path.rtt_ps,
        }
    }
}

/// Swift state of one connection.
#[derive(Clone, Debug)]
pub struct SwiftControl {
    constants: Arc<SwiftConstants>,
    state: State,
    packet_bytes: u64,
    /// Whether the window grows only while it is in use.
    validates: bool,
}

impl SwiftControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &Swift) -> Self {
        let constants = settings.config(path).constants();
        SwiftControl {
            state: State::new(&constants),
            constants: Arc::new(constants),
            packet_bytes: u64::from(path.mtu_bytes),
            validates: settings.cwnd_validation,
        }
    }

    /// Window of the sender, bytes: below a packet the pace alone limits it.
    fn window_bytes(&self) -> u64 {
        (self.state.window_bytes() as u64).max(self.packet_bytes)
    }
}

impl CongestionControl for SwiftControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        // One packet may wait for the NIC, and another does not fit into the rest of the window.
        let flight = ack.nxt - ack.una + ack.acked;
        let event = SwiftAck {
            now_ps: ack.now_ps,
            acked_bytes: ack.acked,
            delay_ps: ack.rtt_ps,
            in_use: !self.validates || flight + 2 * self.packet_bytes > self.window_bytes(),
        };
        self.state.on_ack(&self.constants, &event);
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, lost: &LostPacket) {
        match (lost.by, lost.is_first) {
            (LostBy::Timeout, _) => self.state.on_timeout(&self.constants, lost.now_ps),
            (LostBy::Nack { .. } | LostBy::Group | LostBy::Gap, true) => {
                self.state.on_loss(&self.constants, lost.now_ps);
            }
            (LostBy::Nack { .. } | LostBy::Group | LostBy::Gap, false) => {}
        }
    }

    fn sets_pace(&self) -> bool {
        true
    }

    #[inline]
    fn pace(&self) -> Pace {
        let gap_ps = self.state.gap_ps(&self.constants);
        gap_ps.map_or(Pace::Window, Pace::Gap)
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        Some(self.window_bytes())
    }
}
