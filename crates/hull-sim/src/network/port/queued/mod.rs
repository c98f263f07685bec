//! A `Queued` port: packets wait in the queues of a scheduler, and an event selects the next one when
//! the link is free, or a little earlier. Only then is it decided when a packet leaves, so classes may
//! overtake each other, the time in the queue may decide, and a class may pause. Times are ps.

mod in_turn;

use std::collections::VecDeque;
use std::ops::Range;

use super::extras::Extras;
use super::{Port, Verdict};
use crate::network::in_flight::InFlight;
use crate::network::options::OptionTable;
use crate::network::packet::Packet;
use crate::network::queue::Waiting;
use crate::network::queues::Queues;
use crate::network::rules::{Decision, Departure, Rule};
use crate::network::trimming::Trimming;

/// What a `Queued` port has beyond its link, the most frequently used first.
#[derive(Debug)]
#[repr(C)]
pub struct Queued {
    /// Waiting packets and their scheduler.
    pub(super) queues: Queues,
    /// Rules that process sent packets only.
    pub(super) sent_rules: Vec<Box<dyn Rule>>,
    /// Packet that was selected last, if rules process sent packets.
    pub(super) last_sent: Option<LastSent>,
    /// Trimming of packets that find no room.
    pub(super) trimming: Option<Box<Trimming>>,
    /// Number of trimmed packets.
    pub(super) trims: u64,
    /// Packets dropped on departure that have not yet been reported to their flows.
    pub(super) lost: VecDeque<Packet>,
}

/// Packet that rules will process at the end of its transmission.
#[derive(Debug)]
pub(super) struct LastSent {
    /// Time at which the packet reaches the far end of the link, ps.
    arrival_ps: u64,
    /// Place among the packets in flight.
    place: u32,
}

impl Queued {
    /// Bytes in all queues.
    pub(super) fn bytes(&self) -> u64 {
        self.queues.bytes()
    }

    /// Whether packets that find no room are trimmed.
    pub(super) fn can_trim(&self) -> bool {
        self.trimming.is_some()
    }

    /// Removes and returns all packets when the link has failed.
    pub(super) fn fail(&mut self, now_ps: u64) -> Vec<Packet> {
        self.last_sent = None;
        for rule in &mut self.sent_rules {
            rule.on_failure(now_ps);
        }
        self.queues.clear(now_ps)
    }
}

impl Port {
    /// Trims a packet that finds no room in `queue`, or the last packet there, whose place it
    /// takes. Drops it if no packet can be trimmed or there is no room for a header.
    pub(super) fn trim(&mut self, queued: &mut Queued, queue: usize, waiting: Waiting) -> Verdict {
        let (limit_bytes, limit_packets) = self.room(0, queued.can_trim());
        let Queued {
            queues,
            trimming: Some(trimming),
            trims,
            ..
        } = queued
        else {
            return Verdict::Dropped;
        };
        let (bytes, packets) = queues.queue(0);
        let header_bytes = u64::from(trimming.header_bytes);
        if !Trimming::applies_to(&waiting.packet)
            || bytes + header_bytes > limit_bytes
            || packets >= limit_packets
        {
            return Verdict::Dropped;
        }
        let mut cut = if trimming.cuts_newcomer() {
            waiting
        } else {
            queues.replace_last(queue, waiting).unwrap_or(waiting)
        };
        trimming.cut(&mut cut.packet);
        *trims += 1;
        Verdict::Queued {
            choice_ps: queues.push(0, cut, self.busy_until_ps),
        }
    }

    /// Whether a packet is to be selected at `now_ps`.
    #[inline]
    pub fn selects_at(&self, now_ps: u64) -> bool {
        self.queues()
            .is_some_and(|queues| queues.selects_at(now_ps))
    }

    /// Selects the next packet of a `Queued` port at `now_ps`, to be sent when the link is free. Returns
    /// the packet with its verdict and the time of its arrival, ps, and the time of the next selection,
    /// ps.
    pub fn transmit_next(
        &mut self,
        now_ps: u64,
        options: &mut OptionTable,
    ) -> (Option<(Packet, Verdict, u64)>, Option<u64>) {
        self.advance(now_ps, options);
        let mut extras = self.extras.take();
        let mut again_ps = None;
        let mut sent = None;
        if let Some(Extras {
            queued: Some(Queued { queues, lost, .. }),
            rules,
            records,
            ..
        }) = extras.as_deref_mut()
        {
            let (chosen, dropped) = queues.pop_kept(now_ps, lost);
            self.drops += dropped;
            if let Some((waiting, decision)) = chosen {
                let mut packet = waiting.packet;
                self.mark_if(decision == Decision::Mark, &mut packet);
                let start_ps = self.busy_until_ps.max(now_ps).max(waiting.earliest_ps);
                let (queue_bytes, _) = queues.queue(queues.queue_of(&packet));
                let departure = Departure {
                    at_ps: start_ps,
                    sojourn_ps: start_ps - waiting.arrived_ps,
                    queue_bytes,
                    port_bytes: queues.bytes(),
                };
                self.mark_departing(&departure, rules, &mut packet, options);
                if let Some(records) = records {
                    let bytes = (self.sent_bytes, departure.port_bytes);
                    records.write(start_ps, bytes, &packet, options);
                }
                self.waited_ps += now_ps - waiting.arrived_ps;
                let verdict = self.schedule(now_ps, start_ps, &mut packet);
                sent = Some((packet, verdict, waiting.arrived_ps));
            }
            again_ps = queues.select_again(now_ps, self.busy_until_ps);
        }
        self.extras = extras;
        self.note_queue(now_ps);
        (sent, again_ps)
    }

    /// Pauses a priority class of a `Queued` port. A packet that has been selected is still sent. A FIFO
    /// has decided about its packets and cannot pause.
    pub fn pause(&mut self, class: usize) {
        debug_assert!(!self.is_fifo());
        if let Some(queued) = self.queued_mut() {
            queued.queues.pause(class);
        }
    }

    /// Whether a class is paused; a FIFO pauses none.
    #[inline]
    pub fn stops(&self, class: u8) -> bool {
        self.queues().is_some_and(|queues| queues.stops(class))
    }

    /// Resumes a class at `now_ps`. Returns the time of the next selection if it must be scheduled, ps.
    pub fn resume(&mut self, now_ps: u64, class: usize) -> Option<u64> {
        let free_ps = self.busy_until_ps;
        let queues = &mut self.queued_mut()?.queues;
        queues.resume(class, now_ps, free_ps)
    }

    /// Discards the packets that wait in a queue. Returns their number; they are taken by [`Port::take_lost`].
    pub fn discard(&mut self, now_ps: u64, queue: usize) -> usize {
        let Some(queued) = self.queued_mut() else {
            return 0;
        };
        let waiting = queued.queues.discard(queue);
        queued.lost.extend(waiting.iter().map(|one| one.packet));
        self.drops += waiting.len() as u64;
        self.note_queue(now_ps);
        waiting.len()
    }

    /// Arrival time of the packet that has waited longest in these queues, ps; `None` without packets.
    pub fn first_came_ps(&self, queues: Range<usize>) -> Option<u64> {
        self.queues()?.first_came_ps(queues)
    }

    /// Forgets the flow whose slot a new flow takes.
    pub fn forget_flow(&mut self, flow: u32) {
        if let Some(queued) = self.queued_mut() {
            queued.queues.forget(flow);
        }
    }

    /// Takes a packet that was dropped on departure and not yet reported to its flow.
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.queued_mut()?.lost.pop_front()
    }

    /// Applies the rules for sent packets to the one whose transmission has just ended, with the
    /// bytes in its queue. If no packet waits, no selection is due and no rule is applied; a link
    /// without delay has already delivered the packet.
    pub fn look_at_sent(&mut self, now_ps: u64, in_flight: &mut InFlight) {
        let free_ps = self.busy_until_ps;
        let Some(queued) = self.queued_mut() else {
            return;
        };
        let Some(last) = queued.last_sent.take() else {
            return;
        };
        if now_ps != free_ps || last.arrival_ps <= now_ps {
            return;
        }
        let packet = in_flight.get_mut(last.place);
        let (queue_bytes, _) = queued.queues.queue(queued.queues.queue_of(packet));
        let mut marks = false;
        for rule in &mut queued.sent_rules {
            marks |= rule.on_sent(queue_bytes) == Decision::Mark;
        }
        self.mark_if(marks, packet);
    }

    /// Records that the packet at `place` is sent and arrives at `arrival_ps`, if rules process
    /// sent packets.
    pub fn note_sent(&mut self, arrival_ps: u64, place: u32) {
        if let Some(queued) = self.queued_mut()
            && !queued.sent_rules.is_empty()
        {
            queued.last_sent = Some(LastSent { arrival_ps, place });
        }
    }
}

#[cfg(test)]
mod tests;
