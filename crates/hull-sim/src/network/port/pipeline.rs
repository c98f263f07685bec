//! The full pipeline of a port with more than a threshold and a phantom queue: ingress, admission,
//! arrival, scheduler, departure (`network::rules`); buffers that include the packet in transmission,
//! instruments, and failing links.

use std::collections::VecDeque;

use super::super::in_flight::InFlight;
use super::super::options::OptionTable;
use super::super::packet::{Packet, flags};
use super::super::queues::{Queues, Waiting};
use super::super::rules::{Arrival, Decision, Departure, Rule};
use super::super::trimming::Trimming;
use super::{Port, Verdict, feature};
use crate::network::{QueueLevel, Watch};
use crate::prefetch::{prefetch, prefetch_lines};

/// Features that only some ports have, the most frequently used first.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub struct Extras {
    /// Queues of a port that is not a FIFO.
    pub(super) queues: Option<Queues>,
    /// Rules that process packets on arrival and departure.
    pub(super) rules: Vec<Box<dyn Rule>>,
    /// Rules that process sent packets only.
    pub(super) sent_rules: Vec<Box<dyn Rule>>,
    /// Packet that was selected last from several queues, if rules process sent packets.
    pub(super) last_sent: Option<LastSent>,
    /// Arrival times of packets that rules marked on departure at the far end of the link, ps.
    pub(super) marked: VecDeque<u64>,
    /// Trimming of packets that find no room.
    pub(super) trimming: Option<Box<Trimming>>,
    /// Instruments.
    pub(super) watch: Option<Box<Watch>>,
    /// Packets waiting in the FIFO, if rules process departures.
    pub(super) arrivals: VecDeque<Arrived>,
    /// Number of trimmed packets.
    pub(super) trims: u64,
    /// Packets dropped on departure that have not yet been reported to their flows.
    pub(super) lost: VecDeque<Packet>,
}

/// Packet that rules will process on departure.
#[derive(Debug)]
pub(super) struct Arrived {
    /// Arrival time, ps.
    at_ps: u64,
    /// Time at which the packet reaches the far end of the link, ps.
    arrival_ps: u64,
    packet: Packet,
}

/// Packet that rules will process at the end of its transmission.
#[derive(Debug)]
pub(super) struct LastSent {
    /// Time at which the packet reaches the far end of the link, ps.
    arrival_ps: u64,
    /// Place among the packets in flight.
    place: u32,
}

impl Extras {
    /// Number of cache lines with the fields that every packet needs.
    pub(super) const HOT_LINES: usize = std::mem::offset_of!(Extras, arrivals).div_ceil(64);

    /// Prefetches, by stage, this struct, its queues, and the packet behind which the next one will
    /// wait.
    #[inline(always)]
    pub(super) fn prefetch_for_arrival(&self, stage: usize) {
        match (stage, &self.queues) {
            (0, _) => prefetch_lines(self, Self::HOT_LINES),
            (1, Some(queues)) => queues.prefetch(),
            (2, Some(queues)) => queues.prefetch_last(),
            _ => {}
        }
    }

    /// Prefetches, by stage, this struct, its queues and the list of rules, and the next packet and
    /// a rule.
    #[inline(always)]
    pub(super) fn prefetch_for_choice(&self, stage: usize) {
        self.prefetch_for_arrival(stage.min(1));
        if let Some(rule) = self.sent_rules.first() {
            match stage {
                1 => prefetch(rule),
                2 => prefetch_lines(&**rule, 2),
                _ => {}
            }
        }
        if stage == 2
            && let Some(first) = self.queues.as_ref().and_then(Queues::first)
        {
            prefetch(first);
        }
    }
}

impl Port {
    /// Processes a packet at a port with rules, several queues or instruments, or whose buffer
    /// includes the packet in transmission.
    #[inline(never)]
    pub(in crate::network) fn enqueue_ruled(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
        options: &mut OptionTable,
    ) -> Verdict {
        if self.has(feature::DOWN) {
            self.drops += 1;
            return Verdict::Dropped;
        }
        let mut extras = self.extras.take();
        let verdict = self.pass(now_ps, earliest_ps, packet, extras.as_deref_mut(), options);
        self.extras = extras;
        match verdict {
            Verdict::Dropped => self.drops += 1,
            _ => self.note_queue(now_ps),
        }
        verdict
    }

    /// Processes a packet from ingress to the scheduler.
    fn pass(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        packet: &mut Packet,
        mut extras: Option<&mut Extras>,
        options: &mut OptionTable,
    ) -> Verdict {
        let queues = extras.as_ref().and_then(|extras| extras.queues.as_ref());
        let queue = queues.map_or(0, |queues| queues.queue_of(packet));
        let (mut queue_bytes, mut queue_packets) = match queues {
            Some(queues) => queues.against_buffer(queue),
            None => (self.waiting_bytes, u64::from(self.waiting_packets())),
        };
        let idle = self.busy_until_ps <= now_ps;
        // An idle link does not mean that no packet waits.
        let sends_at_once = idle && queues.is_none_or(Queues::is_empty);
        let counted = self.has(feature::COUNT_IN_SERVICE);
        if !idle && counted {
            queue_bytes += u64::from(self.in_service_bytes);
            queue_packets += 1;
        }
        let start_ps = self.busy_until_ps.max(earliest_ps);
        let arrival = Arrival {
            now_ps,
            queue_bytes,
            queue_packets,
            framed_bytes: u32::from(packet.wire_bytes) + u32::from(self.framing_bytes),
            waits: start_ps > now_ps,
        };
        let (limit_bytes, limit_packets) = self.room(queue, extras.as_deref());
        let rules = extras
            .as_mut()
            .map_or(&mut [][..], |extras| &mut extras.rules);
        for rule in rules.iter_mut() {
            match rule.on_ingress(&arrival, packet) {
                Decision::Drop => return Verdict::Dropped,
                decision => self.mark_if(decision == Decision::Mark, packet),
            }
        }
        let full = queue_bytes + u64::from(packet.wire_bytes) > limit_bytes
            || queue_packets >= limit_packets;
        // A packet that is sent at once needs room only in a buffer that holds the packet in
        // transmission, too.
        if full && (!sends_at_once || counted) {
            for rule in rules {
                rule.on_overflow(&arrival, packet, options);
            }
            let waiting = Waiting {
                arrived_ps: now_ps,
                earliest_ps,
                packet: *packet,
            };
            return match extras {
                Some(extras) => self.trim(extras, queue, waiting),
                None => Verdict::Dropped,
            };
        }
        let marks = self.marker.marks(queue_bytes, u32::from(packet.wire_bytes));
        self.mark_if(marks, packet);
        for rule in rules {
            match rule.on_arrival(&arrival, packet, options) {
                Decision::Drop => return Verdict::Dropped,
                decision => self.mark_if(decision == Decision::Mark, packet),
            }
        }
        if let Some(queues) = extras.as_mut().and_then(|extras| extras.queues.as_mut())
            && !sends_at_once
        {
            let waiting = Waiting {
                arrived_ps: now_ps,
                earliest_ps,
                packet: *packet,
            };
            let choice_ps = queues.push(queue, waiting, self.busy_until_ps);
            return Verdict::Queued { choice_ps };
        }
        if let Some(queues) = extras.as_mut().and_then(|extras| extras.queues.as_mut())
            && queues.manages()
        {
            let waiting = Waiting {
                arrived_ps: now_ps,
                earliest_ps,
                packet: *packet,
            };
            match queues.pass_through(waiting) {
                Decision::Drop => return Verdict::Dropped,
                decision => self.mark_if(decision == Decision::Mark, packet),
            }
        }
        let verdict = self.schedule(now_ps, start_ps, packet);
        if self.has(feature::DEPARTURES)
            && let Some(extras) = extras
            && let Verdict::Accepted { arrival_ps, .. } = verdict
        {
            extras.arrivals.push_back(Arrived {
                at_ps: now_ps,
                arrival_ps,
                packet: *packet,
            });
            if !arrival.waits {
                self.depart(now_ps, extras, options);
            }
        }
        verdict
    }

    /// Capacity for a queue, bytes and packets. If data is trimmed, the first queue, of headers,
    /// has twice the data queue's capacity.
    fn room(&self, queue: usize, extras: Option<&Extras>) -> (u64, u64) {
        let trims = extras.is_some_and(|extras| extras.trimming.is_some());
        let rooms = if trims && queue == 0 { 2 } else { 1 };
        (
            self.limit_bytes.saturating_mul(rooms),
            u64::from(self.limit_packets).saturating_mul(rooms),
        )
    }

    /// Trims a packet that finds no room in `queue`, or the last packet there, whose place it
    /// takes. Drops it if no packet can be trimmed or there is no room for a header.
    fn trim(&mut self, extras: &mut Extras, queue: usize, waiting: Waiting) -> Verdict {
        let (limit_bytes, limit_packets) = self.room(0, Some(extras));
        let (Some(trimming), Some(queues)) = (extras.trimming.as_mut(), extras.queues.as_mut())
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
        extras.trims += 1;
        Verdict::Queued {
            choice_ps: queues.push(0, cut, self.busy_until_ps),
        }
    }

    /// Starts the transmission of a FIFO's packet: the rules see the queue behind it.
    fn depart(&mut self, start_ps: u64, extras: &mut Extras, options: &mut OptionTable) {
        let Some(mut arrived) = extras.arrivals.pop_front() else {
            return;
        };
        let departure = Departure {
            at_ps: start_ps,
            sojourn_ps: start_ps - arrived.at_ps,
            queue_bytes: self.waiting_bytes,
        };
        let before = arrived.packet.flags;
        self.mark_departing(&departure, &mut extras.rules, &mut arrived.packet, options);
        if arrived.packet.flags != before {
            extras.marked.push_back(arrived.arrival_ps);
        }
    }

    /// Sets CE on a packet that leaves the link at `now_ps` if it was marked on departure.
    pub fn mark_delivered(&mut self, now_ps: u64, packet: &mut Packet, options: &mut OptionTable) {
        self.advance(now_ps, options);
        if let Some(extras) = &mut self.extras
            && extras.marked.front() == Some(&now_ps)
        {
            extras.marked.pop_front();
            packet.flags |= flags::CE;
        }
    }

    fn mark_departing(
        &mut self,
        departure: &Departure,
        rules: &mut [Box<dyn Rule>],
        packet: &mut Packet,
        options: &mut OptionTable,
    ) {
        for rule in rules {
            let decision = rule.on_departure(departure, packet, options);
            debug_assert_ne!(decision, Decision::Drop, "packets are dropped on arrival");
            self.mark_if(decision == Decision::Mark, packet);
        }
    }

    /// Whether a packet of one of several queues is to be selected at `now_ps`.
    #[inline]
    pub fn selects_at(&self, now_ps: u64) -> bool {
        let queues = self.extras.as_ref().and_then(|e| e.queues.as_ref());
        queues.is_some_and(|queues| queues.selects_at(now_ps))
    }

    /// Selects the next packet of a port with several queues at `now_ps`, to be sent when the link
    /// is free. Returns the packet with its verdict and the time of its arrival, ps, and the time of
    /// the next selection, ps.
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
            rules,
            queues: Some(queues),
            lost,
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
                };
                self.mark_departing(&departure, rules, &mut packet, options);
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

    /// Forgets the flow whose slot a new flow takes.
    pub fn forget_flow(&mut self, flow: u32) {
        let extras = self.extras.as_deref_mut();
        if let Some(queues) = extras.and_then(|extras| extras.queues.as_mut()) {
            queues.forget(flow);
        }
    }

    /// Takes a packet that was dropped on departure and not yet reported to its flow.
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.extras.as_mut()?.lost.pop_front()
    }

    /// Applies the rules for sent packets to the one whose transmission has just ended, with the
    /// bytes in its queue. If no packet waits, no selection is due and no rule is applied; a link
    /// without delay has already delivered the packet.
    pub fn look_at_sent(&mut self, now_ps: u64, in_flight: &mut InFlight) {
        let Some(extras) = &mut self.extras else {
            return;
        };
        let (Some(queues), Some(last)) = (&extras.queues, extras.last_sent.take()) else {
            return;
        };
        if now_ps != self.busy_until_ps || last.arrival_ps <= now_ps {
            return;
        }
        let packet = in_flight.get_mut(last.place);
        let (queue_bytes, _) = queues.queue(queues.queue_of(packet));
        let mut marks = false;
        for rule in &mut extras.sent_rules {
            marks |= rule.on_sent(queue_bytes) == Decision::Mark;
        }
        self.mark_if(marks, packet);
    }

    /// Records that the packet at `place` is sent and arrives at `arrival_ps`, if rules process
    /// sent packets.
    pub fn note_sent(&mut self, arrival_ps: u64, place: u32) {
        if let Some(extras) = &mut self.extras
            && !extras.sent_rules.is_empty()
        {
            extras.last_sent = Some(LastSent { arrival_ps, place });
        }
    }

    /// Processes the start of transmission, at `start_ps`, of a packet that waited in the ring.
    pub(super) fn left_queue(&mut self, start_ps: u64, options: &mut OptionTable) {
        let mut extras = self.extras.take();
        if let Some(extras) = extras.as_deref_mut() {
            self.depart(start_ps, extras, options);
        }
        self.extras = extras;
        self.note_queue(start_ps);
    }

    /// Reports the queue from `now_ps` on to the instruments, if any.
    fn note_queue(&mut self, now_ps: u64) {
        if self.watched().is_none() {
            return;
        }
        let level = self.level();
        let Some(Extras {
            watch: Some(watch),
            queues,
            ..
        }) = self.extras.as_deref_mut()
        else {
            return;
        };
        watch.queue(now_ps, level);
        if let Some(queues) = queues {
            for (queue, class) in watch.classes.iter_mut().enumerate() {
                class.occupancy.change(now_ps, queues.queue(queue).0);
            }
        }
    }

    /// Waiting packets at the time of the last [`Port::advance`].
    pub(super) fn level(&self) -> QueueLevel {
        let queues = self.extras.as_ref().and_then(|e| e.queues.as_ref());
        QueueLevel {
            bytes: self.waiting_bytes + queues.map_or(0, Queues::bytes),
            packets: self.waiting_packets() + queues.map_or(0, Queues::packets) as u32,
        }
    }

    /// Fails the link: packets in the queue and on the wire are lost. Returns those from several
    /// queues; a FIFO keeps none.
    pub fn fail(&mut self, now_ps: u64, options: &mut OptionTable) -> Vec<Packet> {
        // This also advances the port.
        let carried_bytes = self.carried_bytes(now_ps, options);
        let mut lost = Vec::new();
        // Waiting packets were never sent.
        let waiting = self.waiting_packets();
        self.sent_packets = self.sent_packets.wrapping_sub(waiting);
        self.lost_waiting = self.lost_waiting.wrapping_add(waiting);
        self.sent_bytes -= self.waiting_bytes;
        // The rest of the packet in transmission will never be sent.
        self.uncarried_bytes = self.sent_bytes - carried_bytes as u64;
        self.waiting.clear();
        self.waiting_bytes = 0;
        if let Some(extras) = &mut self.extras {
            extras.arrivals.clear();
            extras.marked.clear();
            extras.last_sent = None;
            let queues = extras.queues.iter_mut();
            lost.extend(queues.flat_map(|queues| queues.clear(now_ps)));
            for rule in extras.rules.iter_mut().chain(&mut extras.sent_rules) {
                rule.on_failure(now_ps);
            }
        }
        self.busy_until_ps = now_ps;
        if let Some(phantom_queue) = &mut self.phantom_queue {
            phantom_queue.clear(now_ps);
        }
        self.features |= feature::DOWN;
        self.note_queue(now_ps);
        lost
    }

    /// Whether the link has failed.
    pub fn is_down(&self) -> bool {
        self.has(feature::DOWN)
    }

    /// Restores the link.
    pub fn repair(&mut self) {
        self.features &= !feature::DOWN;
    }
}
