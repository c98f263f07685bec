//! A transport of messages on connections, as in RDMA and Ultra Ethernet: packets are numbered, a
//! receiver accepts them in any order and acknowledges them individually, and trimmed packets are
//! retransmitted at once. It has no handshake and no slow start.
//!
//! Source: the Ultra Ethernet transport (UET) in its reference simulator, `uet-nscc.md`. The sender's
//! window is a [`Control`]'s; in addition or instead the receiver can grant credit ([`hull_core::rccc`]). Each
//! packet carries an entropy value, which with the flow selects its path ([`hull_core::entropy`]).
//!
//! Differences from the reference: a packet of a message never carries bytes of the next one, even if
//! both wait; a credit request after a timeout has no packet number of its own. Sizes are bytes with
//! headers unless named payload, times ps.

mod balancing;
mod control;
mod receiver;
mod sender;
mod sent;

pub use balancing::LoadBalancing;
pub use control::{Control, ControlKind};
pub use receiver::{Arriving, MessageReceiver};
pub use sender::{MessageSender, Sending};

use std::collections::VecDeque;

use hull_core::erasure::ErasureCode;

/// What all connections of a transport have in common.
#[derive(Clone, Debug)]
pub struct MessageConfig {
    /// A full packet.
    pub mtu_bytes: u16,
    /// Header of data; the size of control packets.
    pub header_bytes: u16,
    /// Round trip without load, ps.
    pub rtt_ps: u64,
    /// A packet that is not acknowledged for so long counts as lost, ps.
    pub timeout_ps: u64,
    /// The receiver acknowledges after so many bytes at the latest.
    pub ack_bytes: u32,
    /// Entropy values of a connection.
    pub paths: u16,
    /// How packets are spread over them.
    pub balancing: LoadBalancing,
    /// Paths at a time, where it spreads them over subflows.
    pub subflows: u16,
    /// Gap before a packet that begins a flowlet, ps.
    pub flowlet_gap_ps: u64,
    /// The sender's window.
    pub control: ControlKind,
    /// Largest credit that a sender may hold; none where receivers grant none.
    pub credit_bytes: Option<u64>,
    /// Whether data packets are ECN-capable.
    pub ecn: bool,
    /// Erasure coding, where there is some.
    pub erasure: Option<Erasure>,
}

/// Erasure coding of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Erasure {
    /// The code.
    pub code: ErasureCode,
    /// How long the receiver waits for a group, ps.
    pub wait_ps: u64,
}

impl MessageConfig {
    /// Payload of a full packet.
    pub fn mss(&self) -> u64 {
        u64::from(self.mtu_bytes - self.header_bytes)
    }

    /// Packets of a message of so many bytes, parity among them.
    fn packets(&self, bytes: u64) -> u64 {
        let (packets, payload) = self.unit();
        bytes.div_ceil(payload) * packets
    }

    /// What messages are made of: packets that belong together, and their payload without parity.
    fn unit(&self) -> (u64, u64) {
        match self.erasure {
            Some(erasure) => (erasure.code.packets(1), erasure.code.data() * self.mss()),
            None => (1, self.mss()),
        }
    }
}

/// The ends of a connection's messages, which sender and receiver both know.
#[derive(Clone, Debug, Default)]
struct Ends {
    /// Of each message that is not over: the number of the packet behind it, and the payload up to its end.
    ends: VecDeque<(u64, u64)>,
    /// Packets and payload of all messages so far.
    packets: u64,
    bytes: u64,
}

impl Ends {
    /// A message of `bytes` is written, which goes in so many packets.
    fn write(&mut self, bytes: u64, packets: u64) {
        self.packets += packets;
        self.bytes += bytes;
        self.ends.push_back((self.packets, self.bytes));
    }

    /// The last message ends before the packet `next`, and is shorter by so much payload: its end.
    fn cut(&mut self, next: u64, unsent: u64) -> u64 {
        self.packets = next;
        self.bytes -= unsent;
        if let Some(last) = self.ends.back_mut() {
            *last = (self.packets, self.bytes);
        }
        self.bytes
    }

    /// The same, where the end is known: what is cut off are `unit`s of packets and payload, of which the last may be
    /// smaller.
    fn cut_at(&mut self, bytes: u64, unit: (u64, u64)) {
        let unsent = self.bytes - bytes;
        let packets = self.packets - unsent.div_ceil(unit.1) * unit.0;
        self.cut(packets, unsent);
    }

    /// All packets below `next` have come: the payload up to the end of the last message that is whole, if
    /// one has become so.
    fn pass(&mut self, next: u64) -> Option<u64> {
        let mut passed = None;
        while let Some(&(packets, bytes)) = self.ends.front()
            && packets <= next
        {
            self.ends.pop_front();
            passed = Some(bytes);
        }
        passed
    }
}
