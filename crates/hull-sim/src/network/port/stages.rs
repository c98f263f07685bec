//! The stages of a packet at a port with more than a threshold and a phantom queue: ingress, admission,
//! arrival, scheduler (`network::rules`); buffers that include the packet in transmission, and
//! instruments.

use super::extras::Extras;
use super::queued::Queued;
use super::{Port, Verdict, feature};
use crate::network::QueueLevel;
use crate::network::options::OptionTable;
use crate::network::packet::Packet;
use crate::network::queue::Waiting;
use crate::network::queues::Queues;
use crate::network::rules::{Arrival, Decision};

impl Port {
    /// Processes a packet at a port that is `Queued`, or has rules or instruments, or whose buffer
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
        let queued = extras.as_ref().and_then(|extras| extras.queued.as_ref());
        let queues = queued.map(|queued| &queued.queues);
        let queue = queues.map_or(0, |queues| queues.queue_of(packet));
        let (mut queue_bytes, mut queue_packets) = match queues {
            Some(queues) => queues.against_buffer(queue),
            None => (self.waiting_bytes, u64::from(self.waiting_packets())),
        };
        let idle = self.busy_until_ps <= now_ps;
        // An idle link does not mean that no packet waits.
        let sends_at_once = idle && queues.is_none_or(|queues| queues.lets_pass(packet));
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
        let (limit_bytes, limit_packets) = self.room(queue, queued.is_some_and(Queued::can_trim));
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
            return match extras.and_then(|extras| extras.queued.as_mut()) {
                Some(queued) => self.trim(queued, queue, waiting),
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
        let Some(extras) = extras else {
            return self.schedule(now_ps, start_ps, packet);
        };
        if let Some(Queued { queues, .. }) = &mut extras.queued {
            let waiting = Waiting {
                arrived_ps: now_ps,
                earliest_ps,
                packet: *packet,
            };
            if !sends_at_once {
                let choice_ps = queues.push(queue, waiting, self.busy_until_ps);
                return Verdict::Queued { choice_ps };
            }
            if queues.manages() {
                match queues.pass_through(waiting) {
                    Decision::Drop => return Verdict::Dropped,
                    decision => self.mark_if(decision == Decision::Mark, packet),
                }
            }
        }
        let sent_bytes = self.sent_bytes;
        let verdict = self.schedule(now_ps, start_ps, packet);
        if let Some(records) = &mut extras.records {
            if arrival.waits {
                records.write_ahead(start_ps, sent_bytes, packet, options);
            } else {
                let behind = extras.queued.as_ref().map_or(0, Queued::bytes) + self.waiting_bytes;
                records.write(now_ps, (sent_bytes, behind), packet, options);
            }
        }
        if self.has(feature::DEPARTURES)
            && let Verdict::Accepted { arrival_ps, .. } = verdict
        {
            extras.departures.add(now_ps, arrival_ps, packet);
            if !arrival.waits {
                self.depart(now_ps, extras, options);
            }
        }
        verdict
    }

    /// Capacity for a queue, bytes and packets. If data is trimmed, the first queue, of headers,
    /// has twice the data queue's capacity.
    pub(super) fn room(&self, queue: usize, can_trim: bool) -> (u64, u64) {
        let rooms = if can_trim && queue == 0 { 2 } else { 1 };
        (
            self.limit_bytes.saturating_mul(rooms),
            u64::from(self.limit_packets).saturating_mul(rooms),
        )
    }

    /// Reports the queue from `now_ps` on to the instruments, if any.
    pub(super) fn note_queue(&mut self, now_ps: u64) {
        if self.watched().is_none() {
            return;
        }
        let level = self.level();
        let Some(Extras {
            watch: Some(watch),
            queued,
            ..
        }) = self.extras.as_deref_mut()
        else {
            return;
        };
        watch.queue(now_ps, level);
        if let Some(Queued { queues, .. }) = queued {
            for (queue, class) in watch.classes.iter_mut().enumerate() {
                class.occupancy.change(now_ps, queues.queue(queue).0);
            }
        }
    }

    /// Waiting packets at the time of the last [`Port::advance`].
    pub(super) fn level(&self) -> QueueLevel {
        let queues = self.queues();
        QueueLevel {
            bytes: self.waiting_bytes + queues.map_or(0, Queues::bytes),
            packets: self.waiting_packets() + queues.map_or(0, Queues::packets) as u32,
        }
    }
}
