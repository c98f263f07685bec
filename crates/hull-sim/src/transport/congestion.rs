//! Congestion control: one small trait, one file per algorithm, an enum to dispatch.
//!
//! The sender finds losses and counts acknowledgments; a controller only moves the window.

use super::{DctcpControl, NewReno};

/// The congestion window and its bounds, in bytes.
#[derive(Clone, Debug)]
pub struct Window {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold.
    pub ssthresh: u64,
    /// Maximum segment size.
    pub mss: u32,
    /// Smallest window after a reduction (not after a timeout).
    pub min: u64,
    /// Largest window.
    pub max: u64,
    /// Whether growth counts acknowledged bytes (RFC 3465) or acknowledgments (RFC 5681).
    byte_counting: bool,
    /// Bytes acknowledged towards the next increase in congestion avoidance.
    credit: u64,
}

impl Window {
    /// A window of `initial` bytes in slow start without a threshold.
    pub fn new(initial: u64, mss: u32, min: u64, max: u64, byte_counting: bool) -> Self {
        let cwnd = initial.min(max);
        Window {
            cwnd,
            ssthresh: u64::MAX,
            mss,
            min,
            max,
            byte_counting,
            credit: 0,
        }
    }

    /// Growth of RFC 5681 for an ACK of `acked` bytes: one segment in slow start; in congestion
    /// avoidance one segment for each window of acknowledged bytes, or, when ACKs are counted, of
    /// as many ACKs as the window has segments: half as fast when every other packet is
    /// acknowledged.
    #[inline]
    pub fn grow(&mut self, acked: u64) {
        let mss = u64::from(self.mss);
        if self.cwnd < self.ssthresh {
            self.cwnd += acked.min(mss);
        } else {
            self.credit += if self.byte_counting {
                acked
            } else {
                acked.min(mss)
            };
            if self.credit >= self.cwnd {
                self.credit -= self.cwnd;
                self.cwnd += mss;
            }
        }
        self.cwnd = self.cwnd.min(self.max);
    }

    /// Sets window and threshold to `cwnd`, not below the minimum, and leaves slow start.
    pub fn reduce_to(&mut self, cwnd: u64) {
        self.cwnd = cwnd.max(self.min);
        self.ssthresh = self.cwnd;
        self.credit = 0;
    }
}

/// What a controller learns from an acknowledgment of new data.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// First unacknowledged byte after it.
    pub una: u64,
    /// Next byte to be sent for the first time.
    pub nxt: u64,
    /// Bytes that it acknowledged.
    pub acked: u64,
    /// Whether it carried ECN-Echo.
    pub ece: bool,
    /// Whether it acknowledges data from before a loss for which the window was reduced already:
    /// then ECN-Echo asks for no further reduction (RFC 3168, 6.1.2).
    pub after_loss: bool,
    /// Whether the window may grow: no loss recovery under way, and the window was in use.
    pub may_grow: bool,
}

/// A congestion control algorithm.
pub trait CongestionControl {
    /// New data acknowledged. Returns true when the window was reduced because of ECN.
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool;

    /// A loss was found by duplicate acknowledgments, with `flight` bytes outstanding: RFC 5681,
    /// half of it.
    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * u64::from(window.mss)));
    }

    /// The retransmission timer fired: RFC 5681, one segment, slow start up to half the flight.
    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * u64::from(window.mss)));
        window.cwnd = u64::from(window.mss);
    }
}

/// The algorithms by name.
#[derive(Clone, Debug)]
pub enum Controller {
    /// TCP NewReno, with ECN (RFC 3168) where packets are ECN-capable.
    NewReno(NewReno),
    /// DCTCP.
    Dctcp(DctcpControl),
}

macro_rules! dispatch {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Controller::NewReno($controller) => $call,
            Controller::Dctcp($controller) => $call,
        }
    };
}

impl CongestionControl for Controller {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool {
        dispatch!(self, controller => controller.on_ack(window, ack))
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        dispatch!(self, controller => controller.on_loss(window, flight));
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        dispatch!(self, controller => controller.on_timeout(window, flight));
    }
}
