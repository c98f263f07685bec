//! The handshake of a new connection (RFC 9293, 3.5): SYN, SYN-ACK, and the first data instead of the
//! bare third ACK. The retransmission timer, which begins with its initial value, resends a SYN. It is
//! not ECN-capable (RFC 3168, 6.1.1).

use super::{NEVER, Segment, Sender};

/// How far the handshake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Handshake {
    /// Over, or there is none.
    Done,
    /// The SYN is still to be sent.
    Closed,
    /// Sent once.
    Sent,
    /// To be sent again.
    Lost,
    /// Sent more than once.
    SentAgain,
}

impl Sender {
    /// The SYN, when there is something to send.
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

    /// The SYN-ACK arrives: data may be sent. A SYN that was sent once measures the round trip; one
    /// that was lost leaves a window of one segment (RFC 5681, 3.1) and a timeout that is not backed
    /// off (RFC 6298, 5.7).
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
