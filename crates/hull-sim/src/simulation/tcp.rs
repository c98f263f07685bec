//! TCP's part of a run: segments become packets, packets become calls of senders and receivers, and
//! timers become events.

use hull_core::accecn::Codepoint;

use super::Simulation;
use super::endpoints::Endpoints;
use super::flow::NONE;
use crate::host::Received;
use crate::network::{Answer, NO_OPTIONS, OptionTable, Options, Packet, Report, flags};
use crate::transport::{Echo, OutgoingAck, Segment, sequence};

impl Simulation {
    /// Processes a packet that has passed the host's stack.
    #[inline]
    pub(super) fn receive(&mut self, host: usize, received: &Received) {
        let packet = received.packet;
        self.endpoints.tally.delivered += u64::from(received.count);
        if packet.flags & flags::PROBE != 0 {
            if !packet.is_last() {
                return self.answer_probe(host, &packet);
            }
            self.endpoints.receive_last(&packet, self.clock.now_ps);
        }
        let in_flight = &mut self.endpoints.table.flows[packet.flow as usize].in_flight;
        *in_flight = in_flight.wrapping_sub(received.count);
        if self.endpoints.table.is_message(packet.flow) {
            self.receive_message(host, &packet);
            return;
        }
        if packet.flags & flags::SYN != 0 {
            self.receive_syn(host, &packet);
            return;
        }
        let table = &mut self.fabric.network.options;
        let options = table.take(packet.options);
        if packet.has(flags::DATA) && options.is_some() {
            let answer = table.answer(packet.options, options.as_ref());
            self.endpoints.table.keep_answer(packet.flow, answer);
        }
        if packet.has(flags::ACK) {
            self.receive_ack(&packet, options.as_ref());
        }
        if packet.has(flags::DATA) {
            self.receive_data(host, received);
        }
        (self.endpoints.table).release_if_done(packet.flow, self.clock.now_ps);
    }

    /// Answers a SYN; a SYN-ACK starts the data.
    fn receive_syn(&mut self, host: usize, packet: &Packet) {
        let at = self.endpoints.table.place(packet.flow);
        if packet.has(flags::ACK) {
            self.endpoints.table.senders[at].on_syn_ack(self.clock.now_ps);
            self.pump(packet.flow);
        } else {
            let answer = self.endpoints.table.receivers[at].on_syn();
            self.send_ack(host, packet.flow, &answer);
        }
    }

    #[inline]
    fn receive_ack(&mut self, packet: &Packet, options: Option<&Options>) {
        let mut slot = packet.flow;
        if packet.has(flags::DATA) {
            let reverse = self.endpoints.table.flows[slot as usize].reverse;
            if reverse != NONE {
                slot = reverse;
            }
        }
        let now_ps = self.clock.now_ps;
        let answer = (self.fabric.network.options).answer(packet.options, options);
        let sack = options.map_or(&[][..], Options::sack);
        (self.endpoints).take_ack(slot, packet, (sack, answer), now_ps);
        self.take_acked(slot);
        self.pump(slot);
    }

    #[inline]
    fn receive_data(&mut self, host: usize, received: &Received) {
        let packet = &received.packet;
        let slot = packet.flow;
        let at = self.endpoints.table.place(slot);
        let receiver = &mut self.endpoints.table.receivers[at];
        let (before, had_bytes) = (receiver.next(), receiver.received_bytes());
        let start = sequence::unwrap(packet.seq, before);
        let (ce, cwr) = (packet.has(flags::CE), packet.has(flags::CWR));
        let bytes = u64::from(packet.wire_bytes - self.endpoints.header_bytes);
        receiver.count_joined(ce, received.count - 1);
        let acks = receiver.on_data(self.clock.now_ps, start, bytes, ce, cwr);
        let (next, new_bytes) = (receiver.next(), receiver.received_bytes() - had_bytes);
        // Joined packets are more than one segment, which Linux acknowledges at once.
        let at_once = if received.count > 1 {
            receiver.take_pending()
        } else {
            None
        };
        for ack in acks.iter().chain([&at_once]).flatten() {
            self.send_ack(host, slot, ack);
        }
        self.count_received(host, packet, new_bytes);
        if next > before {
            let now_ps = self.clock.now_ps;
            while let Some(message) = self.endpoints.table.flows[slot as usize].completed(next) {
                let table = &mut self.endpoints.table;
                let waits = table.take_waits(slot, &message, now_ps);
                if !table.leave_arrival(slot, now_ps, waits.as_ref()) {
                    self.message_delivered(slot, &message, now_ps, waits.as_ref());
                }
            }
        }
        (self.endpoints.table).watch_delayed_ack(slot, &mut self.clock);
    }

    pub(super) fn send_ack(&mut self, host: usize, slot: u32, ack: &OutgoingAck) {
        let options = &mut self.fabric.network.options;
        let packet = self.endpoints.packet_of_ack(slot, ack, options);
        self.send(host, packet);
    }

    /// Sends the segments that a flow's window or rate allows; they carry a pending ACK of the
    /// reverse flow.
    #[inline]
    pub(super) fn pump(&mut self, slot: u32) {
        if self.endpoints.table.is_message(slot) {
            self.pump_message(slot);
            return;
        }
        if self.endpoints.table.has_pace(slot) {
            while let Some(segment) = self.endpoints.next_paced(slot, &mut self.clock) {
                self.send_piece_of(slot, segment);
            }
        } else {
            self.send_window(slot);
        }
        self.endpoints.table.watch_rto(slot, &mut self.clock);
    }

    #[inline]
    fn send_window(&mut self, slot: u32) {
        let offload_bytes = self.endpoints.hosts.offload_bytes;
        let sender = self.endpoints.table.place(slot);
        while self.endpoints.has_room_at_host(slot)
            && let Some(segment) =
                self.endpoints.table.senders[sender].poll_burst(self.clock.now_ps, offload_bytes)
        {
            self.send_piece_of(slot, segment);
        }
    }

    #[inline]
    fn send_piece_of(&mut self, slot: u32, segment: Segment) {
        if segment.bytes <= self.endpoints.mss {
            self.send_segment(slot, &segment, false);
        } else {
            self.send_burst(slot, segment);
        }
    }

    /// Sends a large piece: the NIC splits it and sends the parts back to back (segmentation
    /// offload).
    fn send_burst(&mut self, slot: u32, mut segment: Segment) {
        let whole = segment.bytes;
        let mut left = whole;
        while left > 0 {
            segment.bytes = left.min(self.endpoints.mss);
            self.send_segment(slot, &segment, left < whole);
            segment.start += u64::from(segment.bytes);
            segment.cwr = false;
            left -= segment.bytes;
        }
    }

    fn send_segment(&mut self, slot: u32, segment: &Segment, behind: bool) {
        let options = &mut self.fabric.network.options;
        let (host, mut packet) = self.endpoints.packet_of(slot, segment, options);
        packet.flags |= u16::from(behind) * flags::BEHIND;
        if self.endpoints.table.sprays(slot) && !segment.syn {
            let (network, routes) = (&mut self.fabric.network, &self.fabric.routes);
            let (table, now_ps) = (&mut self.endpoints.table, self.clock.now_ps);
            packet.hop = table.next_route(slot, now_ps, network, routes);
        }
        if !segment.syn {
            let end = segment.start + u64::from(segment.bytes);
            let now_ps = self.clock.now_ps;
            let options = &mut self.fabric.network.options;
            (self.endpoints).follow_if_last(&mut packet, end, now_ps, options);
        }
        self.endpoints.enter_host(&packet);
        self.send_piece(host, packet, behind);
    }
}

impl Endpoints {
    /// Processes an ACK at the sender of a flow.
    #[inline]
    fn take_ack(
        &mut self,
        slot: u32,
        packet: &Packet,
        (sack, answer): (&[(u32, u32)], Answer<'_>),
        now_ps: u64,
    ) {
        let ece = packet.has(flags::ECE);
        let paced = ece && self.table.associates(slot);
        if paced && self.hosts.packets_tell {
            self.table.flows[slot as usize].echoed = true;
        } else if paced {
            let nic = self.nic_of_flow(slot);
            let echo = self.hosts.on_ece(now_ps, nic, slot);
            self.table.flows[slot as usize].count(echo);
        }
        let at = self.table.place(slot);
        let sender = &mut self.table.senders[at];
        let ack = sequence::unwrap(packet.ack, sender.una());
        let echo = Echo {
            marked: ece,
            ace: packet.ace(),
            answer,
        };
        sender.on_ack(now_ps, ack, echo, sack);
        if self.table.has_pace(slot) {
            self.table.adjust_pace(slot, now_ps);
        }
    }

    /// Creates the packet of an acknowledgment.
    fn packet_of_ack(&self, slot: u32, ack: &OutgoingAck, options: &mut OptionTable) -> Packet {
        let answer = if ack.syn {
            Answer::Nothing
        } else {
            self.table.answer(slot)
        };
        let (mut entry, mut option_bytes) = (NO_OPTIONS, 0);
        if ack.selective || answer != Answer::Nothing {
            let report = if ack.selective {
                let sack = self.table.receivers[self.table.place(slot)].sack();
                option_bytes = sack.option_bytes();
                Report::Sack(sack)
            } else {
                Report::Nothing
            };
            entry = options.insert_answer(report, answer);
        }
        let flow = &self.table.flows[slot as usize];
        Packet {
            seq: 0,
            ack: sequence::wrap(ack.ack),
            flow: slot,
            options: entry,
            hop: flow.back,
            wire_bytes: self.header_bytes + option_bytes + options.bytes_of(answer),
            flags: flags::ACK
                | if ack.ece { flags::ECE } else { 0 }
                | Packet::ace_flags(ack.ace)
                | if ack.syn { flags::SYN } else { 0 }
                | (flow.first.class << flags::CLASS_SHIFT),
        }
    }

    /// Creates the packet of a segment. Returns also the host that sends it. Inlined, so that the
    /// packet is not copied before its fields are in memory.
    #[inline(always)]
    fn packet_of(
        &mut self,
        slot: u32,
        segment: &Segment,
        options: &mut OptionTable,
    ) -> (usize, Packet) {
        let flow = &mut self.table.flows[slot as usize];
        let echoed = std::mem::take(&mut flow.echoed);
        let (src, reverse) = (flow.src as usize, flow.reverse);
        let mut packet = Packet {
            seq: sequence::wrap(segment.start),
            ack: 0,
            flow: slot,
            options: NO_OPTIONS,
            hop: flow.out,
            wire_bytes: segment.bytes + self.header_bytes,
            flags: if segment.syn { flags::SYN } else { flags::DATA }
                | flags_of(segment.ect)
                | if segment.cwr { flags::CWR } else { 0 }
                | if echoed { flags::ECHOED } else { 0 }
                | (flow.class_at(segment.start) << flags::CLASS_SHIFT),
        };
        // Data with a request to switches carries no ACK: a packet has room for one set of fields.
        if self.table.asks(slot) {
            if !segment.syn {
                packet.options = self.table.ask(slot, options);
            }
        } else if reverse != NONE
            && !segment.syn
            && let at = self.table.place(reverse)
            && let Some(ack) = self.table.receivers[at].take_pending()
        {
            packet.ack = sequence::wrap(ack.ack);
            packet.flags |= flags::ACK | if ack.ece { flags::ECE } else { 0 };
            packet.flags |= Packet::ace_flags(ack.ace);
        }
        (src, packet)
    }
}

/// ECN field of a packet.
fn flags_of(codepoint: Codepoint) -> u16 {
    match codepoint {
        Codepoint::NotEct => 0,
        Codepoint::Ect0 => flags::ECT0,
        Codepoint::Ect1 => flags::ECT1,
        Codepoint::Ce => flags::CE,
    }
}
