//! The fast path of a FIFO port without further features. What a packet finds at a port cannot be
//! predicted, and each wrong prediction costs the processor some 20 cycles. Therefore a packet that
//! finds an idle link, and most others, need no look at the packets before them. Times are ps, sizes
//! bytes.
//!
//! A backlog that is shorter in time than the smaller of threshold and buffer holds fewer bytes than
//! either. A packet that finds one is neither marked nor dropped, whichever of the packets in the queue
//! have been sent, so these are removed later ([`Port::advance`]).

use super::{Port, Verdict};
use crate::network::Network;
use crate::network::options::OptionTable;
use crate::network::packet::Packet;
use crate::network::ring::Start;

/// Unit of [`Port::safe_backlog`] as a power of two, ps: the largest backlog is 4.3 ms.
const UNIT: u32 = 16;

/// Larger than the error of [`Port::safe_backlog`] caused by rounding: 1 ps for each packet.
const ROUNDING_PS: u64 = 512;

const _: () = assert!(ROUNDING_PS > Network::MOST_AHEAD as u64);

impl Port {
    /// Computes the time until the link is idle, in units of 2^16 ps, below which a packet is
    /// neither marked by the queue nor dropped, unless the number of packets is limited.
    pub(in crate::network::port) fn find_safe_backlog(&mut self) {
        let bytes = u64::from(self.marker.threshold_bytes).min(self.limit_bytes);
        let ps = (u128::from(bytes) * u128::from(self.ps_per_byte_q16)) >> 16;
        let units = ps.saturating_sub(u128::from(ROUNDING_PS)) >> UNIT;
        self.safe_backlog = u16::try_from(units).unwrap_or(u16::MAX);
    }

    /// Offers a packet to the port as [`Port::enqueue`] does, if the port has no feature that needs
    /// more, fewer than `ahead` waiting packets, and room. Returns the time of the packet's event,
    /// ps.
    #[inline(always)]
    pub fn enqueue_fast(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
        ahead: u32,
        options: &mut OptionTable,
    ) -> Option<u64> {
        let start_ps = self.busy_until_ps.max(earliest_ps);
        if (start_ps <= now_ps) & !self.is_off_fast_path() {
            return Some(self.send_at_once(now_ps, packet));
        }
        let backlog_ps = start_ps + self.serialization_ps(packet.wire_bytes) - now_ps;
        let is_safe = backlog_ps >> UNIT < u64::from(self.safe_backlog);
        let has_room = self.waiting.has_room(ahead.min(self.limit_packets));
        if is_safe & has_room & !self.is_off_fast_path() {
            return Some(self.enqueue_unseen(now_ps, start_ps, packet));
        }
        self.enqueue_after_look(now_ps, earliest_ps, packet, ahead, options)
    }

    /// Sends a packet over the idle link of a FIFO without rules. Returns the time of the packet's
    /// event, ps.
    #[inline(always)]
    fn send_at_once(&mut self, now_ps: u64, packet: &mut Packet) -> u64 {
        // All packets that waited have been sent.
        self.waiting.clear();
        self.waiting_bytes = 0;
        self.in_service_bytes = packet.wire_bytes;
        // Behind no other packet only the size decides about a mark, so this branch is predictable.
        if self.marker.marks(0, u32::from(packet.wire_bytes)) {
            self.mark_if(true, packet);
        }
        self.occupy(now_ps, packet);
        self.arrival_ps(now_ps, packet.wire_bytes)
    }

    /// Schedules a packet that waits and will be neither marked by the queue nor dropped.
    #[inline(always)]
    fn enqueue_unseen(&mut self, now_ps: u64, start_ps: u64, packet: &mut Packet) -> u64 {
        let bytes = packet.wire_bytes;
        self.waiting.push(Start {
            at_ps: start_ps,
            bytes,
        });
        self.waiting_bytes += u64::from(bytes);
        self.waited_ps += start_ps - now_ps;
        self.occupy(start_ps, packet);
        self.arrival_ps(start_ps, bytes)
    }

    /// Offers a packet to a port that is long, or whose queue may cause a mark or a drop.
    #[inline(always)]
    fn enqueue_after_look(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
        ahead: u32,
        options: &mut OptionTable,
    ) -> Option<u64> {
        if self.is_off_fast_path() {
            return None;
        }
        self.advance(now_ps, options);
        let is_full = self.is_full(now_ps, packet.wire_bytes);
        if self.is_long(ahead) | is_full {
            return None;
        }
        match self.enqueue_plain(now_ps, earliest_ps, packet) {
            Verdict::Accepted { arrival_ps, .. } => Some(arrival_ps),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use hull_core::marking::ThresholdMarker;

    use super::super::super::{BufferLimit, PortConfig};
    use super::*;
    use crate::network::NO_OPTIONS;
    use crate::network::packet::flags;
    use crate::random::{Purpose, Stream};

    /// A port behaves the same whether packets may take the fast path or not: same marks, drops,
    /// arrivals and readings.
    #[test]
    fn same_as_with_a_look_at_the_queue() {
        let mut random = Stream::new(11, Purpose::Arrivals, 0);
        let options = &mut OptionTable::default();
        for (threshold_bytes, count_arriving, buffer) in [
            (u32::MAX, false, BufferLimit::Unlimited),
            (6_000, false, BufferLimit::Bytes(9_000)),
            (6_000, true, BufferLimit::Bytes(12_000)),
            (1_000, true, BufferLimit::Packets(9)),
            (2_000, false, BufferLimit::Packets(3)),
            (0, false, BufferLimit::Bytes(2_000)),
        ] {
            let port = || {
                let mut config = PortConfig::plain(9_999_999_937, 1_000_000, buffer);
                config.framing_bytes = 20;
                config.marker = Some(ThresholdMarker {
                    threshold_bytes,
                    count_arriving,
                });
                Port::new(config)
            };
            let (mut fast, mut exact) = (port(), port());
            let (mut now_ps, mut unseen, mut marked) = (0, 0, 0);
            for seq in 0..20_000 {
                // Bursts of 6 packets on average.
                if random.below(6) == 0 {
                    now_ps += random.below(12_000_000) as u64;
                }
                let mut packet = Packet {
                    seq,
                    ack: 0,
                    flow: 0,
                    options: NO_OPTIONS,
                    hop: 0,
                    wire_bytes: 64 + random.below(1437) as u16,
                    flags: flags::DATA | flags::ECT0,
                };
                let mut same = packet;
                let expected = exact.enqueue(now_ps, now_ps, &mut same, options);
                let arrival_ps = fast.enqueue_fast(now_ps, now_ps, &mut packet, 16, options);
                unseen += usize::from(arrival_ps.is_some());
                let arrival_ps = arrival_ps.or_else(|| {
                    match fast.enqueue(now_ps, now_ps, &mut packet, options) {
                        Verdict::Accepted { arrival_ps, .. } => Some(arrival_ps),
                        _ => None,
                    }
                });
                match expected {
                    Verdict::Accepted { arrival_ps: at, .. } => assert_eq!(arrival_ps, Some(at)),
                    _ => assert_eq!(arrival_ps, None),
                }
                assert_eq!(packet, same);
                marked += usize::from(packet.has(flags::CE));
                if random.below(20) == 0 {
                    now_ps += random.below(2_000_000) as u64;
                    let mut look = |port: &mut Port| {
                        let reading = port.reading(now_ps, options);
                        (port.queue(now_ps, options), format!("{reading:?}"))
                    };
                    assert_eq!(look(&mut fast), look(&mut exact));
                }
            }
            assert_eq!((fast.drops, fast.marks), (exact.drops, exact.marks));
            assert!(unseen > 10_000, "{threshold_bytes}: {unseen}");
            assert_eq!(marked > 0, threshold_bytes != u32::MAX);
            assert_eq!(exact.drops > 0, buffer != BufferLimit::Unlimited);
        }
    }

    /// The backlog that needs no look grows with threshold and buffer, and is none if any packet
    /// that waits could be marked.
    #[test]
    fn safe_backlog_follows_threshold_and_buffer() {
        let safe = |threshold_bytes, buffer| {
            let mut config = PortConfig::plain(10_000_000_000, 0, buffer);
            config.marker = Some(ThresholdMarker {
                threshold_bytes,
                count_arriving: false,
            });
            Port::new(config).safe_backlog
        };
        // 30,000 bytes take 24 us, 366.2 units.
        assert_eq!(safe(30_000, BufferLimit::Unlimited), 366);
        assert_eq!(safe(60_000, BufferLimit::Bytes(30_000)), 366);
        assert_eq!(safe(u32::MAX, BufferLimit::Unlimited), u16::MAX);
        assert_eq!(safe(0, BufferLimit::Unlimited), 0);
    }
}
