//! The receiving half of a connection: accepts packets in any order, acknowledges them, and reports
//! those that arrived without their payload.
//!
//! Source: `uet-nscc.md`, "Acknowledgements, timeout". [`PacketSet`] tracks the arrived packets,
//! [`AckCoalescing`] decides which are acknowledged. Sizes are bytes with headers unless named payload.

use std::sync::Arc;

use hull_core::ack_coalescing::{AckCoalescing, AckedPacket};
use hull_core::erasure::ErasureReceiver;
use hull_core::packet_set::{Arrival, PacketSet, Reordering};

use super::recovery::{GapRequests, Notifications};
use super::{Ends, MessageConfig, Recovery};
use crate::network::{GoBack, Packet, PacketAck, PacketNack, PathWord, Signal, flags};
use crate::prefetch::prefetch;
use crate::transport::sequence;

/// Contents of a data packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arriving {
    /// Low bits of the packet number.
    pub number: u32,
    /// Size, bytes.
    pub bytes: u16,
    /// Entropy value.
    pub entropy: u16,
    /// Whether the packet is marked.
    pub marked: bool,
    /// Whether the sender requests an acknowledgment.
    pub asks_ack: bool,
    /// Whether this is a retransmission.
    pub resent: bool,
    /// Whether the packet lost its payload at the port to this host.
    pub last_hop: bool,
}

impl Arriving {
    /// Reads the fields of a packet.
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

/// Receiving half of a connection.
#[derive(Clone, Debug)]
pub struct MessageReceiver {
    config: Arc<MessageConfig>,
    packets: PacketSet,
    ends: Ends,
    /// Payload of the completely received messages, bytes.
    delivered_bytes: u64,
    /// Bytes and payload bytes of all received packets; each packet counts once.
    received_bytes: u64,
    received_payload: u64,
    coalescing: AckCoalescing,
    /// Requests to go back, if packets are accepted in order only.
    gaps: Option<GapRequests>,
    /// Packets discarded because an earlier one was missing.
    discards: u64,
    /// Notifications of marks, if acknowledgments do not carry them.
    notifications: Option<Notifications>,
    /// Groups, if erasure coding is used.
    groups: Option<ErasureReceiver>,
    /// Time of the group timer's event in the event queue, ps; maintained by the simulation.
    pub group_event_ps: u64,
}

impl MessageReceiver {
    /// Payload up to the end of the message that ends with the packet of this sequence number, if
    /// one does that is incomplete.
    pub fn end_after(&self, seq: u32) -> Option<u64> {
        let number = sequence::unwrap(seq, self.packets.expected());
        self.ends.end_after(number)
    }

    /// Creates the receiver of a new connection.
    pub fn new(config: &Arc<MessageConfig>) -> Self {
        MessageReceiver {
            config: config.clone(),
            packets: PacketSet::new(),
            ends: Ends::default(),
            delivered_bytes: 0,
            received_bytes: 0,
            received_payload: 0,
            coalescing: AckCoalescing::new(u64::from(config.ack_bytes)),
            gaps: (config.recovery == Recovery::GoBackN)
                .then(|| GapRequests::new(config.gap_interval_ps)),
            discards: 0,
            notifications: config.notification_ps.map(Notifications::new),
            groups: (config.erasure).map(|of| ErasureReceiver::new(of.code, of.wait_ps)),
            group_event_ps: u64::MAX,
        }
    }

    /// Prefetches the state of the packets.
    #[inline]
    pub fn prefetch_packets(&self) {
        if let Some(word) = self.packets.first_word() {
            prefetch(word);
        }
    }

    /// Announces a message of `bytes` of payload.
    pub fn expect(&mut self, bytes: u64) {
        self.ends.write(bytes, self.config.packets(bytes));
    }

    /// Processes that the sender stopped after `end_bytes` of payload. Returns the payload of the
    /// complete messages.
    pub fn stop(&mut self, end_bytes: u64) -> u64 {
        self.ends.cut_at(end_bytes, self.config.unit());
        if let Some(bytes) = self.ends.pass(self.packets.expected()) {
            self.delivered_bytes = bytes;
        }
        self.delivered_bytes
    }

    /// Payload of the completely received messages, bytes.
    pub fn delivered_bytes(&self) -> u64 {
        self.delivered_bytes
    }

    /// Payload received, bytes; each packet counts once.
    pub fn received_payload(&self) -> u64 {
        self.received_payload
    }

    /// Number of packets received; each counts once.
    pub fn arrived_packets(&self) -> u64 {
        self.packets.expected() + self.packets.held()
    }

    /// Settings of the connection.
    pub fn config(&self) -> &MessageConfig {
        &self.config
    }

    /// Number of packets that were discarded because an earlier one was missing.
    pub fn discards(&self) -> u64 {
        self.discards
    }

    /// Reordering of the packets.
    pub fn reordering(&self) -> Reordering {
        self.packets.reordering()
    }

    /// Processes a packet with its payload. Returns the acknowledgment to be sent, if one is due.
    pub fn on_data(&mut self, now_ps: u64, packet: &Arriving) -> Option<Signal> {
        let expected = self.packets.expected();
        let number = sequence::unwrap(packet.number, expected);
        if let Some(gaps) = &mut self.gaps
            && number > expected
        {
            let back = GoBack {
                expected: sequence::wrap(expected),
                received_bytes: self.received_bytes,
            };
            self.discards += 1;
            let asks = gaps.on_gap(now_ps, expected);
            return asks.then_some(Signal::GoBack(back));
        }
        let is_new = self.packets.insert(number) == Arrival::New;
        if is_new {
            self.count(number, packet.bytes);
            self.complete_group(now_ps, number, packet.bytes);
            if let Some(bytes) = self.ends.pass(self.packets.expected()) {
                self.delivered_bytes = bytes;
            }
        }
        let held = self.packets.held();
        let overtakes = held > 0 && self.config.recovery.answers_behind_gaps();
        let marked = packet.marked && self.notifications.is_none();
        let due = self.coalescing.on_packet(&AckedPacket {
            bytes: u32::from(packet.bytes),
            duplicate: !is_new,
            marked,
            request: packet.asks_ack || overtakes,
            held,
        });
        due.then(|| {
            let from_packet = marked || (packet.asks_ack && is_new);
            self.ack(number, packet, from_packet)
        })
    }

    /// Processes a packet's mark. Returns the notification to be sent, if one is due.
    pub fn notification(&mut self, now_ps: u64, packet: &Arriving) -> Option<Signal> {
        let notifications = self.notifications.as_mut()?;
        let is_due = packet.marked && notifications.on_mark(now_ps);
        is_due.then_some(Signal::Notification)
    }

    /// Counts a packet that is now available.
    fn count(&mut self, number: u64, bytes: u16) {
        self.received_bytes += u64::from(bytes);
        let is_parity = (self.config.erasure).is_some_and(|of| of.code.is_parity(number));
        if !is_parity {
            self.received_payload += u64::from(bytes - self.config.header_bytes);
        }
    }

    /// Completes the packet's group if possible. The group's other packets, of the same size, are
    /// then not needed: they are acknowledged with this one.
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

    /// Next expiry of a group timer, ps; `None` if all groups that have begun are complete.
    pub fn next_wait_ps(&self) -> Option<u64> {
        self.groups.as_ref()?.next_timer_ps()
    }

    /// Takes a group whose timer has expired by `now_ps`, as a NACK to the sender.
    pub fn take_overdue(&mut self, now_ps: u64) -> Option<Signal> {
        let group = self.groups.as_mut()?.take_expired(now_ps)?;
        Some(Signal::GroupNack { group })
    }

    /// Processes a packet without its payload. Returns the answer to the sender, and whether the
    /// packet is missing.
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

    /// Creates an acknowledgment. Its bitmap begins with the packet that caused it if
    /// `from_packet`, otherwise ends with it.
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
            marked: packet.marked && self.notifications.is_none(),
            resent: packet.resent,
        })
    }
}
