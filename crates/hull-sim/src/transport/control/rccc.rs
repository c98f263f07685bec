//! RCCC ([`hull_core::rccc`]): the credit of a receiver limits the sender, alone or beside a window.
//! Bytes on the wire, ps.

use hull_core::rccc::{Credit, Demand};

use super::{Backlog, CongestionControl, Feedback, LostPacket, Pace, Path, Start};
use crate::transport::window::Window;

/// Sender without a window.
#[derive(Clone, Copy, Debug)]
pub struct NoWindow;

impl CongestionControl for NoWindow {
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

/// Credit of one connection, and the control of its window.
#[derive(Clone, Debug)]
pub struct RcccControl<C> {
    window: C,
    credit: Credit,
}

impl<C> RcccControl<C> {
    /// Creates the state of a connection over this path.
    pub fn new(path: &Path, window: C) -> Self {
        let credit = Credit::new(path.largest_window_bytes(), u32::from(path.mtu_bytes));
        RcccControl { window, credit }
    }
}

/// Each answer of the receiver may be the first, which ends the initial credit.
impl<C: CongestionControl> CongestionControl for RcccControl<C> {
    fn on_start(&mut self, start: &Start) {
        self.window.on_start(start);
    }

    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        self.credit.on_answer();
        self.window.on_ack(window, ack)
    }

    fn on_packet_lost(&mut self, window: &mut Window, lost: &LostPacket) {
        self.credit.on_answer();
        self.window.on_packet_lost(window, lost);
    }

    #[inline]
    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        self.credit.spend(u32::from(wire_bytes));
        self.window.on_sent(now_ps, wire_bytes)
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        self.window.own_window_bytes()
    }

    fn grants_credit(&self) -> bool {
        true
    }

    #[inline]
    fn lacks_credit(&self) -> bool {
        !self.credit.allows()
    }

    #[inline]
    fn demand(&self, backlog: &Backlog) -> Option<u64> {
        let window_bytes = self.window.own_window_bytes();
        Some(self.credit.target(&Demand {
            backlog_bytes: backlog.bytes,
            window_bytes: window_bytes.filter(|&bytes| bytes < u64::MAX),
            active_connections: backlog.connections as u32,
        }))
    }

    fn on_credit(&mut self, granted: u64) {
        self.credit.on_pull(granted);
    }
}
