//! TCP NewReno's window (RFC 5681, RFC 6582) and its reaction to ECN (RFC 3168): half, at most
//! once per window of data.

use super::{CongestionControl, Feedback};
use crate::transport::window::Window;

/// NewReno state: the first acknowledgment that may reduce the window again, as a position in the
/// stream. It is one above the highest byte sent before the last reduction.
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    reduces_from: u64,
}

impl NewReno {
    /// Whether an ACK requires a window reduction: it is the first one with ECN-Echo in its window
    /// of data (RFC 3168, 6.1.2).
    #[inline]
    pub(super) fn must_reduce(&mut self, ack: &Feedback) -> bool {
        let due = ack.echo.marked && ack.una >= self.reduces_from && !ack.after_loss;
        if due {
            self.reduces_from = ack.nxt + 1;
        }
        due
    }
}

impl CongestionControl for NewReno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Feedback) -> bool {
        if self.must_reduce(ack) {
            window.reduce_to(window.cwnd() / 2);
            return true;
        }
        if ack.may_grow && !ack.echo.marked {
            window.grow(ack.acked);
        }
        false
    }
}
