//! The ways of a packet through a host: out through stack, NIC and pacer, in through interrupt and
//! stack.

use super::Simulation;
use crate::engine::Kind;
use crate::host::{Received, Release};
use crate::network::{Packet, Verdict, flags};

impl Simulation {
    /// A host's transport sends a packet.
    #[inline]
    pub(super) fn send(&mut self, host: usize, packet: Packet) {
        self.send_piece(host, packet, false);
    }

    /// A host's transport sends a packet, or one more of a large piece (`behind`) that the NIC cuts.
    #[inline]
    pub(super) fn send_piece(&mut self, host: usize, packet: Packet, behind: bool) {
        self.tally.packets_sent += 1;
        if packet.flags & flags::PROBE == 0 {
            self.endpoints.table.flows[packet.flow as usize].in_flight += 1;
        }
        if self.endpoints.hosts.stacks.is_empty() {
            self.send_to_nic(host, packet);
            return;
        }
        let line = 2 * host;
        let one = Received { packet, count: 1 };
        let stack = &mut self.endpoints.hosts.stacks[line];
        let alone = if behind {
            stack.push_behind(self.clock.now_ps, one)
        } else {
            stack.push(self.clock.now_ps, one)
        };
        if let Some(at_ps) = alone {
            self.clock.schedule(at_ps, Kind::Stack, line);
        }
    }

    /// A packet leaves a stack: on the way out for the NIC, on the way in for the transport.
    pub(super) fn serve_stack(&mut self, line: usize) {
        let (received, next_ps) = self.endpoints.hosts.stacks[line].pop();
        if let Some(at_ps) = next_ps {
            self.clock.schedule(at_ps, Kind::Stack, line);
        }
        let Some(received) = received else { return };
        if line.is_multiple_of(2) {
            self.send_to_nic(line / 2, received.packet);
        } else {
            self.receive(line / 2, &received);
        }
    }

    /// To the NIC, and through the pacer where there is one. A packet's route begins at the port
    /// of its host.
    #[inline]
    fn send_to_nic(&mut self, host: usize, packet: Packet) {
        if self.endpoints.hosts.pacers.is_empty() {
            self.send_to_wire(host, packet);
            return;
        }
        let nic = &mut self.endpoints.hosts.pacers[host].nic;
        let options = &mut self.fabric.network.options;
        match nic.enqueue(self.clock.now_ps, self.clock.now_ps, packet, options) {
            Verdict::Accepted { start_ps, first } => {
                if start_ps == self.clock.now_ps {
                    let packet = nic.deliver(self.clock.now_ps, options);
                    self.admit(host, packet);
                } else if first {
                    self.clock.schedule(start_ps, Kind::NicHead, host);
                }
            }
            Verdict::Queued { .. } => unreachable!("a NIC has one class"),
            Verdict::Dropped => (self.endpoints).drop_packet(packet, options, &mut self.tally),
        }
    }

    #[inline]
    fn send_to_wire(&mut self, host: usize, mut packet: Packet) {
        packet.hop += 1;
        let port = self.endpoints.hosts.ports[host] as usize;
        self.transmit(self.clock.now_ps, port, packet);
    }

    pub(super) fn serve_nic(&mut self, host: usize) {
        let nic = &mut self.endpoints.hosts.pacers[host].nic;
        let packet = nic.deliver(self.clock.now_ps, &mut self.fabric.network.options);
        if let Some(next_ps) = nic.next_start_ps() {
            self.clock.schedule(next_ps, Kind::NicHead, host);
        }
        self.admit(host, packet);
    }

    #[inline]
    fn admit(&mut self, host: usize, packet: Packet) {
        let release = self.endpoints.hosts.pacers[host].admit(self.clock.now_ps, packet);
        self.count_drawn(host);
        match release {
            Release::Now(packet) => self.send_to_wire(host, packet),
            Release::Later => self.wake_pacer(host),
            Release::Dropped(packet) => {
                let options = &mut self.fabric.network.options;
                self.endpoints.drop_packet(packet, options, &mut self.tally);
            }
        }
    }

    /// Counts what packets told the pacer.
    #[inline]
    fn count_drawn(&mut self, host: usize) {
        while let Some((flow, echo)) = self.endpoints.hosts.pacers[host].take_drawn() {
            self.endpoints.table.flows[flow as usize].count(echo);
        }
    }

    /// Sees to it that the pacer is looked at when it has to be.
    fn wake_pacer(&mut self, host: usize) {
        let pacer = &mut self.endpoints.hosts.pacers[host];
        if let Some(at_ps) = pacer.next_wake_ps()
            && at_ps < pacer.event_ps
        {
            pacer.event_ps = at_ps;
            self.clock.schedule(at_ps, Kind::Pacer, host);
        }
    }

    pub(super) fn serve_pacer(&mut self, host: usize) {
        if self.endpoints.hosts.pacers[host].event_ps != self.clock.now_ps {
            return; // an earlier event took its place
        }
        self.endpoints.hosts.pacers[host].event_ps = u64::MAX;
        while let Some(packet) = self.endpoints.hosts.pacers[host].release(self.clock.now_ps) {
            self.count_drawn(host);
            self.send_to_wire(host, packet);
        }
        self.count_drawn(host);
        self.wake_pacer(host);
    }

    /// A packet comes off the last link.
    #[inline]
    pub(super) fn arrive(&mut self, host: usize, packet: Packet) {
        if self.endpoints.hosts.receivers.is_empty() {
            self.arrive_at_stack(host, &Received { packet, count: 1 });
            return;
        }
        let receiver = &mut self.endpoints.hosts.receivers[host];
        if let Some(at_ps) = receiver.arrive(self.clock.now_ps, packet) {
            receiver.event_ps = at_ps;
            self.clock.schedule(at_ps, Kind::Receive, host);
        }
    }

    /// An interrupt, or the processor has done with a packet.
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
            if let Some(received) = received {
                self.arrive_at_stack(host, &received);
            }
            if next_ps != Some(self.clock.now_ps) {
                return;
            }
        }
    }

    /// To the transport, through a stack whose delay varies where there is one; packets that were
    /// joined count as so many.
    #[inline]
    fn arrive_at_stack(&mut self, host: usize, received: &Received) {
        if self.endpoints.hosts.stacks.is_empty() {
            self.receive(host, received);
            return;
        }
        let line = 2 * host + 1;
        if let Some(at_ps) = self.endpoints.hosts.stacks[line].push(self.clock.now_ps, *received) {
            self.clock.schedule(at_ps, Kind::Stack, line);
        }
    }
}
