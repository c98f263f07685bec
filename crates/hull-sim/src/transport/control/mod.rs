//! Congestion control: one trait, one file per algorithm, and the list of them.
//!
//! The sender detects losses, keeps the timer and counts acknowledgments; a control sets the window, a
//! rate, or both. It does not know whether it controls a stream or a connection of the message transport,
//! whose sizes are bytes on the wire. To add one, see docs/adding_congestion_control.md.

#[macro_use]
mod dispatch;

mod bbr;
mod bic;
mod constant_rate;
mod cubic;
mod dcqcn;
mod dctcp;
mod dctcp_rate;
mod external;
mod hpcc;
mod hystart;
mod keys;
mod line_rate;
mod newreno;
mod nic_rate;
mod nscc;
mod path;
mod powertcp;
mod prague;
mod qcn;
mod rccc;
mod rcp;
mod round_trip_line;
mod swift;
mod timely;
mod unocc;
mod vegas;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::delivery_rate::DeliveryRate;
use super::receiver::EchoKind;
use super::send_times::SendTimes;
use super::window::Window;
use crate::network::rules::Notice;
use crate::network::{Answer, HopRecord, InBand};

pub use bbr::BbrControl;
pub use bic::{Bic, BicControl};
pub use constant_rate::{ConstantRate, ConstantRateControl};
pub use cubic::{Cubic, CubicControl};
pub use dcqcn::{DcqcnControl, DcqcnSettings};
pub use dctcp::{Dctcp, DctcpControl};
pub use dctcp_rate::{DctcpRateControl, DctcpRateSettings};
pub use external::{External, ExternalControl};
pub use hpcc::{HpccControl, HpccForm, HpccSettings};
pub use line_rate::LineRateControl;
pub use newreno::NewReno;
pub use nscc::NsccControl;
pub use path::{Path, window_bytes};
pub use powertcp::{PowerTcpControl, PowerTcpSettings, ThetaPowerTcpControl};
pub use prague::{Prague, PragueControl};
pub use qcn::{QcnControl, ReactionPoint};
pub use rccc::{NoWindow, RcccControl};
pub use rcp::RcpControl;
pub use round_trip_line::RoundTripLine;
pub use swift::{Swift, SwiftControl};
pub use timely::{TimelyControl, TimelySettings};
pub use unocc::{UnoCcControl, UnoCcSettings};
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
    + AsRef<UnoCcSettings>
    + AsRef<HpccSettings>
    + AsRef<DcqcnSettings>
    + AsRef<DctcpRateSettings>
    + AsRef<TimelySettings>
    + AsRef<PowerTcpSettings>
    + AsRef<Swift>
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
        + AsRef<UnoCcSettings>
        + AsRef<HpccSettings>
        + AsRef<DcqcnSettings>
        + AsRef<DctcpRateSettings>
        + AsRef<TimelySettings>
        + AsRef<PowerTcpSettings>
        + AsRef<Swift>
{
}

/// Information from the network that an acknowledgment returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Echo<'a> {
    /// ECN-Echo: packets were marked.
    pub marked: bool,
    /// ACE field (RFC 9768), of receivers that count marked packets: their number plus 5, modulo 8.
    pub ace: u8,
    /// What switches wrote into the most recent data, if data asked for it.
    pub answer: Answer<'a>,
}

impl Echo<'_> {
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
pub struct Feedback<'a> {
    /// Current time, ps.
    pub now_ps: u64,
    /// First unacknowledged byte after the event. Of the message transport: number of bytes that have
    /// arrived, in any order.
    pub una: u64,
    /// Next new byte to be sent; `nxt - una` bytes are outstanding.
    pub nxt: u64,
    /// Newly acknowledged bytes; 0 for a duplicate or an old acknowledgment with an echo.
    pub acked: u64,
    /// Information from the network.
    pub echo: Echo<'a>,
    /// Whether the acknowledged data was sent before a loss for which the window has been reduced.
    /// ECN-Echo then requires no further reduction (RFC 3168, 6.1.2).
    pub after_loss: bool,
    /// Whether the window may grow: no loss recovery is in progress, and the window was in use.
    pub may_grow: bool,
    /// Measured round-trip time, ps, never of a retransmitted segment (Karn). It is present for
    /// each acknowledgment of new data with [`CongestionControl::samples_every_ack`], otherwise
    /// about once per round trip.
    pub rtt_ps: Option<u64>,
    /// Smoothed round-trip time of RFC 6298, ps; 0 before the first measurement, and in the message
    /// transport.
    pub srtt_ps: u64,
    /// Time at which the packet that caused the acknowledgment was last sent, ps, if the message
    /// transport has it in flight; `None` for streams.
    pub sent_ps: Option<u64>,
}

impl<'a> Feedback<'a> {
    /// Telemetry: records of the hops of the most recent data; empty if data did not ask for it.
    pub fn telemetry(&self) -> &'a [HopRecord] {
        match self.echo.answer {
            Answer::Telemetry(records) => records.as_slice(),
            Answer::Nothing | Answer::Rate(_) => &[],
        }
    }
}

/// Loss of a packet of the message transport, which learns of each.
#[derive(Clone, Copy, Debug)]
pub struct LostPacket {
    /// Current time, ps.
    pub now_ps: u64,
    /// Size of the packet, bytes; of a group of packets, of all that are lost.
    pub bytes: u64,
    /// Bytes outstanding, including these.
    pub flight: u64,
    /// Whether the loss is the first in its window of data.
    pub is_first: bool,
    /// How the loss was detected.
    pub by: LostBy,
}

/// How the loss of a packet was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostBy {
    /// The receiver got the header of the trimmed packet.
    Nack {
        /// Time since the packet was sent, ps.
        rtt_ps: u64,
        /// Whether the receiver's credit reacts to the loss: it happened at the last hop.
        left_to_receiver: bool,
    },
    /// The receiver waits no longer for the packet's group (erasure coding).
    Group,
    /// A later packet has arrived.
    Gap,
    /// The packet was not acknowledged in time.
    Timeout,
}

/// Data that waits for credit.
#[derive(Clone, Copy, Debug)]
pub struct Backlog {
    /// Bytes to be sent, retransmissions included.
    pub bytes: u64,
    /// Number of the host's connections with data to send.
    pub connections: u64,
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
    /// Time between two packets, ps.
    Gap(u64),
}

impl Pace {
    /// Time from a packet of `wire_bytes` to the next one, ps, if the pace sets it.
    #[inline]
    pub fn gap_ps(self, wire_bytes: u16) -> Option<u64> {
        match self {
            Pace::Window | Pace::OneByOne => None,
            Pace::Bps(rate_bps) => {
                let bits_ps = u128::from(wire_bytes) * 8_000_000_000_000;
                Some((bits_ps / u128::from(rate_bps.max(1))) as u64)
            }
            Pace::Gap(gap_ps) => Some(gap_ps),
        }
    }
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

    /// Processes the loss of a packet of the message transport. Default: the first loss in a window of
    /// data is one of a stream.
    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        match (lost.is_first, lost.by) {
            (false, _) => {}
            (true, LostBy::Nack { .. } | LostBy::Group | LostBy::Gap) => {
                self.on_loss(window, lost.flight);
            }
            (true, LostBy::Timeout) => self.on_timeout(window, lost.flight),
        }
    }

    /// Processes a restart: data is sent after nothing was outstanding; the last was sent `idle_ps`
    /// ago.
    fn on_restart(&mut self, _idle_ps: u64) {}

    /// Processes a notice from a switch (QCN).
    fn on_notice(&mut self, _now_ps: u64, _notice: Notice) {}

    /// Whether the control sets a pace. If not, a stream does not call the pacing methods.
    fn sets_pace(&self) -> bool {
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

    /// Window that the control keeps itself, bytes on the wire: it may be larger than a [`Window`], and
    /// below a packet. The message transport then ignores its [`Window`].
    fn own_window_bytes(&self) -> Option<u64> {
        None
    }

    /// Whether the receiver grants credit.
    fn grants_credit(&self) -> bool {
        false
    }

    /// Whether the next packet must wait for credit.
    fn lacks_credit(&self) -> bool {
        false
    }

    /// Total credit to request for this backlog, quanta of 256 bytes, if the receiver grants credit.
    fn demand(&self, _backlog: &Backlog) -> Option<u64> {
        None
    }

    /// Processes a pull that reports the total granted credit, quanta of 256 bytes.
    fn on_credit(&mut self, _granted: u64) {}

    /// Whether a change of the pace rescales the current gap. If not, it takes effect after the
    /// next segment.
    fn adjusts_gap(&self) -> bool {
        true
    }

    /// Whether the host's TCP paces it, within TCP small queues.
    fn is_paced_by_host(&self) -> bool {
        false
    }

    /// Fields that data carries for switches to read and write and the receiver to echo, always of the
    /// same kind. `srtt_ps` is the smoothed round trip, for switches to read. Data of the message
    /// transport carries telemetry only.
    fn ask(&self, _srtt_ps: u64) -> InBand {
        InBand::Nothing
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

    /// Prefetches what an ACK needs beside this value.
    fn prefetch(&self) {}

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

controls! {
    of streams {
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
        Nscc, "nscc": NsccControl = |path, _| NsccControl::new(path);
        /// Ultra Ethernet's receiver control, of the message transport: the receiver grants credit.
        Rccc, "rccc": RcccControl<NoWindow> = |path, _| RcccControl::new(path, NoWindow);
        /// Both together.
        NsccRccc, "nscc+rccc": RcccControl<NsccControl>
            = |path, _| RcccControl::new(path, NsccControl::new(path));
        /// Uno's sender control, of the message transport: a window by marks, with epochs of the round trip
        /// inside a data centre.
        UnoCc, "unocc": UnoCcControl = |path, settings| UnoCcControl::new(path, settings.as_ref());
        /// HPCC, of the message transport: a rate and a window from the telemetry of switches.
        Hpcc, "hpcc": HpccControl = |path, settings| HpccControl::new(path, settings.as_ref());
        /// DCQCN, of the message transport: the NIC cuts a flow's rate at marks and raises it by timers.
        Dcqcn, "dcqcn": DcqcnControl = |path, settings| DcqcnControl::new(path, settings.as_ref());
        /// DCTCP as a rate, of the message transport: the NIC cuts a flow's rate by the share of marks.
        DctcpRate, "dctcp-rate": DctcpRateControl
            = |path, settings| DctcpRateControl::new(path, settings.as_ref());
        /// TIMELY, of the message transport: the NIC sets a flow's rate by the gradient of its round trips.
        Timely, "timely": TimelyControl = |path, settings| TimelyControl::new(path, settings.as_ref());
        /// No congestion control of the message transport: flows send at the rate of the NIC.
        LineRate, "line-rate": LineRateControl = |_, _| LineRateControl;
        /// PowerTCP, of the message transport: a rate and a window from the telemetry of switches.
        PowerTcp, "powertcp": PowerTcpControl
            = |path, settings| PowerTcpControl::new(path, settings.as_ref());
        /// theta-PowerTCP, of the message transport: a rate and a window from round trips.
        ThetaPowerTcp, "theta-powertcp": ThetaPowerTcpControl
            = |path, settings| ThetaPowerTcpControl::new(path, settings.as_ref());
        /// Swift, of the message transport: a window by the delay of packets.
        Swift, "swift": SwiftControl = |path, settings| SwiftControl::new(path, settings.as_ref());
    }
}

#[expect(clippy::derivable_impls)] // Its variants come from the list.
impl Default for ControlName {
    fn default() -> Self {
        ControlName::NewReno
    }
}
