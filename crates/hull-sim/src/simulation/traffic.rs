//! The workload joined to the transport: what it asks for is carried out, what arrives is told.

use super::Simulation;
use super::flows::{Pending, Unacked};
use crate::engine::{Entity, Kind};
use crate::workload::{Agenda, Channel, FlowRecord, Message, Progress, Workload};

impl Simulation {
    /// The workload begins, at time 0.
    pub(super) fn begin_traffic(&mut self) {
        let connections = self.traffic.connections().to_vec();
        for (number, (first, second)) in connections.into_iter().enumerate() {
            let transport = self.traffic.transport_of_connection(number);
            let there = self.open_flow(first, second, false, transport);
            let back = self.open_flow(second, first, false, transport);
            self.table.flows[there as usize].reverse = back;
            self.table.flows[back as usize].reverse = there;
        }
        self.traffic.begin(&mut self.agenda);
        self.carry_out();
    }

    /// Opens a flow.
    fn open_flow(&mut self, src: u32, dst: u32, transient: bool, transport: u16) -> u32 {
        let (network, routes) = (&mut self.network, &self.routes);
        let slot = (self.table).open(network, routes, src, dst, transient, transport);
        self.start_sender(slot);
        slot
    }

    /// The workload wanted to be woken.
    pub(super) fn serve_workload(&mut self, index: usize) {
        let token = self.wakes[index];
        self.free_wakes.push(index as u32);
        self.traffic.wake(self.now_ps, token, &mut self.agenda);
        self.carry_out();
    }

    /// A message has arrived wholly.
    pub(super) fn message_delivered(&mut self, slot: u32, message: &Pending) {
        let timeouts = self.table.senders[slot as usize].timeouts - message.timeouts_before;
        let now_ps = self.now_ps;
        self.traffic
            .delivered(now_ps, message.tag, timeouts, &mut self.agenda);
        if !self.agenda.flows.is_empty() {
            let mut records = std::mem::take(&mut self.agenda.flows);
            for record in records.drain(..) {
                if (self.warmup_ps..self.end_ps).contains(&record.start_ps) {
                    self.log_flow(slot, message.end, record);
                }
            }
            self.agenda.flows = records; // empty: its memory is kept
            self.note_acked(slot);
            self.end_if_done();
        }
        self.carry_out();
    }

    /// A row for a flow that has arrived; it waits for the acknowledgment of its last byte.
    fn log_flow(&mut self, slot: u32, end: u64, mut record: FlowRecord) {
        record.transport = self.table.flows[slot as usize].transport;
        let row = self.flows.push(record);
        self.table.unacked += 1;
        self.table.flows[slot as usize].unacked.push_back(Unacked {
            end,
            start_ps: record.start_ps,
            row,
            class: record.class,
        });
    }

    /// Acknowledgments may have reached the ends of messages that wait for them.
    #[inline]
    pub(super) fn take_acked(&mut self, slot: u32) {
        if !self.table.flows[slot as usize].unacked.is_empty() && self.note_acked(slot) {
            self.end_if_done();
        }
    }

    fn note_acked(&mut self, slot: u32) -> bool {
        let una = self.table.senders[slot as usize].una();
        let transport = self.table.flows[slot as usize].transport;
        let waiting = &mut self.table.flows[slot as usize].unacked;
        let before = self.table.unacked;
        while let Some(message) = waiting.front().copied()
            && message.end <= una
        {
            waiting.pop_front();
            self.table.unacked -= 1;
            let after_ps = self.now_ps - message.start_ps;
            self.flows
                .acknowledged(message.row, message.class, transport, after_ps);
        }
        self.table.unacked < before
    }

    /// Whether all has arrived and, where it is counted, is known to its senders.
    pub(super) fn is_complete(&self) -> bool {
        self.table.unacked == 0 && self.traffic.is_complete()
    }

    /// Something has come to an end: perhaps all has.
    fn end_if_done(&mut self) {
        self.done = match self.traffic.progress() {
            Progress::Done => self.table.unacked == 0,
            Progress::Busy | Progress::Lasting => self.now_ps >= self.end_ps && self.is_complete(),
        };
        if self.done {
            self.wind_down();
        }
    }

    /// Does what the workload has put on its agenda.
    pub(super) fn carry_out(&mut self) {
        while self.agenda != Agenda::default() {
            let mut agenda = std::mem::take(&mut self.agenda);
            for (at_ps, token) in agenda.wakes.drain(..) {
                self.wake_at(at_ps, token);
            }
            if !agenda.queries.is_empty() {
                self.end_if_done();
            }
            for record in agenda.queries.drain(..) {
                if (self.warmup_ps..self.end_ps).contains(&record.start_ps) {
                    self.queries.push(record);
                }
            }
            for tag in agenda.stops.drain(..) {
                self.stop(tag);
            }
            for message in agenda.sends.drain(..) {
                self.send_message(&message);
            }
            // Its vectors are kept for the next time.
            if self.agenda == Agenda::default() {
                self.agenda = agenda;
            }
        }
    }

    /// All is done. The run goes on until ports between switches could know
    /// ([`Notice`](crate::topology::Notice)).
    fn wind_down(&mut self) {
        let end_ps = self.now_ps + self.notice.to_fabric_ps;
        self.limit_ps = self.limit_ps.min(end_ps);
    }

    fn wake_at(&mut self, at_ps: u64, token: u64) {
        let index = match self.free_wakes.pop() {
            Some(index) => {
                self.wakes[index as usize] = token;
                index as usize
            }
            None => {
                self.wakes.push(token);
                self.wakes.len() - 1
            }
        };
        self.events
            .push(at_ps.max(self.now_ps), Entity::new(Kind::Workload, index));
    }

    fn send_message(&mut self, message: &Message) {
        let slot = match message.channel {
            Channel::New => self.open_flow(message.src, message.dst, true, message.transport),
            Channel::Connection(connection) => {
                let there = 2 * connection;
                let forward = self.table.flows[there as usize].src == message.src;
                if forward { there } else { there + 1 }
            }
        };
        let transport = usize::from(self.table.flows[slot as usize].transport);
        let class = self.table.templates[transport].class;
        let class = u16::from(class.unwrap_or(message.priority));
        self.table.write(slot, message.bytes, message.tag, class);
        self.pump(slot);
    }

    /// A lasting message ends with what has been sent.
    fn stop(&mut self, tag: u64) {
        let flows = &mut self.table.flows;
        let found = flows
            .iter()
            .position(|flow| flow.live && flow.first.tag == tag && flow.first.end != u64::MAX);
        if let Some(at) = found {
            let end = self.table.senders[at].stop();
            self.table.flows[at].cut(end);
            let arrived = self.table.receivers[at].next();
            while let Some(message) = self.table.flows[at].completed(arrived) {
                self.message_delivered(at as u32, &message);
            }
        }
    }
}
