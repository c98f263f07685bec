//! The configuration of a stream's sender. Times are ps.

use hull_core::rack::RackConfig;

use crate::transport::control::Controller;
use crate::transport::rto::RtoConfig;
use crate::transport::window::Window;

/// Configuration of a sender.
#[derive(Clone, Debug)]
pub struct SenderConfig {
    /// Initial congestion window and its bounds.
    pub window: Window,
    /// Congestion control algorithm.
    pub controller: Controller,
    /// Bounds of the retransmission timeout.
    pub rto: RtoConfig,
    /// Receive window, bytes.
    pub receive_window: u64,
    /// Whether an idle time of more than one RTO resets the window to its initial size.
    pub idle_restart: bool,
    /// Whether that restart halves the window once per RTO of idle time instead (RFC 2861), but not
    /// below its initial size.
    pub idle_decay: bool,
    /// Whether the window grows only while it limits the sender.
    pub cwnd_validation: bool,
    /// Divisor of the window: new data waits until this part of the window can be sent in one
    /// piece; 0: no waiting.
    pub tso_win_divisor: u8,
    /// Whether packets are ECN-capable.
    pub ecn: bool,
    /// Whether the first two duplicate acknowledgments release new segments (RFC 3042).
    pub limited_transmit: bool,
    /// Whether the flow begins with SYN and SYN-ACK.
    pub handshake: bool,
    /// Whether the control requests a round-trip sample of every acknowledgment.
    pub samples_every_ack: bool,
    /// Whether the control requests a sample of the delivery rate for each acknowledgment.
    pub samples_delivery: bool,
    /// Whether data carries ECT(1) and no CWR: the receiver counts marked packets (AccECN) or
    /// acknowledges nothing.
    pub accurate_ecn: bool,
    /// Whether data is acknowledged. If not, no byte is outstanding and none is sent again.
    pub acknowledged: bool,
    /// Number of segments above a hole that prove a loss.
    pub duplicate_threshold: u32,
    /// Detection of losses by time, instead of by that number alone.
    pub rack: Option<RackConfig>,
}

impl SenderConfig {
    /// Bytes above a hole beyond which it counts as lost.
    #[inline]
    pub(super) fn tolerated_bytes(&self) -> u64 {
        u64::from(self.duplicate_threshold - 1) * self.window.mss()
    }
}
