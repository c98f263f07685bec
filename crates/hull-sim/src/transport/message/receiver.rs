//! The receiving half of a connection: accepts packets in any order, acknowledges them, and reports
//! those that arrived without their payload.
//!
//! Source: `uet-nscc.md`, "Acknowledgements, timeout". [`PacketSet`] tracks the arrived packets,
//! [`AckCoalescing`] decides which are acknowledged. Sizes are bytes with headers unless named payload.

use std::sync::Arc;

use hull_core::ack_coalescing::{AckCoalescing, AckedPacket};
use hull_core::erasure::ErasureReceiver;
use hull_core::packet_set::{Arrival, PacketSet, Reordering};

use super::{Ends, MessageConfig};
use crate::network::{Packet, PacketAck, PacketNack, PathWord, Signal, flags};
use crate::prefetch::prefetch;
use crate::transport::sequence;

/// What a packet says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// The low bits of its number.
    pub number: u32,
    /// Its size.
    pub bytes: u16,
    /// Its entropy value.
    pub entropy: u16,
    /// Whether it was marked.
    pub marked: bool,
    /// Whether it asks for an acknowledgment.
    pub asks_ack: bool,
    /// Whether it was sent before.
    pub resent: bool,
    /// Whether it lost its payload at the port to this host.
    pub last_hop: bool,
}

impl Arriving {
    /// As the packet has it.
    pub fn of(packet: &Packet) -> Self {
        let path = PathWord::of(packet.ack);
        Arriving {
            number: packet.seq,
            bytes: packet.wire_bytes,
            entropy: path.entropy,
            marked: packet.has(flags::CE),
            asks_ack: path.asks_ack,
            resent: path.resent,
            last_hop: packet.has(flags::LAST_HOP),
        }
    }
}

/// The receiving half of a connection.
#[derive(Clone, Debug)]
pub struct MessageReceiver {
    config: Arc<MessageConfig>,
    packets: PacketSet,
    ends: Ends,
    /// Payload of the messages that have come wholly.
    delivered_bytes: u64,
    /// All that has come, each packet once.
    received_bytes: u64,
    received_payload: u64,
    coalescing: AckCoalescing,
    /// The groups, where there is erasure coding.
    groups: Option<ErasureReceiver>,
    /// When the event queue will look for groups that were waited for in vain; kept by the simulation.
    pub group_event_ps: u64,
}

impl MessageReceiver {
    /// The receiver of a new connection.
    pub fn new(config: &Arc<MessageConfig>) -> Self {
        MessageReceiver {
            config: config.clone(),
            packets: PacketSet::new(),
            ends: Ends::default(),
            delivered_bytes: 0,
            received_bytes: 0,
            received_payload: 0,
            coalescing: AckCoalescing::new(u64::from(config.ack_bytes)),
            groups: (config.erasure).map(|of| ErasureReceiver::new(of.code, of.wait_ps)),
            group_event_ps: u64::MAX,
        }
    }

    /// Asks for what is known of the packets.
    #[inline]
    pub fn prefetch_packets(&self) {
        if let Some(word) = self.packets.first_word() {
            prefetch(word);
        }
    }

    /// A message of so many bytes of payload will come.
    pub fn expect(&mut self, bytes: u64) {
        self.ends.write(bytes, self.config.packets(bytes));
    }

    /// The sender has stopped after so much payload: how much of its messages has come wholly.
    pub fn stop(&mut self, end_bytes: u64) -> u64 {
        self.ends.cut_at(end_bytes, self.config.unit());
        if let Some(bytes) = self.ends.pass(self.packets.expected()) {
            self.delivered_bytes = bytes;
        }
        self.delivered_bytes
    }

    /// Payload of the messages that have come wholly.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Payload that has come, each packet once.
    pub fn received_payload(&self) -> u64 {
        self.received_payload
    }

    /// How the packets were ordered.
    pub fn reordering(&self) -> Reordering {
        self.packets.reordering()
    }

    /// A packet with its payload has come: the acknowledgment to be sent.
    pub fn on_data(&mut self, now_ps: u64, packet: &Arriving) -> Option<Signal> {
        let number = sequence::unwrap(packet.number, self.packets.expected());
        let is_new = self.packets.insert(number) == Arrival::New;
        if is_new {
            self.count(number, packet.bytes);
            self.complete_group(now_ps, number, packet.bytes);
            if let Some(bytes) = self.ends.pass(self.packets.expected()) {
                self.delivered_bytes = bytes;
            }
        }
        let due = self.coalescing.on_packet(&AckedPacket {
            bytes: u32::from(packet.bytes),
            duplicate: !is_new,
            marked: packet.marked,
            request: packet.asks_ack,
            held: self.packets.held(),
        });
        due.then(|| {
            let from_packet = packet.marked || (packet.asks_ack && is_new);
            self.ack(number, packet, from_packet)
        })
    }

    /// Counts a packet that is there now.
    fn count(&mut self, number: u64, bytes: u16) {
        self.received_bytes += u64::from(bytes);
        let is_parity = (self.config.erasure).is_some_and(|of| of.code.is_parity(number));
        if !is_parity {
            self.received_payload += u64::from(bytes - self.config.header_bytes);
        }
    }

    /// If this packet makes its group complete, the others of the group, of the same size, are not needed: they are
    /// acknowledged with it.
    fn complete_group(&mut self, now_ps: u64, number: u64, bytes: u16) {
        let Some(groups) = &mut self.groups else {
            return;
        };
        if groups.on_packet(number, now_ps) {
            let (packets, _) = self.config.unit();
            let first = number / packets * packets;
            for other in first..first + packets {
                if self.packets.fill(other) {
                    self.count(other, bytes);
                }
            }
        }
    }

    /// When the wait for a group ends next; none where all that have begun are complete.
    pub fn next_wait_ps(&self) -> Option<u64> {
        self.groups.as_ref()?.next_timer_ps()
    }

    /// A group that was waited for in vain until now, which the sender is asked for.
    pub fn take_overdue(&mut self, now_ps: u64) -> Option<Signal> {
        let group = self.groups.as_mut()?.take_expired(now_ps)?;
        Some(Signal::GroupNack { group })
    }

    /// A packet has come without its payload: what to tell the sender, and whether the packet is missing.
    pub fn on_trimmed(&mut self, packet: &Arriving) -> (Signal, bool) {
        let number = sequence::unwrap(packet.number, self.packets.expected());
        if self.packets.contains(number) {
            let mut unmarked = *packet;
            unmarked.marked = false;
            return (self.ack(number, &unmarked, false), false);
        }
        let nack = PacketNack {
            packet: packet.number,
            entropy: packet.entropy,
            marked: packet.marked,
            last_hop: packet.last_hop,
        };
        (Signal::Nack(nack), true)
    }

    /// An acknowledgment; its map begins at the packet that caused it (`from_packet`), or ends with it.
    fn ack(&self, number: u64, packet: &Arriving, from_packet: bool) -> Signal {
        let map_base = if from_packet {
            number
        } else {
            self.packets.map_base(number)
        };
        Signal::Ack(PacketAck {
            cumulative: sequence::wrap(self.packets.expected()),
            packet: packet.number,
            map_base: sequence::wrap(map_base),
            map: self.packets.map(map_base),
            received_bytes: self.received_bytes,
            entropy: packet.entropy,
            marked: packet.marked,
            resent: packet.resent,
        })
    }
}
