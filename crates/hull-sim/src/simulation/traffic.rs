//! Connects the workload to the transport: executes its requests and reports arrivals.

use super::Simulation;
use super::clock::Clock;
use super::demand::Demand;
use super::endpoints::Endpoints;
use super::fabric::Fabric;
use super::flow::Flow;
use super::flow::halves::At;
use super::flow::messages::Pending;
use super::flow::messages::Unacked;
use super::flow_table::FlowTable;
use crate::engine::Kind;
use crate::measure::{AckedFlow, FlowLog, LoggedFlow, MessageWaits};
use crate::workload::{Besides, Channel, FlowRecord, Message, Progress, QueryRecord, Workload};

impl Simulation {
    /// Reports a message that has completely arrived at `at_ps` to the workload, and executes the
    /// workload's requests.
    pub(super) fn message_delivered(
        &mut self,
        slot: u32,
        message: &Pending,
        at_ps: u64,
        waits: Option<&MessageWaits>,
    ) {
        let (demand, table) = (&mut self.workload, &mut self.endpoints.table);
        let timeouts = table.timeouts_before(slot, at_ps) - message.timeouts_before;
        let has_ended = demand.delivered(at_ps, message.tag, timeouts);
        let mut flows = std::mem::take(&mut demand.agenda.flows);
        if !flows.is_empty() || table.heard_acked.is_some() {
            if flows.is_empty() {
                // Outside the measured time, but other flows may wait for it.
                table.await_acked(slot, message, at_ps, None);
            }
            flows.retain(|flow| self.clock.is_measured(flow.start_ps));
            let besides = demand.traffic.besides(message.tag);
            self.log_flows((slot, message, at_ps, waits), &mut flows, besides);
        }
        self.workload.agenda.flows = flows; // kept for reuse
        if has_ended {
            self.note_end(at_ps);
        }
        self.tell_acked();
        self.carry_out();
    }

    /// Logs the flows that a message has completed.
    fn log_flows(
        &mut self,
        (slot, message, at_ps, waits): (u32, &Pending, u64, Option<&MessageWaits>),
        flows: &mut Vec<FlowRecord>,
        besides: Besides,
    ) {
        let (endpoints, records) = (&mut self.endpoints, &mut self.instruments.records);
        for record in flows.drain(..) {
            let ideal_ps = endpoints.ideal_ps(&self.fabric.network, slot, record.bytes, besides);
            let record = FlowRecord { ideal_ps, ..record };
            records.waits.add(&record, waits);
            records.halves.add(&record);
            (endpoints.table).log_flow(slot, message, record, &mut records.flows);
        }
        (endpoints.table).note_acked(slot, at_ps, &mut records.flows);
    }

    /// Notes that a flow or a query has ended, and checks whether the run is complete.
    fn note_end(&mut self, at_ps: u64) {
        self.workload.completion.change(at_ps);
        (self.workload).end_if_done(&mut self.clock, &self.endpoints.table);
    }

    /// Processes that the message of a flow has arrived in another part of the run.
    pub(super) fn message_arrived(&mut self, slot: u32, at: At, waits: Option<&MessageWaits>) {
        if let Some(message) = self.endpoints.table.take_arrival(slot, at) {
            let (at_ps, ..) = at;
            self.message_delivered(slot, &message, at_ps, waits);
        }
    }

    /// Processes an acknowledgment at a sender: reports completely acknowledged flows to the
    /// workload.
    #[inline]
    pub(super) fn take_acked(&mut self, slot: u32) {
        let (table, log) = (
            &mut self.endpoints.table,
            &mut self.instruments.records.flows,
        );
        if table.take_acked(slot, self.clock.now_ps, log) {
            if self.tell_acked() {
                self.carry_out();
            }
            self.note_end(self.clock.now_ps);
        }
    }

    /// Reports acknowledged messages to a workload that requests them. Returns true if there were
    /// any.
    fn tell_acked(&mut self) -> bool {
        let Some(heard) = &mut self.endpoints.table.heard_acked else {
            return false;
        };
        let tags = std::mem::take(heard);
        for &tag in &tags {
            let demand = &mut self.workload;
            (demand.traffic).acked(self.clock.now_ps, tag, &mut demand.agenda);
        }
        !tags.is_empty()
    }

    /// Wakes the workload, and executes its requests.
    pub(super) fn wake_workload(&mut self, index: usize) {
        self.workload.wake(index, self.clock.now_ps);
        self.carry_out();
        if std::mem::take(&mut self.workload.agenda.is_still) {
            (self.workload).end_if_done(&mut self.clock, &self.endpoints.table);
        }
    }

    /// Executes the requests on the workload's agenda.
    pub(super) fn carry_out(&mut self) {
        while !self.workload.agenda.is_empty() {
            let mut agenda = std::mem::take(&mut self.workload.agenda);
            for (at_ps, token) in agenda.wakes.drain(..) {
                self.workload.wake_at(at_ps, token, &mut self.clock);
            }
            if !agenda.queries.is_empty() {
                (self.workload).end_if_done(&mut self.clock, &self.endpoints.table);
                self.log_queries(&mut agenda.queries);
            }
            for tag in agenda.stops.drain(..) {
                self.stop(tag);
            }
            for message in agenda.sends.drain(..) {
                self.endpoints.table.count_opening(self.clock.now_ps);
                if self.endpoints.table.is_opened_elsewhere(&message) {
                    self.endpoints.table.pass_over();
                    self.workload.traffic.leave(message.tag);
                    continue;
                }
                let traffic = &self.workload.traffic;
                self.endpoints.table.pin_next(|| traffic.via(message.tag));
                self.write(&message);
            }
            // The vectors are kept for reuse.
            if self.workload.agenda.is_empty() {
                self.workload.agenda = agenda;
            }
        }
    }

    /// Logs measured queries.
    fn log_queries(&mut self, queries: &mut Vec<QueryRecord>) {
        let ended = queries.drain(..);
        let measured = ended.filter(|query| self.clock.is_measured(query.start_ps));
        self.instruments.records.queries.extend(measured);
    }

    /// Starts a message.
    fn write(&mut self, message: &Message) {
        let slot = (self.endpoints).write(message, self.clock.now_ps, &mut self.fabric);
        self.pump(slot);
    }

    /// Ends a lasting message after the sent data.
    fn stop(&mut self, tag: u64) {
        if let Some((slot, arrived)) = self.endpoints.table.stop(tag) {
            let at = slot as usize;
            while let Some(message) = self.endpoints.table.flows[at].completed(arrived) {
                self.message_delivered(slot, &message, self.clock.now_ps, None);
            }
            self.admit_after_stop(slot);
            (self.endpoints.table).release_if_done(slot, self.clock.now_ps);
        }
    }
}

impl Demand {
    /// Wakes the workload.
    fn wake(&mut self, index: usize, now_ps: u64) {
        let token = self.wakes[index];
        self.free_wakes.push(index as u32);
        self.traffic.wake(now_ps, token, &mut self.agenda);
    }

    fn wake_at(&mut self, at_ps: u64, token: u64, clock: &mut Clock) {
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
        clock.schedule(at_ps.max(clock.now_ps), Kind::Workload, index);
    }

    /// Processes a message that has completely arrived at the given time. Returns true if a flow or a
    /// query has ended, measured or not.
    fn delivered(&mut self, at_ps: u64, tag: u64, timeouts: u32) -> bool {
        self.agenda.has_ended = false;
        (self.traffic).delivered(at_ps, tag, timeouts, &mut self.agenda);
        self.agenda.has_ended
    }

    /// Ends the workload: requests the records of open queries, and counts unfinished flows.
    pub(super) fn finish(&mut self, log: &mut FlowLog) {
        self.traffic.finish(&mut self.agenda);
        let unfinished = self.agenda.unfinished.drain(..);
        unfinished.for_each(|record| log.count_unfinished(&record));
    }

    /// Whether all data has arrived and, if it is counted, has been acknowledged to its senders.
    pub(super) fn is_complete(&self, table: &FlowTable) -> bool {
        table.unacked == 0 && self.traffic.is_complete()
    }

    /// Whether the run is complete at the end of the measured time.
    pub(super) fn is_over(&mut self, table: &FlowTable) -> bool {
        self.done |= self.is_complete(table);
        self.done
    }

    /// Checks whether the run is complete after something has ended. The run then continues until
    /// ports between switches could know.
    pub(super) fn end_if_done(&mut self, clock: &mut Clock, table: &FlowTable) {
        if table.halves.is_some() {
            return; // the parts find it out together
        }
        let has_ended = |clock: &Clock| match self.traffic.progress() {
            Progress::Done => true,
            Progress::Busy | Progress::Lasting => {
                clock.now_ps >= clock.end_ps && self.traffic.is_complete()
            }
        };
        self.done = (table.unacked == 0 && has_ended(clock)) || self.traffic.ends_run();
        if self.done {
            clock.end_after(self.linger_ps);
        }
    }
}

impl Endpoints {
    /// Opens the connections of the workload.
    pub(super) fn connect(&mut self, demand: &Demand, now_ps: u64, fabric: &mut Fabric) {
        for (number, &(first, second)) in demand.traffic.connections().iter().enumerate() {
            let transport = demand.traffic.transport_of_connection(number);
            let via = || demand.traffic.via_of_connection(number);
            self.table.pin_next(via);
            let there = self.open((first, second), false, transport, now_ps, fabric);
            self.table.pin_next(via);
            let back = self.open((second, first), false, transport, now_ps, fabric);
            self.table.flows[there as usize].reverse = back;
            self.table.flows[back as usize].reverse = there;
        }
    }

    /// Opens a flow between two hosts.
    fn open(
        &mut self,
        (src, dst): (u32, u32),
        transient: bool,
        transport: u16,
        now_ps: u64,
        fabric: &mut Fabric,
    ) -> u32 {
        let (network, routes) = (&mut fabric.network, &fabric.routes);
        let slot = (self.table).open(network, routes, src, dst, transient, transport);
        self.start_sender(slot, now_ps, network);
        self.hosts
            .forget_flow((src, dst), slot, &mut fabric.network);
        slot
    }

    /// Starts a message on its flow, which may be a new one. Returns the slot.
    fn write(&mut self, message: &Message, now_ps: u64, fabric: &mut Fabric) -> u32 {
        let slot = match message.channel {
            Channel::New => {
                let ends = (message.src, message.dst);
                self.open(ends, true, message.transport, now_ps, fabric)
            }
            Channel::Connection(connection) => {
                let there = 2 * connection;
                let forward = self.table.flows[there as usize].src == message.src;
                if forward { there } else { there + 1 }
            }
        };
        let transport = usize::from(self.table.flows[slot as usize].transport);
        let class = self.table.templates[transport].class;
        let class = u16::from(class.unwrap_or(message.priority));
        (self.table).write(now_ps, slot, message.bytes, message.tag, class);
        self.table.share(slot, &fabric.network);
        slot
    }
}

impl FlowTable {
    /// Logs a flow that has arrived; it waits for the acknowledgment of its last byte.
    fn log_flow(
        &mut self,
        slot: u32,
        message: &Pending,
        mut record: FlowRecord,
        log: &mut FlowLog,
    ) {
        record.transport = self.flows[slot as usize].transport;
        let row = match &mut self.halves {
            Some(halves) => halves.report_row(record),
            None => log.push(record),
        };
        let logged = LoggedFlow {
            row,
            class: record.class,
            group: record.group,
        };
        self.await_acked(slot, message, record.start_ps, Some(logged));
    }

    /// Queues a message that has arrived until its last byte is acknowledged.
    fn await_acked(
        &mut self,
        slot: u32,
        message: &Pending,
        start_ps: u64,
        logged: Option<LoggedFlow>,
    ) {
        self.unacked += 1;
        self.flows[slot as usize].unacked.push_back(Unacked {
            end: message.end,
            tag: message.tag,
            start_ps,
            logged,
        });
    }

    /// Processes acknowledgments that may have reached the ends of waiting messages. Returns true
    /// if they have.
    #[inline]
    pub(super) fn take_acked(&mut self, slot: u32, now_ps: u64, log: &mut FlowLog) -> bool {
        !self.flows[slot as usize].unacked.is_empty() && self.note_acked(slot, now_ps, log)
    }

    fn note_acked(&mut self, slot: u32, now_ps: u64, log: &mut FlowLog) -> bool {
        let una = self.ends(slot).acked_bytes();
        let flow = &mut self.flows[slot as usize];
        let before = self.unacked;
        while let Some(message) = flow.unacked.front().copied()
            && message.end <= una
        {
            flow.unacked.pop_front();
            self.unacked -= 1;
            let after_ps = now_ps - message.start_ps;
            if let Some(logged) = message.logged {
                let acked = AckedFlow {
                    flow: logged,
                    transport: flow.transport,
                    after_ps,
                };
                match &mut self.halves {
                    Some(halves) => halves.report_acked(now_ps, flow.src, acked),
                    None => log.acknowledged(acked),
                }
            }
            if let Some(heard) = &mut self.heard_acked {
                heard.push(message.tag);
            }
        }
        self.unacked < before
    }

    /// Ends a lasting message after the sent data. Returns its slot and the payload that has
    /// arrived, bytes.
    fn stop(&mut self, tag: u64) -> Option<(u32, u64)> {
        let lasts = |flow: &Flow| flow.live && flow.first.tag == tag && flow.first.end != u64::MAX;
        let at = self.flows.iter().position(lasts)?;
        let (end, arrived) = self.stop_data(at as u32);
        self.flows[at].cut(end);
        Some((at as u32, arrived))
    }
}
