//! A FIFO output port and the link behind it: drop-tail buffer, ECN marking by queue threshold,
//! phantom queue in series with the port (paper 2.1), constant propagation delay.
//!
//! A FIFO port knows on arrival when a packet's transmission starts: `max(now, busy until)`. Drop,
//! mark and phantom queue are therefore all decided on arrival, and the only event is the arrival
//! at the far end. Times are picoseconds, sizes bytes, rates bit/s. The queue is what waits; the
//! packet being sent counts only with `count_in_service` (ns-2 leaves it out, switches that free
//! memory after the last bit leave it in).

use std::collections::VecDeque;

use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::PhantomQueue;

use super::packet::{Packet, flags};
use crate::measure::Occupancy;

/// Room of a drop-tail buffer. A packet that does not fit is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// Nothing is ever dropped.
    Unlimited,
    /// At most so many bytes in the queue.
    Bytes(u64),
    /// At most so many packets in the queue.
    Packets(u64),
}

/// What a port is made of.
#[derive(Clone, Debug)]
pub struct PortConfig {
    /// Link rate, bit/s.
    pub rate_bps: u64,
    /// Propagation (and constant processing) delay of the link, ps.
    pub delay_ps: u64,
    /// Buffer room.
    pub buffer: BufferLimit,
    /// Whether the packet being sent occupies buffer and counts for marking.
    pub count_in_service: bool,
    /// Marking on the instantaneous queue.
    pub marker: Option<ThresholdMarker>,
    /// Phantom queue behind the port.
    pub phantom_queue: Option<PhantomQueue>,
}

/// What became of a packet that was offered to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Queued; its transmission starts at this time (ps). `first` when it is now the first packet
    /// in flight, so that the link needs an event.
    Accepted {
        /// Start of transmission, ps.
        start_ps: u64,
        /// Whether the link was empty before.
        first: bool,
    },
    /// The buffer was full.
    Dropped,
}

#[derive(Clone, Copy, Debug)]
struct Scheduled {
    start_ps: u64,
    packet: Packet,
}

/// A port with its link: packets waiting, in transmission and in flight, in one ring.
#[derive(Debug)]
pub struct FifoPort {
    ring: VecDeque<Scheduled>,
    /// How many at the ring's end still wait for their transmission.
    waiting: usize,
    waiting_bytes: u64,
    in_service_bytes: u32,
    busy_until_ps: u64,
    /// Serialization: picoseconds per byte, scaled by 2^16.
    ps_per_byte_q16: u64,
    delay_ps: u64,
    buffer: BufferLimit,
    count_in_service: bool,
    marker: Option<ThresholdMarker>,
    phantom_queue: Option<PhantomQueue>,
    /// Packets marked CE here.
    pub marks: u64,
    /// Packets dropped here.
    pub drops: u64,
    /// Bytes whose transmission was scheduled here.
    pub sent_bytes: u64,
    /// Time-weighted statistics of the queue, where somebody asked for them.
    pub occupancy: Option<Box<Occupancy>>,
}

impl FifoPort {
    /// An idle port.
    pub fn new(config: PortConfig) -> Self {
        FifoPort {
            ring: VecDeque::with_capacity(64),
            waiting: 0,
            waiting_bytes: 0,
            in_service_bytes: 0,
            busy_until_ps: 0,
            ps_per_byte_q16: ps_per_byte_q16(config.rate_bps),
            delay_ps: config.delay_ps,
            buffer: config.buffer,
            count_in_service: config.count_in_service,
            marker: config.marker,
            phantom_queue: config.phantom_queue,
            marks: 0,
            drops: 0,
            sent_bytes: 0,
            occupancy: None,
        }
    }

    /// Time on the wire of `bytes`, ps.
    #[inline]
    pub fn serialization_ps(&self, bytes: u16) -> u64 {
        (u64::from(bytes) * self.ps_per_byte_q16) >> 16
    }

    /// Offers a packet to the port at `now_ps`; marks it if the rules say so.
    #[inline]
    pub fn enqueue(&mut self, now_ps: u64, mut packet: Packet) -> Verdict {
        self.advance(now_ps);
        let bytes = u64::from(packet.wire_bytes);
        let idle = self.busy_until_ps <= now_ps;
        let (mut queue_bytes, mut queue_packets) = (self.waiting_bytes, self.waiting as u64);
        if self.count_in_service && !idle {
            queue_bytes += u64::from(self.in_service_bytes);
            queue_packets += 1;
        }
        // With an idle link a packet goes straight to the wire: only a buffer that must hold the
        // packet in service can refuse it.
        let full = match self.buffer {
            BufferLimit::Unlimited => false,
            BufferLimit::Bytes(limit) => queue_bytes + bytes > limit,
            BufferLimit::Packets(limit) => queue_packets + 1 > limit,
        };
        if full && (self.count_in_service || !idle) {
            self.drops += 1;
            return Verdict::Dropped;
        }
        let start_ps = self.busy_until_ps.max(now_ps);
        if packet.has(flags::ECT) {
            let queue_marks = self
                .marker
                .is_some_and(|marker| marker.marks(queue_bytes, u32::from(packet.wire_bytes)));
            if queue_marks {
                self.mark(&mut packet);
            }
        }
        if let Some(phantom_queue) = &mut self.phantom_queue {
            let marks = phantom_queue.on_packet(start_ps, u32::from(packet.wire_bytes));
            if marks && packet.has(flags::ECT) {
                self.mark(&mut packet);
            }
        }
        self.busy_until_ps = start_ps + self.serialization_ps(packet.wire_bytes);
        self.sent_bytes += bytes;
        let first = self.ring.is_empty();
        if start_ps > now_ps {
            self.waiting += 1;
            self.waiting_bytes += bytes;
            if let Some(occupancy) = &mut self.occupancy {
                occupancy.change(now_ps, self.waiting_bytes);
            }
        } else {
            self.in_service_bytes = u32::from(packet.wire_bytes);
        }
        self.ring.push_back(Scheduled { start_ps, packet });
        Verdict::Accepted { start_ps, first }
    }

    fn mark(&mut self, packet: &mut Packet) {
        if !packet.has(flags::CE) {
            packet.flags |= flags::CE;
            self.marks += 1;
        }
    }

    /// Lets the packets whose transmission has started by `now_ps` leave the queue.
    #[inline]
    pub fn advance(&mut self, now_ps: u64) {
        while self.waiting > 0 {
            let next = &self.ring[self.ring.len() - self.waiting];
            if next.start_ps > now_ps {
                break;
            }
            self.waiting -= 1;
            self.waiting_bytes -= u64::from(next.packet.wire_bytes);
            self.in_service_bytes = u32::from(next.packet.wire_bytes);
            if let Some(occupancy) = &mut self.occupancy {
                occupancy.change(next.start_ps, self.waiting_bytes);
            }
        }
    }

    /// When the first packet in flight reaches the far end, ps.
    #[inline]
    pub fn next_delivery_ps(&self) -> Option<u64> {
        let first = self.ring.front()?;
        Some(first.start_ps + self.serialization_ps(first.packet.wire_bytes) + self.delay_ps)
    }

    /// When the first packet in the ring starts, ps: for a stage that hands over at the start.
    #[inline]
    pub fn next_start_ps(&self) -> Option<u64> {
        self.ring.front().map(|first| first.start_ps)
    }

    /// Takes the first packet off the link at `now_ps`, when it is due.
    #[inline]
    pub fn deliver(&mut self, now_ps: u64) -> Packet {
        if self.waiting == self.ring.len() {
            self.advance(now_ps);
        }
        debug_assert!(self.waiting < self.ring.len());
        match self.ring.pop_front() {
            Some(first) => first.packet,
            None => unreachable!("a link without packets has no event"),
        }
    }

    /// Until when the link is taken, ps.
    pub fn busy_until_ps(&self) -> u64 {
        self.busy_until_ps
    }

    /// The link's rate, bit/s.
    pub fn rate_bps(&self) -> f64 {
        8e12 * 65536.0 / self.ps_per_byte_q16 as f64
    }

    /// Bytes waiting at `now_ps`, the packet in transmission left out.
    pub fn queue_bytes(&mut self, now_ps: u64) -> u64 {
        self.advance(now_ps);
        self.waiting_bytes
    }

    /// Bytes that waited when the port was last looked at.
    pub fn waiting_bytes(&self) -> u64 {
        self.waiting_bytes
    }

    /// Packets waiting, in transmission and in flight.
    pub fn in_flight(&self) -> usize {
        self.ring.len()
    }
}

/// Picoseconds per byte at `rate_bps`, scaled by 2^16 and rounded up, so that no packet is sent
/// faster than the rate. The error is below 2^-16 ps a byte, 1 ps for a packet of 64 KB.
fn ps_per_byte_q16(rate_bps: u64) -> u64 {
    ((8_000_000_000_000_u128 << 16).div_ceil(u128::from(rate_bps))) as u64
}
