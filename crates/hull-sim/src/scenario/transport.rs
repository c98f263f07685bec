//! TCP and its parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CongestionControl;
use super::default;
use super::loss_detection::{self, LossDetection, THRESHOLD, is_by_duplicates, is_three};
use super::message::Message;
use super::small_queues::SmallQueues;
use super::spray::{self, Spray};
use crate::problem::{Problem, quoted, require};
use crate::transport::{
    Bic, ConstantRate, Cubic, DcqcnSettings, Dctcp, DctcpRateSettings, HpccSettings,
    MAX_WINDOW_BYTES, PowerTcpSettings, Prague, ReactionPoint, Swift, TimelySettings,
    UnoCcSettings, Vegas,
};
use crate::units::{Size, Time};

/// TCP and its parameters; windows in segments of mtu - header bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Transport {
    /// Congestion control algorithm; in Python also the name of your own class.
    pub congestion_control: CongestionControl,
    /// SHA-256 of the source of your own class; hull sets it and rejects any other value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub own_sha256: Option<String>,
    /// Whether your own class controls flows of the message transport instead of TCP's; hull's own
    /// congestion controls decide it themselves.
    #[serde(skip_serializing_if = "is_false")]
    pub messages: bool,
    /// Whether data packets are ECN-capable; DCTCP needs it.
    pub ecn: bool,
    /// Largest packet, headers included.
    pub mtu: Size,
    /// IP and TCP header, also the size of an ACK.
    pub header: Size,
    /// Bytes that each packet occupies on a link beyond its own: Ethernet's header, check sequence, preamble
    /// and gap are 38 bytes. Buffers, marking, phantom queues and pacers do not count them.
    pub framing: Size,
    /// Initial window, segments.
    pub initial_window: u32,
    /// Smallest window after a reduction, segments.
    pub min_window: u32,
    /// Largest congestion window, segments.
    pub max_window: u32,
    /// The receiver's window, segments.
    pub receive_window: u32,
    /// Retransmission timeout before the first round-trip sample.
    pub initial_rto: Time,
    /// Minimum retransmission timeout.
    pub min_rto: Time,
    /// Maximum retransmission timeout.
    pub max_rto: Time,
    /// Clock tick of the retransmission timer, which fires only at its multiples, and of
    /// idle_restart, which counts it; 0s: an exact clock.
    pub rto_granularity: Time,
    /// Whether the first two duplicate ACKs release new segments (RFC 3042).
    pub limited_transmit: bool,
    /// Whether each new connection begins with SYN and SYN-ACK; persistent ones never do.
    pub handshake: bool,
    /// Data packets per ACK.
    pub ack_every: u32,
    /// Longest wait of a delayed ACK. Unset with a min_rto of at most 1ms: a tenth of it.
    pub delayed_ack: Time,
    /// Number of first data packets of a connection that are acknowledged at once (Linux: 16).
    pub quick_acks: u16,
    /// Whether a connection that was idle for an RTO starts again from its initial window.
    pub idle_restart: bool,
    /// Whether idle_restart halves the window once for each RTO of idle time instead, not below the
    /// initial window (RFC 2861, Linux).
    pub idle_decay: bool,
    /// Whether the window grows only while it limits the sender.
    pub cwnd_validation: bool,
    /// Whether the window grows by the bytes that an ACK covers (RFC 3465) or by one step for
    /// each ACK (RFC 5681, ns-2, Linux until 3.18).
    pub byte_counting: bool,
    /// With host.offload: new data waits until the sender may send this fraction of the window (Linux: 3), 64
    /// KB or all remaining data, so that pieces grow; 0 sends what the window allows.
    pub tso_win_divisor: u8,
    /// TCP small queues.
    #[serde(skip_serializing_if = "SmallQueues::is_default")]
    pub small_queues: SmallQueues,
    /// How a stream finds that a packet is lost: by the number of packets that have overtaken it (RFC 6675), or
    /// by time since one that was sent later has arrived (RACK, RFC 8985).
    #[serde(skip_serializing_if = "is_by_duplicates")]
    pub loss_detection: LossDetection,
    /// Packets above a missing one that prove its loss; with loss_detection = "rack" until reordering has been
    /// seen.
    #[serde(skip_serializing_if = "is_three")]
    pub duplicate_threshold: u32,
    /// Spreading of a stream's packets over several paths; without this table a flow has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spray: Option<Spray>,
    /// Whether its flows are paced if hosts have a pacer.
    #[serde(skip_serializing_if = "is_true")]
    pub paced: bool,
    /// Code point of its data (DSCP), for which switch.dscp gives the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp: Option<u8>,
    /// Priority class of its packets, 0 first, below switch.priorities; unset: workload.high_priority_below
    /// decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// BIC-TCP's parameters.
    pub bic: Bic,
    /// Parameters of traffic without congestion control.
    #[serde(skip_serializing_if = "ConstantRate::is_default")]
    pub constant_rate: ConstantRate,
    /// CUBIC's parameters.
    #[serde(skip_serializing_if = "Cubic::is_default")]
    pub cubic: Cubic,
    /// DCQCN's parameters.
    #[serde(skip_serializing_if = "DcqcnSettings::is_default")]
    pub dcqcn: DcqcnSettings,
    /// DCTCP's parameters.
    pub dctcp: Dctcp,
    /// Parameters of rate-based DCTCP.
    #[serde(skip_serializing_if = "DctcpRateSettings::is_default")]
    pub dctcp_rate: DctcpRateSettings,
    /// Prague's parameters.
    #[serde(skip_serializing_if = "Prague::is_default")]
    pub prague: Prague,
    /// TIMELY's parameters.
    #[serde(skip_serializing_if = "TimelySettings::is_default")]
    pub timely: TimelySettings,
    /// Vegas's parameters.
    pub vegas: Vegas,
    /// The message transport's parameters.
    #[serde(skip_serializing_if = "is_default")]
    pub message: Message,
    /// Parameters of QCN and QCN-AIMD; windows are transport.max_window then.
    pub qcn: ReactionPoint,
    /// HPCC's parameters.
    #[serde(skip_serializing_if = "HpccSettings::is_default")]
    pub hpcc: HpccSettings,
    /// Parameters of PowerTCP and theta-PowerTCP.
    #[serde(skip_serializing_if = "PowerTcpSettings::is_default")]
    pub powertcp: PowerTcpSettings,
    /// Swift's parameters.
    #[serde(skip_serializing_if = "Swift::is_default")]
    pub swift: Swift,
}

fn is_default(message: &Message) -> bool {
    *message == Message::default()
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_true(value: &bool) -> bool {
    *value
}
#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
const fn is_false(value: &bool) -> bool {
    !*value
}

impl Default for Transport {
    fn default() -> Self {
        Transport {
            congestion_control: CongestionControl::default(),
            own_sha256: None,
            messages: false,
            ecn: false,
            mtu: default::mtu(),
            header: Size(40),
            framing: Size(0),
            initial_window: 3,
            min_window: 2,
            max_window: 1000,
            receive_window: 1000,
            initial_rto: Time(1_000_000_000_000),
            min_rto: Time(10_000_000_000),
            max_rto: Time(60_000_000_000_000),
            rto_granularity: Time(0),
            limited_transmit: true,
            handshake: false,
            ack_every: 2,
            delayed_ack: default::delayed_ack(),
            quick_acks: 0,
            idle_restart: false,
            idle_decay: false,
            cwnd_validation: false,
            byte_counting: false,
            tso_win_divisor: 0,
            small_queues: SmallQueues::default(),
            loss_detection: LossDetection::Duplicates,
            duplicate_threshold: THRESHOLD,
            spray: None,
            paced: true,
            dscp: None,
            priority: None,
            bic: Bic::default(),
            constant_rate: ConstantRate::default(),
            cubic: Cubic::default(),
            dcqcn: DcqcnSettings::default(),
            dctcp: Dctcp::default(),
            dctcp_rate: DctcpRateSettings::default(),
            prague: Prague::default(),
            timely: TimelySettings::default(),
            vegas: Vegas::default(),
            message: Message::default(),
            qcn: ReactionPoint::default(),
            hpcc: HpccSettings::default(),
            powertcp: PowerTcpSettings::default(),
            swift: Swift::default(),
        }
    }
}

impl Transport {
    /// Whether a flow's packets may take several paths.
    pub(super) fn has_paths(&self) -> bool {
        self.sends_messages() || self.spray.is_some()
    }

    /// Whether this is the message transport.
    pub fn sends_messages(&self) -> bool {
        self.messages || self.congestion_control.is_of_messages()
    }
}

/// Checks each key of the transport.
pub(super) fn check(t: &Transport) -> Vec<Result<(), Problem>> {
    let mut found = sizes(t);
    found.extend(times(t));
    found.extend([
        require(
            t.ecn
                || t.congestion_control.is_of_messages()
                || !t.congestion_control.keys().needs_ecn,
            "transport.ecn",
            t.ecn,
            &format!(
                "true with transport.congestion_control = \"{}\"",
                t.congestion_control
            ),
        ),
        require(
            !t.messages || matches!(t.congestion_control, CongestionControl::External(_)),
            "transport.messages",
            t.messages,
            "true with a class of your own as transport.congestion_control only",
        ),
        t.small_queues.check(t.mtu),
    ]);
    found.extend(loss_detection::check(t));
    found.push(spray::check(t));
    found.extend(t.check_settings());
    found
}

/// Largest packet, bytes, if it is valid.
pub(super) fn valid_mtu(t: &Transport) -> Option<u64> {
    (300..=9000).contains(&t.mtu.0).then_some(t.mtu.0)
}

fn sizes(t: &Transport) -> Vec<Result<(), Problem>> {
    let (mtu, header) = (t.mtu, t.header);
    let mut found = vec![
        require(
            valid_mtu(t).is_some(),
            "transport.mtu",
            quoted(mtu),
            "300B to 9000B",
        ),
        require(
            (20..=120).contains(&header.0),
            "transport.header",
            quoted(header),
            "20B to 120B",
        ),
        require(
            t.framing.0 <= 100,
            "transport.framing",
            quoted(t.framing),
            "at most 100B",
        ),
    ];
    let segment_bytes = mtu.0.saturating_sub(header.0).max(1);
    let most = (MAX_WINDOW_BYTES / segment_bytes).min(1_000_000);
    for (key, value) in [
        ("transport.initial_window", t.initial_window),
        ("transport.min_window", t.min_window),
        ("transport.max_window", t.max_window),
        ("transport.receive_window", t.receive_window),
    ] {
        found.push(require(
            (1..=most).contains(&u64::from(value)),
            key,
            value,
            &format!("1 to {most} segments, which are at most 1 GiB"),
        ));
    }
    found.push(require(
        t.min_window <= t.max_window,
        "transport.min_window",
        t.min_window,
        "at most transport.max_window",
    ));
    found
}

fn times(t: &Transport) -> [Result<(), Problem>; 7] {
    [
        require(
            t.min_rto >= Time(1_000_000),
            "transport.min_rto",
            quoted(t.min_rto),
            "at least 1us",
        ),
        require(
            (t.min_rto..=Time(3_600_000_000_000_000)).contains(&t.max_rto),
            "transport.max_rto",
            quoted(t.max_rto),
            "from transport.min_rto to 3600s",
        ),
        require(
            t.initial_rto.0 > 0,
            "transport.initial_rto",
            quoted(t.initial_rto),
            "a time above 0",
        ),
        require(
            t.rto_granularity <= Time(1_000_000_000_000),
            "transport.rto_granularity",
            quoted(t.rto_granularity),
            "at most 1s",
        ),
        require(
            (1..=64).contains(&t.ack_every),
            "transport.ack_every",
            t.ack_every,
            "1 to 64",
        ),
        require(
            t.ack_every == 1 || (t.delayed_ack.0 > 0 && t.delayed_ack < t.min_rto),
            "transport.delayed_ack",
            quoted(t.delayed_ack),
            "a time above 0 and below transport.min_rto, or each delayed ACK would be a timeout",
        ),
        require(
            t.idle_restart || !t.idle_decay,
            "transport.idle_decay",
            t.idle_decay,
            "true with transport.idle_restart = true only",
        ),
    ]
}

/// Whether a congestion control uses a table of settings.
type Uses = fn(&CongestionControl) -> bool;

/// Declares the tables of `[transport]` that belong to congestion controls: each with its key, its type,
/// the controls that use it, and its check. For example:
///
/// ```text
/// bic: Bic, of [Bic], |transport| transport.bic.check();
/// ```
///
/// `messages` stands for all controls of the message transport. Controls reach their settings by the type.
/// Other controls of `[transports]` do not inherit them.
macro_rules! settings {
    ($($key:ident: $settings:ty, of $controls:tt, $check:expr;)+) => {
        $(impl AsRef<$settings> for Transport {
            fn as_ref(&self) -> &$settings {
                &self.$key
            }
        })+

        impl Transport {
            /// Keys of the tables, and whether a congestion control uses them.
            pub(super) const OF_CONTROLS: &[(&str, Uses)] = &[
                $((stringify!($key), uses!($controls)),)+
            ];

            fn check_settings(&self) -> Vec<Result<(), Problem>> {
                let checks: &[fn(&Transport) -> Result<(), Problem>] = &[$($check,)+];
                checks.iter().map(|check| check(self)).collect()
            }
        }
    };
}

/// Whether a control is one of a list.
macro_rules! uses {
    (messages) => {
        CongestionControl::is_of_messages
    };
    ([$($control:ident),+]) => {
        |of| matches!(of, $(CongestionControl::$control)|+)
    };
}

settings! {
    bic: Bic, of [Bic], |transport| transport.bic.check();
    constant_rate: ConstantRate, of [ConstantRate], |transport| {
        let is_used = transport.congestion_control == CongestionControl::ConstantRate;
        transport.constant_rate.check(is_used, transport.ecn)
    };
    cubic: Cubic, of [Cubic], |_| Ok(());
    dcqcn: DcqcnSettings, of [Dcqcn], |transport| transport.dcqcn.check();
    dctcp: Dctcp, of [Dctcp], |transport| transport.dctcp.check();
    dctcp_rate: DctcpRateSettings, of [DctcpRate], |transport| transport.dctcp_rate.check();
    prague: Prague, of [Prague], |transport| transport.prague.check();
    timely: TimelySettings, of [Timely], |transport| transport.timely.check();
    vegas: Vegas, of [Vegas], |transport| transport.vegas.check();
    message: Message, of messages, |transport| transport.message.check();
    // Its check needs the rate of the link (`qcn`).
    qcn: ReactionPoint, of [Qcn, QcnAimd], |_| Ok(());
    hpcc: HpccSettings, of [Hpcc], |transport| transport.hpcc.check();
    powertcp: PowerTcpSettings, of [PowerTcp, ThetaPowerTcp], |transport| transport.powertcp.check();
    swift: Swift, of [Swift], |transport| transport.swift.check();
}

impl AsRef<UnoCcSettings> for Transport {
    fn as_ref(&self) -> &UnoCcSettings {
        &self.message.unocc
    }
}
