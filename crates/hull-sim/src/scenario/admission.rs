//! Admission by receivers: its settings, and their constraints with other keys.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{CongestionControl, Scenario, Transport};
use crate::problem::{Problem, need, quoted, require};
use crate::transport::window_bytes;
use crate::units::Size;

/// Largest window, bytes: what 6.4 Tbps carries in 1.25 s.
const MOST_BYTES: u64 = 1_000_000_000_000;
/// Grants per window, if the chunk is unset.
const CHUNKS: u64 = 8;

/// Admission by the receiver, as in the collective library of Meta's RoCE clusters (SIGCOMM 2024): a sender asks before
/// a message, and sends what the receiver has granted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Admission {
    /// Bytes that may be on their way to a receiver, from all its senders together. Unset: 1.5 times the
    /// bandwidth-delay product of the receiver's links at the longest round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Size>,
    /// Bytes of a grant, in whole packets and at least one. Unset: an eighth of the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Size>,
    /// Largest message that goes without a grant.
    #[serde(default)]
    pub eager: Size,
}

impl Admission {
    /// Checks each key for packets of at most `mtu` bytes, at a transport.
    fn check(&self, name: &str, mtu: u64) -> Result<(), Problem> {
        let key = |last: &str| format!("{name}.message.admission.{last}");
        if let Some(window) = self.window {
            require(
                (mtu..=MOST_BYTES).contains(&window.0),
                &key("window"),
                quoted(window),
                &format!("{name}.mtu, {}, to 1000GB", quoted(Size(mtu))),
            )?;
        }
        if let Some(chunk) = self.chunk {
            let most = self.window.map_or(MOST_BYTES, |window| window.0);
            require(
                (1..=most).contains(&chunk.0),
                &key("chunk"),
                quoted(chunk),
                &format!("1B to the window, {}", quoted(Size(most))),
            )?;
        }
        require(
            self.eager.0 <= MOST_BYTES,
            &key("eager"),
            quoted(self.eager),
            "0B to 1000GB",
        )
    }

    /// Window of a receiver with links of this rate, bytes.
    pub(crate) fn window_bytes(&self, link_bps: u64, rtt_ps: u64, mtu: u64) -> u64 {
        self.window
            .map_or_else(|| window_bytes(link_bps, rtt_ps, mtu), |window| window.0)
    }

    /// Packets of a grant with this window.
    pub(crate) fn chunk_packets(&self, window: u64, mtu: u64) -> u64 {
        let bytes = self.chunk.map_or(window / CHUNKS, |chunk| chunk.0);
        (bytes / mtu).max(1)
    }
}

/// Checks the constraints of one transport's admission.
pub(super) fn of_transport(name: &str, transport: &Transport) -> Result<(), Problem> {
    let Some(admission) = &transport.message.admission else {
        return Ok(());
    };
    let control = &transport.congestion_control;
    need(
        !matches!(
            control,
            CongestionControl::Rccc | CongestionControl::NsccRccc
        ),
        &format!("{name}.message.admission"),
        "a table",
        &format!(
            "no such key with {name}.congestion_control = {}: its receivers grant credit already",
            quoted(control)
        ),
    )?;
    admission.check(name, transport.mtu.0)
}

/// Checks that a receiver has one window.
pub(super) fn check(s: &Scenario) -> Result<(), Problem> {
    let windows = s.each_transport().filter_map(|(name, transport)| {
        let admission = transport.message.admission.as_ref()?;
        Some((name, admission.window))
    });
    let windows = Vec::from_iter(windows);
    for (name, window) in &windows {
        let (first, expected) = &windows[0];
        let told = |window: &Option<Size>| window.map_or("unset".to_owned(), quoted);
        require(
            window == expected,
            &format!("{name}.message.admission.window"),
            told(window),
            &format!(
                "{}, as {first}.message.admission.window: a receiver has one window for all transports",
                told(expected)
            ),
        )?;
    }
    Ok(())
}
