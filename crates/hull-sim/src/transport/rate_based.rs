//! A window that stands still: for sources whose rate is controlled and not their window. What is lost
//! is sent again as TCP does, at that rate.

use super::congestion::{AckEvent, CongestionControl};
use super::window::Window;

/// Nothing moves the window.
#[derive(Clone, Debug, Default)]
pub struct RateBased;

impl CongestionControl for RateBased {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, _ack: &AckEvent) -> bool {
        false
    }

    fn on_loss(&mut self, _window: &mut Window, _flight: u64) {}

    fn on_timeout(&mut self, _window: &mut Window, _flight: u64) {}
}
