//! The path of a packet through the network: from one link to the next port, until it arrives at a host
//! or is lost. Times are ps.

use super::Simulation;
use crate::engine::{Kind, PacketRef};
use crate::network::{Hop, Packet, Verdict};
use crate::topology::Graph;

/// What becomes of a packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// Its transmission is scheduled.
    Goes,
    /// It waits in a queue until it is selected.
    Waits,
    /// It was dropped.
    Lost,
}

impl Simulation {
    /// Processes a packet that leaves a link, to be forwarded or to arrive.
    #[inline(always)]
    pub(super) fn serve_link(&mut self, link: usize, packet_ref: PacketRef) {
        self.fabric.packet_hops += 1;
        if let Some(out) = Hop::plain_port(packet_ref) {
            self.transmit(self.clock.now_ps, (link, out), packet_ref.packet);
        } else if Hop::is_observed(packet_ref) {
            self.serve_observed(link, packet_ref);
        } else if let Hop::Host(host) = Hop::of(packet_ref) {
            // All other packets have arrived.
            self.take_in(host, packet_ref.packet);
        }
    }

    /// Removes a packet that has reached its host from the network.
    #[inline(always)]
    fn take_in(&mut self, host: usize, place: u32) {
        let packet = self.fabric.network.in_flight.remove(place);
        self.arrive(host, packet);
    }

    /// Processes a packet to be observed that leaves a link.
    #[inline(never)]
    fn serve_observed(&mut self, link: usize, packet_ref: PacketRef) {
        let tail_ps = self.observe(link, packet_ref);
        match Hop::of(packet_ref) {
            Hop::Port(out) => self.transmit_special(tail_ps, (link, out), packet_ref.packet),
            Hop::Host(host) => {
                let mut packet = self.fabric.network.in_flight.remove(packet_ref.packet);
                let options = &mut self.fabric.network.options;
                packet.wire_bytes -= options.collected_bytes(&packet); // the host removes the records
                if packet.is_last() {
                    (self.endpoints).take_last(&mut packet, self.clock.now_ps, options);
                }
                self.arrive(host, packet);
            }
        }
    }

    /// Processes an observed packet that leaves a link. Returns the time after which its last bit
    /// follows, ps.
    fn observe(&mut self, link: usize, packet_ref: PacketRef) -> u64 {
        let (now_ps, network) = (self.clock.now_ps, &mut self.fabric.network);
        if !network.ports[link].is_observed() {
            // The packet is, or its record became whole when its transmission started.
            network.ports[link].advance(now_ps, &mut network.options);
            return 0;
        }
        let packet = network.in_flight.get_mut(packet_ref.packet);
        network.ports[link].mark_delivered(now_ps, packet, &mut network.options);
        let packet = *packet;
        if network.ports[link].is_captured() {
            self.capture(now_ps, link, &packet);
        }
        self.fabric.network.ports[link].tail_ps(&packet)
    }

    fn capture(&mut self, now_ps: u64, link: usize, packet: &Packet) {
        let network = &self.fabric.network;
        (self.instruments).capture(now_ps, network, &self.endpoints, link, packet);
    }

    /// Offers the packet at `place`, which came over `link`, to the next port of its route.
    #[inline(always)]
    pub(super) fn transmit(
        &mut self,
        earliest_ps: u64,
        (link, port): (usize, usize),
        place: u32,
    ) -> Taken {
        let (now_ps, network) = (self.clock.now_ps, &mut self.fabric.network);
        match network.forward_fast(now_ps, earliest_ps, port, place) {
            Some((arrival_ps, Some(packet_ref))) => {
                self.clock.schedule_arrival(arrival_ps, port, packet_ref);
                Taken::Goes
            }
            Some((_, None)) => Taken::Goes,
            None => self.transmit_off_fast_path(earliest_ps, (link, port), place),
        }
    }

    /// Offers the packet at `place` to a port with features beyond the fast path, a long queue, or
    /// no room.
    #[inline(never)]
    fn transmit_off_fast_path(
        &mut self,
        earliest_ps: u64,
        (link, port): (usize, usize),
        place: u32,
    ) -> Taken {
        let (now_ps, network) = (self.clock.now_ps, &mut self.fabric.network);
        if let Some((verdict, packet_ref)) =
            network.forward_recording(now_ps, earliest_ps, port, place)
        {
            return match verdict {
                Verdict::Accepted { arrival_ps, .. } => {
                    self.clock.schedule_arrival(arrival_ps, port, packet_ref);
                    Taken::Goes
                }
                _ => self.lose(place),
            };
        }
        self.make_due_selections(port);
        let (now_ps, network) = (self.clock.now_ps, &mut self.fabric.network);
        let from = Graph::opposite(link);
        let verdict = network.enqueue(now_ps, earliest_ps, (from, port), place);
        self.fabric.schedule_pauses(&mut self.clock);
        let network = &mut self.fabric.network;
        if network.sends_notices
            && let Some(notice) = network.ports[port].take_notice()
        {
            let packet = *network.in_flight.get(place);
            let table = &mut self.endpoints.table;
            table.send_notice(packet.flow, packet.hop, notice, &mut self.clock, network);
        }
        match verdict {
            Verdict::Accepted { arrival_ps, .. } => {
                let packet_ref = network.packet_ref(port, place);
                self.clock.schedule_arrival(arrival_ps, port, packet_ref);
                Taken::Goes
            }
            Verdict::HandedOver => Taken::Goes,
            Verdict::Queued { choice_ps } => {
                self.fabric.network.in_flight.remove(place);
                if let Some(choice_ps) = choice_ps {
                    self.clock.schedule(choice_ps, Kind::Transmit, port);
                }
                Taken::Waits
            }
            Verdict::Held { due_ps } => {
                if let Some(due_ps) = due_ps {
                    self.clock.schedule(due_ps, Kind::Held, port);
                }
                Taken::Goes
            }
            Verdict::Dropped => self.lose(place),
        }
    }

    /// Removes a packet that a port has dropped.
    fn lose(&mut self, place: u32) -> Taken {
        let network = &mut self.fabric.network;
        let packet = network.in_flight.remove(place);
        (self.endpoints).lose_packet(&packet, &mut self.clock, &mut network.options);
        Taken::Lost
    }

    /// Makes the selections of a `Queued` port that are due now, before an arrival or a
    /// change at the same time. Selected packets may be dropped. The event of a selection that has
    /// been made does nothing.
    pub(super) fn make_due_selections(&mut self, port: usize) {
        while self.fabric.network.ports[port].selects_at(self.clock.now_ps) {
            self.select_next(port);
        }
    }

    fn select_next(&mut self, port: usize) {
        let sent = self.fabric.transmit_next(port, &mut self.clock);
        if let Some((packet, waited_ps)) = &sent
            && packet.is_last()
        {
            self.fabric.note_wait(packet, port, *waited_ps);
        }
        let limits = self.endpoints.limits_queues
            && self.fabric.is_of_host(port)
            && self.endpoints.hosts.queues_at_port();
        while let Some(packet) = self.fabric.network.ports[port].take_lost() {
            let options = &mut self.fabric.network.options;
            (self.endpoints).lose_packet(&packet, &mut self.clock, options);
            if limits {
                self.left_host(&packet);
            }
        }
        if limits && let Some((packet, _)) = sent {
            self.left_host(&packet);
        }
    }

    /// Loses the packets that the watchdog of pauses has discarded.
    pub(super) fn lose_discarded(&mut self) {
        while let Some(port) = self.fabric.network.next_discarding() {
            while let Some(packet) = self.fabric.network.ports[port].take_lost() {
                let options = &mut self.fabric.network.options;
                (self.endpoints).lose_packet(&packet, &mut self.clock, options);
            }
        }
    }

    /// Forwards a probe, or a packet of which a cut-through switch has only the beginning: it may
    /// be sent when the rest will be there in time.
    fn transmit_special(&mut self, tail_ps: u64, (link, port): (usize, usize), place: u32) {
        self.make_due_selections(port);
        let packet = *self.fabric.network.in_flight.get(place);
        let out = &self.fabric.network.ports[port];
        let last_bit_ps = self.clock.now_ps + tail_ps;
        let sending_ps = out.serialization_ps(packet.wire_bytes);
        let earliest_ps = last_bit_ps
            .saturating_sub(sending_ps)
            .max(self.clock.now_ps);
        let waits_ps = out.first_class_wait_ps(self.clock.now_ps);
        if packet.is_last() {
            self.transmit_last(earliest_ps, (link, port), place);
            return;
        }
        let taken = self.transmit(earliest_ps, (link, port), place) != Taken::Lost;
        if packet.is_probe() {
            (self.instruments).time_probe(&self.clock, port, &packet, waits_ps, taken);
        }
    }

    /// Offers the last packet of a message to a port, and records its wait if the packet is sent
    /// through a FIFO; other ports tell it when they select the packet.
    pub(super) fn transmit_last(
        &mut self,
        earliest_ps: u64,
        (link, port): (usize, usize),
        place: u32,
    ) -> Taken {
        let packet = *self.fabric.network.in_flight.get(place);
        let free_ps = self.fabric.network.ports[port].busy_until_ps();
        let taken = self.transmit(earliest_ps, (link, port), place);
        if taken == Taken::Goes {
            let wait_ps = free_ps.max(earliest_ps).saturating_sub(self.clock.now_ps);
            self.fabric.note_wait(&packet, port, wait_ps);
        }
        taken
    }

    /// Lets pauses that are due begin or end.
    pub(super) fn serve_pauses(&mut self) {
        let resumed = self.fabric.serve_pauses(&mut self.clock);
        self.note_pauses();
        self.lose_discarded();
        self.resume_nics(&resumed);
    }

    /// Records pauses that have begun or ended.
    fn note_pauses(&mut self) {
        self.instruments.note_pauses(&mut self.fabric);
    }

    /// Fails or restores links.
    pub(super) fn change_links(&mut self, index: usize) {
        self.fabric.let_all_in(&mut self.clock);
        for packet in self.fabric.change_links(index, &mut self.clock) {
            let (now_ps, options) = (self.clock.now_ps, &mut self.fabric.network.options);
            (self.endpoints).drop_packet(packet, now_ps, options);
        }
        self.note_pauses();
        let down = Vec::from_iter(self.fabric.failed_ports());
        if self.endpoints.limits_queues {
            (down.iter()).for_each(|&port| self.endpoints.forget_host_queue(port));
        }
        let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
        self.endpoints.table.reroute(network, routes);
        let of_hosts = down
            .into_iter()
            .filter(|&port| self.fabric.is_of_host(port));
        self.resume_nics(&Vec::from_iter(of_hosts)); // a failure ends the pauses of its link
    }
}
