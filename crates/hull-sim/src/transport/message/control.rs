//! The window of a message sender: which control, and its state.

use std::sync::Arc;

use hull_core::nscc::{Nscc, NsccAck, NsccConstants, NsccNack};

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
        }
    }

    /// The window, bytes.
    #[inline]
    pub fn window_bytes(&self) -> u64 {
        match self {
            Control::None => u64::MAX,
            Control::Nscc { state, .. } => state.window_bytes(),
        }
    }

    /// An acknowledgment has come.
    #[inline]
    pub fn on_ack(&mut self, ack: &AckEvent) {
        match self {
            Control::None => {}
            Control::Nscc { constants, state } => state.on_ack(constants, ack),
        }
    }

    /// A packet was trimmed.
    pub fn on_nack(&mut self, nack: &NackEvent) {
        match self {
            Control::None => {}
            Control::Nscc { constants, state } => state.on_nack(constants, nack),
        }
    }

    /// A packet of so many bytes counts as lost.
    pub fn on_timeout(&mut self, packet_bytes: u16) {
        match self {
            Control::None => {}
            Control::Nscc { constants, state } => {
                state.on_timeout(constants, u32::from(packet_bytes));
            }
        }
    }
}
