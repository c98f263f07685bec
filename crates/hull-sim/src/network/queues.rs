//! Several queues of a port, and the scheduler that selects among them.
//!
//! A switch's transmitter holds some bytes behind its scheduler, so that the link does not idle: the
//! next packet is selected when that many bytes are left to send, and later arrivals do not overtake
//! it.
//!
//! Such a port does not know on arrival when a packet will be sent, so each pending selection has its
//! own event. Sizes are bytes, times ps.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};

use super::packet::Packet;
use super::rules::Decision;
use super::schedulers::{Leaving, Order, Scheduler, Strict};
use crate::prefetch::prefetch;

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    /// When it arrived, ps.
    pub arrived_ps: u64,
    /// When it may be sent, ps: later than its arrival behind a cut-through switch whose input is slower
    /// than this link.
    pub earliest_ps: u64,
    pub packet: Packet,
}

/// One queue.
#[derive(Debug, Default)]
struct Queue {
    packets: VecDeque<Waiting>,
    bytes: u64,
}

/// A scheduler; the most frequent one lies within.
#[derive(Debug)]
enum Chooser {
    Strict(Strict),
    Other(Box<dyn Scheduler>),
}

impl Deref for Chooser {
    type Target = dyn Scheduler;

    #[inline]
    fn deref(&self) -> &Self::Target {
        match self {
            Chooser::Strict(strict) => strict,
            Chooser::Other(other) => &**other,
        }
    }
}

impl DerefMut for Chooser {
    #[inline]
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Chooser::Strict(strict) => strict,
            Chooser::Other(other) => &mut **other,
        }
    }
}

/// The queues of a port.
#[derive(Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    scheduler: Chooser,
    /// Whether the scheduler marks and drops packets that leave.
    manages: bool,
    bytes: u64,
    packets: usize,
    /// How long before the link is free the next packet is chosen, ps.
    commit_ps: u64,
    /// Whether the port is to be asked for its next packet then.
    asked: bool,
}

impl Queues {
    /// `count` empty queues; the next packet is chosen `commit_ps` before the link is free.
    pub fn new(count: usize, order: &Order, commit_ps: u64) -> Self {
        Queues {
            queues: (0..count).map(|_| Queue::default()).collect(),
            scheduler: match order {
                Order::Strict => Chooser::Strict(Strict::new(count)),
                other => Chooser::Other(other.scheduler(count)),
            },
            manages: order.manages(),
            bytes: 0,
            packets: 0,
            commit_ps,
            asked: false,
        }
    }

    /// Asks for the first two queues.
    #[inline]
    pub fn prefetch(&self) {
        self.queues.iter().take(2).for_each(prefetch);
    }

    /// The packet that leaves next where the order of the queues is that of their priority.
    #[inline]
    pub fn first(&self) -> Option<&Packet> {
        let first = self.queues.iter().find_map(|queue| queue.packets.front())?;
        Some(&first.packet)
    }

    /// When these are there: asks for the last packet of the second one, which is that of data.
    #[inline]
    pub fn prefetch_last(&self) {
        if let Some(last) = self.queues.get(1).and_then(|queue| queue.packets.back()) {
            prefetch(last);
        }
    }

    /// The queue that a packet belongs to.
    pub fn queue_of(&self, packet: &Packet) -> usize {
        self.scheduler.queue_of(packet, self.queues.len())
    }

    /// Bytes and packets in a queue.
    pub fn queue(&self, queue: usize) -> (u64, u64) {
        let queue = &self.queues[queue];
        (queue.bytes, queue.packets.len() as u64)
    }

    /// Bytes and packets that count against the port's buffer for a packet of `queue`.
    pub fn against_buffer(&self, queue: usize) -> (u64, u64) {
        match self.manages() {
            true => (self.bytes, self.packets as u64),
            false => self.queue(queue),
        }
    }

    /// Whether the scheduler marks and drops packets that leave.
    pub fn manages(&self) -> bool {
        self.manages
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// When the next packet is chosen, ps, if the link is free at `free_ps` and it is `now_ps`.
    pub fn choice_ps(&self, now_ps: u64, free_ps: u64) -> u64 {
        free_ps.saturating_sub(self.commit_ps).max(now_ps)
    }

    /// Adds a packet to a queue; true when the port has to be asked for its next one.
    pub fn push(&mut self, to: usize, waiting: Waiting) -> bool {
        self.add(to, waiting);
        !std::mem::replace(&mut self.asked, true)
    }

    fn add(&mut self, to: usize, waiting: Waiting) {
        self.pass_time(waiting.arrived_ps);
        let wire_bytes = u64::from(waiting.packet.wire_bytes);
        let queue = &mut self.queues[to];
        if queue.packets.is_empty() {
            self.scheduler.on_filled(to);
        }
        self.scheduler.on_added(to, queue.packets.len());
        queue.bytes += wire_bytes;
        queue.packets.push_back(waiting);
        self.bytes += wire_bytes;
        self.packets += 1;
    }

    /// The scheduler that manages hears of the time before something changes.
    fn pass_time(&mut self, now_ps: u64) {
        if self.manages {
            let queues = &self.queues;
            let first_came_ps = |queue: usize| Some(queues[queue].packets.front()?.arrived_ps);
            self.scheduler.on_time(now_ps, &first_came_ps);
        }
    }

    /// A packet finds the link idle and nothing that waits, at a scheduler that manages: what becomes of it.
    pub fn pass_through(&mut self, queue: usize, waiting: Waiting) -> Decision {
        self.pass_time(waiting.arrived_ps);
        // The link has been free, and nothing was there to be chosen.
        self.scheduler.next(&|_| None);
        self.add(queue, waiting);
        let chosen = self.pop(waiting.arrived_ps);
        chosen.map_or(Decision::Drop, |(_, decision)| decision)
    }

    /// Puts a packet in the place of the last one of a queue, which must not be empty; returns that one.
    pub fn replace_last(&mut self, at: usize, waiting: Waiting) -> Option<Waiting> {
        let queue = &mut self.queues[at];
        let last = queue.packets.back_mut()?;
        let replaced = std::mem::replace(last, waiting);
        let (new, old) = (waiting.packet.wire_bytes, replaced.packet.wire_bytes);
        queue.bytes = queue.bytes + u64::from(new) - u64::from(old);
        self.bytes = self.bytes + u64::from(new) - u64::from(old);
        Some(replaced)
    }

    /// Takes all packets out, when the link has failed; the port is not asked any more.
    pub fn clear(&mut self, now_ps: u64) -> Vec<Packet> {
        let mut lost = Vec::new();
        while let Some((waiting, _)) = self.pop(now_ps) {
            lost.push(waiting.packet);
        }
        self.asked = false;
        self.scheduler.on_failure(now_ps);
        lost
    }

    /// The next packet, taken out at `now_ps`, and what becomes of it.
    pub fn pop(&mut self, now_ps: u64) -> Option<(Waiting, Decision)> {
        self.pass_time(now_ps);
        let queues = &self.queues;
        let first_bytes = |queue: usize| Some(queues[queue].packets.front()?.packet.wire_bytes);
        let chosen = self.scheduler.next(&first_bytes)?;
        let queue = &mut self.queues[chosen];
        let waiting = queue.packets.pop_front()?;
        let wire_bytes = u64::from(waiting.packet.wire_bytes);
        queue.bytes -= wire_bytes;
        self.bytes -= wire_bytes;
        self.packets -= 1;
        let mut decision = Decision::Pass;
        if self.manages {
            let leaving = Leaving {
                now_ps,
                waited_ps: now_ps - waiting.arrived_ps,
                queue: chosen,
                queue_bytes: queue.bytes,
                all_bytes: self.bytes,
                others_wait: self.packets > queue.packets.len(),
            };
            decision = self.scheduler.on_leaving(&leaving, &waiting.packet);
        }
        self.scheduler.on_served(chosen, queue.packets.is_empty());
        Some((waiting, decision))
    }

    /// As [`Queues::pop`], but of packets that are to be dropped: they go to `lost`, and the next one is looked at.
    /// Returns how many did.
    pub fn pop_kept(
        &mut self,
        now_ps: u64,
        lost: &mut VecDeque<Packet>,
    ) -> (Option<(Waiting, Decision)>, u64) {
        let mut dropped = 0;
        loop {
            match self.pop(now_ps) {
                Some((waiting, Decision::Drop)) => lost.push_back(waiting.packet),
                kept => return (kept, dropped),
            }
            dropped += 1;
        }
    }

    /// After a packet was taken: whether the port has to be asked again.
    pub fn asked_again(&mut self) -> bool {
        self.asked = !self.is_empty();
        self.asked
    }

    /// Bytes in all queues.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Packets in all queues.
    pub fn packets(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::NO_OPTIONS;
    use super::*;

    fn packet(flow: u32) -> Packet {
        Packet {
            seq: 0,
            ack: 0,
            flow,
            options: NO_OPTIONS,
            hop: 0,
            wire_bytes: 1500,
            flags: 0,
        }
    }

    /// A packet that arrives at a time and may be sent then.
    fn at(arrived_ps: u64, packet: Packet) -> Waiting {
        Waiting {
            arrived_ps,
            earliest_ps: arrived_ps,
            packet,
        }
    }

    fn served(queues: &mut Queues) -> Vec<u32> {
        std::iter::from_fn(|| queues.pop(0).map(|(waiting, _)| waiting.packet.flow)).collect()
    }

    /// Flow 0 has five packets, flow 1 two and flow 6 (of the third queue of four) one.
    fn fill(queues: &mut Queues) {
        for flow in [0, 0, 0, 0, 0, 1, 1, 6] {
            queues.push(queues.queue_of(&packet(flow)), at(0, packet(flow)));
        }
    }

    #[test]
    fn queues_in_turn_share_the_link() {
        let mut queues = Queues::new(4, &Order::Turns, 0);
        fill(&mut queues);
        assert_eq!(served(&mut queues), [0, 1, 6, 0, 1, 0, 0, 0]);
        assert_eq!((queues.bytes(), queues.packets()), (0, 0));
    }

    /// Without classes in their packets all are of the first one, and leave as they came.
    #[test]
    fn one_class_is_a_fifo() {
        for order in [Order::Strict, Order::Dwrr(vec![1500, 4500])] {
            let mut queues = Queues::new(2, &order, 0);
            fill(&mut queues);
            assert_eq!(served(&mut queues), [0, 0, 0, 0, 0, 1, 1, 6]);
        }
    }

    /// Queues that are never empty get bytes as their quanta, whatever the sizes of their packets: by hand
    /// with quanta of 1500 and 3000 bytes and packets of 1500 and 1000, one of the first to three of the
    /// second.
    #[test]
    fn deficits_share_bytes_by_weight() {
        let mut queues = Queues::new(2, &Order::Dwrr(vec![1500, 3000]), 0);
        let sized = |flow: u32, wire_bytes: u16| Packet {
            wire_bytes,
            ..packet(flow)
        };
        for _ in 0..6000 {
            queues.push(0, at(0, sized(0, 1500)));
            queues.push(1, at(0, sized(1, 1000)));
        }
        let order: Vec<u32> = (0..8)
            .filter_map(|_| queues.pop(0))
            .map(|(waiting, _)| waiting.packet.flow)
            .collect();
        assert_eq!(order, [0, 1, 1, 1, 0, 1, 1, 1]);
        // Any sizes: over many turns the shares are those of the quanta, within a turn.
        let mut random = crate::random::Stream::new(3, crate::random::Purpose::Arrivals, 0);
        let quanta = [1500, 3000, 7000];
        let mut queues = Queues::new(3, &Order::Dwrr(quanta.to_vec()), 0);
        let mut sent = [0_u64; 3];
        for step in 0..60_000 {
            for queue in 0..3 {
                let bytes = 64 + random.below(1437) as u16;
                queues.push(queue, at(step, sized(queue as u32, bytes)));
            }
            let packet = queues.pop(step).expect("never empty").0.packet;
            sent[packet.flow as usize] += u64::from(packet.wire_bytes);
        }
        let turns = sent[0] as f64 / f64::from(quanta[0]);
        for (bytes, quantum) in sent.into_iter().zip(quanta) {
            assert!(
                (bytes as f64 / f64::from(quantum) - turns).abs() < 2.0,
                "{sent:?}"
            );
        }
    }
}
