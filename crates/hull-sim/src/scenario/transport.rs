//! TCP and its parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, quoted, require};
use super::congestion_control::CongestionControl;
use super::default;
use super::qcn::ReactionPoint;
use crate::transport::MAX_WINDOW_BYTES;
use crate::units::{Share, Size, Time};

/// TCP and its parameters; windows in segments of mtu - header bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Transport {
    /// Congestion control algorithm; in Python also the name of a class of your own.
    #[serde(default)]
    pub congestion_control: CongestionControl,
    /// SHA-256 of the source of a class of your own: hull fills it in, and refuses to run another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_sha256: Option<String>,
    /// Whether data packets are ECN-capable; DCTCP needs it.
    #[serde(default)]
    pub ecn: bool,
    /// Largest packet, headers included.
    #[serde(default = "default::mtu")]
    pub mtu: Size,
    /// IP and TCP header, also the size of an ACK.
    #[serde(default = "default::header")]
    pub header: Size,
    /// What each packet takes on a link besides its own bytes: Ethernet's header, check sequence, preamble
    /// and gap are 38 bytes. Buffers, marking, phantom queues and pacers do not count it.
    #[serde(default)]
    pub framing: Size,
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
    /// Tick of the clock behind the retransmission timer, which fires at multiples of it only, and
    /// behind idle_restart, which counts its ticks; 0s for an exact one.
    #[serde(default)]
    pub rto_granularity: Time,
    /// Whether the first two duplicate ACKs release new segments (RFC 3042).
    #[serde(default = "yes")]
    pub limited_transmit: bool,
    /// Whether each new connection begins with SYN and SYN-ACK; persistent ones never do.
    #[serde(default)]
    pub handshake: bool,
    /// One ACK for every so many data packets.
    #[serde(default = "default::ack_every")]
    pub ack_every: u32,
    /// Longest wait of a delayed ACK.
    #[serde(default = "default::delayed_ack")]
    pub delayed_ack: Time,
    /// So many first data packets of a connection are acknowledged at once (Linux: 16).
    #[serde(default)]
    pub quick_acks: u16,
    /// Whether a connection that was idle for an RTO starts again from its initial window.
    #[serde(default)]
    pub idle_restart: bool,
    /// Whether idle_restart halves the window once for each RTO of idle time instead, not below the
    /// initial window (RFC 2861, Linux).
    #[serde(default)]
    pub idle_decay: bool,
    /// Whether the window grows only while it is what limits the sender.
    #[serde(default)]
    pub cwnd_validation: bool,
    /// Whether the window grows by the bytes that an ACK covers (RFC 3465) or by one step for
    /// each ACK (RFC 5681, ns-2, Linux until 3.18).
    #[serde(default)]
    pub byte_counting: bool,
    /// With host.offload: new data waits until it may be this part of the window (Linux: 3), 64 KB or
    /// all that is left, so that pieces grow; 0 sends what the window allows.
    #[serde(default)]
    pub tso_win_divisor: u8,
    /// Whether its flows are paced where hosts have a pacer.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub paced: bool,
    /// Priority class of its packets, 0 first, below switch.priorities; without it workload.high_priority_below
    /// decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// BIC-TCP's parameters.
    #[serde(default)]
    pub bic: Bic,
    /// DCTCP's parameters.
    #[serde(default)]
    pub dctcp: Dctcp,
    /// Vegas's parameters.
    #[serde(default)]
    pub vegas: Vegas,
    /// QCN's parameters, those of QCN-AIMD too; windows are transport.max_window then.
    #[serde(default)]
    pub qcn: ReactionPoint,
}

/// BIC-TCP's parameters; windows in segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Bic {
    /// Share of the window that a reduction takes (beta; Linux: 205/1024).
    #[serde(default = "eighth")]
    pub decrease: Share,
    /// Largest growth in a round trip (S_max; Linux: 16).
    #[serde(default = "max_increment")]
    pub max_increment: u16,
    /// Smallest growth in a round trip of the binary search (S_min).
    #[serde(default = "hundredth")]
    pub min_increment: Share,
    /// Below this window TCP's rules hold.
    #[serde(default = "low_window")]
    pub low_window: u16,
    /// Whether a flow whose window did not reach its old maximum gives way to newer flows.
    #[serde(default = "yes")]
    pub fast_convergence: bool,
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
    /// Whether every marked ACK takes its part of the cut (thesis 3.4.2), instead of one cut for
    /// each window of data.
    #[serde(default)]
    pub rtt_fair: bool,
    /// Whether the window stands still after a cut until all that was sent before it is acknowledged
    /// (Linux, ns-3), instead of growing with each ACK that has no ECN-Echo.
    #[serde(default)]
    pub hold_after_cut: bool,
}

/// TCP Vegas's parameters: segments of the window that wait in queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Vegas {
    /// Below this many the window grows.
    #[serde(default = "two")]
    pub alpha: u8,
    /// Above this many it shrinks.
    #[serde(default = "four")]
    pub beta: u8,
    /// Above this many slow start ends.
    #[serde(default = "one")]
    pub gamma: u8,
}

const fn eighth() -> Share {
    Share(Share::ONE / 8)
}
const fn max_increment() -> u16 {
    32
}
const fn hundredth() -> Share {
    Share(Share::ONE / 100)
}
const fn low_window() -> u16 {
    14
}
const fn yes() -> bool {
    true
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_true(value: &bool) -> bool {
    *value
}
const fn one() -> u8 {
    1
}
const fn two() -> u8 {
    2
}
const fn four() -> u8 {
    4
}

impl Default for Transport {
    fn default() -> Self {
        Transport {
            congestion_control: CongestionControl::default(),
            own_sha256: None,
            ecn: false,
            mtu: default::mtu(),
            header: default::header(),
            framing: Size(0),
            initial_window: default::initial_window(),
            min_window: default::min_window(),
            max_window: default::max_window(),
            receive_window: default::max_window(),
            initial_rto: default::initial_rto(),
            min_rto: default::min_rto(),
            max_rto: default::max_rto(),
            rto_granularity: Time(0),
            limited_transmit: yes(),
            handshake: false,
            ack_every: default::ack_every(),
            delayed_ack: default::delayed_ack(),
            quick_acks: 0,
            idle_restart: false,
            idle_decay: false,
            cwnd_validation: false,
            byte_counting: false,
            tso_win_divisor: 0,
            paced: yes(),
            priority: None,
            bic: Bic::default(),
            dctcp: Dctcp::default(),
            vegas: Vegas::default(),
            qcn: ReactionPoint::default(),
        }
    }
}

impl Default for Bic {
    fn default() -> Self {
        Bic {
            decrease: eighth(),
            max_increment: max_increment(),
            min_increment: hundredth(),
            low_window: low_window(),
            fast_convergence: yes(),
        }
    }
}

impl Default for Dctcp {
    fn default() -> Self {
        Dctcp {
            g: default::g(),
            initial_alpha: default::whole(),
            rtt_fair: false,
            hold_after_cut: false,
        }
    }
}

impl Default for Vegas {
    fn default() -> Self {
        Vegas {
            alpha: two(),
            beta: four(),
            gamma: one(),
        }
    }
}

/// Checks the transport.
pub(super) fn check(t: &Transport) -> Result<(), Problem> {
    sizes(t)?;
    times(t)?;
    algorithm(t)
}

fn sizes(t: &Transport) -> Result<(), Problem> {
    let (mtu, header) = (t.mtu, t.header);
    require(
        (300..=9000).contains(&mtu.0),
        "transport.mtu",
        quoted(mtu),
        "300B to 9000B",
    )?;
    require(
        (20..=120).contains(&header.0),
        "transport.header",
        quoted(header),
        "20B to 120B",
    )?;
    require(
        t.framing.0 <= 100,
        "transport.framing",
        quoted(t.framing),
        "at most 100B",
    )?;
    let most = (MAX_WINDOW_BYTES / (mtu.0 - header.0)).min(1_000_000);
    for (key, value) in [
        ("transport.initial_window", t.initial_window),
        ("transport.min_window", t.min_window),
        ("transport.max_window", t.max_window),
        ("transport.receive_window", t.receive_window),
    ] {
        require(
            (1..=most).contains(&u64::from(value)),
            key,
            value,
            &format!("1 to {most} segments, which are at most 1 GiB"),
        )?;
    }
    require(
        t.min_window <= t.max_window,
        "transport.min_window",
        t.min_window,
        "at most transport.max_window",
    )
}

fn times(t: &Transport) -> Result<(), Problem> {
    require(
        t.min_rto >= Time(1_000_000),
        "transport.min_rto",
        quoted(t.min_rto),
        "at least 1us",
    )?;
    require(
        (t.min_rto..=Time(3_600_000_000_000_000)).contains(&t.max_rto),
        "transport.max_rto",
        quoted(t.max_rto),
        "from transport.min_rto to 3600s",
    )?;
    require(
        t.initial_rto.0 > 0,
        "transport.initial_rto",
        quoted(t.initial_rto),
        "a time above 0",
    )?;
    require(
        t.rto_granularity <= Time(1_000_000_000_000),
        "transport.rto_granularity",
        quoted(t.rto_granularity),
        "at most 1s",
    )?;
    require(
        (1..=64).contains(&t.ack_every),
        "transport.ack_every",
        t.ack_every,
        "1 to 64",
    )?;
    require(
        t.ack_every == 1 || (t.delayed_ack.0 > 0 && t.delayed_ack < t.min_rto),
        "transport.delayed_ack",
        quoted(t.delayed_ack),
        "a time above 0 and below transport.min_rto, or each delayed ACK would be a timeout",
    )?;
    require(
        t.idle_restart || !t.idle_decay,
        "transport.idle_decay",
        t.idle_decay,
        "true with transport.idle_restart = true only",
    )
}

fn algorithm(t: &Transport) -> Result<(), Problem> {
    let dctcp = t.congestion_control == CongestionControl::Dctcp;
    require(
        t.ecn || !dctcp,
        "transport.ecn",
        t.ecn,
        "true with congestion_control = \"dctcp\"",
    )?;
    let (g, alpha) = (t.dctcp.g, t.dctcp.initial_alpha);
    require(
        g.0 > 0 && g.0 <= Share::ONE,
        "transport.dctcp.g",
        quoted(g),
        "above 0 and at most 1",
    )?;
    require(
        alpha.0 <= Share::ONE,
        "transport.dctcp.initial_alpha",
        quoted(alpha),
        "0 to 1",
    )?;
    require(
        !(t.dctcp.hold_after_cut && t.dctcp.rtt_fair),
        "transport.dctcp.hold_after_cut",
        t.dctcp.hold_after_cut,
        "false with transport.dctcp.rtt_fair = true, which has no cut",
    )?;
    check_bic(&t.bic)?;
    let vegas = &t.vegas;
    require(
        (1..=vegas.beta).contains(&vegas.alpha),
        "transport.vegas.alpha",
        vegas.alpha,
        "1 to transport.vegas.beta",
    )
}

fn check_bic(bic: &Bic) -> Result<(), Problem> {
    require(
        bic.decrease.0 > 0 && bic.decrease.0 <= Share::ONE / 2,
        "transport.bic.decrease",
        quoted(bic.decrease),
        "above 0 and at most 0.5",
    )?;
    require(
        (1..=10_000).contains(&bic.max_increment),
        "transport.bic.max_increment",
        bic.max_increment,
        "1 to 10000 segments",
    )?;
    require(
        (Share::ONE / 1000..=Share::ONE).contains(&bic.min_increment.0),
        "transport.bic.min_increment",
        quoted(bic.min_increment),
        "0.001 to 1 segment",
    )?;
    require(
        (1..=10_000).contains(&bic.low_window),
        "transport.bic.low_window",
        bic.low_window,
        "1 to 10000 segments",
    )
}
