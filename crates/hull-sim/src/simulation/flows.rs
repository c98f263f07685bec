//! The flows of a run: a sender, a receiver, two routes and the open messages for each direction of
//! data.
//!
//! A flow of its own (`Channel::New`) gets a slot when it begins. It returns the slot when all its data
//! is acknowledged and none of its packets is left in the network, so memory follows the number of
//! active flows. Connection c has slot 2c from its first host to its second, and 2c + 1 for the reverse
//! direction.

use std::collections::VecDeque;

use super::connection::Connection;
use super::distances::Distances;
use super::followed::Followed;
use super::paced::Paced;
use crate::host::Echo;
use crate::measure::LoggedFlow;
use crate::network::{Network, Packet, flags};
use crate::prefetch::prefetch;
use crate::topology::Routes;
use crate::transport::{Receiver, Sender};

/// No flow.
pub const NONE: u32 = u32::MAX;

/// A message under way: it ends at this position of the flow's stream.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub end: u64,
    pub tag: u64,
    pub timeouts_before: u32,
    pub class: u16,
}

const NOTHING: Pending = Pending {
    end: u64::MAX,
    tag: 0,
    timeouts_before: 0,
    class: 0,
};

/// A message that has arrived and whose last byte is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
pub struct Unacked {
    pub end: u64,
    pub tag: u64,
    pub start_ps: u64,
    /// Where it is logged; none outside the measured time.
    pub logged: Option<LoggedFlow>,
}

/// What the simulation knows of a flow besides its TCP.
#[derive(Debug)]
pub struct Flow {
    pub src: u32,
    pub dst: u32,
    /// Routes: of the data, and of the acknowledgments.
    pub out: u32,
    pub back: u32,
    /// The flow that runs the other way on the same connection, or [`NONE`].
    pub reverse: u32,
    /// Packets of this flow, data and acknowledgments, between the hosts' transports.
    pub in_flight: u32,
    /// Whether the slot is given back when the flow is done.
    pub transient: bool,
    /// Whether the slot is in use.
    pub live: bool,
    /// Number of the flow in the order of opening.
    pub number: u64,
    /// Whether the flow is followed, and has not been read since it ended.
    pub followed: bool,
    /// The first message that has not arrived wholly.
    pub first: Pending,
    /// Messages behind it.
    later: VecDeque<Pending>,
    /// Messages that are counted and wait for their last acknowledgment, in the order of their ends.
    pub unacked: VecDeque<Unacked>,
    /// End of the last message written.
    written: u64,
    /// ECN-Echoes that associated the flow with its host's pacer, and those of them that found it
    /// not associated.
    pub associations: u32,
    pub associations_begun: u32,
    /// Whether an ECN-Echo has come since the last packet, where packets tell the pacer.
    pub echoed: bool,
    /// Number of its transport.
    pub transport: u16,
}

/// What flows of one transport begin as.
#[derive(Debug)]
pub struct Template {
    pub sender: Sender,
    pub receiver: Receiver,
    /// Whether their control names a pace.
    pub has_pace: bool,
    /// Whether their data asks switches for something.
    pub asks: bool,
    /// Whether ECN-Echoes associate them with their host's pacer.
    pub paced: bool,
    /// Whether they begin with a handshake.
    pub has_handshake: bool,
    /// Whether their receivers acknowledge each packet at once.
    pub acks_each: bool,
    /// The priority class of their packets, where it is not that of the message.
    pub class: Option<u8>,
    /// What its connections have in common, where they are of the message transport: then sender and
    /// receiver above serve no sender.
    pub message: Option<Distances>,
}

impl Flow {
    /// Counts what an ECN-Echo did.
    #[inline]
    pub fn count(&mut self, echo: Echo) {
        self.associations += u32::from(echo != Echo::Nothing);
        self.associations_begun += u32::from(echo == Echo::Begun);
    }

    /// The priority class of the byte at `position`.
    #[inline]
    pub fn class_at(&self, position: u64) -> u16 {
        if position < self.first.end || self.later.is_empty() {
            return self.first.class;
        }
        let message = self.later.iter().find(|message| position < message.end);
        message.map_or(self.first.class, |message| message.class)
    }

    /// Takes the first message off, when it has arrived up to `position`.
    #[inline]
    pub fn completed(&mut self, position: u64) -> Option<Pending> {
        if position < self.first.end {
            return None;
        }
        let done = self.first;
        // A delayed acknowledgment of the last message keeps its class.
        let class = done.class;
        self.first = self
            .later
            .pop_front()
            .unwrap_or(Pending { class, ..NOTHING });
        Some(done)
    }

    /// Whether a message that has not arrived ends at the byte with this number on the wire.
    pub fn ends_message(&self, number: u32) -> bool {
        let ends = self.later.iter().map(|message| message.end);
        self.first.end as u32 == number || ends.into_iter().any(|end| end as u32 == number)
    }

    /// A lasting message ends where the sender has stopped.
    pub fn cut(&mut self, position: u64) {
        self.written = self.written.min(position);
        self.first.end = self.first.end.min(position);
    }
}

/// All flows, by slot.
#[derive(Debug)]
pub struct FlowTable {
    pub flows: Vec<Flow>,
    pub senders: Vec<Sender>,
    pub receivers: Vec<Receiver>,
    /// What flows with a pace have besides; empty where no transport has one.
    pub paced: Vec<Paced>,
    /// Those of the message transport; empty where no transport is one.
    pub(super) connections: Vec<Option<Box<Connection>>>,
    free: Vec<u32>,
    /// One for each transport.
    pub templates: Vec<Template>,
    /// Most ports on a route.
    pub longest_route: usize,
    /// Flows opened so far; with the seed it decides the route.
    opened: u64,
    pub(super) seed: u64,
    /// Flows opened so far.
    numbered: u64,
    pub(super) following: Followed,
    scratch: Vec<u32>,
    /// Messages of all flows that wait for their last acknowledgment.
    pub unacked: u64,
    /// Tags of messages that were acknowledged and of which the workload has not heard, where it wants to.
    pub(super) heard_acked: Option<Vec<u64>>,
    /// Timeouts and segments sent again of flows whose slots were given back, by transport.
    past: Vec<(u64, u64)>,
}

impl FlowTable {
    /// No flows yet; each begins as one of `templates`.
    pub fn new(templates: Vec<Template>, longest_route: usize, seed: u64) -> Self {
        FlowTable {
            flows: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            paced: Vec::new(),
            connections: Vec::new(),
            free: Vec::new(),
            past: vec![(0, 0); templates.len()],
            templates,
            longest_route,
            opened: 0,
            seed,
            numbered: 0,
            following: Followed::default(),
            scratch: Vec::new(),
            unacked: 0,
            heard_acked: None,
        }
    }

    /// Keeps the tags of messages that were acknowledged, for a workload that `hears` of them.
    pub fn hearing_acked(mut self, hears: bool) -> Self {
        self.heard_acked = hears.then(Vec::new);
        self
    }

    /// Follows the first `flows` that are opened.
    pub fn following(mut self, flows: u64) -> Self {
        self.following.below = flows;
        self
    }

    /// Opens a flow and finds its routes.
    pub fn open(
        &mut self,
        network: &mut Network,
        routes: &Routes,
        src: u32,
        dst: u32,
        transient: bool,
        transport: u16,
    ) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => {
                self.keep_last_reading(slot);
                slot
            }
            None => {
                let slot = self.flows.len() as u32;
                let template = &self.templates[usize::from(transport)];
                self.flows.push(Flow {
                    src,
                    dst,
                    out: network.reserve_route(self.longest_route),
                    back: network.reserve_route(self.longest_route),
                    reverse: NONE,
                    in_flight: 0,
                    transient,
                    live: false,
                    number: 0,
                    followed: false,
                    first: NOTHING,
                    later: VecDeque::new(),
                    unacked: VecDeque::new(),
                    written: 0,
                    associations: 0,
                    associations_begun: 0,
                    echoed: false,
                    transport,
                });
                self.senders.push(template.sender.clone());
                self.receivers.push(template.receiver.clone());
                slot
            }
        };
        let at = slot as usize;
        // A timer event of the slot's last flow may still be on its way: it serves for this one.
        let template = &self.templates[usize::from(transport)];
        self.senders[at].reset(&template.sender);
        self.receivers[at].reset(&template.receiver);
        let flow = &mut self.flows[at];
        flow.src = src;
        flow.dst = dst;
        flow.reverse = NONE;
        flow.transient = transient;
        flow.live = true;
        flow.number = self.numbered;
        flow.first = NOTHING;
        flow.later.clear();
        flow.written = 0;
        flow.associations = 0;
        flow.associations_begun = 0;
        flow.echoed = false;
        flow.transport = transport;
        self.numbered += 1;
        self.follow(slot);
        self.opened += 1;
        let number = self.opened;
        self.route(network, routes, slot, number);
        if at == self.paced.len() && self.templates.iter().any(|one| one.has_pace || one.asks) {
            self.paced.push(Paced::new());
        }
        self.connect_messages(slot, number);
        slot
    }

    /// Finds the routes of a flow. Those of its acknowledgments are hashed on their own.
    fn route(&mut self, network: &mut Network, routes: &Routes, slot: u32, number: u64) {
        let flow = &self.flows[slot as usize];
        let ways = [
            (flow.out, flow.src, flow.dst, 0),
            (flow.back, flow.dst, flow.src, 1),
        ];
        for (at, from, to, way) in ways {
            let hash = mix(self.seed ^ mix(2 * number + way));
            self.find_route(network, routes, at, (from, to), hash);
        }
    }

    /// Finds the route between two hosts for a hash, and writes it to the place `at`.
    pub(super) fn find_route(
        &mut self,
        network: &mut Network,
        routes: &Routes,
        at: u32,
        (from, to): (u32, u32),
        hash: u64,
    ) {
        self.scratch.clear();
        let found = routes.path(from as usize, to as usize, hash, &mut self.scratch);
        if !found {
            // A packet skips the first entry, the port of its own host.
            self.scratch.clear();
            self.scratch.extend([network.nowhere(); 2]);
        }
        network.replace_route(at, &self.scratch, to as usize);
    }

    /// After a change of the network: new routes for all flows in use. Packets under way keep the
    /// old ones.
    pub fn reroute(&mut self, network: &mut Network, routes: &Routes) {
        self.longest_route = self.longest_route.max(routes.longest_path());
        for slot in 0..self.flows.len() {
            self.flows[slot].out = network.reserve_route(self.longest_route);
            self.flows[slot].back = network.reserve_route(self.longest_route);
            if self.flows[slot].live {
                self.opened += 1;
                let number = self.opened;
                self.route(network, routes, slot as u32, number);
                if let Some(connection) = self.connection(slot as u32) {
                    connection.forget_routes(number);
                }
            }
        }
    }

    /// Asks for what the arrival of a packet at its host will need: a packet that enters its last link
    /// is there soon, and many flows do not fit into the cache.
    #[inline]
    pub fn prefetch(&self, packet: &Packet) {
        if packet.flags & flags::PROBE != 0 {
            return;
        }
        let at = packet.flow as usize;
        prefetch(&self.flows[at]);
        prefetch(&self.receivers[at]);
        if packet.has(flags::ACK) {
            prefetch(&self.senders[at]);
        }
    }

    /// Whether an ECN-Echo associates a flow with its host's pacer.
    pub fn is_paced(&self, slot: u32) -> bool {
        self.template(slot).paced
    }

    /// Whether a flow has a pace.
    #[inline]
    pub fn has_pace(&self, slot: u32) -> bool {
        !self.paced.is_empty() && self.template(slot).has_pace
    }

    /// Whether a flow's data asks switches for something.
    #[inline]
    pub fn asks(&self, slot: u32) -> bool {
        !self.paced.is_empty() && self.template(slot).asks
    }

    pub fn template(&self, slot: u32) -> &Template {
        &self.templates[usize::from(self.flows[slot as usize].transport)]
    }

    /// Writes a message on a flow.
    pub fn write(&mut self, slot: u32, bytes: u64, tag: u64, class: u16) {
        match self.connection(slot) {
            Some(connection) => connection.write(bytes),
            None => self.senders[slot as usize].write(bytes),
        }
        let timeouts_before = self.losses_of(slot).0;
        let flow = &mut self.flows[slot as usize];
        flow.written += bytes;
        let pending = Pending {
            end: flow.written,
            tag,
            timeouts_before,
            class,
        };
        if flow.first.end == u64::MAX {
            flow.first = pending;
        } else {
            flow.later.push_back(pending);
        }
    }

    /// Timeouts and segments sent again of the flow in a slot.
    #[inline]
    pub(super) fn losses_of(&self, slot: u32) -> (u32, u32) {
        let at = slot as usize;
        match self.connections.get(at) {
            Some(Some(connection)) => {
                let sender = &connection.sender;
                (sender.timeouts, sender.retransmissions)
            }
            _ => (self.senders[at].timeouts, self.senders[at].retransmissions),
        }
    }

    /// Whether all that was written is acknowledged, and no NIC has a turn for the flow any more.
    #[inline]
    fn is_idle(&self, slot: u32) -> bool {
        let at = slot as usize;
        match self.connections.get(at) {
            Some(Some(connection)) => {
                connection.sender.is_idle() && !connection.sender.waits_for_nic
            }
            _ => self.senders[at].is_idle(),
        }
    }

    /// Payload that the sender of a flow knows to have arrived: of the message transport whole messages.
    #[inline]
    pub(super) fn acked_bytes(&self, slot: u32) -> u64 {
        let at = slot as usize;
        match self.connections.get(at) {
            Some(Some(connection)) => connection.sender.acked_bytes(),
            _ => self.senders[at].una(),
        }
    }

    /// Payload that has arrived in order: of the message transport all that has arrived.
    #[inline]
    pub(super) fn arrived_bytes(&self, slot: u32) -> u64 {
        let at = slot as usize;
        match self.connections.get(at) {
            Some(Some(connection)) => connection.receiver.received_payload(),
            _ => self.receivers[at].next(),
        }
    }

    /// Gives the slot back when the flow is done.
    #[inline]
    pub fn release_if_done(&mut self, slot: u32) {
        let at = slot as usize;
        let flow = &self.flows[at];
        if flow.transient
            && flow.in_flight == 0
            && flow.live
            && flow.first.end == u64::MAX
            && self.is_idle(slot)
        {
            let (timeouts, retransmissions) = self.losses_of(slot);
            let flow = &mut self.flows[at];
            flow.live = false;
            let past = &mut self.past[usize::from(flow.transport)];
            past.0 += u64::from(timeouts);
            past.1 += u64::from(retransmissions);
            self.senders[at].rto_deadline_ps = u64::MAX;
            self.receivers[at].ack_deadline_ps = u64::MAX;
            self.free.push(slot);
        }
    }

    /// Timeouts and segments sent again, of all flows so far, by transport.
    pub fn losses(&self) -> Vec<(u64, u64)> {
        let mut losses = self.past.clone();
        for (slot, flow) in self.flows.iter().enumerate().filter(|(_, f)| f.live) {
            let (timeouts, retransmissions) = self.losses_of(slot as u32);
            let of_transport = &mut losses[usize::from(flow.transport)];
            of_transport.0 += u64::from(timeouts);
            of_transport.1 += u64::from(retransmissions);
        }
        losses
    }
}

/// Spreads the bits of a number (the finalizer of MurmurHash3).
pub(super) fn mix(mut x: u64) -> u64 {
    x ^= x >> 33;
    x = x.wrapping_mul(0xff51_afd7_ed55_8ccd);
    x ^= x >> 33;
    x = x.wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
