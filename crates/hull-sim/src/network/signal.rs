//! Content of the message transport's control packets: positive and negative acknowledgments, and
//! credit.
//!
//! Source: the Ultra Ethernet transport in its reference simulator (`uet-nscc.md`, "Acknowledgements,
//! timeout" and "Receiver control"). Packet numbers count the packets of a connection from 0; the wire
//! carries the low 32 bits. Sizes are bytes with headers.

/// Content of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Packets have arrived.
    Ack(PacketAck),
    /// A packet has arrived without its payload.
    Nack(PacketNack),
    /// A packet has arrived after a missing one, and was discarded.
    GoBack(GoBack),
    /// Marked packets have arrived (the congestion notification packet of RoCE).
    Notification,
    /// Too few packets of a group with parity have arrived in time.
    GroupNack {
        /// Number of the group.
        group: u64,
    },
    /// The receiver grants credit, or admits packets.
    Pull {
        /// Total credit granted, quanta of 256 bytes; with admission, packets.
        granted: u64,
    },
    /// The sender requests credit, on a data packet or, after a timeout, separately; or admission.
    Demand {
        /// Total credit requested, quanta of 256 bytes; with admission, packets.
        target: u64,
    },
}

/// Acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketAck {
    /// All packets below this number have arrived.
    pub cumulative: u32,
    /// Packet that caused the acknowledgment.
    pub packet: u32,
    /// Number of the packet at the lowest bit of `map`.
    pub map_base: u32,
    /// Bitmap of the arrived packets among 64 from `map_base` on.
    pub map: u64,
    /// Bytes of all arrived packets; each packet counts once.
    pub received_bytes: u64,
    /// Entropy value of the packet.
    pub entropy: u16,
    /// Whether the packet was marked.
    pub marked: bool,
    /// Whether the packet was a retransmission.
    pub resent: bool,
}

/// Negative acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketNack {
    /// Number of the trimmed packet.
    pub packet: u32,
    /// Entropy value of the packet.
    pub entropy: u16,
    /// Whether the packet was marked before it was trimmed.
    pub marked: bool,
    /// Whether the port to the receiver trimmed the packet.
    pub last_hop: bool,
}

/// Request to send again from a packet on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoBack {
    /// The missing packet; all below have arrived.
    pub expected: u32,
    /// Bytes of all arrived packets; each packet counts once.
    pub received_bytes: u64,
}
