//! A transport of messages on connections, as in RDMA and Ultra Ethernet: packets are numbered, a
//! receiver accepts them in any order and acknowledges them individually, and trimmed packets are
//! retransmitted at once. It has no handshake and no slow start.
//!
//! Source: the Ultra Ethernet transport (UET) in its reference simulator, `uet-nscc.md`. The sender's
//! window is a congestion control's; in addition or instead the receiver can grant credit ([`hull_core::rccc`]). Each
//! packet carries an entropy value, which with the flow selects its path ([`hull_core::entropy`]).
//!
//! Differences from the reference: a packet of a message never carries bytes of the next one, even if
//! both wait; a credit request after a timeout has no packet number of its own. Sizes are bytes with
//! headers unless named payload, times ps.

mod balancing;
mod receiver;
mod recovery;
mod sender;
mod sent;

pub use balancing::LoadBalancing;
pub use receiver::{Arriving, MessageReceiver};
pub use recovery::Recovery;
pub use sender::{MessageSender, Sending};

use std::collections::VecDeque;

use hull_core::erasure::ErasureCode;

use super::control::MessageController;
use super::window::Window;

/// Settings shared by all connections of a message transport.
#[derive(Clone, Debug)]
pub struct MessageConfig {
    /// Size of a full packet, bytes.
    pub mtu_bytes: u16,
    /// Header of a data packet, bytes.
    pub header_bytes: u16,
    /// Size of a control packet, bytes.
    pub control_bytes: u16,
    /// Unloaded round trip, ps.
    pub rtt_ps: u64,
    /// Time without acknowledgment after which a packet counts as lost, ps.
    pub timeout_ps: u64,
    /// Whether that time grows with the measured round trip and with repeated losses: in unlimited
    /// buffers a packet may wait for any time.
    pub timeout_grows: bool,
    /// Largest number of bytes in flight, regardless of the control.
    pub max_in_flight: u64,
    /// Recovery of lost packets.
    pub recovery: Recovery,
    /// Number of packets by which a packet may be overtaken before it counts as lost, with selective repeat.
    pub reordering: u32,
    /// Time after which a receiver repeats a request to go back, ps.
    pub gap_interval_ps: u64,
    /// Shortest time between two notifications of marks, ps; `None` if acknowledgments carry the marks.
    pub notification_ps: Option<u64>,
    /// Class of acknowledgments and other control packets.
    pub ack_class: u8,
    /// Class of notifications of marks.
    pub notification_class: u8,
    /// Number of received bytes after which the receiver must acknowledge.
    pub ack_bytes: u32,
    /// Number of entropy values per connection.
    pub paths: u16,
    /// Load balancing over the entropy values.
    pub balancing: LoadBalancing,
    /// Number of subflows, for load balancing by subflows.
    pub subflows: u16,
    /// Pause that starts a new flowlet, ps.
    pub flowlet_gap_ps: u64,
    /// Initial state of the congestion control.
    pub control: MessageController,
    /// Initial window and its bounds, for a control that keeps none itself.
    pub window: Window,
    /// Whether receivers grant credit.
    pub grants_credit: bool,
    /// Whether data packets are ECN-capable.
    pub ecn: bool,
    /// Erasure coding, if used.
    pub erasure: Option<Erasure>,
    /// Admission by the receiver, if used.
    pub admission: Option<Admitting>,
}

/// Erasure coding of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Erasure {
    /// Numbers of data and parity packets.
    pub code: ErasureCode,
    /// Time that the receiver waits for a group, ps.
    pub wait_ps: u64,
}

/// Admission of a connection's packets by its receiver ([`hull_core::admission`]).
#[derive(Clone, Copy, Debug)]
pub struct Admitting {
    /// Packets per grant.
    pub chunk: u64,
    /// Largest payload of a message that needs no grant, bytes.
    pub eager_bytes: u64,
}

impl MessageConfig {
    /// Payload of a full packet, bytes.
    pub fn mss(&self) -> u64 {
        u64::from(self.mtu_bytes - self.header_bytes)
    }

    /// Number of packets of a message of `bytes`, parity included.
    fn packets(&self, bytes: u64) -> u64 {
        let (packets, payload) = self.unit();
        bytes.div_ceil(payload) * packets
    }

    /// Payload of the packets that must arrive for a message of `bytes`, if they arrive in order: with
    /// erasure coding all of the earlier groups, and as many of the last one as it has data packets.
    pub fn sufficient_bytes(&self, bytes: u64) -> u64 {
        match self.erasure {
            Some(erasure) => {
                let (packets, payload) = self.unit();
                let earlier = bytes.div_ceil(payload).saturating_sub(1) * packets;
                (earlier + erasure.code.data()) * self.mss()
            }
            None => bytes,
        }
    }

    /// Unit of messages: number of packets that belong together, and their payload without parity,
    /// bytes.
    fn unit(&self) -> (u64, u64) {
        match self.erasure {
            Some(erasure) => (erasure.code.packets(1), erasure.code.data() * self.mss()),
            None => (1, self.mss()),
        }
    }
}

/// Ends of a connection's messages, known to both sender and receiver.
#[derive(Clone, Debug, Default)]
struct Ends {
    /// For each unfinished message, the number of the packet after it and the payload up to its
    /// end.
    ends: VecDeque<(u64, u64)>,
    /// Packets and payload bytes of all messages so far.
    packets: u64,
    bytes: u64,
}

impl Ends {
    /// Adds a message of `bytes` in `packets` packets.
    fn write(&mut self, bytes: u64, packets: u64) {
        self.packets += packets;
        self.bytes += bytes;
        self.ends.push_back((self.packets, self.bytes));
    }

    /// Ends the last message before packet `next`, shortened by `unsent` payload bytes. Returns the
    /// new end of the payload.
    fn cut(&mut self, next: u64, unsent: u64) -> u64 {
        self.packets = next;
        self.bytes -= unsent;
        if let Some(last) = self.ends.back_mut() {
            *last = (self.packets, self.bytes);
        }
        self.bytes
    }

    /// Ends the last message at `bytes`. The part cut off consists of `unit`s of packets and
    /// payload, of which the last may be smaller.
    fn cut_at(&mut self, bytes: u64, unit: (u64, u64)) {
        let unsent = self.bytes - bytes;
        let packets = self.packets - unsent.div_ceil(unit.1) * unit.0;
        self.cut(packets, unsent);
    }

    /// Payload up to the end of the message that ends with packet `number`, if one does.
    fn end_after(&self, number: u64) -> Option<u64> {
        let ends = &self.ends;
        let at = ends.binary_search_by_key(&(number + 1), |&(packets, _)| packets);
        Some(ends[at.ok()?].1)
    }

    /// Processes the arrival of all packets below `next`. Returns the payload up to the end of the
    /// last complete message, if one has become complete.
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
