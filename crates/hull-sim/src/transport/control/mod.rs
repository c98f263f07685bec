//! Congestion control: one trait, one file per algorithm, and the list of them.
//!
//! The sender detects losses, keeps the timer and counts acknowledgments; a control sets the window, a
//! rate, or both. To add one, see docs/adding_congestion_control.md.

mod bbr;
mod bic;
mod constant_rate;
mod cubic;
mod dctcp;
mod external;
mod hystart;
mod newreno;
mod prague;
mod qcn;
mod rcp;
mod vegas;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delivery_rate::DeliveryRate;
use super::receiver::EchoKind;
use super::send_times::SendTimes;
use super::window::Window;
use crate::network::Written;
use crate::network::rules::Notice;

pub use bbr::BbrControl;
pub use bic::{Bic, BicControl};
pub use constant_rate::{ConstantRate, ConstantRateControl};
pub use cubic::{Cubic, CubicControl};
pub use dctcp::{Dctcp, DctcpControl};
pub use external::{External, ExternalControl};
pub use newreno::NewReno;
pub use prague::{Prague, PragueControl};
pub use qcn::{QcnControl, ReactionPoint};
pub use rcp::RcpControl;
pub use vegas::{Vegas, VegasControl};

use hull_core::qcn_reaction_point::Increase;

/// Settings of all built-in controls.
pub trait Settings:
    AsRef<Bic>
    + AsRef<ConstantRate>
    + AsRef<Cubic>
    + AsRef<Dctcp>
    + AsRef<Prague>
    + AsRef<Vegas>
    + AsRef<ReactionPoint>
{
}

impl<T> Settings for T where
    T: AsRef<Bic>
        + AsRef<ConstantRate>
        + AsRef<Cubic>
        + AsRef<Dctcp>
        + AsRef<Prague>
        + AsRef<Vegas>
        + AsRef<ReactionPoint>
{
}

/// Information from the network that an acknowledgment returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo {
    /// ECN-Echo: packets were marked.
    pub marked: bool,
    /// ACE field (RFC 9768), of receivers that count marked packets: their number plus 5, modulo 8.
    pub ace: u8,
    /// Rate offered by the path, if data requested one.
    pub written: Option<Written>,
}

impl Echo {
    /// Creates an echo with marks only.
    #[inline]
    pub fn marks(marked: bool) -> Self {
        Echo {
            marked,
            ..Echo::default()
        }
    }
}

/// Event reported to a control: an acknowledgment of new data, or one with an echo.
#[derive(Clone, Copy, Debug)]
pub struct Feedback {
    /// Current time, ps.
    pub now_ps: u64,
    /// First unacknowledged byte after the event.
    pub una: u64,
    /// Next new byte to be sent; `nxt - una` bytes are outstanding.
    pub nxt: u64,
    /// Newly acknowledged bytes; 0 for a duplicate or an old acknowledgment with an echo.
    pub acked: u64,
    /// Information from the network.
    pub echo: Echo,
    /// Whether the acknowledged data was sent before a loss for which the window has been reduced.
    /// ECN-Echo then requires no further reduction (RFC 3168, 6.1.2).
    pub after_loss: bool,
    /// Whether the window may grow: no loss recovery is in progress, and the window was in use.
    pub may_grow: bool,
    /// Measured round-trip time, ps, never of a retransmitted segment (Karn). It is present for
    /// each acknowledgment of new data with [`CongestionControl::samples_every_ack`], otherwise
    /// about once per round trip.
    pub rtt_ps: Option<u64>,
    /// Smoothed round-trip time of RFC 6298, ps; 0 before the first measurement.
    pub srtt_ps: u64,
}

/// Sending rate of a flow, in addition to its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as the window allows.
    Window,
    /// One segment at a time, because the rate is not known yet.
    OneByOne,
    /// Rate on the wire, bit/s. Below one segment per round trip it acts as a window of a fraction
    /// of a segment.
    Bps(u64),
}

/// Conditions at the start of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Current time, ps.
    pub now_ps: u64,
    /// Rate of the sender's link, bit/s.
    pub link_bps: u64,
    /// Number of the flow in the run.
    pub flow: u64,
}

/// Congestion control algorithm.
pub trait CongestionControl {
    /// Processes the start of the flow.
    fn on_start(&mut self, _start: &Start) {}

    /// Processes an acknowledgment of new data, or one with an echo. Returns true if the window was
    /// reduced because of ECN.
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool;

    /// Processes a loss detected by duplicate acknowledgments with `flight` bytes outstanding.
    /// Default (RFC 5681): half of the flight.
    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * window.mss()));
    }

    /// Processes an expiry of the retransmission timer. Default (RFC 5681): a window of one
    /// segment, and slow start up to half the flight. Not called if the timer expires again for the
    /// same segment: the threshold is then held (3.1).
    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * window.mss()));
        window.set_cwnd(window.mss());
    }

    /// Processes a restart: data is sent after nothing was outstanding; the last was sent `idle_ps`
    /// ago.
    fn on_restart(&mut self, _idle_ps: u64) {}

    /// Processes a notice from a switch (QCN).
    fn on_notice(&mut self, _now_ps: u64, _notice: Notice) {}

    /// Whether the flow is paced. If not, the pacing methods are not called.
    fn is_paced(&self) -> bool {
        false
    }

    /// Current pace.
    fn pace(&self) -> Pace {
        Pace::Window
    }

    /// Processes a segment of `wire_bytes` that is sent now. Returns the pace of the next one.
    fn on_sent(&mut self, _now_ps: u64, _wire_bytes: u16) -> Pace {
        self.pace()
    }

    /// Whether a change of the pace rescales the current gap. If not, it takes effect after the
    /// next segment.
    fn adjusts_gap(&self) -> bool {
        true
    }

    /// Whether the host's TCP paces it, within TCP small queues.
    fn is_paced_by_host(&self) -> bool {
        false
    }

    /// Fields that data carries for switches to read and write and the receiver to echo, if the
    /// control needs them. `srtt_ps` is the smoothed round trip, for switches to read.
    fn ask(&self, _srtt_ps: u64) -> Option<Written> {
        None
    }

    /// Whether each acknowledgment of new data needs a round-trip sample. The control then stores
    /// the [`SendTimes`].
    fn samples_every_ack(&self) -> bool {
        false
    }

    /// Stored send times.
    fn send_times(&mut self) -> Option<&mut SendTimes> {
        None
    }

    /// Whether the control needs a sample of the delivery rate for each acknowledgment, duplicates
    /// included. The control then stores the [`DeliveryRate`], and its window is kept over idle time.
    fn samples_delivery(&self) -> bool {
        false
    }

    /// Stored delivery rate.
    fn delivery_rate(&mut self) -> Option<&mut DeliveryRate> {
        None
    }

    /// Whether the window is constant at its maximum, so that the pace alone controls the flow.
    fn holds_window(&self) -> bool {
        false
    }

    /// Method by which the receiver echoes marks.
    fn echo(&self) -> EchoKind {
        EchoKind::Classic
    }

    /// Whether data carries ECT(1), if it is ECN-capable.
    fn is_l4s(&self) -> bool {
        self.echo() == EchoKind::Accurate
    }

    /// Estimated share of marked bytes, 0 to 1, if the control estimates it.
    fn alpha(&self) -> Option<f64> {
        None
    }
}

/// Generates from the list the names for scenarios, the enum of all controls and its dispatch.
macro_rules! controls {
    (
        { $($(#[$doc:meta])* $name:ident, $text:literal: $control:ty = $new:expr;)* }
        of messages { $($(#[$message_doc:meta])* $message:ident, $message_text:literal;)* }
    ) => {
        /// Congestion control algorithms.
        #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        #[serde(from = "String", into = "String")]
        #[schemars(!from, !into, rename = "CongestionControl", extend("x-open" = true))]
        pub enum ControlName {
            $($(#[$doc])* #[serde(rename = $text)] $name,)*
            $($(#[$message_doc])* #[serde(rename = $message_text)] $message,)*
            /// External control with this name.
            #[schemars(skip)]
            External(String),
        }

        impl ControlName {
            /// Built-in controls of TCP and of rate-based sources.
            pub const BUILT_IN: &[ControlName] = &[$(ControlName::$name),*];

            /// Controls of the message transport.
            pub const OF_MESSAGES: &[ControlName] = &[$(ControlName::$message),*];

            /// Names of all built-in controls.
            pub fn names() -> Vec<String> {
                let all = Self::BUILT_IN.iter().chain(Self::OF_MESSAGES);
                all.map(ToString::to_string).collect()
            }
        }

        impl std::fmt::Display for ControlName {
            /// Writes the name as in a scenario.
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(ControlName::$name => $text,)*
                    $(ControlName::$message => $message_text,)*
                    ControlName::External(name) => name,
                })
            }
        }

        impl From<String> for ControlName {
            fn from(name: String) -> Self {
                let all = ControlName::BUILT_IN.iter();
                let mut all = all.chain(ControlName::OF_MESSAGES);
                let found = all.find(|control| control.to_string() == name);
                found.cloned().unwrap_or(ControlName::External(name))
            }
        }

        impl From<ControlName> for String {
            fn from(control: ControlName) -> Self {
                control.to_string()
            }
        }

        /// Control state of one flow.
        #[derive(Clone, Debug)]
        pub enum Controller {
            $($(#[$doc])* $name($control),)*
            /// External control.
            External(ExternalControl),
        }

        impl Controller {
            /// Creates the control with this name. An external one is created from `external`. Returns `None` if that is missing, and for controls of the
            /// message transport.
            pub fn new(
                name: &ControlName,
                settings: &impl Settings,
                external: Option<&dyn External>,
            ) -> Option<Self> {
                /// Tells the compiler the types of an entry of the list.
                fn of<S: Settings, C>(settings: &S, new: impl Fn(&S) -> C) -> C {
                    new(settings)
                }
                match name {
                    $(ControlName::$name => {
                        Some(Controller::$name(of(settings, $new)))
                    })*
                    ControlName::External(_) => {
                        Some(Controller::External(ExternalControl::new(external?)))
                    }
                    $(ControlName::$message)|* => None,
                }
            }

            fn inner(&self) -> &dyn CongestionControl {
                match self {
                    $(Controller::$name(control) => control,)*
                    Controller::External(control) => control,
                }
            }

            fn inner_mut(&mut self) -> &mut dyn CongestionControl {
                match self {
                    $(Controller::$name(control) => control,)*
                    Controller::External(control) => control,
                }
            }
        }

        /// Methods called for most packets are dispatched directly, the others through a vtable.
        impl CongestionControl for Controller {
            #[inline]
            fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
                match self {
                    $(Controller::$name(control) => control.on_ack(window, ack),)*
                    Controller::External(control) => control.on_ack(window, ack),
                }
            }

            #[inline]
            fn on_restart(&mut self, idle_ps: u64) {
                match self {
                    $(Controller::$name(control) => control.on_restart(idle_ps),)*
                    Controller::External(control) => control.on_restart(idle_ps),
                }
            }

            fn on_start(&mut self, start: &Start) {
                self.inner_mut().on_start(start);
            }

            fn on_loss(&mut self, window: &mut Window, flight: u64) {
                self.inner_mut().on_loss(window, flight);
            }

            fn on_timeout(&mut self, window: &mut Window, flight: u64) {
                self.inner_mut().on_timeout(window, flight);
            }

            fn on_notice(&mut self, now_ps: u64, notice: Notice) {
                self.inner_mut().on_notice(now_ps, notice);
            }

            fn is_paced(&self) -> bool {
                self.inner().is_paced()
            }

            fn pace(&self) -> Pace {
                self.inner().pace()
            }

            fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
                self.inner_mut().on_sent(now_ps, wire_bytes)
            }

            fn adjusts_gap(&self) -> bool {
                self.inner().adjusts_gap()
            }

            fn is_paced_by_host(&self) -> bool {
                self.inner().is_paced_by_host()
            }

            fn ask(&self, srtt_ps: u64) -> Option<Written> {
                self.inner().ask(srtt_ps)
            }

            fn samples_every_ack(&self) -> bool {
                self.inner().samples_every_ack()
            }

            fn send_times(&mut self) -> Option<&mut SendTimes> {
                self.inner_mut().send_times()
            }

            fn samples_delivery(&self) -> bool {
                self.inner().samples_delivery()
            }

            fn delivery_rate(&mut self) -> Option<&mut DeliveryRate> {
                self.inner_mut().delivery_rate()
            }

            fn holds_window(&self) -> bool {
                self.inner().holds_window()
            }

            fn echo(&self) -> EchoKind {
                self.inner().echo()
            }

            fn is_l4s(&self) -> bool {
                self.inner().is_l4s()
            }

            fn alpha(&self) -> Option<f64> {
                self.inner().alpha()
            }
        }
    };
}

controls! {
    {
        /// TCP NewReno with SACK.
        NewReno, "newreno": NewReno = |_| NewReno::default();
        /// CUBIC (RFC 9438), the default of Linux.
        Cubic, "cubic": CubicControl = |settings| CubicControl::new(settings.as_ref());
        /// BIC-TCP.
        Bic, "bic": BicControl = |settings| BicControl::new(settings.as_ref());
        /// BBR version 1, as in Linux: paced at the measured bandwidth.
        Bbr, "bbr": BbrControl = |_| BbrControl::default();
        /// DCTCP.
        Dctcp, "dctcp": DctcpControl = |settings| DctcpControl::new(settings.as_ref());
        /// TCP Prague, the sender of L4S traffic: its data carries ECT(1).
        Prague, "prague": PragueControl = |settings| PragueControl::new(settings.as_ref());
        /// TCP Vegas.
        Vegas, "vegas": VegasControl = |settings| VegasControl::new(settings.as_ref());
        /// QCN: the source sends at a rate, which congestion points of switches reduce (thesis 5.2).
        Qcn, "qcn": QcnControl
            = |settings| QcnControl::new(settings.as_ref(), Increase::Averaging);
        /// QCN-AIMD: QCN without averaging (thesis 5.4.1).
        QcnAimd, "qcn-aimd": QcnControl
            = |settings| QcnControl::new(settings.as_ref(), Increase::Additive);
        /// RCP: no window, the source sends at the rate that switch.rcp offers.
        Rcp, "rcp": RcpControl = |_| RcpControl::default();
        /// No congestion control, as with UDP: packets at a constant rate, never acknowledged or sent again.
        ConstantRate, "constant_rate": ConstantRateControl
            = |settings| ConstantRateControl::new(settings.as_ref());
    }
    of messages {
        /// Ultra Ethernet's sender control, of the message transport: a window by marks and delay.
        Nscc, "nscc";
        /// Ultra Ethernet's receiver control, of the message transport: the receiver grants credit.
        Rccc, "rccc";
        /// Both together.
        NsccRccc, "nscc+rccc";
        /// Uno's sender control, of the message transport: a window by marks, with epochs of the round trip
        /// inside a data centre.
        UnoCc, "unocc";
    }
}

impl ControlName {
    /// Whether the source processes notices of QCN's congestion points.
    pub fn is_qcn(&self) -> bool {
        matches!(self, ControlName::Qcn | ControlName::QcnAimd)
    }

    /// Whether this is a control of the message transport.
    pub fn is_of_messages(&self) -> bool {
        ControlName::OF_MESSAGES.contains(self)
    }
}

#[expect(clippy::derivable_impls)] // Its variants come from the list.
impl Default for ControlName {
    fn default() -> Self {
        ControlName::NewReno
    }
}
