//! Connections at the NICs of their hosts: data waits in the connections until its link is free, and leaves in
//! turn with control packets. What belongs to a paused class waits for its end. Times are ps.

use crate::engine::Kind;
use crate::host::{MessageNic, Turn};
use crate::network::{
    Answer, InBand, NO_OPTIONS, Options, Packet, PathWord, Port, Report, Signal, flags,
};
use crate::simulation::Simulation;
use crate::simulation::flow::connection::Way;

/// Class of data, unless the transport sets it; trimmed headers have class 0.
const DATA_CLASS: u8 = 1;

/// Flags of a packet of this class.
fn class_flags(class: u8) -> u16 {
    u16::from(class) << flags::CLASS_SHIFT
}

impl Simulation {
    /// Queues a connection at its NIC if it has data to send.
    pub(in crate::simulation) fn pump_message(&mut self, slot: u32) {
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
    pub(in crate::simulation) fn serve_message_nic(&mut self, nic: usize) {
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
            let Some(turn) = queues.next_turn() else {
                return;
            };
            if self.is_paused(nic, &turn) {
                continue;
            }
            match turn {
                Turn::Control(packet) => self.send_to_wire(self.nic_of(nic, packet.hop), packet),
                Turn::Sender(slot) => self.send_message_data(nic, slot),
            }
        }
    }

    /// Whether the class of what has its turn is paused at the link; it then waits for the end of the pause.
    #[inline(always)]
    fn is_paused(&mut self, nic: usize, turn: &Turn) -> bool {
        self.fabric.network.has_pauses() && self.wait_for_resume(nic, turn)
    }

    #[inline(never)]
    fn wait_for_resume(&mut self, nic: usize, turn: &Turn) -> bool {
        let class = match turn {
            Turn::Control(packet) => packet.class(),
            Turn::Sender(slot) => usize::from(self.class_of_data(*slot)),
        };
        let hosts = &mut self.endpoints.hosts;
        let port = hosts.ports[nic] as usize;
        let is_paused = self.fabric.network.ports[port].stops(class as u8);
        if is_paused {
            hosts.message_nics[nic].pause(class, *turn);
        }
        is_paused
    }

    /// Lets the NICs of these ports send on after a pause.
    pub(in crate::simulation) fn resume_nics(&mut self, ports: &[usize]) {
        for &port in ports {
            let host = self.fabric.host_at(port);
            let nic = self.endpoints.hosts.nic(host, || port as u32);
            let nics = &mut self.endpoints.hosts.message_nics;
            if nics.get_mut(nic).is_some_and(MessageNic::resume) {
                self.serve_message_nic(nic);
            }
        }
    }

    /// Class of a connection's data.
    fn class_of_data(&self, slot: u32) -> u8 {
        let template = self.endpoints.table.template(slot);
        template.class.unwrap_or(DATA_CLASS)
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
        let template = table.template(slot);
        let ecn = template.messages().is_some_and(|of| of.common.ecn);
        let class = template.class.unwrap_or(DATA_CLASS);
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
            flags: flags::DATA
                | class_flags(class)
                | flags::TRIMMABLE
                | if ecn { flags::ECT0 } else { 0 },
        };
        if sending.is_last {
            network.options.follow_last(&mut packet, now_ps);
        }
        self.endpoints.tally.sent += 1;
        self.endpoints.tally.counts.first_sends += u64::from(!sending.resent);
        table.flows[slot as usize].in_flight += 1;
        self.send_to_wire(self.nic_of(nic, hop), packet);
        self.watch_message(slot);
    }

    /// Sends a control packet. An acknowledgment returns the telemetry of data that has just arrived, at
    /// the entry `collected` of the options; without an entry, the telemetry of earlier data.
    pub(in crate::simulation) fn send_signal(
        &mut self,
        host: usize,
        slot: u32,
        (entropy, way): (u16, Way),
        signal: Signal,
        collected: Option<u32>,
    ) {
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        let table = &mut self.endpoints.table;
        let hop = table.message_route(slot, entropy, way, network, routes);
        let Some(config) = table.template(slot).messages() else {
            return;
        };
        let class = match signal {
            Signal::Notification => config.common.notification_class,
            Signal::Ack(_)
            | Signal::Nack(_)
            | Signal::GoBack(_)
            | Signal::GroupNack { .. }
            | Signal::Pull { .. }
            | Signal::Demand { .. } => config.common.ack_class,
        };
        let report = Report::Signal(signal);
        let options = match (signal, collected) {
            (Signal::Ack(_), Some(entry)) => network.options.hand_over(report, entry),
            (Signal::Ack(_), None) => network.options.insert_answer(report, table.answer(slot)),
            (
                Signal::Nack(_)
                | Signal::GoBack(_)
                | Signal::Notification
                | Signal::GroupNack { .. }
                | Signal::Pull { .. }
                | Signal::Demand { .. },
                _,
            ) => network.options.insert_answer(report, Answer::Nothing),
        };
        let returned_bytes = network.options.returned_bytes(options);
        let packet = Packet {
            seq: 0,
            ack: u32::from(entropy),
            flow: slot,
            options,
            hop,
            wire_bytes: config.common.control_bytes + returned_bytes,
            flags: class_flags(class),
        };
        self.endpoints.tally.sent += 1;
        let counts = &mut self.endpoints.tally.counts;
        match signal {
            Signal::Ack(_) => counts.acks += 1,
            Signal::Nack(_) | Signal::GoBack(_) | Signal::GroupNack { .. } => counts.nacks += 1,
            Signal::Notification => counts.notifications += 1,
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
}
