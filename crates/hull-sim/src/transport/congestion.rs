//! Congestion control: one small trait, one file per algorithm, an enum to dispatch.
//!
//! The sender finds losses and counts acknowledgments; a controller only moves the window. How to add
//! one: docs/adding_congestion_control.md.

use super::window::Window;
use super::{Bic, Cubic, DctcpControl, NewReno, OwnControl, RateBased, Vegas};

/// What a controller learns from an acknowledgment of new data, or from one of none with ECN-Echo.
#[derive(Clone, Copy, Debug)]
pub struct AckEvent {
    /// Now, ps.
    pub now_ps: u64,
    /// First unacknowledged byte after it.
    pub una: u64,
    /// Next byte to be sent for the first time.
    pub nxt: u64,
    /// Bytes that it acknowledged; 0 for a duplicate with ECN-Echo.
    pub acked: u64,
    /// Whether it carried ECN-Echo.
    pub ece: bool,
    /// Whether it acknowledges data from before a loss for which the window was reduced already:
    /// then ECN-Echo asks for no further reduction (RFC 3168, 6.1.2).
    pub after_loss: bool,
    /// Whether the window may grow: no loss recovery under way, and the window was in use.
    pub may_grow: bool,
    /// The round-trip time that it measured, ps: about once in a round trip, never of a segment that
    /// was sent twice (Karn).
    pub rtt_ps: Option<u64>,
    /// Smoothed round-trip time of RFC 6298, ps; 0 before the first measurement.
    pub srtt_ps: u64,
}

/// A congestion control algorithm.
pub trait CongestionControl {
    /// New data acknowledged, or a duplicate acknowledgment with ECN-Echo. Returns true when the window
    /// was reduced because of ECN.
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool;

    /// A loss was found by duplicate acknowledgments, with `flight` bytes outstanding: RFC 5681,
    /// half of it.
    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * window.mss()));
    }

    /// The retransmission timer fired: RFC 5681, one segment, slow start up to half the flight. Not
    /// called when the timer fires again for the same segment: the threshold is then held (3.1).
    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        window.reduce_to((flight / 2).max(2 * window.mss()));
        window.set_cwnd(window.mss());
    }

    /// Data is sent again after nothing was outstanding; the last was sent `idle_ps` ago.
    fn on_restart(&mut self, _idle_ps: u64) {}
}

/// The algorithms by name.
#[derive(Clone, Debug)]
pub enum Controller {
    /// TCP NewReno, with ECN (RFC 3168) where packets are ECN-capable.
    NewReno(NewReno),
    /// CUBIC.
    Cubic(Cubic),
    /// BIC-TCP.
    Bic(Bic),
    /// DCTCP.
    Dctcp(DctcpControl),
    /// TCP Vegas.
    Vegas(Vegas),
    /// No window: the source has a rate.
    RateBased(RateBased),
    /// One from outside of hull.
    Own(OwnControl),
}

macro_rules! dispatch {
    ($self:ident, $controller:ident => $call:expr) => {
        match $self {
            Controller::NewReno($controller) => $call,
            Controller::Cubic($controller) => $call,
            Controller::Bic($controller) => $call,
            Controller::Dctcp($controller) => $call,
            Controller::Vegas($controller) => $call,
            Controller::RateBased($controller) => $call,
            Controller::Own($controller) => $call,
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

    #[inline]
    fn on_restart(&mut self, idle_ps: u64) {
        dispatch!(self, controller => controller.on_restart(idle_ps));
    }
}
