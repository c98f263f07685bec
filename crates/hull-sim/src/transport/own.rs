//! A congestion control from outside of hull: whoever starts the run hands it over, a class of Python's
//! for instance. The sender asks it as it asks any other; only here is a call through a pointer.

use std::fmt::Debug;

use super::congestion::{AckEvent, CongestionControl};
use super::receiver::EchoKind;
use super::window::Window;

/// A congestion control from outside: one for each flow.
pub trait Own: CongestionControl + Debug + Send + Sync {
    /// Another one, for a new flow.
    fn fresh(&self) -> Box<dyn Own>;

    /// The share of marked bytes that it estimates, 0 to 1, if it does.
    fn alpha(&self) -> Option<f64>;

    /// How receivers are to echo marks to it.
    fn echo(&self) -> EchoKind;
}

/// That of one flow.
#[derive(Debug)]
pub struct OwnControl(Box<dyn Own>);

impl OwnControl {
    /// A new one like `prototype`.
    pub fn new(prototype: &dyn Own) -> Self {
        OwnControl(prototype.fresh())
    }

    /// The share of marked bytes that it estimates, if it does.
    pub fn alpha(&self) -> Option<f64> {
        self.0.alpha()
    }
}

/// A copy is that of a new flow.
impl Clone for OwnControl {
    fn clone(&self) -> Self {
        OwnControl(self.0.fresh())
    }
}

impl CongestionControl for OwnControl {
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool {
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
}
