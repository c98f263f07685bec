//! The sender's side of receiver control: credit that it may spend, and how much it asks for.
//!
//! Source: `uet-nscc.md`, "Receiver control". A sender begins with the credit of its largest window, unasked
//! for; what is left of it is void when the receiver has answered for the first time. Demand and grants are
//! totals since the beginning, in quanta of 256 bytes, so that lost ones do no harm.

/// Credit is asked for and granted in multiples of this, bytes.
pub const QUANTUM: u64 = 256;

/// The credit of one connection.
#[derive(Clone, Debug)]
pub struct SenderCredit {
    /// What may be sent, bytes; the last packet may overdraw it.
    left: i64,
    /// The largest that it may be.
    most: u64,
    /// All that was granted.
    granted: u64,
    /// Whether the receiver has not answered yet.
    unanswered: bool,
}

impl SenderCredit {
    /// A new connection that may hold `most` bytes.
    pub fn new(most: u64) -> Self {
        SenderCredit {
            left: most as i64,
            most,
            granted: 0,
            unanswered: true,
        }
    }

    /// Whether any is left: a packet may be sent.
    pub fn is_left(&self) -> bool {
        self.left > 0
    }

    /// A packet is sent.
    pub fn spend(&mut self, bytes: u16) {
        self.left -= i64::from(bytes);
    }

    /// The receiver has answered.
    pub fn answered(&mut self) {
        if self.unanswered {
            self.unanswered = false;
            self.left = self.left.min(0);
        }
    }

    /// The receiver has granted so much in all.
    pub fn grant(&mut self, granted: u64) {
        if granted > self.granted {
            let more = (granted - self.granted) as i64;
            self.left = (self.left + more).min(self.most as i64);
            self.granted = granted;
        }
    }

    /// What the receiver is to have granted in all, where `waiting` bytes are to be sent and `senders`
    /// connections of the host have something to send.
    pub fn demand(&self, waiting: u64, has_backlog: bool, mtu_bytes: u16, senders: u64) -> u64 {
        let mut wanted = waiting.min(self.most) as i64 - self.left;
        let mtu = i64::from(mtu_bytes);
        // A short transfer that its first credit covers asks nevertheless.
        if self.unanswered && wanted < mtu && has_backlog {
            wanted = mtu;
        }
        if senders > 1 {
            wanted /= senders as i64;
        }
        let target = (self.granted as i64 + wanted).max(0) as u64;
        target.div_ceil(QUANTUM) * QUANTUM
    }
}
