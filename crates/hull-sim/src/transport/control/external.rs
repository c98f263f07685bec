//! A congestion control from outside hull, such as a Python class, supplied by the caller of a run. The
//! sender uses it like any other; only here is a call through a pointer.

use std::fmt::Debug;

use super::{Backlog, CongestionControl, Feedback, LostPacket, Pace, Start};
use crate::network::InBand;
use crate::network::rules::Notice;
use crate::transport::delivery_rate::DeliveryRate;
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
    forward! { boxed [] }

    fn send_times(&mut self) -> Option<&mut SendTimes> {
        self.1.as_deref_mut()
    }
}
