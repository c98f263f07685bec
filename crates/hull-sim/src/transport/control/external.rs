//! A congestion control from outside hull, such as a Python class, supplied by the caller of a run. The
//! sender uses it like any other; only here is a call through a pointer.

use std::fmt::Debug;

use super::{CongestionControl, Feedback, Pace, Start};
use crate::network::Written;
use crate::network::rules::Notice;
use crate::transport::receiver::EchoKind;
use crate::transport::send_times::SendTimes;
use crate::transport::window::Window;

/// Congestion control from outside hull; each flow has its own instance.
pub trait External: CongestionControl + Debug + Send + Sync {
    /// Creates an instance for a new flow.
    fn fresh(&self) -> Box<dyn External>;
}

/// External control of one flow, and its segments' send times if the control requests them.
#[derive(Debug)]
pub struct ExternalControl(Box<dyn External>, Option<Box<SendTimes>>);

impl ExternalControl {
    /// Creates a new instance like `prototype`.
    pub fn new(prototype: &dyn External) -> Self {
        let times = prototype.samples_every_ack().then(Box::default);
        ExternalControl(prototype.fresh(), times)
    }
}

/// A clone is the control of a new flow.
impl Clone for ExternalControl {
    fn clone(&self) -> Self {
        ExternalControl::new(&*self.0)
    }
}

impl CongestionControl for ExternalControl {
    fn on_start(&mut self, start: &Start) {
        self.0.on_start(start);
    }

    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        self.0.on_ack(window, ack)
    }

    fn on_loss(&mut self, window: &mut Window, flight: u64) {
        self.0.on_loss(window, flight);
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u64) {
        self.0.on_timeout(window, flight);
    }

    fn on_restart(&mut self, idle_ps: u64) {
        self.0.on_restart(idle_ps);
    }

    fn on_notice(&mut self, now_ps: u64, notice: Notice) {
        self.0.on_notice(now_ps, notice);
    }

    fn is_paced(&self) -> bool {
        self.0.is_paced()
    }

    fn pace(&self) -> Pace {
        self.0.pace()
    }

    fn on_sent(&mut self, now_ps: u64, wire_bytes: u16) -> Pace {
        self.0.on_sent(now_ps, wire_bytes)
    }

    fn adjusts_gap(&self) -> bool {
        self.0.adjusts_gap()
    }

    fn ask(&self, srtt_ps: u64) -> Option<Written> {
        self.0.ask(srtt_ps)
    }

    fn samples_every_ack(&self) -> bool {
        self.0.samples_every_ack()
    }

    fn send_times(&mut self) -> Option<&mut SendTimes> {
        self.1.as_deref_mut()
    }

    fn holds_window(&self) -> bool {
        self.0.holds_window()
    }

    fn echo(&self) -> EchoKind {
        self.0.echo()
    }

    fn alpha(&self) -> Option<f64> {
        self.0.alpha()
    }
}
