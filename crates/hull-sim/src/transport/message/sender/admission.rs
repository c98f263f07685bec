//! Admission at the sender: new packets wait for the receiver's grant, and the sender asks for it. Times are ps.

use std::sync::Arc;

use hull_core::admission::{Admitted, Waited};

use super::{MessageSender, NEVER};
use crate::transport::message::MessageConfig;

/// State of a new connection, if its receiver must admit it.
pub(super) fn start(config: &Arc<MessageConfig>) -> Option<Box<Admitted>> {
    let admission = config.admission.as_ref()?;
    Some(Box::new(Admitted::new(admission.eager_bytes)))
}

impl MessageSender {
    /// Whether the next packet is a new one that the receiver has not admitted.
    #[inline]
    pub(super) fn lacks_admission(&mut self) -> bool {
        match &self.admitted {
            None => false,
            Some(admitted) => !admitted.allows(self.sent.next()) && self.sent.next_lost().is_none(),
        }
    }

    /// Whether the receiver must admit the connection's packets.
    pub fn asks_admission(&self) -> bool {
        self.admitted.is_some()
    }

    /// Asks for the last message, of `bytes` of payload.
    pub(super) fn ask(&mut self, now_ps: u64, bytes: u64) {
        if let Some(admitted) = &mut self.admitted {
            admitted.write(now_ps, bytes, self.ends.packets);
        }
    }

    /// Asks for no packet from `end` on.
    pub(super) fn ask_up_to(&mut self, end: u64) {
        if let Some(admitted) = &mut self.admitted {
            admitted.stop(end);
        }
    }

    /// Time of the next request for admission.
    pub(super) fn request_ps(&self) -> u64 {
        let admitted = self.admitted.as_ref();
        admitted.map_or(NEVER, |admitted| admitted.request_ps())
    }

    /// Takes a request for admission that is due: the number of packets.
    pub(super) fn take_request(&mut self, now_ps: u64) -> Option<u64> {
        let wait_ps = self.config.timeout_ps;
        let target = self.admitted.as_mut()?.take_request(now_ps, wait_ps);
        self.set_timeouts(now_ps);
        target
    }

    /// Processes a grant of the packets below `granted`. Returns false if there is no admission.
    pub(super) fn on_grant(&mut self, now_ps: u64, granted: u64) -> bool {
        let Some(admitted) = &mut self.admitted else {
            return false;
        };
        admitted.on_grant(now_ps, granted, self.config.timeout_ps);
        true
    }

    /// Takes the waits for admission that have ended since the last call.
    pub fn take_waited(&mut self) -> Option<Waited> {
        Some(self.admitted.as_mut()?.take_waited())
    }
}
