//! No congestion control of RDMA: each connection sends at the rate of its NIC and reacts to nothing, as
//! large RoCE clusters without DCQCN do. What is lost is sent again; pauses and the receiver's admission
//! hold the queues, if anything does.
//!
//! Source: mode 0 of the simulator of HPCC (alibaba-edu/High-Precision-Congestion-Control at 9f4be2a).

use super::{CongestionControl, Feedback, LostPacket};
use crate::transport::window::Window;

/// State of one connection: none.
#[derive(Clone, Copy, Debug)]
pub struct LineRateControl;

impl CongestionControl for LineRateControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, _ack: &Feedback) -> bool {
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, _lost: &LostPacket) {}

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        Some(u64::MAX)
    }
}
