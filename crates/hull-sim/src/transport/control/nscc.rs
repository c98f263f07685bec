//! NSCC ([`hull_core::nscc`]): the sender control of Ultra Ethernet's transport. Bytes on the wire, ps.

use std::sync::Arc;

use hull_core::nscc::{Nscc, NsccAck, NsccConstants, NsccNack, NsccNetwork};

use super::{CongestionControl, Feedback, LostBy, LostPacket, Path};
use crate::transport::window::Window;

/// NSCC state of one connection.
#[derive(Clone, Debug)]
pub struct NsccControl {
    constants: Arc<NsccConstants>,
    state: Nscc,
}

impl NsccControl {
    /// Creates the state of a connection over this path. The default initial window is the largest one.
    pub fn new(path: &Path) -> Self {
        let network = NsccNetwork {
            link_bps: path.link_bps,
            rtt_ps: path.rtt_ps,
            mss_bytes: path.mss_bytes(),
            mtu_bytes: u32::from(path.mtu_bytes),
            trimming: path.trims,
            due_in_32_bits: false,
        };
        let constants = network.constants();
        NsccControl {
            state: Nscc::new(&constants, path.rtt_ps, path.initial_window_bytes),
            constants: Arc::new(constants),
        }
    }
}

impl CongestionControl for NsccControl {
    #[inline]
    fn on_ack(&mut self, _window: &mut Window, ack: &Feedback) -> bool {
        let event = NsccAck {
            now_ps: ack.now_ps,
            received_bytes: ack.acked,
            ecn: ack.echo.marked,
            rtt_ps: ack.rtt_ps,
            in_flight_bytes: ack.nxt - ack.una,
        };
        self.state.on_ack(&self.constants, &event);
        false
    }

    fn on_packet_lost(&mut self, _window: &mut Window, lost: &LostPacket) {
        match lost.by {
            LostBy::Nack {
                rtt_ps,
                left_to_receiver,
            } => {
                let event = NsccNack {
                    now_ps: lost.now_ps,
                    packet_bytes: lost.bytes as u32,
                    rtt_ps: Some(rtt_ps),
                    in_flight_bytes: lost.flight,
                    left_to_receiver,
                };
                self.state.on_nack(&self.constants, &event);
            }
            LostBy::Group => {}
            LostBy::Gap | LostBy::Timeout => {
                self.state.on_timeout(&self.constants, lost.bytes as u32);
            }
        }
    }

    #[inline]
    fn own_window_bytes(&self) -> Option<u64> {
        Some(self.state.window_bytes())
    }
}
