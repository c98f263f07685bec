//! Rules at the start of a packet's transmission. A port that has scheduled the packet before keeps a
//! copy until then, for the rules see the queue behind it, and marks the packet itself when it leaves
//! the link. Times are ps.

use std::collections::VecDeque;

use super::Port;
use super::extras::Extras;
use super::queued::Queued;
use crate::network::options::OptionTable;
use crate::network::packet::{Packet, flags};
use crate::network::ring::Start;
use crate::network::rules::{Decision, Departure, Rule};

/// Scheduled packets that rules will process, or have marked, in the order of their transmission.
#[derive(Debug, Default)]
pub struct Departures {
    /// Arrival times of marked packets at the far end of the link, ps.
    marked: VecDeque<u64>,
    /// Packets whose transmission has not started.
    waiting: VecDeque<Scheduled>,
}

/// Packet that rules will process.
#[derive(Debug)]
struct Scheduled {
    /// Arrival time at the port, ps.
    at_ps: u64,
    /// Time at which the packet reaches the far end of the link, ps.
    arrival_ps: u64,
    packet: Packet,
}

impl Departures {
    /// Adds a packet that arrives at `now_ps` and is scheduled to reach the far end at `arrival_ps`.
    pub(super) fn add(&mut self, now_ps: u64, arrival_ps: u64, packet: &Packet) {
        self.waiting.push_back(Scheduled {
            at_ps: now_ps,
            arrival_ps,
            packet: *packet,
        });
    }

    /// Forgets all packets when the link has failed.
    pub(super) fn clear(&mut self) {
        self.marked.clear();
        self.waiting.clear();
    }
}

impl Port {
    /// Processes the start of transmission of a packet that waited in the ring.
    pub(super) fn left_queue(&mut self, start: Start, options: &mut OptionTable) {
        if let Some(extras) = self.extras.as_deref_mut()
            && let Some(records) = &mut extras.records
        {
            let queued_bytes = extras.queued.as_ref().map_or(0, Queued::bytes);
            let behind = self.waiting_bytes + queued_bytes;
            records.complete(start.at_ps, (start.bytes, behind), options);
            if self.is_recording() {
                return;
            }
        }
        let mut extras = self.extras.take();
        if let Some(extras) = extras.as_deref_mut() {
            self.depart(start.at_ps, extras, options);
        }
        self.extras = extras;
        self.note_queue(start.at_ps);
    }

    /// Applies the rules to the next scheduled packet, whose transmission starts.
    pub(super) fn depart(&mut self, start_ps: u64, extras: &mut Extras, options: &mut OptionTable) {
        let Some(mut scheduled) = extras.departures.waiting.pop_front() else {
            return;
        };
        let queued = extras.queued.as_ref();
        let departure = Departure {
            at_ps: start_ps,
            sojourn_ps: start_ps - scheduled.at_ps,
            queue_bytes: self.waiting_bytes,
            port_bytes: self.waiting_bytes + queued.map_or(0, |queued| queued.queues.bytes()),
        };
        let before = scheduled.packet.flags;
        self.mark_departing(
            &departure,
            &mut extras.rules,
            &mut scheduled.packet,
            options,
        );
        if scheduled.packet.flags != before {
            extras.departures.marked.push_back(scheduled.arrival_ps);
        }
    }

    /// Sets CE on a packet that leaves the link at `now_ps` if it was marked on departure.
    pub fn mark_delivered(&mut self, now_ps: u64, packet: &mut Packet, options: &mut OptionTable) {
        self.advance(now_ps, options);
        if let Some(extras) = &mut self.extras
            && extras.departures.marked.front() == Some(&now_ps)
        {
            extras.departures.marked.pop_front();
            packet.flags |= flags::CE;
        }
    }

    /// Marks a packet whose transmission starts as the rules decide.
    pub(super) fn mark_departing(
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
}
