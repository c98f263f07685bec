//! TCP and its parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, quoted, require};
use super::default;
use crate::units::{Share, Size, Time};

/// Congestion control algorithms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CongestionControl {
    /// TCP NewReno with SACK.
    #[default]
    NewReno,
    /// DCTCP.
    Dctcp,
}

/// TCP and its parameters; windows in segments of mtu - header bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Congestion control algorithm.
    #[serde(default)]
    pub congestion_control: CongestionControl,
    /// Whether data packets are ECN-capable; DCTCP needs it.
    #[serde(default)]
    pub ecn: bool,
    /// Largest packet, headers included.
    #[serde(default = "default::mtu")]
    pub mtu: Size,
    /// IP and TCP header, also the size of an ACK.
    #[serde(default = "default::header")]
    pub header: Size,
    /// Initial window, segments.
    #[serde(default = "default::initial_window")]
    pub initial_window: u32,
    /// Smallest window after a reduction, segments.
    #[serde(default = "default::min_window")]
    pub min_window: u32,
    /// Largest congestion window, segments.
    #[serde(default = "default::max_window")]
    pub max_window: u32,
    /// The receiver's window, segments.
    #[serde(default = "default::max_window")]
    pub receive_window: u32,
    /// Retransmission timeout before the first round-trip sample.
    #[serde(default = "default::initial_rto")]
    pub initial_rto: Time,
    /// Floor of the retransmission timeout.
    #[serde(default = "default::min_rto")]
    pub min_rto: Time,
    /// Ceiling of the retransmission timeout.
    #[serde(default = "default::max_rto")]
    pub max_rto: Time,
    /// One ACK for every so many data packets.
    #[serde(default = "default::ack_every")]
    pub ack_every: u32,
    /// Longest wait of a delayed ACK.
    #[serde(default = "default::delayed_ack")]
    pub delayed_ack: Time,
    /// Whether a connection that was idle for an RTO starts again from its initial window.
    #[serde(default)]
    pub idle_restart: bool,
    /// Whether the window grows only while it is what limits the sender.
    #[serde(default)]
    pub cwnd_validation: bool,
    /// Whether the window grows by the bytes that an ACK covers (RFC 3465) or by one step for
    /// each ACK (RFC 5681, ns-2, Linux until 3.18).
    #[serde(default)]
    pub byte_counting: bool,
    /// DCTCP's parameters.
    #[serde(default)]
    pub dctcp: Dctcp,
}

/// DCTCP's parameters (thesis 2.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dctcp {
    /// Weight g of a new sample of the marked fraction.
    #[serde(default = "default::g")]
    pub g: Share,
    /// First value of alpha.
    #[serde(default = "default::whole")]
    pub initial_alpha: Share,
}

/// Checks the transport.
pub(super) fn check(t: &Transport) -> Result<(), Problem> {
    let mtu = t.mtu.0;
    require(
        (300..=9000).contains(&mtu),
        "transport.mtu",
        quoted(t.mtu),
        "300B to 9000B",
    )?;
    let header = t.header.0;
    require(
        (20..=120).contains(&header),
        "transport.header",
        quoted(t.header),
        "20B to 120B",
    )?;
    for (key, value) in [
        ("transport.initial_window", t.initial_window),
        ("transport.min_window", t.min_window),
        ("transport.max_window", t.max_window),
        ("transport.receive_window", t.receive_window),
    ] {
        require(
            (1..=1_000_000).contains(&value),
            key,
            value,
            "1 to 1000000 segments",
        )?;
    }
    require(
        t.min_window <= t.max_window,
        "transport.min_window",
        t.min_window,
        "at most transport.max_window",
    )?;
    let floor = Time(1_000_000);
    require(
        t.min_rto >= floor,
        "transport.min_rto",
        quoted(t.min_rto),
        "at least 1us",
    )?;
    require(
        t.max_rto >= t.min_rto,
        "transport.max_rto",
        quoted(t.max_rto),
        "at least min_rto",
    )?;
    let initial = quoted(t.initial_rto);
    require(
        t.initial_rto.0 > 0,
        "transport.initial_rto",
        initial,
        "a time above 0",
    )?;
    require(
        (1..=64).contains(&t.ack_every),
        "transport.ack_every",
        t.ack_every,
        "1 to 64",
    )?;
    let delay = quoted(t.delayed_ack);
    require(
        t.ack_every == 1 || (t.delayed_ack.0 > 0 && t.delayed_ack < t.min_rto),
        "transport.delayed_ack",
        delay,
        "a time above 0 and below transport.min_rto, or each delayed ACK would be a timeout",
    )?;
    let dctcp = t.congestion_control == CongestionControl::Dctcp;
    require(
        t.ecn || !dctcp,
        "transport.ecn",
        t.ecn,
        "true with congestion_control = \"dctcp\"",
    )?;
    let g = t.dctcp.g;
    require(
        g.0 > 0 && g.0 <= Share::ONE,
        "transport.dctcp.g",
        quoted(g),
        "above 0 and at most 1",
    )?;
    let alpha = t.dctcp.initial_alpha;
    require(
        alpha.0 <= Share::ONE,
        "transport.dctcp.initial_alpha",
        quoted(alpha),
        "0 to 1",
    )
}
