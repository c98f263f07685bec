//! The handshake of a new connection (RFC 9293, 3.5): SYN, SYN-ACK, and the first data instead of the
//! bare third ACK. The retransmission timer, which begins with its initial value, resends a SYN. It is
//! not ECN-capable (RFC 3168, 6.1.1).

use super::{NEVER, Segment, Sender};

/// State of the handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    /// Complete, or not used.
    Done,
    /// SYN not sent yet.
    Closed,
    /// SYN sent once.
    Sent,
    /// SYN to be retransmitted.
    Lost,
    /// SYN sent more than once.
    SentAgain,
}

impl Sender {
    /// Returns the SYN if there is data to send.
    pub(super) fn poll_syn(&mut self, now_ps: u64) -> Option<Segment> {
        self.handshake = match self.handshake {
            Handshake::Closed if self.written > 0 => Handshake::Sent,
            Handshake::Lost => {
                self.retransmissions += 1;
                Handshake::SentAgain
            }
            _ => return None,
        };
        self.timed_ps = now_ps;
        Some(Segment {
            syn: true,
            ..self.segment(0, 0, now_ps)
        })
    }

    /// Processes the SYN-ACK: data may be sent. A SYN sent once yields a round-trip sample. After a
    /// lost SYN the window is one segment (RFC 5681, 3.1) and the back-off of the timeout ends (RFC
    /// 6298, 5.7).
    pub fn on_syn_ack(&mut self, now_ps: u64) {
        match self.handshake {
            Handshake::Done | Handshake::Closed => return,
            Handshake::Sent => self.rto.sample(now_ps - self.timed_ps),
            Handshake::Lost | Handshake::SentAgain => {
                self.window.set_cwnd(self.window.mss());
                self.rto.end_back_off();
            }
        }
        self.handshake = Handshake::Done;
        self.rto_deadline_ps = NEVER;
    }
}
