//! The paths of a packet through a host: out through stack, NIC and pacer, in through interrupt and
//! stack.

use super::Simulation;
use super::clock::Clock;
use super::endpoints::Endpoints;
use super::forwarding::Taken;
use crate::engine::Kind;
use crate::host::{Entry, Received, Release};
use crate::network::{OptionTable, PACER, Packet, SENDER, flags};
use crate::topology::Graph;

impl Simulation {
    /// Sends a packet of a host's transport.
    #[inline(always)]
    pub(super) fn send(&mut self, host: usize, packet: Packet) {
        self.send_piece(host, packet, false);
    }

    /// Sends a packet of a host's transport, or a further one of a large piece (`behind`) that the
    /// NIC splits.
    #[inline(always)]
    pub(super) fn send_piece(&mut self, host: usize, packet: Packet, behind: bool) {
        self.endpoints.tally.sent += 1;
        if !packet.is_probe() {
            let flow = &mut self.endpoints.table.flows[packet.flow as usize];
            flow.in_flight = flow.in_flight.wrapping_add(1);
        }
        if self.endpoints.hosts.has_stages {
            self.send_through_stages(host, packet, behind);
        } else {
            self.send_to_nic(host, packet);
        }
    }

    #[inline(never)]
    fn send_through_stages(&mut self, host: usize, packet: Packet, behind: bool) {
        let Some(sender) = self.endpoints.hosts.senders.get_mut(host) else {
            self.send_to_stack(host, packet, behind);
            return;
        };
        sender.add(self.clock.now_ps, packet, behind);
        self.endpoints.wake_sender(host, &mut self.clock);
    }

    /// Passes on the packets that the sending processor of a host has done.
    pub(super) fn serve_sender(&mut self, host: usize) {
        let sender = &mut self.endpoints.hosts.senders[host];
        if sender.event_ps != self.clock.now_ps {
            return; // an earlier event took its place
        }
        sender.event_ps = u64::MAX;
        while let Some(packet) = self.endpoints.hosts.senders[host].take(self.clock.now_ps) {
            let options = &mut self.fabric.network.options;
            options.leave_stage(&packet, SENDER, self.clock.now_ps);
            self.send_to_stack(host, packet, packet.is_behind());
        }
        self.endpoints.wake_sender(host, &mut self.clock);
    }

    /// Passes a packet to the NIC, through a stack with variable delay if there is one.
    fn send_to_stack(&mut self, host: usize, packet: Packet, behind: bool) {
        if self.endpoints.hosts.stacks.is_empty() {
            self.send_to_nic(host, packet);
            return;
        }
        let one = Received { packet, count: 1 };
        (self.endpoints).enter_stack(2 * host, &one, behind, &mut self.clock);
    }

    /// Processes a packet that leaves a stack: to the NIC when sending, to the transport when
    /// receiving.
    pub(super) fn serve_stack(&mut self, line: usize) {
        let Some(received) = self.endpoints.leave_stack(line, &mut self.clock) else {
            return;
        };
        if line.is_multiple_of(2) {
            let options = &mut self.fabric.network.options;
            options.leave_stage(&received.packet, SENDER, self.clock.now_ps);
            self.send_to_nic(line / 2, received.packet);
        } else {
            self.receive(line / 2, &received);
        }
    }

    /// Passes a packet to its NIC, and through the pacer if there is one. A packet's route begins at the
    /// port of its NIC.
    #[inline(always)]
    fn send_to_nic(&mut self, host: usize, packet: Packet) {
        let nic = self.nic_of(host, packet.hop);
        if self.endpoints.hosts.pacers.is_empty() {
            self.send_to_wire(nic, packet);
        } else if self.endpoints.hosts.paces_pieces {
            self.send_to_first_pacer(nic, packet);
        } else {
            self.send_to_pacer(nic, packet);
        }
    }

    /// NIC of a host for a packet whose route begins at `hop`.
    #[inline(always)]
    pub(super) fn nic_of(&self, host: usize, hop: u32) -> usize {
        let network = &self.fabric.network;
        self.endpoints.hosts.nic(host, || network.first_port(hop))
    }

    /// Passes a packet to a pacer that stands before segmentation; the port behind it is the NIC queue.
    #[inline(never)]
    fn send_to_first_pacer(&mut self, nic: usize, packet: Packet) {
        let (clock, options) = (&mut self.clock, &mut self.fabric.network.options);
        let drops = self.endpoints.hosts.pacers[nic].drops;
        if (self.endpoints).admit(nic, &packet, clock, options) {
            self.send_to_wire(nic, packet);
        } else if self.endpoints.limits_queues && self.endpoints.hosts.pacers[nic].drops > drops {
            self.left_host(&packet);
        }
    }

    #[inline(never)]
    fn send_to_pacer(&mut self, nic: usize, mut packet: Packet) {
        if self.endpoints.hosts.pacers[nic]
            .nic
            .selects_at(self.clock.now_ps)
        {
            self.serve_nic(nic); // as at a port, a due selection comes first
        }
        let (clock, options) = (&mut self.clock, &mut self.fabric.network.options);
        let endpoints = &mut self.endpoints;
        let waited = endpoints.hosts.pacers[nic].nic.len();
        if endpoints.enter_nic(nic, &mut packet, clock, options) {
            self.send_to_wire(nic, packet);
        }
        let hosts = &self.endpoints.hosts;
        if self.endpoints.limits_queues && hosts.pacers[nic].nic.len() == waited {
            self.left_host(&packet);
        }
    }

    /// Sends a packet through the port of its NIC. Inlined, so that a packet that was just made
    /// gets its place without a copy, which would wait until each of its fields is in memory.
    #[inline(always)]
    pub(super) fn send_to_wire(&mut self, nic: usize, packet: Packet) {
        let is_last = packet.is_last();
        let place = self.fabric.network.in_flight.insert(packet);
        self.send_from(nic, place, is_last);
    }

    #[inline(never)]
    fn send_from(&mut self, nic: usize, place: u32, is_last: bool) {
        let port = self.endpoints.hosts.ports[nic] as usize;
        let path = (Graph::opposite(port), port); // no packet came over the link to the host
        let is_limited = self.endpoints.limits_queues && self.endpoints.hosts.queues_at_port();
        if !is_last && !is_limited {
            self.transmit(self.clock.now_ps, path, place);
            return;
        }
        let packet = *self.fabric.network.in_flight.get(place);
        let taken = if is_last {
            self.transmit_last(self.clock.now_ps, path, place)
        } else {
            self.transmit(self.clock.now_ps, path, place)
        };
        if is_limited && taken != Taken::Waits {
            self.left_host(&packet);
        }
    }

    /// Processes a packet that has left the queue of its host: a flow that waits for that sends on.
    #[inline]
    pub(super) fn left_host(&mut self, packet: &Packet) {
        if self.endpoints.leave_host(packet) {
            self.pump(packet.flow);
        }
    }

    /// Processes the packet at the head of a NIC's queue.
    pub(super) fn serve_nic(&mut self, nic: usize) {
        let (clock, options) = (&mut self.clock, &mut self.fabric.network.options);
        let endpoints = &mut self.endpoints;
        let (left, lost) = endpoints.leave_nic(nic, clock, options);
        if let Some((packet, true)) = left {
            self.send_to_wire(nic, packet);
        }
        if self.endpoints.limits_queues {
            let left = left.map(|(packet, _)| packet);
            left.iter()
                .chain(&lost)
                .for_each(|packet| self.left_host(packet));
        }
    }

    /// Processes a pacer's event: a rate update, or packets that may leave.
    pub(super) fn serve_pacer(&mut self, nic: usize) {
        let stage = &mut self.endpoints.hosts.pacers[nic];
        if stage.event_ps != self.clock.now_ps {
            return; // an earlier event took its place
        }
        stage.event_ps = u64::MAX;
        while let Some(packet) = self.endpoints.leave_pacer(nic, self.clock.now_ps) {
            let options = &mut self.fabric.network.options;
            options.leave_stage(&packet, PACER, self.clock.now_ps);
            self.send_to_wire(nic, packet);
        }
        self.endpoints.wake_pacer(nic, &mut self.clock);
    }

    /// Counts a data packet that has passed the host's stack. The payload that arrived before the end of
    /// the warm-up belongs to it.
    #[inline]
    pub(super) fn count_received(&mut self, host: usize, packet: &Packet, new_bytes: u64) {
        self.endpoints.count_received(host, packet, new_bytes);
        if self.clock.now_ps < self.instruments.edge_ps {
            let early_bytes = self.early_bytes(host, packet, new_bytes);
            let transport = self.endpoints.table.flows[packet.flow as usize].transport;
            let before = &mut self.instruments.at_warmup;
            before.add_received(host, usize::from(transport), early_bytes);
        }
    }

    /// Share of a packet's new payload that arrived before the end of the warm-up, bytes.
    fn early_bytes(&self, host: usize, packet: &Packet, new_bytes: u64) -> u64 {
        let reception_ps = self.fabric.reception_ps(host, packet.wire_bytes).max(1);
        let inside_ps = self.clock.now_ps.saturating_sub(self.clock.warmup_ps);
        let outside_ps = reception_ps - inside_ps.min(reception_ps);
        new_bytes * outside_ps / reception_ps
    }

    /// Processes a packet that leaves its last link.
    #[inline]
    pub(super) fn arrive(&mut self, host: usize, packet: Packet) {
        if self.endpoints.hosts.receivers.is_empty() {
            self.arrive_at_stack(host, &Received { packet, count: 1 });
            return;
        }
        let receiver = &mut self.endpoints.hosts.receivers[host];
        if receiver.is_full(packet.class()) {
            receiver.drops += 1;
            let (now_ps, options) = (self.clock.now_ps, &mut self.fabric.network.options);
            (self.endpoints).drop_packet(packet, now_ps, options);
            return;
        }
        if let Some(at_ps) = receiver.arrive(self.clock.now_ps, packet) {
            receiver.event_ps = at_ps;
            self.clock.schedule(at_ps, Kind::Receive, host);
        }
        if receiver.must_pause() {
            (self.fabric.network).pause_to_host(self.clock.now_ps, host);
            self.fabric.schedule_pauses(&mut self.clock);
        }
    }

    /// Processes an interrupt, or the end of the processor's work on a packet.
    pub(super) fn serve_receive(&mut self, host: usize) {
        let receiver = &mut self.endpoints.hosts.receivers[host];
        if receiver.event_ps != self.clock.now_ps {
            return; // an earlier event took its place
        }
        receiver.event_ps = u64::MAX;
        loop {
            let receiver = &mut self.endpoints.hosts.receivers[host];
            let (received, next_ps) = receiver.serve(self.clock.now_ps);
            if let Some(at_ps) = next_ps
                && at_ps > self.clock.now_ps
            {
                receiver.event_ps = at_ps;
                self.clock.schedule(at_ps, Kind::Receive, host);
            }
            if receiver.may_resume() {
                (self.fabric.network).resume_to_host(self.clock.now_ps, host);
                self.fabric.schedule_pauses(&mut self.clock);
            }
            if let Some(received) = received {
                self.arrive_at_stack(host, &received);
            }
            if next_ps != Some(self.clock.now_ps) {
                return;
            }
        }
    }

    /// Passes a packet to the transport, through a stack with variable delay if there is one.
    /// Joined packets count individually.
    #[inline]
    fn arrive_at_stack(&mut self, host: usize, received: &Received) {
        if self.endpoints.hosts.stacks.is_empty() {
            self.receive(host, received);
            return;
        }
        (self.endpoints).enter_stack(2 * host + 1, received, false, &mut self.clock);
    }
}

impl Endpoints {
    /// Schedules the next event of a sending processor.
    fn wake_sender(&mut self, host: usize, clock: &mut Clock) {
        let sender = &mut self.hosts.senders[host];
        if let Some(at_ps) = sender.next_ps()
            && at_ps < sender.event_ps
        {
            sender.event_ps = at_ps;
            clock.schedule(at_ps, Kind::Send, host);
        }
    }

    /// Adds a packet to a stack; when sending, it may be a further one of a large piece (`behind`).
    #[inline]
    fn enter_stack(&mut self, line: usize, received: &Received, behind: bool, clock: &mut Clock) {
        let stack = &mut self.hosts.stacks[line];
        let alone = if behind {
            stack.push_behind(clock.now_ps, *received)
        } else {
            stack.push(clock.now_ps, *received)
        };
        if let Some(at_ps) = alone {
            clock.schedule(at_ps, Kind::Stack, line);
        }
    }

    #[inline]
    fn leave_stack(&mut self, line: usize, clock: &mut Clock) -> Option<Received> {
        let (received, next_ps) = self.hosts.stacks[line].pop();
        if let Some(at_ps) = next_ps {
            clock.schedule(at_ps, Kind::Stack, line);
        }
        received
    }

    /// Passes a packet through NIC and pacer. Returns true if it goes to the wire now.
    #[inline]
    fn enter_nic(
        &mut self,
        nic: usize,
        packet: &mut Packet,
        clock: &mut Clock,
        options: &mut OptionTable,
    ) -> bool {
        let queue = &mut self.hosts.pacers[nic].nic;
        match queue.enqueue(clock.now_ps, packet) {
            Entry::Now => return self.admit(nic, packet, clock, options),
            Entry::First(start_ps) => clock.schedule(start_ps, Kind::NicHead, nic),
            Entry::Behind => {}
            Entry::Dropped => self.drop_packet(*packet, clock.now_ps, options),
        }
        false
    }

    /// Passes the next packet of a NIC's queue through the pacer. Returns it, if there is one, and
    /// whether it goes to the wire now; and packets that were dropped.
    #[inline]
    fn leave_nic(
        &mut self,
        nic: usize,
        clock: &mut Clock,
        options: &mut OptionTable,
    ) -> (Option<(Packet, bool)>, Vec<Packet>) {
        let queue = &mut self.hosts.pacers[nic].nic;
        let (packet, next_ps) = queue.take_next(clock.now_ps);
        if let Some(next_ps) = next_ps {
            clock.schedule(next_ps, Kind::NicHead, nic);
        }
        let mut all_lost = Vec::new();
        while let Some(lost) = self.hosts.pacers[nic].nic.take_lost() {
            self.drop_packet(lost, clock.now_ps, options);
            all_lost.push(lost);
        }
        let left = packet.map(|packet| {
            let is_released = self.admit(nic, &packet, clock, options);
            (packet, is_released)
        });
        (left, all_lost)
    }

    /// Passes a packet to the pacer. Returns true if it goes to the wire now.
    #[inline]
    fn admit(
        &mut self,
        nic: usize,
        packet: &Packet,
        clock: &mut Clock,
        options: &mut OptionTable,
    ) -> bool {
        options.leave_stage(packet, SENDER, clock.now_ps);
        let release = self.hosts.pacers[nic].admit(clock.now_ps, packet);
        if packet.has(flags::ECHOED) {
            self.count_drawn(nic);
        }
        match release {
            Release::Now => return true,
            Release::Later => self.wake_pacer(nic, clock),
            Release::Dropped => self.drop_packet(*packet, clock.now_ps, options),
        }
        false
    }

    /// Takes a packet that may leave a pacer now.
    #[inline]
    fn leave_pacer(&mut self, nic: usize, now_ps: u64) -> Option<Packet> {
        let packet = self.hosts.pacers[nic].release(now_ps);
        self.count_drawn(nic);
        packet
    }

    /// Counts the ECN-Echoes that packets reported to the pacer.
    #[inline]
    fn count_drawn(&mut self, nic: usize) {
        while let Some((flow, echo)) = self.hosts.pacers[nic].take_drawn() {
            self.table.flows[flow as usize].count(echo);
        }
    }

    /// Schedules the pacer's next event.
    fn wake_pacer(&mut self, nic: usize, clock: &mut Clock) {
        let pacer = &mut self.hosts.pacers[nic];
        if let Some(at_ps) = pacer.next_wake_ps()
            && at_ps < pacer.event_ps
        {
            pacer.event_ps = at_ps;
            clock.schedule(at_ps, Kind::Pacer, nic);
        }
    }
}
