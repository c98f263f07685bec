//! A shorter path for the ports of hosts, which have queues of flows and nothing else. It does what all
//! stages do (`stages`), without looking for rules, marks, shared memory and instruments.
//! Times are ps.

use super::super::{PortConfig, feature};
use super::{Port, Queued, Verdict};
use crate::network::packet::Packet;
use crate::network::queue::Waiting;

impl PortConfig {
    /// Whether the port has queues that are served in turn, and nothing else.
    pub(in crate::network::port) fn is_in_turn(&self) -> bool {
        self.order.is_per_flow()
            && !self.order.manages()
            && self.rules.is_empty()
            && self.trimming.is_none()
            && self.marker.is_none()
            && self.phantom_queue.is_none()
    }
}

impl Port {
    /// Whether packets may take the shorter path.
    #[inline]
    pub(in crate::network) fn is_in_turn(&self) -> bool {
        const ALL: u16 = feature::IN_TURN | feature::OFF_FAST_PATH & !feature::EXTRAS;
        self.features & ALL == feature::IN_TURN
    }

    /// Does the same as [`Port::enqueue`].
    pub(in crate::network) fn enqueue_in_turn(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
    ) -> Verdict {
        let extras = self.extras.as_deref_mut();
        let Some(queued) = extras.and_then(|extras| extras.queued.as_mut()) else {
            return Verdict::Dropped;
        };
        let queues = &mut queued.queues;
        if self.busy_until_ps <= now_ps && queues.lets_pass(packet) {
            self.advance_ring(now_ps);
            let start_ps = self.busy_until_ps.max(earliest_ps);
            return self.schedule(now_ps, start_ps, packet);
        }
        let at = queues.queue_of(packet);
        let (bytes, packets) = queues.against_buffer(at);
        if bytes + u64::from(packet.wire_bytes) > self.limit_bytes
            || packets >= u64::from(self.limit_packets)
        {
            self.drops += 1;
            return Verdict::Dropped;
        }
        let waiting = Waiting {
            arrived_ps: now_ps,
            earliest_ps,
            packet: *packet,
        };
        Verdict::Queued {
            choice_ps: queues.push(at, waiting, self.busy_until_ps),
        }
    }

    /// Does the same as [`Port::transmit_next`].
    pub(in crate::network) fn transmit_in_turn(
        &mut self,
        now_ps: u64,
    ) -> (Option<(Packet, Verdict, u64)>, Option<u64>) {
        let Some(mut extras) = self.extras.take() else {
            return (None, None);
        };
        let mut next = (None, None);
        if let Some(Queued { queues, .. }) = &mut extras.queued {
            if let Some((waiting, _)) = queues.pop(now_ps) {
                self.advance_ring(now_ps);
                let mut packet = waiting.packet;
                let start_ps = self.busy_until_ps.max(now_ps).max(waiting.earliest_ps);
                self.waited_ps += now_ps - waiting.arrived_ps;
                let verdict = self.schedule(now_ps, start_ps, &mut packet);
                next.0 = Some((packet, verdict, waiting.arrived_ps));
            }
            next.1 = queues.select_again(now_ps, self.busy_until_ps);
        }
        self.extras = Some(extras);
        next
    }

    /// Removes a packet whose transmission has started from the ring: behind a cut-through switch it
    /// starts later than it is selected.
    fn advance_ring(&mut self, now_ps: u64) {
        while self.waiting.first_ps() <= now_ps {
            let start = self.waiting.pop();
            self.waiting_bytes -= u64::from(start.bytes);
            self.in_service_bytes = start.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::BufferLimit;
    use super::*;
    use crate::network::options::OptionTable;
    use crate::network::packet::flags;
    use crate::network::schedulers::Order;
    use crate::random::{Purpose, Stream};

    /// A port behaves the same whether its packets may take the shorter path or not: same verdicts,
    /// order, drops and readings.
    #[test]
    fn same_as_all_stages() {
        let mut random = Stream::new(12, Purpose::Arrivals, 0);
        let options = &mut OptionTable::default();
        for (order, buffer) in [
            (Order::Fair(1500), BufferLimit::Unlimited),
            (Order::Fair(1500), BufferLimit::Bytes(9_000)),
            (Order::Fq(1500), BufferLimit::Packets(7)),
        ] {
            let port = || {
                let mut config = PortConfig::plain(9_999_999_937, 1_000_000, buffer);
                (config.classes, config.order) = (0, order.clone());
                config.framing_bytes = 20;
                Port::new(config)
            };
            let (mut short, mut full) = (port(), port());
            full.set(feature::IN_TURN, false);
            assert!(short.is_in_turn() && !full.is_in_turn());
            let (mut now_ps, mut queued, mut next_ps) = (0, 0, u64::MAX);
            for seq in 0..20_000 {
                if random.below(3) == 0 {
                    now_ps += random.below(6_000_000) as u64;
                }
                while next_ps <= now_ps {
                    let (sent, again_ps) = short.transmit_in_turn(next_ps);
                    assert_eq!((sent, again_ps), full.transmit_next(next_ps, options));
                    next_ps = again_ps.unwrap_or(u64::MAX);
                }
                let mut packet = Packet {
                    seq,
                    flow: random.below(5) as u32,
                    wire_bytes: 64 + random.below(1437) as u16,
                    ..Packet::with_flags(flags::DATA)
                };
                let mut same = packet;
                let verdict = short.enqueue_in_turn(now_ps, now_ps, &mut packet);
                assert_eq!(verdict, full.enqueue(now_ps, now_ps, &mut same, options));
                assert_eq!(packet, same);
                if let Verdict::Queued { choice_ps } = verdict {
                    queued += 1;
                    next_ps = next_ps.min(choice_ps.unwrap_or(u64::MAX));
                }
            }
            let look = |port: &mut Port| {
                format!("{:?}", port.reading(now_ps, &mut OptionTable::default()))
            };
            assert_eq!(look(&mut short), look(&mut full));
            assert_eq!(short.drops, full.drops);
            assert_eq!(short.drops > 0, buffer != BufferLimit::Unlimited);
            assert!(queued > 5_000, "{queued}");
        }
    }
}
