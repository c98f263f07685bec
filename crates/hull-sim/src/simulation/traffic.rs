//! The workload joined to the transport: what it asks for is carried out, what arrives is told.

use super::Simulation;
use super::flows::{Pending, Unacked};
use crate::engine::{Entity, Kind};
use crate::workload::{Agenda, Channel, FlowRecord, Message, Progress, Workload};

impl Simulation {
    /// The workload begins, at time 0.
    pub(super) fn begin_traffic(&mut self) {
        let connections = self.workload.traffic.connections().to_vec();
        for (number, (first, second)) in connections.into_iter().enumerate() {
            let transport = self.workload.traffic.transport_of_connection(number);
            let there = self.open_flow(first, second, false, transport);
            let back = self.open_flow(second, first, false, transport);
            self.endpoints.table.flows[there as usize].reverse = back;
            self.endpoints.table.flows[back as usize].reverse = there;
        }
        self.workload.traffic.begin(&mut self.workload.agenda);
        self.carry_out();
    }

    /// Opens a flow.
    fn open_flow(&mut self, src: u32, dst: u32, transient: bool, transport: u16) -> u32 {
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        let slot = (self.endpoints.table).open(network, routes, src, dst, transient, transport);
        self.start_sender(slot);
        slot
    }

    /// The workload wanted to be woken.
    pub(super) fn serve_workload(&mut self, index: usize) {
        let token = self.workload.wakes[index];
        self.workload.free_wakes.push(index as u32);
        self.workload
            .traffic
            .wake(self.now_ps, token, &mut self.workload.agenda);
        self.carry_out();
    }

    /// A message has arrived wholly.
    pub(super) fn message_delivered(&mut self, slot: u32, message: &Pending) {
        let timeouts =
            self.endpoints.table.senders[slot as usize].timeouts - message.timeouts_before;
        let now_ps = self.now_ps;
        self.workload
            .traffic
            .delivered(now_ps, message.tag, timeouts, &mut self.workload.agenda);
        if !self.workload.agenda.flows.is_empty() {
            let mut records = std::mem::take(&mut self.workload.agenda.flows);
            for record in records.drain(..) {
                if (self.warmup_ps..self.end_ps).contains(&record.start_ps) {
                    let besides = self.workload.traffic.besides(message.tag);
                    let network = &self.fabric.network;
                    let ideal_ps = self
                        .endpoints
                        .ideal_ps(network, slot, record.bytes, besides);
                    let record = FlowRecord { ideal_ps, ..record };
                    self.log_flow(slot, message.end, record);
                }
            }
            self.workload.agenda.flows = records; // empty: its memory is kept
            self.note_acked(slot);
            self.end_if_done();
        }
        self.carry_out();
    }

    /// A row for a flow that has arrived; it waits for the acknowledgment of its last byte.
    fn log_flow(&mut self, slot: u32, end: u64, mut record: FlowRecord) {
        record.transport = self.endpoints.table.flows[slot as usize].transport;
        let row = self.records.flows.push(record);
        self.endpoints.table.unacked += 1;
        self.endpoints.table.flows[slot as usize]
            .unacked
            .push_back(Unacked {
                end,
                start_ps: record.start_ps,
                row,
                class: record.class,
            });
    }

    /// Acknowledgments may have reached the ends of messages that wait for them.
    #[inline]
    pub(super) fn take_acked(&mut self, slot: u32) {
        if !self.endpoints.table.flows[slot as usize].unacked.is_empty() && self.note_acked(slot) {
            self.end_if_done();
        }
    }

    fn note_acked(&mut self, slot: u32) -> bool {
        let una = self.endpoints.table.senders[slot as usize].una();
        let transport = self.endpoints.table.flows[slot as usize].transport;
        let waiting = &mut self.endpoints.table.flows[slot as usize].unacked;
        let before = self.endpoints.table.unacked;
        while let Some(message) = waiting.front().copied()
            && message.end <= una
        {
            waiting.pop_front();
            self.endpoints.table.unacked -= 1;
            let after_ps = self.now_ps - message.start_ps;
            self.records
                .flows
                .acknowledged(message.row, message.class, transport, after_ps);
        }
        self.endpoints.table.unacked < before
    }

    /// Whether all has arrived and, where it is counted, is known to its senders.
    pub(super) fn is_complete(&self) -> bool {
        self.endpoints.table.unacked == 0 && self.workload.traffic.is_complete()
    }

    /// Something has come to an end: perhaps all has.
    fn end_if_done(&mut self) {
        self.workload.done = match self.workload.traffic.progress() {
            Progress::Done => self.endpoints.table.unacked == 0,
            Progress::Busy | Progress::Lasting => self.now_ps >= self.end_ps && self.is_complete(),
        };
        if self.workload.done {
            self.wind_down();
        }
    }

    /// Does what the workload has put on its agenda.
    pub(super) fn carry_out(&mut self) {
        while self.workload.agenda != Agenda::default() {
            let mut agenda = std::mem::take(&mut self.workload.agenda);
            for (at_ps, token) in agenda.wakes.drain(..) {
                self.wake_at(at_ps, token);
            }
            if !agenda.queries.is_empty() {
                self.end_if_done();
            }
            for record in agenda.queries.drain(..) {
                if (self.warmup_ps..self.end_ps).contains(&record.start_ps) {
                    self.records.queries.push(record);
                }
            }
            for tag in agenda.stops.drain(..) {
                self.stop(tag);
            }
            for message in agenda.sends.drain(..) {
                self.send_message(&message);
            }
            // Its vectors are kept for the next time.
            if self.workload.agenda == Agenda::default() {
                self.workload.agenda = agenda;
            }
        }
    }

    /// All is done. The run goes on until ports between switches could know
    /// ([`Notice`](crate::topology::Notice)).
    fn wind_down(&mut self) {
        let end_ps = self.now_ps + self.fabric.notice.to_fabric_ps;
        self.limit_ps = self.limit_ps.min(end_ps);
    }

    fn wake_at(&mut self, at_ps: u64, token: u64) {
        let index = match self.workload.free_wakes.pop() {
            Some(index) => {
                self.workload.wakes[index as usize] = token;
                index as usize
            }
            None => {
                self.workload.wakes.push(token);
                self.workload.wakes.len() - 1
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
                let forward = self.endpoints.table.flows[there as usize].src == message.src;
                if forward { there } else { there + 1 }
            }
        };
        let transport = usize::from(self.endpoints.table.flows[slot as usize].transport);
        let class = self.endpoints.table.templates[transport].class;
        let class = u16::from(class.unwrap_or(message.priority));
        self.endpoints
            .table
            .write(slot, message.bytes, message.tag, class);
        self.pump(slot);
    }

    /// A lasting message ends with what has been sent.
    fn stop(&mut self, tag: u64) {
        let flows = &mut self.endpoints.table.flows;
        let found = flows
            .iter()
            .position(|flow| flow.live && flow.first.tag == tag && flow.first.end != u64::MAX);
        if let Some(at) = found {
            let end = self.endpoints.table.senders[at].stop();
            self.endpoints.table.flows[at].cut(end);
            let arrived = self.endpoints.table.receivers[at].next();
            while let Some(message) = self.endpoints.table.flows[at].completed(arrived) {
                self.message_delivered(at as u32, &message);
            }
        }
    }
}
