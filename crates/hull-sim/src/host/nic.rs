//! A host's queue before a pacer: it hands a packet over when its transmission would start, as a port
//! would. Times are ps, sizes bytes.

use std::collections::VecDeque;

use crate::network::rules::Decision;
use crate::network::{Packet, PortConfig, Queues, Waiting, flags, ps_per_byte_q16};

/// Result of passing a packet to a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet is handed over at once.
    Now,
    /// The packet waits at the head of the queue and will be handed over at this time, ps.
    First(u64),
    /// The packet waits behind others.
    Behind,
    /// The queue was full.
    Dropped,
}

/// Queue of a NIC.
#[derive(Debug)]
pub struct Nic {
    busy_until_ps: u64,
    ps_per_byte_q16: u64,
    framing_bytes: u16,
    limit_packets: u32,
    limit_bytes: u64,
    waiting_bytes: u64,
    /// Waiting packets of a FIFO with the times at which they are handed over, ps.
    waiting: VecDeque<(u64, Packet)>,
    /// Queues of a host that has several; the FIFO is then empty.
    queues: Option<Box<Queues>>,
    /// Packets that were dropped when they were selected.
    lost: VecDeque<Packet>,
    /// Number of packets dropped by this NIC.
    pub drops: u64,
}

impl Nic {
    /// Creates an empty queue with the rate, framing and buffer of a port.
    pub fn new(port: &PortConfig) -> Self {
        let (limit_bytes, limit_packets) = port.buffer.limits();
        Nic {
            busy_until_ps: 0,
            ps_per_byte_q16: ps_per_byte_q16(port.rate_bps),
            framing_bytes: port.framing_bytes,
            limit_packets,
            limit_bytes,
            waiting_bytes: 0,
            waiting: VecDeque::new(),
            queues: (port.is_queued()).then(|| Box::new(Queues::new(port.classes, &port.order, 0))),
            lost: VecDeque::new(),
            drops: 0,
        }
    }

    /// Offers a packet to the queue.
    #[inline]
    pub fn enqueue(&mut self, now_ps: u64, packet: &mut Packet) -> Entry {
        if self.queues.is_some() {
            return self.enqueue_of_several(now_ps, packet);
        }
        let start_ps = self.busy_until_ps.max(now_ps);
        if start_ps == now_ps {
            self.occupy(start_ps, packet);
            return Entry::Now;
        }
        if self.is_full(now_ps, packet.wire_bytes) {
            self.drops += 1;
            return Entry::Dropped;
        }
        self.occupy(start_ps, packet);
        let first = self.waiting.is_empty();
        self.waiting.push_back((start_ps, *packet));
        self.waiting_bytes += u64::from(packet.wire_bytes);
        if first {
            Entry::First(start_ps)
        } else {
            Entry::Behind
        }
    }

    /// Offers a packet to one of several queues. A selection that is due must have been made.
    fn enqueue_of_several(&mut self, now_ps: u64, packet: &mut Packet) -> Entry {
        let Some(queues) = self.queues.as_deref_mut() else {
            return Entry::Dropped;
        };
        let waiting = Waiting {
            arrived_ps: now_ps,
            earliest_ps: now_ps,
            packet: *packet,
        };
        let at = queues.queue_of(packet);
        if self.busy_until_ps <= now_ps && queues.is_empty() {
            if queues.manages() {
                match queues.pass_through(waiting) {
                    Decision::Drop => {
                        self.drops += 1;
                        return Entry::Dropped;
                    }
                    decision => mark_if(decision, packet),
                }
            }
            self.occupy(now_ps, packet);
            return Entry::Now;
        }
        let (bytes, packets) = queues.against_buffer(at);
        if bytes + u64::from(packet.wire_bytes) > self.limit_bytes
            || packets >= u64::from(self.limit_packets)
        {
            self.drops += 1;
            return Entry::Dropped;
        }
        match queues.push(at, waiting, self.busy_until_ps) {
            Some(at_ps) => Entry::First(at_ps),
            None => Entry::Behind,
        }
    }

    #[inline]
    fn occupy(&mut self, start_ps: u64, packet: &Packet) {
        let bytes = u64::from(packet.wire_bytes) + u64::from(self.framing_bytes);
        self.busy_until_ps = start_ps + ((bytes * self.ps_per_byte_q16) >> 16);
    }

    /// Whether a packet of `bytes` finds no room. A packet whose transmission starts now, but that
    /// was not yet taken, no longer waits.
    #[inline]
    fn is_full(&self, now_ps: u64, bytes: u16) -> bool {
        let (mut packets, mut queued_bytes) = (self.waiting.len(), self.waiting_bytes);
        if let Some((start_ps, first)) = self.waiting.front()
            && *start_ps <= now_ps
        {
            packets -= 1;
            queued_bytes -= u64::from(first.wire_bytes);
        }
        queued_bytes + u64::from(bytes) > self.limit_bytes || packets >= self.limit_packets as usize
    }

    /// Whether one of several queues is to be selected at `now_ps`.
    #[inline]
    pub fn selects_at(&self, now_ps: u64) -> bool {
        (self.queues.as_deref()).is_some_and(|queues| queues.selects_at(now_ps))
    }

    /// Takes the packet that is handed over at `now_ps`, if there is one, and the time at which the
    /// next one is, ps.
    #[inline]
    pub fn take_next(&mut self, now_ps: u64) -> (Option<Packet>, Option<u64>) {
        if self.queues.is_some() {
            return self.take_of_several(now_ps);
        }
        match self.take_head() {
            Some((packet, next_ps)) => (Some(packet), next_ps),
            None => (None, None),
        }
    }

    fn take_of_several(&mut self, now_ps: u64) -> (Option<Packet>, Option<u64>) {
        let Some(mut queues) = self.queues.take() else {
            return (None, None);
        };
        let mut taken = (None, None);
        if queues.selects_at(now_ps) {
            let (chosen, dropped) = queues.pop_kept(now_ps, &mut self.lost);
            self.drops += dropped;
            if let Some((waiting, decision)) = chosen {
                let mut packet = waiting.packet;
                mark_if(decision, &mut packet);
                self.occupy(now_ps, &packet);
                taken.0 = Some(packet);
            }
            taken.1 = queues.select_again(now_ps, self.busy_until_ps);
        }
        self.queues = Some(queues);
        taken
    }

    /// Takes a packet that was dropped when it was selected.
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.lost.pop_front()
    }

    /// Forgets the flow whose slot a new flow takes.
    pub fn forget(&mut self, flow: u32) {
        if let Some(queues) = &mut self.queues {
            queues.forget(flow);
        }
    }

    /// Takes the first packet. Returns it with the time at which the next one is handed over, ps.
    #[inline]
    fn take_head(&mut self) -> Option<(Packet, Option<u64>)> {
        let (_, packet) = self.waiting.pop_front()?;
        self.waiting_bytes -= u64::from(packet.wire_bytes);
        Some((packet, self.waiting.front().map(|&(start_ps, _)| start_ps)))
    }

    /// Rate of the link, bit/s.
    pub fn rate_bps(&self) -> f64 {
        8e12 * 65536.0 / self.ps_per_byte_q16 as f64
    }

    /// Number of waiting packets.
    pub fn len(&self) -> usize {
        let of_queues = self.queues.as_deref().map_or(0, Queues::packets);
        self.waiting.len() + of_queues
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Marks an ECN-capable packet if the scheduler decided so.
fn mark_if(decision: Decision, packet: &mut Packet) {
    if decision == Decision::Mark && packet.is_markable() {
        packet.flags |= flags::CE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::{BufferLimit, NO_OPTIONS, OptionTable, Port, Verdict, flags};
    use crate::random::{Purpose, Stream};

    /// Packets are handed over when a port of the same rate and buffer would begin to send them, and
    /// the same packets are dropped, whether the head is taken before or after a packet that comes
    /// at that time.
    #[test]
    fn hands_over_when_a_port_would_send() {
        let mut random = Stream::new(5, Purpose::Arrivals, 0);
        for buffer in [
            BufferLimit::Unlimited,
            BufferLimit::Bytes(4_000),
            BufferLimit::Packets(3),
        ] {
            let config = || PortConfig {
                framing_bytes: 20,
                ..PortConfig::plain(8_000_000_000, 0, buffer)
            };
            let (mut nic, mut port) = (Nic::new(&config()), Port::new(config()));
            let options = &mut OptionTable::default();
            let (mut now_ps, mut dropped, mut at_a_start) = (0, 0, 0);
            for seq in 0..5_000 {
                // Steps of 100 ns, and sizes that take such steps at 1 ns a byte.
                now_ps += 100_000 * random.below(12) as u64;
                let takes_first = random.below(2) == 0;
                let next_ps = |nic: &Nic| nic.waiting.front().map_or(u64::MAX, |first| first.0);
                while next_ps(&nic) < now_ps || takes_first && next_ps(&nic) == now_ps {
                    assert!(nic.take_head().is_some());
                }
                at_a_start += u32::from(next_ps(&nic) == now_ps);
                let mut packet = Packet {
                    seq,
                    ack: 0,
                    flow: 0,
                    options: NO_OPTIONS,
                    hop: 0,
                    wire_bytes: 80 + 100 * random.below(15) as u16,
                    flags: flags::DATA,
                };
                let expected = port.enqueue(now_ps, now_ps, &mut packet, options);
                let waited = nic.len();
                match (nic.enqueue(now_ps, &mut packet.clone()), expected) {
                    (Entry::Now, Verdict::Accepted { start_ps, .. }) => {
                        assert_eq!(start_ps, now_ps)
                    }
                    (Entry::First(at_ps), Verdict::Accepted { start_ps, .. }) => {
                        assert_eq!((at_ps, waited), (start_ps, 0));
                    }
                    (Entry::Behind, Verdict::Accepted { start_ps, .. }) => {
                        assert_eq!(nic.waiting.back().map(|last| last.0), Some(start_ps));
                        assert!(waited > 0);
                    }
                    (Entry::Dropped, Verdict::Dropped) => dropped += 1,
                    other => panic!("{other:?}"),
                }
            }
            assert_eq!((nic.drops, port.drops), (dropped, dropped));
            assert_eq!(dropped > 0, !matches!(buffer, BufferLimit::Unlimited));
            assert!(at_a_start > 100, "{at_a_start}");
        }
    }
}
