//! The congestion control of a message sender, and its state.

use std::sync::Arc;

use hull_core::nscc::{Nscc, NsccAck, NsccConstants, NsccNack};
use hull_core::unocc::{UnoCc, UnoCcAck, UnoCcConfig};

/// Which control, with what its flows have in common.
#[derive(Clone, Debug)]
pub enum ControlKind {
    /// The receiver's credit alone holds the sender back.
    None,
    /// NSCC, with the window that a flow starts with; the largest where it is not given.
    Nscc {
        /// Constants of the network.
        constants: Arc<NsccConstants>,
        /// First window, bytes.
        initial_window_bytes: Option<u64>,
    },
    /// UnoCC, whose window counts payload.
    UnoCc(UnoCcConfig),
}

/// What an acknowledgment brings.
pub type AckEvent = NsccAck;

/// What a negative one brings.
pub type NackEvent = NsccNack;

/// One flow's control.
#[derive(Clone, Debug)]
pub enum Control {
    /// No window.
    None,
    /// NSCC.
    Nscc {
        /// Constants of the network.
        constants: Arc<NsccConstants>,
        /// The flow's state.
        state: Nscc,
    },
    /// UnoCC.
    UnoCc {
        /// The flow's state.
        state: UnoCc,
        /// A packet on the wire and its payload, bytes.
        packet: (u64, u64),
    },
}

impl Control {
    /// A flow's control at its start.
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

    /// The window, bytes.
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

    /// Time between two packets, ps; none where the window alone holds them back.
    #[inline]
    pub fn gap_ps(&self) -> Option<u64> {
        match self {
            Control::UnoCc { state, .. } => Some(state.gap_ps()),
            Control::None | Control::Nscc { .. } => None,
        }
    }

    /// A packet leaves, for the first time or again.
    #[inline]
    pub fn on_send(&mut self, now_ps: u64, payload_bytes: u32) {
        if let Control::UnoCc { state, .. } = self {
            state.on_send(now_ps, payload_bytes);
        }
    }

    /// An acknowledgment has come; when the packet that caused it was last sent, if it was in flight.
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

    /// A packet was trimmed.
    pub fn on_nack(&mut self, nack: &NackEvent) {
        match self {
            Control::None | Control::UnoCc { .. } => {}
            Control::Nscc { constants, state } => state.on_nack(constants, nack),
        }
    }

    /// A packet of so many bytes counts as lost.
    pub fn on_timeout(&mut self, packet_bytes: u16) {
        match self {
            Control::None | Control::UnoCc { .. } => {}
            Control::Nscc { constants, state } => {
                state.on_timeout(constants, u32::from(packet_bytes));
            }
        }
    }
}
