//! One run: the event loop and the paths of packets between hosts, switch and transport.

mod build;
mod control;
mod outcome;
mod traffic;

use std::collections::VecDeque;

use crate::engine::{Entity, EventQueue, Kind};
use crate::host::{PacerStage, Release};
use crate::measure::{FlowLog, LatencyLog};
use crate::network::{FarEnd, NO_SACK, Packet, Star, Verdict, flags};
use crate::scenario::{Probe, Scenario};
use crate::transport::{OutgoingAck, Receiver, SackBlocks, SackTable, Sender, sequence};

pub use control::Control;
pub use outcome::{Measured, Outcome, PacketCount, Throughput};
use traffic::Traffic;

/// The host whose port is measured and that asks for data.
const CLIENT: usize = 0;

/// How many events pass between two looks at [`Control`].
const CONTROL_EVERY: u64 = 1 << 14;

/// Why a run ended without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It was told to stop.
    Cancelled,
    /// Packets were lost or invented: an error in hull.
    NotConserved(PacketCount),
}

/// Where a flow begins and ends, and the flow that runs the other way on its connection.
#[derive(Clone, Copy, Debug)]
struct Path {
    src: u16,
    dst: u16,
    reverse: Option<u32>,
}

/// The state of a run.
#[derive(Debug)]
pub struct Simulation {
    now_ps: u64,
    events: EventQueue,
    star: Star,
    /// One for each host where there are pacers, else none.
    pacers: Vec<PacerStage>,
    paths: Vec<Path>,
    senders: Vec<Sender>,
    receivers: Vec<Receiver>,
    sacks: SackTable,
    traffic: Traffic,
    /// Requests that a server will answer, with their times; the delay is constant.
    answers: VecDeque<(u64, usize)>,
    application_delay_ps: u64,
    header_bytes: u16,
    probe: Option<Probe>,
    sample_interval_ps: u64,
    warmup_ps: u64,
    end_ps: u64,
    last_ps: u64,
    flows: FlowLog,
    latency: LatencyLog,
    packets_sent: u64,
    packets_delivered: u64,
    packets_dropped: u64,
    packet_hops: u64,
    events_served: u64,
    at_warmup: Measured,
}

impl Simulation {
    /// Builds the run of a resolved scenario.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        build::build(scenario, seed)
    }

    /// Runs to the end, or until `control` says stop.
    pub fn run(mut self, control: &Control) -> Result<Outcome, Failure> {
        let mut measured = None;
        while let Some((at_ps, entity)) = self.events.peek() {
            if at_ps >= self.end_ps && measured.is_none() {
                self.now_ps = self.end_ps;
                measured = Some(self.measure());
            }
            if at_ps > self.last_ps || (measured.is_some() && self.traffic.is_complete()) {
                break;
            }
            debug_assert!(at_ps >= self.now_ps, "{entity:?} wants to act in the past");
            self.now_ps = at_ps;
            self.events_served += 1;
            if self.events_served.is_multiple_of(CONTROL_EVERY) {
                control.report(at_ps, self.packet_hops);
                if control.is_cancelled() {
                    return Err(Failure::Cancelled);
                }
            }
            self.serve(entity);
        }
        let measured = match measured {
            Some(measured) => measured,
            None => {
                self.now_ps = self.end_ps;
                self.measure()
            }
        };
        control.report(self.now_ps, self.packet_hops);
        self.finish(measured)
    }

    #[inline]
    fn serve(&mut self, entity: Entity) {
        let index = entity.index();
        match entity.kind() {
            Kind::Link => self.serve_link(index),
            Kind::NicHead => self.serve_nic(index),
            Kind::Pacer => {
                self.events.pop();
                self.serve_pacer(index);
            }
            Kind::Rto => {
                self.events.pop();
                self.serve_rto(index);
            }
            Kind::DelayedAck => {
                self.events.pop();
                self.serve_delayed_ack(index);
            }
            Kind::Application => {
                self.events.pop();
                self.serve_answers();
            }
            Kind::Arrival => {
                self.events.pop();
                self.serve_arrival(index);
            }
            Kind::Probe => {
                self.events.pop();
                self.serve_probe();
            }
            Kind::Sample => {
                self.events.pop();
                self.serve_sample();
            }
            Kind::Warmup => {
                self.events.pop();
                self.serve_warmup();
            }
        }
    }

    /// The first packet in flight on a link arrives.
    #[inline]
    fn serve_link(&mut self, port: usize) {
        let link = &mut self.star.ports[port];
        let packet = link.deliver(self.now_ps);
        match link.next_delivery_ps() {
            Some(next_ps) => self.events.postpone(next_ps),
            None => self.events.pop(),
        }
        self.packet_hops += 1;
        match self.star.far_end(port) {
            FarEnd::Switch => {
                let out = self.star.switch_port(usize::from(packet.dst));
                if packet.flags & flags::PROBE == 0 {
                    self.transmit(out, packet);
                } else {
                    self.transmit_probe(out, packet);
                }
            }
            FarEnd::Host(host) => self.receive(host, packet),
        }
    }

    /// Offers a packet to a port; true when it was taken.
    #[inline]
    fn transmit(&mut self, port: usize, packet: Packet) -> bool {
        match self.star.ports[port].enqueue(self.now_ps, packet) {
            Verdict::Accepted { first, .. } => {
                if first && let Some(at_ps) = self.star.ports[port].next_delivery_ps() {
                    self.events.push(at_ps, Entity::new(Kind::Link, port));
                }
                true
            }
            Verdict::Dropped => {
                self.drop_packet(packet);
                false
            }
        }
    }

    fn drop_packet(&mut self, packet: Packet) {
        self.packets_dropped += 1;
        if packet.sack != NO_SACK {
            self.sacks.take(packet.sack);
        }
    }

    /// A host sends a packet: to its NIC, and through its pacer where there is one.
    #[inline]
    fn send(&mut self, host: usize, packet: Packet) {
        self.packets_sent += 1;
        if self.pacers.is_empty() {
            self.transmit(self.star.host_port(host), packet);
            return;
        }
        let nic = &mut self.pacers[host].nic;
        match nic.enqueue(self.now_ps, packet) {
            Verdict::Accepted { start_ps, first } => {
                if start_ps == self.now_ps {
                    let packet = nic.deliver(self.now_ps);
                    self.admit(host, packet);
                } else if first {
                    self.events.push(start_ps, Entity::new(Kind::NicHead, host));
                }
            }
            Verdict::Dropped => self.drop_packet(packet),
        }
    }

    fn serve_nic(&mut self, host: usize) {
        let nic = &mut self.pacers[host].nic;
        let packet = nic.deliver(self.now_ps);
        match nic.next_start_ps() {
            Some(next_ps) => self.events.postpone(next_ps),
            None => self.events.pop(),
        }
        self.admit(host, packet);
    }

    fn admit(&mut self, host: usize, packet: Packet) {
        match self.pacers[host].admit(self.now_ps, packet) {
            Release::Now(packet) => {
                self.transmit(self.star.host_port(host), packet);
            }
            Release::Later => self.wake_pacer(host),
            Release::Dropped(packet) => self.drop_packet(packet),
        }
    }

    /// Sees to it that the pacer is looked at when it has to be.
    fn wake_pacer(&mut self, host: usize) {
        let pacer = &mut self.pacers[host];
        if let Some(at_ps) = pacer.next_wake_ps()
            && at_ps < pacer.event_ps
        {
            pacer.event_ps = at_ps;
            self.events.push(at_ps, Entity::new(Kind::Pacer, host));
        }
    }

    fn serve_pacer(&mut self, host: usize) {
        if self.pacers[host].event_ps != self.now_ps {
            return; // an earlier event took its place
        }
        self.pacers[host].event_ps = u64::MAX;
        while let Some(packet) = self.pacers[host].release(self.now_ps) {
            self.transmit(self.star.host_port(host), packet);
        }
        self.wake_pacer(host);
    }

    /// A packet arrives at a host.
    #[inline]
    fn receive(&mut self, host: usize, packet: Packet) {
        self.packets_delivered += 1;
        if packet.flags & flags::PROBE != 0 {
            self.answer_probe(host, packet);
            return;
        }
        if packet.has(flags::ACK) {
            self.receive_ack(host, packet);
        }
        if packet.has(flags::DATA) {
            self.receive_data(host, packet);
        }
    }

    #[inline]
    fn receive_ack(&mut self, host: usize, packet: Packet) {
        let flow = match (
            packet.has(flags::DATA),
            self.paths[packet.flow as usize].reverse,
        ) {
            (true, Some(reverse)) => reverse,
            _ => packet.flow,
        };
        let ece = packet.has(flags::ECE);
        if ece && let Some(pacer) = self.pacers.get_mut(host) {
            pacer.on_ece(self.now_ps, flow);
        }
        let blocks = if packet.sack == NO_SACK {
            SackBlocks::default()
        } else {
            self.sacks.take(packet.sack)
        };
        let sender = &mut self.senders[flow as usize];
        let ack = sequence::unwrap(packet.ack, sender.una());
        sender.on_ack(self.now_ps, ack, ece, blocks.as_slice());
        self.pump(flow);
    }

    #[inline]
    fn receive_data(&mut self, host: usize, packet: Packet) {
        let flow = packet.flow;
        let receiver = &mut self.receivers[flow as usize];
        let before = receiver.next();
        let start = sequence::unwrap(packet.seq, before);
        let (ce, cwr) = (packet.has(flags::CE), packet.has(flags::CWR));
        let bytes = u64::from(packet.payload_bytes);
        let acks = receiver.on_data(self.now_ps, start, bytes, ce, cwr);
        let next = receiver.next();
        for ack in acks.into_iter().flatten() {
            self.send_ack(host, flow, ack);
        }
        if next > before {
            self.on_delivered(flow, next);
        }
        self.watch_delayed_ack(flow);
    }

    fn send_ack(&mut self, host: usize, flow: u32, ack: OutgoingAck) {
        let sack = if ack.sack.as_slice().is_empty() {
            NO_SACK
        } else {
            self.sacks.insert(ack.sack)
        };
        let packet = Packet {
            seq: 0,
            ack: sequence::wrap(ack.ack),
            flow,
            sack,
            wire_bytes: self.header_bytes + ack.sack.option_bytes(),
            payload_bytes: 0,
            dst: self.paths[flow as usize].src,
            flags: flags::ACK | if ack.ece { flags::ECE } else { 0 },
        };
        self.send(host, packet);
    }

    /// Sends what a flow's window allows; a pending ACK of the reverse flow rides along.
    #[inline]
    fn pump(&mut self, flow: u32) {
        let path = self.paths[flow as usize];
        while let Some(segment) = self.senders[flow as usize].poll(self.now_ps) {
            let mut packet = Packet {
                seq: sequence::wrap(segment.start),
                ack: 0,
                flow,
                sack: NO_SACK,
                wire_bytes: segment.bytes + self.header_bytes,
                payload_bytes: segment.bytes,
                dst: path.dst,
                flags: flags::DATA
                    | if segment.ect { flags::ECT } else { 0 }
                    | if segment.cwr { flags::CWR } else { 0 },
            };
            if let Some(reverse) = path.reverse
                && let Some(ack) = self.receivers[reverse as usize].take_pending()
            {
                packet.ack = sequence::wrap(ack.ack);
                packet.flags |= flags::ACK | if ack.ece { flags::ECE } else { 0 };
            }
            self.send(usize::from(path.src), packet);
        }
        let sender = &mut self.senders[flow as usize];
        if sender.rto_deadline_ps < sender.rto_event_ps {
            sender.rto_event_ps = sender.rto_deadline_ps;
            self.events.push(
                sender.rto_deadline_ps,
                Entity::new(Kind::Rto, flow as usize),
            );
        }
    }

    /// The event of a retransmission timer: due, put off by acknowledgments since, or off.
    fn serve_rto(&mut self, flow: usize) {
        let sender = &mut self.senders[flow];
        if sender.rto_event_ps != self.now_ps {
            return; // an earlier event took its place
        }
        sender.rto_event_ps = u64::MAX;
        if sender.rto_deadline_ps <= self.now_ps {
            sender.on_timeout(self.now_ps);
        }
        self.pump(flow as u32);
    }

    fn watch_delayed_ack(&mut self, flow: u32) {
        let receiver = &mut self.receivers[flow as usize];
        if receiver.ack_deadline_ps < receiver.ack_event_ps {
            receiver.ack_event_ps = receiver.ack_deadline_ps;
            let timer = Entity::new(Kind::DelayedAck, flow as usize);
            self.events.push(receiver.ack_deadline_ps, timer);
        }
    }

    fn serve_delayed_ack(&mut self, flow: usize) {
        let receiver = &mut self.receivers[flow];
        if receiver.ack_event_ps != self.now_ps {
            return; // an earlier event took its place
        }
        receiver.ack_event_ps = u64::MAX;
        if receiver.ack_deadline_ps <= self.now_ps
            && let Some(ack) = receiver.take_pending()
        {
            let host = usize::from(self.paths[flow].dst);
            self.send_ack(host, flow as u32, ack);
        }
        self.watch_delayed_ack(flow as u32);
    }

    /// A probe leaves host 1 for the client (paper 5.2).
    fn serve_probe(&mut self) {
        let Some(probe) = &self.probe else { return };
        let (size, interval_ps) = (probe.size.0 as u16, probe.interval.0);
        self.send(1, probe_packet(1, CLIENT, size, flags::PROBE));
        let next_ps = self.now_ps + interval_ps;
        if next_ps < self.end_ps {
            self.events.push(next_ps, Entity::new(Kind::Probe, 0));
        }
    }

    /// A probe crosses the switch: its latency is its wait at the client's port.
    fn transmit_probe(&mut self, port: usize, packet: Packet) {
        let timed = packet.flags & flags::REPLY == 0
            && (self.warmup_ps..self.end_ps).contains(&self.now_ps);
        let waits_until_ps = self.star.ports[port].busy_until_ps().max(self.now_ps);
        let taken = self.transmit(port, packet);
        match (timed, taken) {
            (true, true) => self
                .latency
                .probe(self.now_ps, waits_until_ps - self.now_ps),
            (true, false) => self.latency.probe_lost(),
            _ => {}
        }
    }

    /// The client's host replies to a ping with as many bytes.
    fn answer_probe(&mut self, host: usize, packet: Packet) {
        if packet.flags & flags::REPLY == 0 {
            let reply = flags::PROBE | flags::REPLY;
            self.send(
                host,
                probe_packet(host, packet.flow as usize, packet.wire_bytes, reply),
            );
        }
    }

    fn serve_sample(&mut self) {
        let port = self.star.switch_port(CLIENT);
        let bytes = self.star.ports[port].queue_bytes(self.now_ps);
        self.latency.sample(self.now_ps, bytes);
        let next_ps = self.now_ps + self.sample_interval_ps;
        if next_ps < self.end_ps {
            self.events.push(next_ps, Entity::new(Kind::Sample, 0));
        }
    }

    fn serve_warmup(&mut self) {
        let now_ps = self.now_ps;
        let port = self.star.switch_port(CLIENT);
        self.star.ports[port].advance(now_ps);
        if let Some(occupancy) = &mut self.star.ports[port].occupancy {
            occupancy.restart(now_ps);
        }
        self.at_warmup = self.counters();
    }
}

/// A ping or its reply; `flow` carries the sending host.
fn probe_packet(src: usize, dst: usize, wire_bytes: u16, kind: u16) -> Packet {
    Packet {
        seq: 0,
        ack: 0,
        flow: src as u32,
        sack: NO_SACK,
        wire_bytes,
        payload_bytes: 0,
        dst: dst as u16,
        flags: kind,
    }
}
