//! Congestion control of a message sender, and its state.

use std::sync::Arc;

use hull_core::nscc::{Nscc, NsccAck, NsccConstants, NsccNack};
use hull_core::unocc::{UnoCc, UnoCcAck, UnoCcConfig};

/// Kind of control, with the settings shared by its flows.
#[derive(Clone, Debug)]
pub enum ControlKind {
    /// No sender control: only the receiver's credit limits the sender.
    None,
    /// NSCC with its initial window; by default the largest window.
    Nscc {
        /// Constants of the network.
        constants: Arc<NsccConstants>,
        /// Initial window, bytes.
        initial_window_bytes: Option<u64>,
    },
    /// UnoCC, whose window counts payload bytes.
    UnoCc(UnoCcConfig),
}

/// Contents of an acknowledgment.
pub type AckEvent = NsccAck;

/// Contents of a negative acknowledgment.
pub type NackEvent = NsccNack;

/// Control of one flow.
#[derive(Clone, Debug)]
pub enum Control {
    /// No window.
    None,
    /// NSCC.
    Nscc {
        /// Constants of the network.
        constants: Arc<NsccConstants>,
        /// State of the flow.
        state: Nscc,
    },
    /// UnoCC.
    UnoCc {
        /// State of the flow.
        state: UnoCc,
        /// Bytes of a packet on the wire, and of its payload.
        packet: (u64, u64),
    },
}

impl Control {
    /// Creates the control of a new flow.
    pub fn new(kind: &ControlKind) -> Self {
        match kind {
            ControlKind::None => Control::None,
            ControlKind::Nscc {
                constants,
                initial_window_bytes,
            } => Control::Nscc {
                constants: constants.clone(),
                state: Nscc::new(constants, constants.network.rtt_ps, *initial_window_bytes),
            },
            ControlKind::UnoCc(config) => Control::UnoCc {
                state: UnoCc::new(config, 0),
                packet: (u64::from(config.packet_bytes), u64::from(config.mss_bytes)),
            },
        }
    }

    /// Window, bytes.
    #[inline]
    pub fn window_bytes(&self) -> u64 {
        match self {
            Control::None => u64::MAX,
            Control::Nscc { state, .. } => state.window_bytes(),
            Control::UnoCc { state, packet } => {
                (state.window_bytes() * packet.0 as f64 / packet.1 as f64) as u64
            }
        }
    }

    /// Gap between two packets, ps; `None` if only the window limits the sender.
    #[inline]
    pub fn gap_ps(&self) -> Option<u64> {
        match self {
            Control::UnoCc { state, .. } => Some(state.gap_ps()),
            Control::None | Control::Nscc { .. } => None,
        }
    }

    /// Records a packet that is sent, including retransmissions.
    #[inline]
    pub fn on_send(&mut self, now_ps: u64, payload_bytes: u32) {
        if let Control::UnoCc { state, .. } = self {
            state.on_send(now_ps, payload_bytes);
        }
    }

    /// Processes an acknowledgment. `last_sent_ps` is the time at which the packet that caused it
    /// was last sent, if that packet was in flight.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckEvent, last_sent_ps: Option<u64>) {
        match self {
            Control::None => {}
            Control::Nscc { constants, state } => state.on_ack(constants, ack),
            Control::UnoCc { state, packet } => state.on_ack(&UnoCcAck {
                now_ps: ack.now_ps,
                acked_bytes: ack.received_bytes * packet.1 / packet.0,
                ecn: ack.ecn,
                rtt_ps: last_sent_ps.map_or(0, |sent_ps| ack.now_ps - sent_ps),
                sent_at_ps: last_sent_ps,
            }),
        }
    }

    /// Processes the NACK of a trimmed packet.
    pub fn on_nack(&mut self, nack: &NackEvent) {
        match self {
            Control::None | Control::UnoCc { .. } => {}
            Control::Nscc { constants, state } => state.on_nack(constants, nack),
        }
    }

    /// Processes the loss of a packet of `packet_bytes` by timeout.
    pub fn on_timeout(&mut self, packet_bytes: u16) {
        match self {
            Control::None | Control::UnoCc { .. } => {}
            Control::Nscc { constants, state } => {
                state.on_timeout(constants, u32::from(packet_bytes));
            }
        }
    }
}
