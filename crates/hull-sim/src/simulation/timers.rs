//! Timers of flows: retransmission, delayed acknowledgment, pace, also of a rate limiter that flows share.
//! Times are ps.
//!
//! A timer has one event, which stays in the event queue when the timer is postponed or stopped, or its
//! slot is given to another flow. Such an event finds nothing due. How many there are depends on the
//! slots of flows, so results do not count them. Timers of one kind that are due at the same time are
//! served in the order of their slots; in a scenario that may be divided by hosts, in the order in which
//! their flows were opened, which is the same in all parts.

use super::Simulation;
use super::clock::Clock;
use super::flow_table::FlowTable;
use crate::engine::{Entity, Kind};

impl Simulation {
    /// Processes the event of a timer, and all timer events of the same kind at the same time.
    pub(super) fn serve_timers(&mut self, first: Entity) {
        if self.endpoints.table.orders_timers && self.clock.is_next(first.kind()) {
            self.serve_tied_timers(first);
        } else if !self.serve_timer(first) {
            self.clock.disregard();
        }
    }

    /// Processes several timers of one kind in the order of their flows.
    #[cold]
    fn serve_tied_timers(&mut self, first: Entity) {
        let mut tied = vec![first];
        while self.clock.is_next(first.kind())
            && let Some(due) = self.clock.pop_before(u64::MAX)
        {
            tied.push(due.entity);
        }
        let flows = &self.endpoints.table.flows;
        tied.sort_by_key(|timer| flows[timer.index()].number);
        let all = tied.len();
        let due = tied
            .into_iter()
            .filter(|&timer| self.serve_timer(timer))
            .count();
        self.clock.uncount((all - due) as u64);
        if due == 0 {
            self.clock.step_back();
        }
    }

    /// Processes the event of a timer. Returns true if it was due.
    fn serve_timer(&mut self, timer: Entity) -> bool {
        let slot = timer.index() as u32;
        if self.endpoints.table.is_message(slot) {
            match timer.kind() {
                Kind::Rto => self.serve_message_timeout(slot),
                Kind::DelayedAck => self.serve_group_wait(slot),
                _ => self.serve_message_pace(slot),
            }
            return true;
        }
        let (table, now_ps) = (&mut self.endpoints.table, self.clock.now_ps);
        match timer.kind() {
            Kind::Rto => {
                let is_due = table.serve_rto(slot, now_ps);
                if is_due.is_some() {
                    // A sender that waits for more to send at once (offload) sends now.
                    self.pump(slot);
                }
                is_due == Some(true)
            }
            Kind::DelayedAck => {
                let is_due = table.delayed_ack_is_due(slot, now_ps);
                if is_due {
                    self.send_delayed_ack(slot);
                }
                (self.endpoints.table).watch_delayed_ack(slot, &mut self.clock);
                is_due
            }
            _ => {
                let is_due = table.pace_is_due(slot, now_ps);
                if is_due {
                    self.pump(slot);
                }
                is_due
            }
        }
    }

    /// Processes the event of a shared rate limiter: gives its flows their turns.
    pub(super) fn serve_limiter(&mut self, place: usize) {
        let now_ps = self.clock.now_ps;
        if !self.endpoints.table.limiters.is_due(place, now_ps) {
            self.clock.disregard();
            return;
        }
        while let Some(slot) = self.endpoints.table.next_turn(place, now_ps) {
            self.pump(slot);
        }
        (self.endpoints.table.limiters).watch(place, &mut self.clock);
    }

    fn send_delayed_ack(&mut self, slot: u32) {
        let at = self.endpoints.table.place(slot);
        if let Some(ack) = self.endpoints.table.receivers[at].take_pending() {
            let host = self.endpoints.table.flows[slot as usize].dst as usize;
            self.send_ack(host, slot, &ack);
            if self.endpoints.table.flows[slot as usize].is_half {
                (self.endpoints.table).settle(slot, self.clock.now_ps);
            }
        }
    }
}

impl FlowTable {
    /// Schedules the event of a flow's retransmission timer.
    #[inline]
    pub(super) fn watch_rto(&mut self, slot: u32, clock: &mut Clock) {
        let at = self.place(slot);
        let sender = &mut self.senders[at];
        if sender.rto_deadline_ps < sender.rto_event_ps {
            sender.rto_event_ps = sender.rto_deadline_ps;
            clock.schedule(sender.rto_deadline_ps, Kind::Rto, slot as usize);
        }
    }

    /// Processes the event of a retransmission timer. Returns whether the timer is due; it may have
    /// been postponed by acknowledgments, or be off. `None` if an earlier event has replaced it.
    fn serve_rto(&mut self, slot: u32, now_ps: u64) -> Option<bool> {
        let at = self.place(slot);
        let sender = &mut self.senders[at];
        if sender.rto_event_ps != now_ps {
            return None;
        }
        sender.rto_event_ps = u64::MAX;
        let is_due = sender.rto_deadline_ps <= now_ps;
        if is_due {
            let before = sender.timeouts;
            sender.on_timeout(now_ps);
            if sender.timeouts > before
                && let Some(halves) = &mut self.halves
            {
                halves.note_timeout(slot, now_ps);
            }
        }
        Some(is_due)
    }

    /// Schedules the event of a flow's delayed acknowledgment.
    pub(super) fn watch_delayed_ack(&mut self, slot: u32, clock: &mut Clock) {
        let at = self.place(slot);
        let receiver = &mut self.receivers[at];
        if receiver.ack_deadline_ps < receiver.ack_event_ps {
            receiver.ack_event_ps = receiver.ack_deadline_ps;
            let at_ps = receiver.ack_deadline_ps;
            clock.schedule(at_ps, Kind::DelayedAck, slot as usize);
        }
    }

    /// Whether a delayed acknowledgment is due, when its event is.
    fn delayed_ack_is_due(&mut self, slot: u32, now_ps: u64) -> bool {
        let at = self.place(slot);
        let receiver = &mut self.receivers[at];
        if receiver.ack_event_ps != now_ps {
            return false; // an earlier event took its place
        }
        receiver.ack_event_ps = u64::MAX;
        receiver.ack_deadline_ps <= now_ps
    }
}
