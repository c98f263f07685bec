//! TCP NewReno's window (RFC 5681, RFC 6582) and its reaction to ECN (RFC 3168): half, at most
//! once per window of data.

use super::congestion::{AckEvent, CongestionControl, Window};

/// NewReno keeps only the point up to which a reduction holds, a position in the stream (bytes).
#[derive(Clone, Debug, Default)]
pub struct NewReno {
    reduced_until: u64,
}

impl CongestionControl for NewReno {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool {
        if ack.ece {
            if ack.una > self.reduced_until && !ack.after_loss {
                self.reduced_until = ack.nxt;
                window.reduce_to(window.cwnd / 2);
                return true;
            }
        } else if ack.may_grow {
            window.grow(ack.acked);
        }
        false
    }
}
