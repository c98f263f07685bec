//! The message transport's part of a run: packets become calls of connections and receivers, what both send
//! becomes packets on the path of their entropy value ([`nic`]), and timers become events ([`timers`]). Times
//! are ps.

mod admission;
mod nic;
mod timers;

use super::Simulation;
use super::endpoints::Endpoints;
use super::flow::connection::Way;
use crate::host::Puller;
use crate::network::{Options, Packet, Signal, flags};
use crate::transport::message::Arriving;

impl Simulation {
    /// Processes an arrived packet of the message transport.
    pub(in crate::simulation) fn receive_message(&mut self, host: usize, packet: &Packet) {
        let table = &mut self.fabric.network.options;
        let options = table.take(packet.options);
        let signal = options.and_then(|options| options.signal());
        let collected = table.taken_records(packet, options.as_ref());
        if self.fabric.network.trims
            && let Some(entry) = collected
        {
            // An acknowledgment of a trimmed packet returns it.
            let answer = self.fabric.network.options.records(entry);
            self.endpoints.table.keep_answer(packet.flow, answer);
        }
        if let Some(Signal::Demand { target }) = signal {
            if let Some((puller, number)) = self.endpoints.puller(host, packet.flow) {
                puller.demand(number, target);
                if !packet.has(flags::DATA) {
                    puller.request(number); // the credit may be granted, and its pull lost
                }
            } else {
                self.receive_request(host, packet.flow, target);
            }
        }
        if packet.has(flags::TRIMMED) {
            self.receive_trimmed(host, packet);
        } else if packet.has(flags::DATA) {
            self.receive_message_data(host, packet, collected);
        } else if let Some(signal) = signal {
            self.receive_signal(packet, options.as_ref(), &signal);
        }
        if host < self.endpoints.hosts.pullers.len() {
            // A pull is sent after the answer.
            self.serve_puller(host);
        }
        (self.endpoints.table).release_if_done(packet.flow, self.clock.now_ps);
    }

    /// Processes data with its payload; its telemetry is at the entry `collected` until options are stored.
    fn receive_message_data(&mut self, host: usize, packet: &Packet, collected: Option<u32>) {
        let slot = packet.flow;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &mut connection.receiver;
        let (had_bytes, had_payload) = (receiver.delivered_bytes(), receiver.received_payload());
        let (before, discards) = (receiver.reordering(), receiver.discards());
        let answer = receiver.on_data(self.clock.now_ps, &Arriving::of(packet));
        let counts = &mut self.endpoints.tally.counts;
        counts.add_reordering(&before, &receiver.reordering());
        counts.discards += receiver.discards() - discards;
        let delivered_bytes = receiver.delivered_bytes();
        let new_payload = receiver.received_payload() - had_payload;
        let notification = receiver.notification(self.clock.now_ps, &Arriving::of(packet));
        for signal in answer.into_iter().chain(notification) {
            self.send_signal(
                host,
                slot,
                (packet.ack as u16, Way::Back),
                signal,
                collected,
            );
        }
        self.watch_groups(slot);
        if let Some((puller, _)) = self.endpoints.puller(host, slot) {
            puller.on_data(packet.has(flags::CE));
        }
        if !self.endpoints.hosts.admissions.is_empty() {
            self.admit_after_data(host, slot);
        }
        self.count_received(host, packet, new_payload);
        if delivered_bytes > had_bytes {
            let at = slot as usize;
            while let Some(message) = self.endpoints.table.flows[at].completed(delivered_bytes) {
                let now_ps = self.clock.now_ps;
                let waits = self.endpoints.table.take_waits(slot, &message, now_ps);
                self.message_delivered(slot, &message, now_ps, waits.as_ref());
            }
        }
    }

    fn receive_trimmed(&mut self, host: usize, packet: &Packet) {
        let slot = packet.flow;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let (answer, is_missing) = connection.receiver.on_trimmed(&Arriving::of(packet));
        self.send_signal(host, slot, (packet.ack as u16, Way::Back), answer, None);
        if let Some((puller, number)) = self.endpoints.puller(host, slot) {
            puller.on_trimmed(packet.has(flags::LAST_HOP));
            if is_missing {
                puller.request(number);
            }
        }
    }

    /// Processes a receiver's signal at the sender; these are the options of its packet.
    fn receive_signal(&mut self, packet: &Packet, options: Option<&Options>, signal: &Signal) {
        let (now_ps, slot) = (self.clock.now_ps, packet.flow);
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        match signal {
            Signal::Ack(ack) => {
                let answer = (self.fabric.network.options).answer(packet.options, options);
                if sender.on_ack(now_ps, ack, answer) {
                    self.take_acked(slot);
                }
            }
            Signal::Nack(nack) => sender.on_nack(now_ps, nack),
            Signal::GoBack(back) => {
                if sender.on_go_back(now_ps, back) {
                    self.take_acked(slot);
                }
            }
            Signal::Notification => sender.on_notification(now_ps),
            Signal::GroupNack { group } => sender.on_group_nack(now_ps, *group),
            Signal::Pull { granted } => {
                sender.on_pull(now_ps, *granted);
                self.endpoints
                    .tally
                    .admission
                    .add_waited(sender.take_waited());
            }
            Signal::Demand { .. } => {}
        }
        self.pump_message(slot);
    }
}

impl Endpoints {
    /// NIC on which a flow sends.
    #[inline]
    pub(in crate::simulation) fn nic_of_flow(&self, slot: u32) -> usize {
        let (table, at) = (&self.table, slot as usize);
        let host = table.flows[at].src as usize;
        self.hosts.nic(host, || table.nic_ports[at])
    }

    /// NIC at which a connection waits to send.
    #[inline]
    fn message_queue_of(&self, slot: u32) -> usize {
        (self.hosts).message_nics_with(self.nic_of_flow(slot)).start
    }

    /// Selects an entropy value of a connection for a packet of the receiver's `host`.
    fn any_entropy(&mut self, host: usize, slot: u32) -> u16 {
        let first = self.hosts.nics_of(host).start;
        let random = self.hosts.message_nics[first].random.bits();
        self.table.any_entropy(slot, random)
    }

    /// Receiver control of `host` that grants a connection's credit, and the connection's number
    /// there.
    fn puller(&mut self, host: usize, slot: u32) -> Option<(&mut Puller, u32)> {
        let puller = self.hosts.pullers.get_mut(host)?;
        let config = self.table.template(slot).messages()?;
        if !config.common.grants_credit {
            return None;
        }
        let connection = self.table.connection(slot)?;
        let number = connection.at_puller.get_or_insert_with(|| puller.add(slot));
        Some((puller, *number))
    }
}
