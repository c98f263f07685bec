//! An output port and the link behind it, of one of two kinds: drop-tail buffer, ECN marking by queue
//! threshold, phantom queue in series with the port (paper 2.1), constant propagation delay.
//!
//! [`fifo`]: one queue, and everything is decided when a packet arrives. [`queued`]: queues and a
//! scheduler, which selects a packet when the link is free; classes may pause. A port is `Queued` if its
//! configuration [asks](PortConfig::is_queued) for something that a decision on arrival cannot give.
//!
//! Both schedule a transmission for `max(now, busy until)` and compute the arrival at the far end, the
//! packet's next event; packets that wait for a scheduled transmission are counted in a [`Ring`]. Times
//! are picoseconds, sizes bytes, rates bit/s. The queue excludes the packet in transmission, as in ns-2,
//! unless `count_in_service` is set (switches that free memory after the last bit include it). Features
//! of few ports (rules, queues, instruments) are in [`Extras`] and cost the others one comparison.

mod config;
mod cut;
mod departures;
mod extras;
mod failure;
mod fifo;
mod memory;
mod queued;
mod readings;
mod stages;

use std::collections::VecDeque;

use hull_core::marking::ThresholdMarker;
use hull_core::phantom_queue::PhantomQueue;

use super::options::OptionTable;
use super::packet::{Packet, flags};
use super::queues::Queues;
use super::ring::{Ring, Start};
use super::rules::Notice;
use crate::network::{QueueLevel, Watch};
use crate::prefetch::prefetch_lines;

use extras::Extras;
use queued::Queued;

pub use config::{BufferLimit, PortConfig};
pub(super) use fifo::Behind;
pub use readings::Reading;

/// Result of offering a packet to a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The transmission is scheduled. The packet reaches the far end of the link (behind a
    /// cut-through switch: enough of it does) at these times.
    Accepted {
        /// Start of transmission, ps.
        start_ps: u64,
        /// Time of the packet's event, ps.
        arrival_ps: u64,
    },
    /// The packet waits in a queue of a `Queued` port, which holds a copy.
    Queued {
        /// Time of the next selection if it must be scheduled, because none is pending, ps.
        choice_ps: Option<u64>,
    },
    /// The packet waits behind a long queue, which holds a copy.
    Held {
        /// Time at which [`Network::let_in`](super::Network::let_in) must be called for the port,
        /// ps; `None` if a call is already scheduled.
        due_ps: Option<u64>,
    },
    /// The buffer was full, a rule dropped the packet, or the link is down.
    Dropped,
    /// The packet is on its way to another part of the network.
    HandedOver,
}

/// Bits of `Port::features`, the features beyond drop-tail.
mod feature {
    /// The port is `Queued`, or has rules or instruments.
    pub const EXTRAS: u16 = 1 << 0;
    pub const COUNT_IN_SERVICE: u16 = 1 << 1;
    pub const DOWN: u16 = 1 << 2;
    pub const CUT_THROUGH: u16 = 1 << 3;
    pub const CAPTURED: u16 = 1 << 4;
    pub const CUT: u16 = 1 << 5;
    /// Packets are observed when they leave the link. The bit is also the probe flag, because
    /// probes are always observed.
    pub const OBSERVED: u16 = super::flags::PROBE;
    pub const PHANTOM_QUEUE: u16 = 1 << 7;
    /// The port shares its memory with others.
    pub const SHARED: u16 = 1 << 8;
    /// Packets are held back.
    pub const HOLDS: u16 = 1 << 9;
    /// Rules process departures.
    pub const DEPARTURES: u16 = 1 << 10;
    /// The port has queues of flows and nothing else, unless another feature is set.
    pub const IN_TURN: u16 = 1 << 11;
    /// The port writes records of telemetry and has nothing else, unless another feature is set.
    pub const RECORDS: u16 = 1 << 12;
    /// Features that decide by more than the queue and a threshold.
    pub const RULED: u16 = EXTRAS | COUNT_IN_SERVICE | DOWN;
    /// Features that take packets off the fast path.
    pub const OFF_FAST_PATH: u16 = RULED | SHARED | HOLDS;

    /// Compile-time check that no two share a bit.
    const _: () = {
        let observing = CUT_THROUGH | CAPTURED | DEPARTURES | OBSERVED;
        let all = OFF_FAST_PATH | observing | CUT | PHANTOM_QUEUE | IN_TURN | RECORDS;
        assert!(all.count_ones() == 13);
    };
}

/// Port with its link. The order of the fields puts all that every packet needs into two cache
/// lines, which are a pair that processors fetch together.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Port {
    busy_until_ps: u64,
    /// Serialization: picoseconds per byte, scaled by 2^16.
    ps_per_byte_q16: u64,
    delay_ps: u64,
    /// Packets waiting for transmission.
    waiting: Ring,
    waiting_bytes: u64,
    in_service_bytes: u16,
    framing_bytes: u16,
    /// Backlog that needs no look at the queue; see `fast_path`.
    safe_backlog: u16,
    features: u16,
    limit_bytes: u64,
    limit_packets: u32,
    marker: ThresholdMarker,
    /// Number of packets whose transmission was scheduled, modulo 2^32.
    sent_packets: u32,
    /// Bytes whose transmission was scheduled.
    pub sent_bytes: u64,
    /// Sum of the packets' waiting times from arrival to start of transmission, ps.
    waited_ps: u64,
    /// Number of packets that the port marked CE.
    pub marks: u64,
    extras: Option<Box<Extras>>,
    /// Number of packets that the port dropped.
    pub drops: u64,
    phantom_queue: Option<PhantomQueue>,
    /// Number of packets that waited when the link failed, modulo 2^32.
    lost_waiting: u32,
    /// Number of held packets: they wait, but not in `waiting`.
    held: u32,
    /// Bytes of packets in transmission that failures cut off.
    uncarried_bytes: u64,
    cut_through_bytes: u16,
}

const _: () = assert!(std::mem::offset_of!(Port, drops) == 2 * 64);

impl Port {
    /// Creates an idle port.
    pub fn new(config: PortConfig) -> Self {
        let (limit_bytes, limit_packets) = config.buffer.limits();
        let is_queued = config.is_queued();
        let mut features = 0;
        for (on, bit) in [
            (config.count_in_service, feature::COUNT_IN_SERVICE),
            (
                config.cut_through_bytes.is_some(),
                feature::CUT_THROUGH | feature::OBSERVED,
            ),
            (config.phantom_queue.is_some(), feature::PHANTOM_QUEUE),
            (config.is_in_turn(), feature::IN_TURN),
        ] {
            if on {
                features |= bit;
            }
        }
        let mut port = Port {
            busy_until_ps: 0,
            waiting: Ring::new(),
            waiting_bytes: 0,
            in_service_bytes: 0,
            ps_per_byte_q16: ps_per_byte_q16(config.rate_bps),
            delay_ps: config.delay_ps,
            limit_bytes,
            limit_packets,
            safe_backlog: 0,
            framing_bytes: config.framing_bytes,
            features,
            marker: config.marker.unwrap_or(ThresholdMarker {
                threshold_bytes: u32::MAX,
                count_arriving: false,
            }),
            sent_bytes: 0,
            waited_ps: 0,
            sent_packets: 0,
            lost_waiting: 0,
            held: 0,
            uncarried_bytes: 0,
            cut_through_bytes: config.cut_through_bytes.unwrap_or(0),
            marks: 0,
            drops: 0,
            phantom_queue: config.phantom_queue,
            extras: None,
        };
        port.find_safe_backlog();
        let rules = config.rules.into_iter();
        let (sent_rules, rules): (Vec<_>, Vec<_>) = rules.partition(|rule| rule.looks_at_sent());
        if !rules.iter().all(|rule| rule.decides_on_arrival()) {
            port.features |= feature::DEPARTURES | feature::OBSERVED;
        }
        if !rules.is_empty() {
            port.extras_mut().rules = rules;
        }
        if config.records.is_some() {
            port.features |= match is_queued || port.extras.is_some() {
                true => feature::OBSERVED,
                false => feature::RECORDS,
            };
            port.extras_mut().records = config.records;
        }
        debug_assert!(is_queued || sent_rules.is_empty());
        if is_queued {
            let commit_ps = port.bytes_ps(u64::from(config.commit_bytes));
            port.extras_mut().queued = Some(Queued {
                queues: Queues::new(config.classes, &config.order, commit_ps),
                sent_rules,
                last_sent: None,
                trimming: config.trimming.map(Box::new),
                trims: 0,
                lost: VecDeque::new(),
            });
        }
        port
    }

    #[inline]
    fn has(&self, feature: u16) -> bool {
        self.features & feature != 0
    }

    #[inline]
    fn set(&mut self, feature: u16, on: bool) {
        self.features &= !feature;
        self.features |= feature * u16::from(on);
    }

    /// Notes that the port shares its memory with others.
    pub(in crate::network) fn share(&mut self) {
        self.set(feature::SHARED, true);
        self.leave_recording();
    }

    /// Prefetches the fields that a packet needs.
    #[inline]
    pub fn prefetch(&self) {
        prefetch_lines(self, 2);
    }

    /// Prefetches further data for an arriving packet, in stages, once the port itself is in the
    /// cache.
    #[inline]
    pub fn prefetch_for_arrival(&self, stage: usize) {
        if let Some(extras) = &self.extras {
            extras.prefetch_for_arrival(stage);
        }
    }

    /// Prefetches further data for the selection of the next packet, in stages.
    #[inline]
    pub fn prefetch_for_choice(&self, stage: usize) {
        if let Some(extras) = &self.extras {
            extras.prefetch_for_choice(stage);
        }
    }

    /// Next packet to be selected.
    #[inline]
    pub fn next_packet(&self) -> Option<&Packet> {
        self.queues()?.first()
    }

    /// Transmission time of a packet of `bytes` with its framing, ps.
    #[inline]
    pub fn serialization_ps(&self, bytes: u16) -> u64 {
        self.bytes_ps(u64::from(bytes) + u64::from(self.framing_bytes))
    }

    /// Transmission time of `bytes`, ps.
    #[inline]
    fn bytes_ps(&self, bytes: u64) -> u64 {
        (bytes * self.ps_per_byte_q16) >> 16
    }

    /// Offers a packet to the port at `now_ps`, to be sent at `earliest_ps` or later, and marks it
    /// as the rules require. `earliest_ps` exceeds `now_ps` only behind a cut-through switch whose
    /// input is slower than this link. A selection that is due ([`Port::selects_at`]) comes first:
    /// the packet finds the room of one whose transmission starts at `now_ps`, as in a FIFO.
    #[inline(always)]
    pub fn enqueue(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
        options: &mut OptionTable,
    ) -> Verdict {
        self.advance(now_ps, options);
        if self.has(feature::RULED) {
            return self.enqueue_ruled(now_ps, earliest_ps, packet, options);
        }
        self.enqueue_plain(now_ps, earliest_ps, packet)
    }

    /// Whether packets pass more than the plain FIFO.
    pub(in crate::network) fn needs_stages(&self) -> bool {
        self.has(feature::RULED | feature::CUT | feature::SHARED)
    }

    /// Whether packets bypass the fast path.
    #[inline(always)]
    pub(in crate::network) fn is_off_fast_path(&self) -> bool {
        self.has(feature::OFF_FAST_PATH)
    }

    /// Time of the event of a packet of `bytes`, which occupies the link last, from `start_ps` on.
    #[inline(always)]
    fn arrival_ps(&self, start_ps: u64, bytes: u16) -> u64 {
        if self.has(feature::CUT_THROUGH) {
            start_ps + self.transit_ps(bytes)
        } else {
            self.busy_until_ps + self.delay_ps
        }
    }

    /// Schedules the transmission of a packet from `start_ps` on.
    #[inline(always)]
    fn schedule(&mut self, now_ps: u64, start_ps: u64, packet: &mut Packet) -> Verdict {
        let bytes = packet.wire_bytes;
        self.occupy(start_ps, packet);
        if start_ps > now_ps {
            self.waited_ps += start_ps - now_ps;
            self.waiting_bytes += u64::from(bytes);
            self.waiting.push(Start {
                at_ps: start_ps,
                bytes,
            });
        } else {
            self.in_service_bytes = bytes;
        }
        Verdict::Accepted {
            start_ps,
            arrival_ps: self.arrival_ps(start_ps, bytes),
        }
    }

    /// Occupies the link with a packet from `start_ps` on.
    #[inline(always)]
    fn occupy(&mut self, start_ps: u64, packet: &mut Packet) {
        let bytes = packet.wire_bytes;
        // Without a phantom queue, its cache line, the third, is not loaded.
        if self.has(feature::PHANTOM_QUEUE)
            && let Some(phantom_queue) = &mut self.phantom_queue
        {
            let marks = phantom_queue.on_packet(start_ps, u32::from(bytes));
            self.mark_if(marks, packet);
        }
        self.busy_until_ps = start_ps + self.serialization_ps(bytes);
        self.sent_bytes += u64::from(bytes);
        self.sent_packets = self.sent_packets.wrapping_add(1);
    }

    /// Marks the packet if `marks` is set and the packet is ECN-capable.
    #[inline(always)]
    fn mark_if(&mut self, marks: bool, packet: &mut Packet) {
        let marks = marks & packet.is_markable();
        packet.flags |= u16::from(marks) * flags::CE;
        self.marks += u64::from(marks);
    }

    /// Removes the packets whose transmission has started by `now_ps` from the queue.
    #[inline(always)]
    pub fn advance(&mut self, now_ps: u64, options: &mut OptionTable) {
        while self.waiting.first_ps() <= now_ps {
            let start = self.waiting.pop();
            self.waiting_bytes -= u64::from(start.bytes);
            self.in_service_bytes = start.bytes;
            if self.has(feature::EXTRAS) {
                self.left_queue(start, options);
            }
        }
    }

    /// Time from the start of a packet's transmission to its delivery at the far end, ps.
    #[inline(always)]
    pub fn transit_ps(&self, mut bytes: u16) -> u64 {
        if self.has(feature::CUT_THROUGH) {
            bytes = bytes.min(self.cut_through_bytes);
        }
        self.serialization_ps(bytes) + self.delay_ps
    }

    /// Time from a packet's delivery to its last bit, ps: 0 unless the far end cuts through.
    #[inline]
    pub fn tail_ps(&self, packet: &Packet) -> u64 {
        self.tail_of_ps(packet.wire_bytes)
    }

    /// Time from the delivery of a packet of `bytes` to its last bit, ps.
    #[inline]
    pub(in crate::network) fn tail_of_ps(&self, bytes: u16) -> u64 {
        if self.has(feature::CUT_THROUGH) {
            self.bytes_ps(u64::from(bytes.saturating_sub(self.cut_through_bytes)))
        } else {
            0
        }
    }

    /// Whether the port decides everything about a packet on its arrival.
    pub fn is_fifo(&self) -> bool {
        self.queued().is_none()
    }

    /// Whether packets must be observed when they leave the link: the far end cuts through, the
    /// packets are captured, or rules process departures.
    #[inline(always)]
    pub fn is_observed(&self) -> bool {
        self.has(feature::OBSERVED)
    }

    /// [`flags::PROBE`] if the packet must be observed when it leaves the link, else 0.
    #[inline(always)]
    pub(in crate::network) fn observed_bit(&self, packet: &Packet) -> u16 {
        (self.features | packet.flags) & feature::OBSERVED
    }

    /// Whether packets are captured.
    pub fn is_captured(&self) -> bool {
        self.has(feature::CAPTURED)
    }

    /// Starts capturing packets.
    pub fn capture(&mut self) {
        self.features |= feature::CAPTURED | feature::OBSERVED;
    }

    /// Time until which the link is occupied, ps.
    pub fn busy_until_ps(&self) -> u64 {
        self.busy_until_ps
    }

    /// Rate of the link, bit/s.
    pub fn rate_bps(&self) -> f64 {
        8e12 * 65536.0 / self.ps_per_byte_q16 as f64
    }

    /// Waiting packets at `now_ps`, without the packet in transmission.
    pub fn queue(&mut self, now_ps: u64, options: &mut OptionTable) -> QueueLevel {
        self.advance(now_ps, options);
        self.level()
    }

    /// Takes a rule's notice to the sender of the packet offered last.
    #[inline]
    pub fn take_notice(&mut self) -> Option<Notice> {
        let extras = self.extras.as_mut()?;
        extras.rules.iter_mut().find_map(|rule| rule.take_notice())
    }

    /// Installs instruments for a link of `rate_bps`; with `every_change` they record each change.
    pub fn watch(&mut self, rate_bps: u64, every_change: bool) {
        let names = self.queue_names();
        let watch = Watch::new(rate_bps, names, every_change);
        self.extras_mut().watch = Some(Box::new(watch));
        self.set(feature::IN_TURN, false);
        self.leave_recording();
    }

    /// Instruments, if installed.
    pub fn watched(&mut self) -> Option<&mut Watch> {
        self.extras.as_mut()?.watch.as_deref_mut()
    }
}

/// Picoseconds per byte at `rate_bps`, scaled by 2^16 and rounded up, so that no packet is sent
/// faster than the rate. The error is below 2^-16 ps per byte, 1 ps for a packet of 64 KB.
pub(crate) fn ps_per_byte_q16(rate_bps: u64) -> u64 {
    ((8_000_000_000_000_u128 << 16).div_ceil(u128::from(rate_bps))) as u64
}
