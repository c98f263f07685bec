//! The message transport's part of a run: what connections and receivers send becomes packets on the
//! path of their entropy value, packets become calls of both, and timers become events. Times are ps.

use super::Simulation;
use super::clock::Clock;
use super::endpoints::Endpoints;
use super::flow::connection::Way;
use crate::engine::Kind;
use crate::host::{HostSide, Puller, Turn};
use crate::network::{
    Answer, InBand, NO_OPTIONS, Options, Packet, PathWord, Port, Report, Signal, flags,
};
use crate::transport::message::Arriving;

/// Class of data; control packets and trimmed headers have class 0.
const DATA_CLASS: u16 = 1 << flags::CLASS_SHIFT;

impl Simulation {
    /// Processes an arrived packet of the message transport.
    pub(super) fn receive_message(&mut self, host: usize, packet: &Packet) {
        let table = &mut self.fabric.network.options;
        let options = table.take(packet.options);
        let signal = options.and_then(|options| options.signal());
        if packet.flags & (flags::DATA | flags::TRIMMED) == flags::DATA && options.is_some() {
            let answer = table.answer(packet.options, options.as_ref());
            self.endpoints.table.keep_answer(packet.flow, answer);
        }
        if let Some(Signal::Demand { target }) = signal
            && let Some((puller, number)) = self.endpoints.puller(host, packet.flow)
        {
            puller.demand(number, target);
            if !packet.has(flags::DATA) {
                puller.request(number); // the credit may be granted, and its pull lost
            }
        }
        if packet.has(flags::TRIMMED) {
            self.receive_trimmed(host, packet);
        } else if packet.has(flags::DATA) {
            self.receive_message_data(host, packet);
        } else if let Some(signal) = signal {
            self.receive_signal(packet, options.as_ref(), &signal);
        }
        if host < self.endpoints.hosts.pullers.len() {
            // A pull is sent after the answer.
            self.serve_puller(host);
        }
        (self.endpoints.table).release_if_done(packet.flow, self.clock.now_ps);
    }

    fn receive_message_data(&mut self, host: usize, packet: &Packet) {
        let slot = packet.flow;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &mut connection.receiver;
        let (had_bytes, had_payload) = (receiver.delivered_bytes(), receiver.received_payload());
        let before = receiver.reordering();
        let answer = receiver.on_data(self.clock.now_ps, &Arriving::of(packet));
        self.tally
            .counts
            .add_reordering(&before, &receiver.reordering());
        let delivered_bytes = receiver.delivered_bytes();
        let new_payload = receiver.received_payload() - had_payload;
        if let Some(signal) = answer {
            self.send_signal(host, slot, packet.ack as u16, Way::Back, signal);
        }
        self.watch_groups(slot);
        if let Some((puller, _)) = self.endpoints.puller(host, slot) {
            puller.on_data(packet.has(flags::CE));
        }
        let table = &self.endpoints.table;
        (self.instruments).count_received(
            &self.clock,
            &self.fabric,
            table,
            host,
            packet,
            new_payload,
        );
        self.tally.count_received(table, packet, new_payload);
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
        self.send_signal(host, slot, packet.ack as u16, Way::Back, answer);
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
            Signal::GroupNack { group } => sender.on_group_nack(now_ps, *group),
            Signal::Pull { granted } => sender.on_pull(now_ps, *granted),
            Signal::Demand { .. } => {}
        }
        self.pump_message(slot);
    }

    /// Queues a connection at its NIC if it has data to send.
    pub(super) fn pump_message(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let nic = self.endpoints.message_queue_of(slot);
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if !sender.waits_for_nic && sender.ready_ps() <= now_ps && sender.may_send() {
            sender.waits_for_nic = true;
            self.endpoints.hosts.message_nics[nic].push_sender(slot);
            self.serve_message_nic(nic);
        }
        self.watch_message(slot);
    }

    /// Sends a NIC's packets while its link is free. If the host's NICs share their packets, one of the
    /// links must be free; the packet waits for its own in the port's queue.
    pub(super) fn serve_message_nic(&mut self, nic: usize) {
        loop {
            let free_ps = self.free_ps(nic);
            let queues = &mut self.endpoints.hosts.message_nics[nic];
            if queues.is_idle() {
                return;
            }
            if free_ps > self.clock.now_ps {
                if queues.event_ps != free_ps {
                    queues.event_ps = free_ps;
                    self.clock.schedule(free_ps, Kind::MessageNic, nic);
                }
                return;
            }
            match queues.next_turn() {
                Some(Turn::Control(packet)) => {
                    self.send_to_wire(self.nic_of(nic, packet.hop), packet)
                }
                Some(Turn::Sender(slot)) => self.send_message_data(nic, slot),
                None => return,
            }
        }
    }

    /// Time from which a NIC can send, or one of those that share its packets, ps. A failed link does
    /// not count beside others.
    #[inline(always)]
    fn free_ps(&self, nic: usize) -> u64 {
        let (hosts, ports) = (&self.endpoints.hosts, &self.fabric.network.ports);
        let port = |nic: usize| &ports[hosts.ports[nic] as usize];
        if hosts.several_nics.is_none() {
            return port(nic).busy_until_ps();
        }
        let shared = || hosts.message_nics_with(nic).map(port);
        let working = shared().filter(|port| !port.is_down());
        let least_ps = working.map(Port::busy_until_ps).min();
        least_ps.unwrap_or_else(|| port(nic).busy_until_ps())
    }

    /// Sends the next packet of a connection whose turn it is.
    fn send_message_data(&mut self, nic: usize, slot: u32) {
        let now_ps = self.clock.now_ps;
        let chosen = self.endpoints.message_queue_of(slot);
        if chosen != nic {
            // Links have changed since the connection was queued here.
            self.endpoints.hosts.message_nics[chosen].push_sender(slot);
            return self.serve_message_nic(chosen);
        }
        let queues = &mut self.endpoints.hosts.message_nics[nic];
        let table = &mut self.endpoints.table;
        let Some(connection) = table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        sender.waits_for_nic = false;
        if sender.ready_ps() > now_ps || !sender.may_send() {
            self.watch_message(slot);
            return (self.endpoints.table).release_if_done(slot, self.clock.now_ps);
        }
        // The connection whose turn it is counts too.
        let senders = queues.senders() + 1;
        let Some(sending) = sender.poll(now_ps, senders, queues.random.bits64()) else {
            return;
        };
        if sender.ready_ps() <= now_ps && sender.may_send() {
            sender.waits_for_nic = true;
            queues.push_sender(slot);
        }
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        let hop = table.message_route(slot, sending.entropy, Way::Out, network, routes);
        let demand = sending.demand.map(|target| Signal::Demand { target });
        let in_band = table.asked_by_message(slot);
        let config = table.template(slot).messages();
        let ecn = config.is_some_and(|config| config.common.ecn);
        let path = PathWord {
            entropy: sending.entropy,
            asks_ack: sending.asks_ack,
            resent: sending.resent,
        };
        let mut packet = Packet {
            seq: sending.number as u32,
            ack: path.bits(),
            flow: slot,
            options: match (demand, in_band) {
                (None, InBand::Nothing) => NO_OPTIONS,
                _ => network.options.insert(Options {
                    report: demand.map_or(Report::Nothing, Report::Signal),
                    in_band,
                }),
            },
            hop,
            wire_bytes: sending.bytes,
            flags: flags::DATA | DATA_CLASS | flags::TRIMMABLE | if ecn { flags::ECT0 } else { 0 },
        };
        if sending.is_last {
            network.options.follow_last(&mut packet, now_ps);
        }
        self.tally.packets_sent += 1;
        self.tally.counts.first_sends += u64::from(!sending.resent);
        table.flows[slot as usize].in_flight += 1;
        self.send_to_wire(self.nic_of(nic, hop), packet);
        self.watch_message(slot);
    }

    /// Sends a control packet.
    pub(super) fn send_signal(
        &mut self,
        host: usize,
        slot: u32,
        entropy: u16,
        way: Way,
        signal: Signal,
    ) {
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        let table = &mut self.endpoints.table;
        let hop = table.message_route(slot, entropy, way, network, routes);
        let answer = match signal {
            Signal::Ack(_) => table.answer(slot),
            Signal::Nack(_)
            | Signal::GroupNack { .. }
            | Signal::Pull { .. }
            | Signal::Demand { .. } => Answer::Nothing,
        };
        let wire_bytes = self.endpoints.header_bytes + network.options.bytes_of(answer);
        let options = (network.options).insert_answer(Report::Signal(signal), answer);
        let packet = Packet {
            seq: 0,
            ack: u32::from(entropy),
            flow: slot,
            options,
            hop,
            wire_bytes,
            flags: 0,
        };
        self.tally.packets_sent += 1;
        let counts = &mut self.tally.counts;
        match signal {
            Signal::Ack(_) => counts.acks += 1,
            Signal::Nack(_) | Signal::GroupNack { .. } => counts.nacks += 1,
            Signal::Pull { .. } => counts.pulls += 1,
            Signal::Demand { .. } => {}
        }
        table.flows[slot as usize].in_flight += 1;
        let nic = (self.endpoints.hosts)
            .message_nics_with(self.nic_of(host, hop))
            .start;
        self.endpoints.hosts.message_nics[nic].push_control(packet);
        self.serve_message_nic(nic);
    }

    /// Grants credit when a host's next pull is due.
    pub(super) fn serve_puller(&mut self, host: usize) {
        let now_ps = self.clock.now_ps;
        let puller = &mut self.endpoints.hosts.pullers[host];
        if puller.waits(now_ps) {
            return;
        }
        let (slot, pull) = loop {
            let Some((slot, pull)) = puller.next_pull() else {
                return;
            };
            if self.endpoints.table.is_pulled(slot, pull.sender) {
                break (slot, pull);
            }
            // The slot may already hold another connection.
            puller.remove(pull.sender);
        };
        let (granted, next_ps) = (pull.pulled, puller.sent(now_ps, &pull));
        self.clock.schedule(next_ps, Kind::Pull, host);
        let entropy = self.endpoints.any_entropy(host, slot);
        self.send_signal(host, slot, entropy, Way::Back, Signal::Pull { granted });
    }

    /// Processes the event of a connection's timer.
    pub(super) fn serve_message_timeout(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].src as usize;
        let nic = self.endpoints.message_queue_of(slot);
        let senders = self.endpoints.hosts.message_nics[nic].senders();
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if sender.timeout_event_ps != now_ps {
            return; // an earlier event took its place
        }
        sender.timeout_event_ps = u64::MAX;
        if sender.timeout_ps <= now_ps
            && let Some(target) = sender.on_timeout(now_ps, senders)
        {
            self.send_signal(host, slot, 0, Way::Out, Signal::Demand { target });
        }
        self.pump_message(slot);
    }

    /// Processes the event of a connection's wait for credit. Returns true if it was due.
    pub(super) fn serve_credit_wait(&mut self, slot: u32) -> bool {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].src as usize;
        let nic = self.endpoints.message_queue_of(slot);
        let senders = self.endpoints.hosts.message_nics[nic].senders();
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return false;
        };
        let sender = &mut connection.sender;
        if sender.credit_event_ps != now_ps {
            return false; // of the slot's last connection
        }
        sender.credit_event_ps = u64::MAX;
        let is_due = sender.credit_ps <= now_ps;
        if is_due && let Some(target) = sender.on_credit_timeout(now_ps, senders) {
            self.send_signal(host, slot, 0, Way::Out, Signal::Demand { target });
        }
        self.watch_message(slot);
        is_due
    }

    /// Processes the event of a connection's pacing.
    pub(super) fn serve_message_pace(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        if let Some(connection) = self.endpoints.table.connection(slot)
            && connection.sender.pace_event_ps == now_ps
        {
            connection.sender.pace_event_ps = u64::MAX;
            self.pump_message(slot);
        }
    }

    /// Schedules the events of a connection's timers.
    pub(super) fn watch_message(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let sender = &mut connection.sender;
        if sender.timeout_ps < sender.timeout_event_ps {
            sender.timeout_event_ps = sender.timeout_ps;
            (self.clock).schedule(sender.timeout_ps, Kind::Rto, slot as usize);
        }
        if sender.credit_ps < sender.credit_event_ps {
            sender.credit_event_ps = sender.credit_ps;
            self.clock
                .schedule(sender.credit_ps, Kind::Credit, slot as usize);
        }
        let ready_ps = sender.ready_ps();
        if ready_ps > now_ps
            && ready_ps < sender.pace_event_ps
            && !sender.waits_for_nic
            && sender.may_send()
        {
            sender.pace_event_ps = ready_ps;
            self.clock.schedule(ready_ps, Kind::Pace, slot as usize);
        }
    }

    /// Schedules the event of a receiver that waits for groups of packets. All groups wait equally
    /// long, so the first event is the earliest.
    pub(super) fn watch_groups(&mut self, slot: u32) {
        let Some(connection) = self.endpoints.table.connection(slot) else {
            return;
        };
        let receiver = &mut connection.receiver;
        if receiver.group_event_ps == u64::MAX
            && let Some(at_ps) = receiver.next_wait_ps()
        {
            receiver.group_event_ps = at_ps;
            self.clock.schedule(at_ps, Kind::DelayedAck, slot as usize);
        }
    }

    /// Processes the event of a receiver's group timer.
    pub(super) fn serve_group_wait(&mut self, slot: u32) {
        let now_ps = self.clock.now_ps;
        let host = self.endpoints.table.flows[slot as usize].dst as usize;
        loop {
            let Some(connection) = self.endpoints.table.connection(slot) else {
                return;
            };
            let receiver = &mut connection.receiver;
            if receiver.group_event_ps != now_ps {
                return; // of the slot's last connection
            }
            let Some(signal) = receiver.take_overdue(now_ps) else {
                receiver.group_event_ps = u64::MAX;
                return self.watch_groups(slot);
            };
            let entropy = self.endpoints.any_entropy(host, slot);
            self.send_signal(host, slot, entropy, Way::Back, signal);
        }
    }
}

impl Endpoints {
    /// NIC on which a flow sends.
    #[inline]
    pub(super) fn nic_of_flow(&self, slot: u32) -> usize {
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

impl HostSide {
    /// Adapts the rate at which a host grants credit, if it is adaptive.
    pub(super) fn adapt_pulls(&mut self, host: usize, clock: &mut Clock) {
        if let Some(at_ps) = self.pullers[host].adapt(clock.now_ps) {
            clock.schedule(at_ps, Kind::PullRate, host);
        }
    }
}
