//! RCP's source (thesis 5.5.3): the window is constant, and segments leave at the rate that the path
//! offers. Data requests a rate from the switches, starting with the rate of the sender's own link, and
//! each acknowledgment returns the answer; before the first answer one segment is in the network.
//! Losses are retransmitted as in TCP, at that rate. Rates bit/s, on packets kbit/s; ps, on packets ns.

use super::{CongestionControl, Feedback, Pace, Start};
use crate::network::{Answer, InBand, PathRate, kbps};
use crate::transport::window::Window;

/// RCP control of one flow.
#[derive(Clone, Debug, Default)]
pub struct RcpControl {
    link_kbps: u64,
    offered_kbps: Option<u64>,
}

impl CongestionControl for RcpControl {
    fn on_start(&mut self, start: &Start) {
        self.link_kbps = kbps(start.link_bps);
    }

    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        if let Answer::Rate(rate) = ack.echo.answer {
            self.offered_kbps = Some(rate.rate_kbps);
        }
        false
    }

    fn on_loss(&mut self, _window: &mut Window, _flight: u64) {}

    fn on_timeout(&mut self, _window: &mut Window, _flight: u64) {}

    fn sets_pace(&self) -> bool {
        true
    }

    fn pace(&self) -> Pace {
        match self.offered_kbps {
            Some(kbps) => Pace::Bps(kbps * 1000),
            None => Pace::OneByOne,
        }
    }

    fn ask(&self, srtt_ps: u64) -> InBand {
        InBand::Rate(PathRate {
            rate_kbps: self.link_kbps,
            ..PathRate::asking(srtt_ps)
        })
    }

    fn holds_window(&self) -> bool {
        true
    }
}
