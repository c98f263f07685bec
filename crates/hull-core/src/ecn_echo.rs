//! ECN-Echo: when the receiver acknowledges a data packet, and with which ECE bit.
//!
//! Source: thesis 2.2.1 part 2 and figure 2.10 for DCTCP ([`DctcpEcho`]); RFC 3168 section 6.1.3
//! for TCP ([`ClassicEcho`]). Both delay ACKs: one for every m packets in order (m = 2 typically).
//!
//! DCTCP: the state is the CE bit of the last packet. When it changes, the packets with a pending ACK
//! are acknowledged at once with the old bit. Each ACK thus covers packets with the same mark, and the
//! sender can reconstruct the run lengths exactly. The packet that caused the transition is also
//! acknowledged at once, with the new bit: "the receiver immediately sends an ACK anytime there is a
//! transition" (thesis 2.2.1), and the sender needs the ACK that reflects the change (RFC 8257, 3.2;
//! Linux since 4.18). A transition therefore sends two ACKs if packets are pending, otherwise one.
//! The thesis's text has "an ACK": with [`DctcpEcho::with_one_ack`] a transition sends exactly one, for the
//! pending packets with the old bit, or for the new packet if none is pending. The run lengths remain
//! exact; the sender learns of the transition up to m packets or one delayed-ACK timeout later.
//!
//! The caller owns the delayed-ACK timer and ACKs of out-of-order packets, and reports each ACK that it
//! sends by `on_ack_sent`.

/// ACK to be sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckNow {
    /// ECN-Echo bit of the ACK.
    pub ece: bool,
}

/// DCTCP receiver: the two-state machine of figure 2.10.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DctcpEcho {
    ack_every: u32,
    /// CE bit of the last packet. All pending packets carry it.
    last_ce: bool,
    /// Whether a transition sends one ACK, not two.
    one_ack: bool,
    pending: u32,
}

impl DctcpEcho {
    /// Creates a receiver in state CE = 0 that acknowledges every `ack_every` packets (m; 1 or 0:
    /// each packet).
    pub fn new(ack_every: u32) -> Self {
        Self {
            ack_every,
            last_ce: false,
            one_ack: false,
            pending: 0,
        }
    }

    /// Creates the same receiver with a single ACK at each transition.
    pub fn with_one_ack(ack_every: u32) -> Self {
        Self {
            one_ack: true,
            ..Self::new(ack_every)
        }
    }

    /// Processes a data packet that arrives in order, with its CE bit. Returns the ACKs to be sent
    /// now as `(previous, current)`: `previous` covers everything before this packet, `current`
    /// includes this packet. If `current` is `None`, the packet's ACK is delayed.
    #[inline]
    pub fn on_data(&mut self, ce: bool) -> (Option<AckNow>, Option<AckNow>) {
        let changed = ce != self.last_ce;
        let previous = if changed && self.pending > 0 {
            Some(AckNow {
                ece: self.on_ack_sent(),
            })
        } else {
            None
        };
        self.last_ce = ce;
        self.pending += 1;
        let reports = changed && !(self.one_ack && previous.is_some());
        let current = if reports || self.pending >= self.ack_every {
            Some(AckNow {
                ece: self.on_ack_sent(),
            })
        } else {
            None
        };
        (previous, current)
    }

    /// Records an ACK sent for another reason (timer, piggyback, out of order) and returns its ECE
    /// bit. Nothing is pending afterwards.
    #[inline]
    pub fn on_ack_sent(&mut self) -> bool {
        self.pending = 0;
        self.last_ce
    }

    /// Number of packets whose ACK is delayed.
    pub fn pending(&self) -> u32 {
        self.pending
    }
}

/// RFC 3168 receiver: sets ECE on every ACK from a CE mark until the sender's CWR.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassicEcho {
    ack_every: u32,
    latched: bool,
    pending: u32,
}

impl ClassicEcho {
    /// Creates a receiver without ECE that acknowledges every `ack_every` packets (1 or 0: each
    /// packet).
    pub fn new(ack_every: u32) -> Self {
        Self {
            ack_every,
            latched: false,
            pending: 0,
        }
    }

    /// Processes a data packet that arrives in order, with its CE and CWR bits. Returns the ACK to
    /// send now, or `None` to delay it. CWR ends the echo of earlier marks; a packet with both bits
    /// restarts it.
    #[inline]
    pub fn on_data(&mut self, ce: bool, cwr: bool) -> Option<AckNow> {
        self.latched = ce || (self.latched && !cwr);
        self.pending += 1;
        if self.pending >= self.ack_every {
            Some(AckNow {
                ece: self.on_ack_sent(),
            })
        } else {
            None
        }
    }

    /// Records an ACK sent for another reason and returns its ECE bit. Nothing is pending
    /// afterwards.
    #[inline]
    pub fn on_ack_sent(&mut self) -> bool {
        self.pending = 0;
        self.latched
    }

    /// Number of packets whose ACK is delayed.
    pub fn pending(&self) -> u32 {
        self.pending
    }
}
