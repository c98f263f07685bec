//! The queues of a port, and the scheduler that selects among them.
//!
//! A switch's transmitter holds some bytes behind its scheduler, so that the link does not idle: the
//! next packet is selected when that many bytes are left to send, and later arrivals do not overtake
//! it. A class that pauses keeps its packets: none is selected until it resumes.
//!
//! Such a port does not know on arrival when a packet will be sent, so each pending selection has its
//! own event. Sizes are bytes, times ps.

use std::collections::VecDeque;
use std::ops::{Deref, DerefMut, Range};

use super::packet::{Packet, flags};
use super::queue::{Heads, Paused, Queue, Waiting};
use super::rules::Decision;
use super::schedulers::{Leaving, Order, Scheduler, Strict};
use crate::memory::{block, block_of};
use crate::prefetch::prefetch;

/// Scheduler; the most frequent one is stored inline.
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

/// Queues of a port.
#[derive(Debug)]
pub struct Queues {
    queues: Vec<Queue>,
    scheduler: Chooser,
    /// Whether the scheduler marks and drops departing packets.
    manages: bool,
    /// Whether all queues together have the port's buffer; otherwise each has as much.
    shares_buffer: bool,
    paused: Paused,
    /// Queue whose next packet belongs to the same piece as the one selected last.
    continues: Option<usize>,
    bytes: u64,
    packets: usize,
    /// Time before the link is free at which the next packet is selected, ps.
    commit_ps: u64,
    /// Time of the pending selection, ps; [`u64::MAX`] if none is pending.
    selects_at_ps: u64,
}

impl Queues {
    /// Memory of a flow that has a queue of its own, bytes: a deque has room for four packets; its number
    /// and its turn take a few more.
    pub const FLOW_BYTES: u64 = (size_of::<Queue>() + 4 * size_of::<Waiting>() + 40) as u64;

    /// Creates `count` empty queues. The next packet is selected `commit_ps` before the link is
    /// free.
    pub fn new(count: usize, order: &Order, commit_ps: u64) -> Self {
        Queues {
            queues: (0..count).map(|_| Queue::default()).collect(),
            scheduler: match order {
                Order::Strict => Chooser::Strict(Strict::new(count)),
                other => Chooser::Other(other.scheduler(count)),
            },
            manages: order.manages(),
            shares_buffer: order.manages() || order.is_per_flow(),
            paused: Paused::default(),
            continues: None,
            bytes: 0,
            packets: 0,
            commit_ps,
            selects_at_ps: u64::MAX,
        }
    }

    /// Memory of the empty queues and the scheduler, bytes.
    pub fn heap_bytes(&self) -> u64 {
        let of_scheduler = match &self.scheduler {
            Chooser::Strict(_) => 0,
            Chooser::Other(other) => block(size_of_val(&**other)) + other.heap_bytes(),
        };
        block_of::<Queue>(self.queues.len()) + of_scheduler
    }

    /// Prefetches the first two queues.
    #[inline]
    pub fn prefetch(&self) {
        self.queues.iter().take(2).for_each(prefetch);
    }

    /// Next packet to leave, if queues are served in the order of their priority.
    #[inline]
    pub fn first(&self) -> Option<&Packet> {
        let first = self.queues.iter().find_map(|queue| queue.packets.front())?;
        Some(&first.packet)
    }

    /// Prefetches the last packet of the second queue, which holds data, once the queues are in the
    /// cache.
    #[inline]
    pub fn prefetch_last(&self) {
        if let Some(last) = self.queues.get(1).and_then(|queue| queue.packets.back()) {
            prefetch(last);
        }
    }

    /// Names of the queues in results: if packets are trimmed, headers are in the first and data in
    /// the second. Empty if each flow has a queue.
    pub fn names(&self, trims: bool) -> Vec<String> {
        let name = |queue: usize| match (trims, queue) {
            (true, 0) => Some("headers".to_owned()),
            (true, 1) => Some("data".to_owned()),
            _ => self.scheduler.queue_name(queue),
        };
        (0..self.queues.len()).map_while(name).collect()
    }

    /// Queue to which a packet belongs.
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
        match self.shares_buffer {
            true => (self.bytes, self.packets as u64),
            false => self.queue(queue),
        }
    }

    /// Whether the scheduler marks and drops departing packets.
    pub fn manages(&self) -> bool {
        self.manages
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }

    /// Whether a packet that finds the link idle is sent at once: no packet waits, and the packet's class
    /// is not paused.
    #[inline]
    pub fn lets_pass(&self, packet: &Packet) -> bool {
        self.is_empty() && !self.paused.stops(packet)
    }

    fn heads(&self) -> Heads<'_> {
        Heads::of(&self.queues, self.paused)
    }

    /// Whether a packet may be selected.
    #[inline]
    fn can_select(&self) -> bool {
        !self.is_empty() && (!self.paused.any() || self.heads().any())
    }

    /// Whether a class is paused.
    #[inline]
    pub fn stops(&self, class: u8) -> bool {
        self.paused.stops_class(class)
    }

    /// Pauses a class: none of its packets is selected any more.
    pub fn pause(&mut self, class: usize) {
        self.paused.set(class, true);
    }

    /// Resumes a class at `now_ps`, with a link that is free at `free_ps`. Returns the time of the next
    /// selection if it must be scheduled, because none is pending, ps.
    pub fn resume(&mut self, class: usize, now_ps: u64, free_ps: u64) -> Option<u64> {
        self.paused.set(class, false);
        match self.selects_at_ps {
            u64::MAX => self.select_again(now_ps, free_ps),
            _ => None,
        }
    }

    /// Whether a packet is to be selected at `now_ps`. Of several events for one selection, the
    /// first one performs it.
    pub fn selects_at(&self, now_ps: u64) -> bool {
        self.selects_at_ps == now_ps
    }

    /// Adds a packet to a queue of a link that is free at `free_ps`. Returns the time of the next
    /// selection if it must be scheduled, because none is pending, ps.
    pub fn push(&mut self, to: usize, waiting: Waiting, free_ps: u64) -> Option<u64> {
        self.add(to, waiting);
        match self.selects_at_ps {
            u64::MAX => self.select_again(waiting.arrived_ps, free_ps),
            _ => None,
        }
    }

    fn add(&mut self, to: usize, waiting: Waiting) {
        self.pass_time(waiting.arrived_ps);
        let wire_bytes = u64::from(waiting.packet.wire_bytes);
        if to == self.queues.len() {
            self.queues.push(Queue::default()); // of a flow that is new
        }
        if self.packets == 0 && waiting.packet.is_behind() {
            self.continues = Some(to); // the piece's first packet was sent at once
        }
        let queue = &mut self.queues[to];
        if queue.packets.is_empty() {
            self.scheduler.on_filled(to, &waiting.packet);
        }
        self.scheduler.on_added(to, queue.packets.len());
        queue.bytes += wire_bytes;
        queue.packets.push_back(waiting);
        self.bytes += wire_bytes;
        self.packets += 1;
    }

    /// Informs a managing scheduler of the time before a change.
    fn pass_time(&mut self, now_ps: u64) {
        if self.manages {
            let queues = &self.queues;
            let first_came_ps = |queue: usize| Some(queues[queue].packets.front()?.arrived_ps);
            self.scheduler.on_time(now_ps, &first_came_ps);
        }
    }

    /// Passes a packet through a managing scheduler when the link is idle and no packet waits.
    /// Returns the decision.
    pub fn pass_through(&mut self, waiting: Waiting) -> Decision {
        self.pass_time(waiting.arrived_ps);
        // The link was free and there was no packet to select.
        let heads = Heads::of(&self.queues, self.paused);
        self.scheduler.next(&heads);
        // Flows that have left the scheduler have returned their queues.
        let queue = self.queue_of(&waiting.packet);
        self.add(queue, waiting);
        let chosen = self.pop(waiting.arrived_ps);
        chosen.map_or(Decision::Drop, |(_, decision)| decision)
    }

    /// Replaces the last packet of a queue, which must not be empty, and returns it.
    pub fn replace_last(&mut self, at: usize, waiting: Waiting) -> Option<Waiting> {
        let queue = &mut self.queues[at];
        let last = queue.packets.back_mut()?;
        let replaced = std::mem::replace(last, waiting);
        let (new, old) = (waiting.packet.wire_bytes, replaced.packet.wire_bytes);
        queue.bytes = queue.bytes + u64::from(new) - u64::from(old);
        self.bytes = self.bytes + u64::from(new) - u64::from(old);
        Some(replaced)
    }

    /// Forgets the flow whose slot a new flow takes: it does not get that one's queue.
    pub fn forget(&mut self, flow: u32) {
        self.scheduler.forget(flow);
    }

    /// Removes and returns all packets when the link has failed, cancels the pending selection, and ends
    /// all pauses.
    pub fn clear(&mut self, now_ps: u64) -> Vec<Packet> {
        self.paused = Paused::default();
        let mut lost = Vec::new();
        while let Some((waiting, _)) = self.pop(now_ps) {
            lost.push(waiting.packet);
        }
        self.selects_at_ps = u64::MAX;
        self.scheduler.on_failure(now_ps);
        lost
    }

    /// Removes and returns all packets of a queue, which takes others later.
    pub fn discard(&mut self, at: usize) -> VecDeque<Waiting> {
        let queue = std::mem::take(&mut self.queues[at]);
        self.bytes -= queue.bytes;
        self.packets -= queue.packets.len();
        if !queue.packets.is_empty() {
            self.scheduler.on_emptied(at);
        }
        queue.packets
    }

    /// Arrival time of the packet that has waited longest in these queues, ps; `None` without packets.
    pub fn first_came_ps(&self, queues: Range<usize>) -> Option<u64> {
        let firsts = self.queues[queues]
            .iter()
            .filter_map(|queue| queue.packets.front());
        firsts.map(|first| first.arrived_ps).min()
    }

    /// Removes the next packet at `now_ps`. Returns it with the scheduler's decision.
    pub fn pop(&mut self, now_ps: u64) -> Option<(Waiting, Decision)> {
        self.pass_time(now_ps);
        if self.paused.any() && !self.heads().any() {
            return None;
        }
        let heads = Heads::of(&self.queues, self.paused);
        let continued = self.continues.take();
        let chosen = match continued.and_then(|queue| Some((queue, heads.bytes(queue)?))) {
            Some((queue, bytes)) => {
                self.scheduler.on_continued(queue, bytes);
                queue
            }
            None => self.scheduler.next(&heads)?,
        };
        let queue = &mut self.queues[chosen];
        let mut waiting = queue.packets.pop_front()?;
        if waiting.packet.is_behind() {
            waiting.packet.flags &= !flags::BEHIND; // of no use any more
        }
        if self.shares_buffer
            && let Some(next) = queue.packets.front()
            && next.packet.is_behind()
        {
            self.continues = Some(chosen); // nothing comes between the packets of a piece
        }
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

    /// Does the same as [`Queues::pop`], but moves packets to be dropped to `lost` and continues
    /// with the next one. Returns also the number of dropped packets.
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

    /// Sets the time of the next selection at `now_ps`, with a link that is free at `free_ps`, and
    /// returns it, ps; `None` if no packet waits or all are paused.
    pub fn select_again(&mut self, now_ps: u64, free_ps: u64) -> Option<u64> {
        if !self.can_select() {
            self.selects_at_ps = u64::MAX;
            return None;
        }
        self.selects_at_ps = free_ps.saturating_sub(self.commit_ps).max(now_ps);
        Some(self.selects_at_ps)
    }

    /// Bytes in all queues.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of packets in all queues.
    pub fn packets(&self) -> usize {
        self.packets
    }
}

#[cfg(test)]
mod tests;
