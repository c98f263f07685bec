//! What a congestion control needs of a scenario's keys.

use serde::Serialize;

use super::ControlName;

/// What the NICs (adapters) of RoCE do: keys of `[transport.message]` and their values.
const OF_ADAPTERS: &[(&str, &str)] = &[
    ("recovery", "go_back_n"),
    ("load_balancing", "ecmp"),
    ("ack_bytes", "1B"),
    ("timeout", "4ms"),
];

/// What Swift's transport does, as far as the message transport has it.
const OF_SWIFT: &[(&str, &str)] = &[
    ("recovery", "selective"),
    ("load_balancing", "ecmp"),
    ("ack_bytes", "1B"),
];

impl ControlName {
    /// Whether the source processes notices of QCN's congestion points.
    pub fn is_qcn(&self) -> bool {
        matches!(self, ControlName::Qcn | ControlName::QcnAimd)
    }

    /// Whether this is a control of the message transport.
    pub fn is_of_messages(&self) -> bool {
        ControlName::OF_MESSAGES.contains(self)
    }

    /// Keys of `[transport.message]` with the values that they have with the control if a scenario does not
    /// set them.
    pub fn message_defaults(&self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::NewReno | Self::Cubic | Self::Bic | Self::Bbr | Self::Dctcp | Self::Prague => &[],
            Self::Vegas | Self::Qcn | Self::QcnAimd | Self::Rcp | Self::ConstantRate => &[],
            Self::Nscc | Self::Rccc | Self::NsccRccc | Self::UnoCc | Self::External(_) => &[],
            Self::Dcqcn | Self::DctcpRate | Self::Timely | Self::LineRate => OF_ADAPTERS,
            Self::Hpcc | Self::PowerTcp | Self::ThetaPowerTcp => OF_ADAPTERS,
            Self::Swift => OF_SWIFT,
        }
    }

    /// Whether the control of messages determines its first window itself.
    pub fn starts_at_rate(&self) -> bool {
        self.follows_path() || *self == ControlName::UnoCc
    }

    /// Whether the control compares telemetry or round trips of successive packets, which must take one path.
    pub fn follows_path(&self) -> bool {
        matches!(self, Self::Hpcc | Self::PowerTcp | Self::ThetaPowerTcp)
    }

    /// Whether the control reads the number of links of its path.
    pub fn reads_links(&self) -> bool {
        *self == ControlName::Swift
    }

    /// Keys of `[transport]` that matter to the control.
    pub fn keys(&self) -> ControlKeys {
        let (needs_ecn, max_window, min_rto) = match self {
            Self::Dctcp | Self::Prague => (true, true, true),
            Self::NewReno | Self::Cubic | Self::Bic => (false, true, true),
            Self::Bbr | Self::Vegas | Self::External(_) => (false, true, true),
            Self::Qcn | Self::QcnAimd => (false, false, true),
            Self::Rcp | Self::ConstantRate | Self::Rccc => (false, false, false),
            Self::Hpcc | Self::PowerTcp | Self::ThetaPowerTcp => (false, false, false),
            Self::Nscc | Self::NsccRccc | Self::UnoCc => (true, false, false),
            Self::Dcqcn | Self::DctcpRate => (true, false, false),
            Self::Timely | Self::LineRate | Self::Swift => (false, false, false),
        };
        ControlKeys {
            needs_ecn,
            max_window,
            min_rto,
        }
    }
}

/// Keys of `[transport]` that matter to a control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ControlKeys {
    /// Whether it needs marks: `ecn` must be true.
    pub needs_ecn: bool,
    /// Whether `max_window` limits it.
    pub max_window: bool,
    /// Whether it recovers losses by TCP's timeout, which `min_rto` bounds.
    pub min_rto: bool,
}
