//! DCTCP's window (thesis 2.2.1): alpha from `hull-core`, slow start and additive increase as
//! NewReno, loss as NewReno.

use hull_core::dctcp::{Dctcp, DctcpConfig};

use super::congestion::{AckEvent, CongestionControl, Window};

/// DCTCP's reaction to ECN-Echo.
#[derive(Clone, Debug)]
pub struct DctcpControl {
    estimator: Dctcp,
}

impl DctcpControl {
    /// With the gain and first alpha of `config`.
    pub fn new(config: &DctcpConfig) -> Self {
        DctcpControl {
            estimator: Dctcp::new(config),
        }
    }
}

impl CongestionControl for DctcpControl {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &AckEvent) -> bool {
        self.estimator.on_ack(ack.una, ack.nxt, ack.acked, ack.ece);
        if ack.ece {
            if !ack.after_loss
                && let Some(cwnd) = self.estimator.on_ece(ack.una, ack.nxt, window.cwnd)
            {
                window.reduce_to(cwnd);
                return true;
            }
        } else if ack.may_grow {
            window.grow(ack.acked);
        }
        false
    }
}
