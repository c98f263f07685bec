//! UnoCC ([`hull_core::unocc`]): Uno's sender control. Its window counts payload; ps.

use hull_core::unocc::{UnoCc, UnoCcAck, UnoCcConfig};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Feedback, LostPacket, Pace, Path};
use crate::problem::{Problem, quoted, require};
use crate::transport::window::Window;
use crate::units::Share;

/// UnoCC's parameters (SC'25); the defaults are as in figures 3 to 9.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnoCcSettings {
    /// K of the decrease, in full payloads: if every packet is marked, the window shrinks by 4 K /
    /// (K + BDP).
    #[serde(default = "k")]
    pub k: u32,
    /// Weight of an epoch's marked share in the average (figures 10 to 12: 50%).
    #[serde(default = "gain")]
    pub gain: Share,
}

const fn k() -> u32 {
    6
}
const fn gain() -> Share {
    Share(Share::ONE / 100 * 65)
}

impl Default for UnoCcSettings {
    fn default() -> Self {
        UnoCcSettings {
            k: k(),
            gain: gain(),
        }
    }
}

impl UnoCcSettings {
    /// Checks each key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        require(
            (1..=10_000).contains(&self.k),
            "transport.message.unocc.k",
            self.k,
            "1 to 10000 packets",
        )?;
        require(
            self.gain.0 > 0 && self.gain.0 <= Share::ONE,
            "transport.message.unocc.gain",
            quoted(self.gain),
            "more than 0% to 100%",
        )
    }
}

/// UnoCC state of one connection.
#[derive(Clone, Debug)]
pub struct UnoCcControl {
    state: UnoCc,
    /// Bytes of a packet on the wire, and of its payload.
    packet: (u64, u64),
}

impl UnoCcControl {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, settings: &UnoCcSettings) -> Self {
        let mss_bytes = path.mss_bytes();
        let bdp_bytes = |rtt_ps| path.bdp_bytes(rtt_ps).max(u64::from(mss_bytes));
        let config = UnoCcConfig {
            bdp_bytes: bdp_bytes(path.rtt_ps),
            intra_bdp_bytes: bdp_bytes(path.near_rtt_ps),
            base_rtt_ps: path.rtt_ps,
            mss_bytes,
            packet_bytes: u32::from(path.mtu_bytes),
            k_bytes: u64::from(settings.k) * u64::from(mss_bytes),
            mark_gain: settings.gain.value(),
        };
        UnoCcControl {
            state: UnoCc::new(&config, 0),
            packet: (u64::from(path.mtu_bytes), u64::from(mss_bytes)),
        }
    }
}

impl CongestionControl for UnoCcControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        let (wire_bytes, payload_bytes) = self.packet;
        self.state.on_ack(&UnoCcAck {
            now_ps: ack.now_ps,
            acked_bytes: ack.acked * payload_bytes / wire_bytes,
            ecn: ack.echo.marked,
            rtt_ps: ack.sent_ps.map_or(0, |sent_ps| ack.now_ps - sent_ps),
            sent_at_ps: ack.sent_ps,
        });
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    fn sets_pace(&self) -> bool {
        true
    }

    #[inline]
    fn pace(&self) -> Pace {
        Pace::Gap(self.state.gap_ps())
    }

    #[inline]
    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        let header_bytes = self.packet.0 - self.packet.1;
        let payload_bytes = u32::from(wire_bytes) - header_bytes as u32;
        self.state.on_send(now_ps, payload_bytes);
        self.pace()
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        let (wire_bytes, payload_bytes) = self.packet;
        let bytes = self.state.window_bytes() * wire_bytes as f64 / payload_bytes as f64;
        Some(bytes as u64)
    }
}
