//! Content of the message transport's control packets: positive and negative acknowledgments, and
//! credit.
//!
//! Source: the Ultra Ethernet transport in its reference simulator (`uet-nscc.md`, "Acknowledgements,
//! timeout" and "Receiver control"). Packet numbers count the packets of a connection from 0; the wire
//! carries the low 32 bits. Sizes are bytes with headers.

/// The content of a control packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Packets have arrived.
    Ack(PacketAck),
    /// A packet has come without its payload.
    Nack(PacketNack),
    /// Too little of a group of packets with parity has come in time.
    GroupNack {
        /// Its number.
        group: u64,
    },
    /// The receiver grants credit.
    Pull {
        /// In all so far, quanta of 256 bytes.
        granted: u64,
    },
    /// Rides on data, or travels alone after a timeout: how much credit the sender asks for.
    Demand {
        /// What it wants to have been granted in all, quanta of 256 bytes.
        target: u64,
    },
}

/// An acknowledgment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketAck {
    /// All packets below this number have arrived.
    pub cumulative: u32,
    /// The packet that caused the acknowledgment.
    pub packet: u32,
    /// Number of the packet of the map's lowest bit.
    pub map_base: u32,
    /// Which of 64 packets from `map_base` on have arrived.
    pub map: u64,
    /// Bytes of all packets that have arrived so far, each packet once.
    pub received_bytes: u64,
    /// The entropy value of the packet.
    pub entropy: u16,
    /// Whether the packet was marked.
    pub marked: bool,
    /// Whether the packet had been sent before.
    pub resent: bool,
}

/// A negative acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketNack {
    /// The packet that was trimmed.
    pub packet: u32,
    /// Its entropy value.
    pub entropy: u16,
    /// Whether it was marked before.
    pub marked: bool,
    /// Whether the port to the receiver itself trimmed it.
    pub last_hop: bool,
}
