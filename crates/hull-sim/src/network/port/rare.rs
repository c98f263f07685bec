//! The long way through a port: RED, PI, QCN, RCP, a virtual queue in parallel, strict priority, marking
//! on dequeue, buffers that hold the packet in service, instruments, and links that fail.

use hull_core::rcp::Rcp;

use super::super::lanes::Lanes;
use super::super::packet::{Packet, flags};
use super::super::random_loss::RandomLoss;
use super::super::ring::Scheduled;
use super::{Port, Verdict, feature};
use crate::measure::QueueLevel;

impl Port {
    /// The way of a packet through a port with RED, PI, RCP, priority classes, instruments, or rules
    /// that look at the packet in service.
    #[inline(never)]
    pub(super) fn enqueue_rare(
        &mut self,
        now_ps: u64,
        earliest_ps: u64,
        mut packet: Packet,
    ) -> Verdict {
        if self.has(feature::DOWN) {
            self.drops += 1;
            return Verdict::Dropped;
        }
        let mut extras = self.extras.take();
        let loss = extras.as_mut().and_then(|extras| extras.loss.as_mut());
        if loss.is_some_and(RandomLoss::takes) {
            self.drops += 1;
            self.extras = extras;
            return Verdict::Dropped;
        }
        let bytes = u64::from(packet.wire_bytes);
        let lanes = extras.as_mut().and_then(|extras| extras.lanes.as_mut());
        let class = lanes.as_ref().map_or(0, |lanes| lanes.class_of(&packet));
        let (mut queue_bytes, mut queue_packets) = match &lanes {
            Some(lanes) => lanes.queue(class),
            None => (self.waiting_bytes, u64::from(self.waiting)),
        };
        let idle = self.busy_until_ps <= now_ps;
        let counted = self.has(feature::COUNT_IN_SERVICE);
        if !idle && counted {
            queue_bytes += u64::from(self.in_service_bytes);
            queue_packets += 1;
        }
        // QCN samples what arrives, whether there is room for it or not.
        let point = extras.as_mut().and_then(|e| e.congestion_point.as_mut());
        if let Some(point) = point
            && packet.flags & flags::DATA != 0
        {
            point.on_arrival(queue_bytes, u32::from(packet.wire_bytes));
        }
        let full = queue_bytes + bytes > self.limit_bytes
            || queue_packets >= u64::from(self.limit_packets);
        // Only a buffer that must hold the packet in service can refuse when the link is idle.
        if full && (!idle || counted) {
            self.drops += 1;
            if let Some(rcp) = extras.as_mut().and_then(|extras| extras.rcp.as_mut()) {
                rcp.on_arrival(now_ps, self.framed_bytes(&packet), queue_bytes);
                note_round_trip(rcp, &packet);
            }
            self.extras = extras;
            return Verdict::Dropped;
        }
        if !self.has(feature::MARK_ON_DEQUEUE) {
            let marks = self.marker.marks(queue_bytes, u32::from(packet.wire_bytes));
            self.mark_if(marks, &mut packet);
        }
        // RED and PI see every arrival; what cannot be marked is left alone (thesis 2.2.4: always
        // with ECN, never early drop), unless RED is told to drop.
        if let Some(aqm) = extras.as_mut().and_then(|extras| extras.aqm.as_mut()) {
            let queue = (queue_bytes, queue_packets);
            let marks = aqm.on_arrival(now_ps, queue, u32::from(packet.wire_bytes));
            if aqm.refuses() {
                self.drops += 1;
                self.extras = extras;
                return Verdict::Dropped;
            }
            self.mark_if(marks, &mut packet);
        }
        let virtual_queue = extras.as_mut().and_then(|e| e.virtual_queue.as_mut());
        if let Some(virtual_queue) = virtual_queue {
            let marks = virtual_queue.on_packet(now_ps, u32::from(packet.wire_bytes));
            self.mark_if(marks, &mut packet);
        }
        let lanes = extras.as_mut().and_then(|extras| extras.lanes.as_mut());
        let verdict = match lanes {
            Some(lanes) if !idle || !lanes.is_empty() => {
                let first = lanes.push(class, packet);
                let choice_ps = lanes.choice_ps(now_ps, self.busy_until_ps);
                Verdict::Queued { choice_ps, first }
            }
            _ => {
                let start_ps = self.busy_until_ps.max(earliest_ps);
                if let Some(rcp) = extras.as_mut().and_then(|extras| extras.rcp.as_mut()) {
                    let waits = start_ps > now_ps;
                    let left_bytes = if waits { queue_bytes + bytes } else { 0 };
                    rcp.on_arrival(now_ps, self.framed_bytes(&packet), left_bytes);
                    note_round_trip(rcp, &packet);
                    if !waits {
                        packet.offer(rcp.rate_bps(now_ps));
                    }
                }
                let verdict = self.schedule(now_ps, start_ps, packet);
                if start_ps == now_ps && self.has(feature::MARK_ON_DEQUEUE) {
                    self.mark_last_on_dequeue();
                }
                verdict
            }
        };
        self.extras = extras;
        self.note_queue(now_ps);
        verdict
    }

    /// What a packet is on the link, bytes.
    fn framed_bytes(&self, packet: &Packet) -> u32 {
        u32::from(packet.wire_bytes) + u32::from(self.framing_bytes)
    }

    /// A port with priority classes chooses its next packet at `now_ps`, to be sent when the link is
    /// free. Returns that packet, whether the link needs an event, and when the port has to be asked
    /// again.
    pub fn transmit_next(&mut self, now_ps: u64) -> (Option<Packet>, bool, Option<u64>) {
        self.advance(now_ps);
        let Some(mut extras) = self.extras.take() else {
            unreachable!("only ports with priority classes are asked");
        };
        let Some(lanes) = &mut extras.lanes else {
            unreachable!("only ports with priority classes are asked");
        };
        let mut first_in_flight = false;
        let mut again_ps = None;
        let next = lanes.pop();
        if let Some(mut packet) = next {
            let start_ps = self.busy_until_ps.max(now_ps);
            if self.has(feature::MARK_ON_DEQUEUE) {
                let (left_bytes, _) = lanes.queue(lanes.class_of(&packet));
                let bytes = u32::from(packet.wire_bytes);
                let marks = self.marker.marks(left_bytes, bytes);
                self.mark_if(marks, &mut packet);
            }
            let verdict = self.schedule(now_ps, start_ps, packet);
            first_in_flight = matches!(verdict, Verdict::Accepted { first: true, .. });
            if lanes.asked_again() {
                again_ps = Some(lanes.choice_ps(now_ps, self.busy_until_ps));
            }
        }
        self.extras = Some(extras);
        self.note_queue(now_ps);
        (next, first_in_flight, again_ps)
    }

    /// Compares what is left in the queue when the packet's transmission starts.
    fn mark_on_dequeue(&mut self, packet: &mut Packet) {
        let marks = self
            .marker
            .marks(self.waiting_bytes, u32::from(packet.wire_bytes));
        self.mark_if(marks, packet);
    }

    fn mark_last_on_dequeue(&mut self) {
        let at = self.ring.len() - 1;
        let mut packet = self.ring.get(at).packet;
        self.mark_on_dequeue(&mut packet);
        self.ring.get_mut(at).packet = packet;
    }

    pub(super) fn left_queue(&mut self, at: u32) {
        let Scheduled {
            start_ps,
            mut packet,
        } = *self.ring.get(at);
        if self.has(feature::MARK_ON_DEQUEUE) {
            self.mark_on_dequeue(&mut packet);
        }
        if let Some(rcp) = self.extras.as_mut().and_then(|extras| extras.rcp.as_mut()) {
            packet.offer(rcp.rate_bps(start_ps));
        }
        self.ring.get_mut(at).packet = packet;
        self.note_queue(start_ps);
    }

    /// Tells the instruments, where there are some, what the queue holds from `now_ps` on.
    fn note_queue(&mut self, now_ps: u64) {
        let level = self.level();
        if let Some(watch) = self.watched() {
            watch.queue(now_ps, level);
        }
    }

    /// What waits, as it was when the port was last looked at.
    pub(super) fn level(&self) -> QueueLevel {
        let lanes = self.extras.as_ref().and_then(|e| e.lanes.as_ref());
        QueueLevel {
            ahead_bytes: self.waiting_bytes + lanes.map_or(0, Lanes::watched_bytes),
            bytes: self.waiting_bytes + lanes.map_or(0, Lanes::bytes),
            packets: self.waiting + lanes.map_or(0, Lanes::packets) as u32,
        }
    }

    /// The link fails: what is in the queue and on the wire is lost; returned for the count.
    pub fn fail(&mut self, now_ps: u64) -> Vec<Packet> {
        self.advance(now_ps);
        let mut lost = Vec::new();
        while !self.ring.is_empty() {
            lost.push(self.ring.pop());
        }
        // What still waited was never sent.
        self.ring.uncount(self.waiting);
        self.sent_bytes -= self.waiting_bytes;
        if let Some(lanes) = self.extras.as_mut().and_then(|e| e.lanes.as_mut()) {
            lost.extend(lanes.clear());
        }
        self.drops += lost.len() as u64;
        self.waiting = 0;
        self.waiting_bytes = 0;
        self.busy_until_ps = now_ps;
        let extras = self.extras.as_mut();
        let beside = extras.and_then(|extras| extras.virtual_queue.as_mut());
        for phantom_queue in self.phantom_queue.iter_mut().chain(beside) {
            phantom_queue.clear(now_ps);
        }
        self.features |= feature::DOWN;
        self.note_queue(now_ps);
        lost
    }

    /// The link is back.
    pub fn repair(&mut self) {
        self.features &= !feature::DOWN;
    }
}

/// What a packet says of its source's round trip.
#[inline]
fn note_round_trip(rcp: &mut Rcp, packet: &Packet) {
    if let Some(round_trip_ps) = packet.round_trip_ps() {
        rcp.on_round_trip(round_trip_ps);
    }
}
