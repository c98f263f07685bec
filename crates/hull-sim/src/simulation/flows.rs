//! The flows of a run: two routes and the open messages for each direction of data. Their senders and
//! receivers are in `ends`.
//!
//! A flow of its own (`Channel::New`) gets a slot when it begins. It returns the slot when all its
//! data is acknowledged and none of its packets is left in the network, so memory follows the
//! number of active flows. Connection c has slot 2c from its first host to its second, and 2c + 1
//! for the reverse direction.

use std::collections::VecDeque;

use super::connection::Connection;
use super::divided_flows::Halves;
use super::ends::Initial;
use super::followed::Followed;
use super::last_packets::LastPackets;
use super::limiters::Limiters;
use super::paced::Paced;
use super::small_queue::SmallQueue;
use crate::host::Echo;
use crate::limits;
use crate::measure::LoggedFlow;
use crate::network::{HopRecords, InBand, Network};
use crate::transport::{Receiver, Sender};

/// No flow.
pub const NONE: u32 = u32::MAX;

/// Message in progress; it ends at position `end` of the flow's stream.
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

/// Message that has arrived and whose last byte is not yet acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Unacked {
    pub end: u64,
    pub tag: u64,
    pub start_ps: u64,
    /// Entry in the log; `None` outside the measured time.
    pub logged: Option<LoggedFlow>,
}

/// State of a flow in addition to its ends.
#[derive(Debug)]
pub struct Flow {
    pub src: u32,
    pub dst: u32,
    /// Routes of the data and of the acknowledgments.
    pub out: u32,
    pub back: u32,
    /// The flow that runs the other way on the same connection, or [`NONE`].
    pub reverse: u32,
    /// Number of packets of this flow, data and acknowledgments, between the hosts' transports.
    pub in_flight: u32,
    /// Whether the slot is returned when the flow is done.
    pub transient: bool,
    /// Whether the slot is in use.
    pub live: bool,
    /// Whether sender and receiver are in different parts of the run (`halves`).
    pub is_half: bool,
    /// Number of the flow in the order of opening.
    pub number: u64,
    /// Whether the flow is followed and has not been read since it ended.
    pub followed: bool,
    /// First message that has not completely arrived.
    pub first: Pending,
    /// Messages after `first`.
    later: VecDeque<Pending>,
    /// Counted messages that wait for their last acknowledgment, in the order of their ends.
    pub unacked: VecDeque<Unacked>,
    /// End of the last message written.
    written: u64,
    /// Number of ECN-Echoes that associated the flow with its host's pacer or renewed the
    /// association, and number of those that began it.
    pub associations: u32,
    pub associations_begun: u32,
    /// Whether an ECN-Echo has arrived since the last packet, if packets inform the pacer.
    pub echoed: bool,
    /// Number of the flow's transport.
    pub transport: u16,
    /// Bytes of data that have not left the host's queue, if they are limited.
    pub at_host_bytes: u32,
    /// Whether the flow waits until some of these have left.
    pub waits_for_host: bool,
}

/// Initial state of the flows of one transport.
#[derive(Debug)]
pub struct Template {
    pub initial: Initial,
    /// Whether the control sets a pace.
    pub has_pace: bool,
    /// Whether the window is sent at a pace (host.queue = "fq").
    pub paces_window: bool,
    /// Number of rate limiters of a host, if its flows share them. Each has a control of its own, which
    /// gets the packets and notices of its flows.
    pub rate_limiters: Option<u32>,
    /// Limit of a flow's bytes in the queue of its host, if there is one.
    pub small_queue: Option<SmallQueue>,
    /// What data carries for switches; only the kind counts.
    pub asks: InBand,
    /// Whether ECN-Echoes associate the flows with their host's pacer.
    pub paced: bool,
    /// Whether the flows begin with a handshake.
    pub has_handshake: bool,
    /// Whether receivers acknowledge each packet at once.
    pub acks_each: bool,
    /// Priority class of the packets; `None` for the class of the message.
    pub class: Option<u8>,
}

impl Flow {
    /// Number of messages for which a flow has memory when it awaits the first: a deque starts with four.
    pub const LEAST_UNACKED: usize = 4;

    /// Creates an unused slot with the places of its routes.
    pub fn unused(out: u32, back: u32) -> Flow {
        Flow {
            src: 0,
            dst: 0,
            out,
            back,
            reverse: NONE,
            in_flight: 0,
            transient: false,
            live: false,
            is_half: false,
            number: 0,
            followed: false,
            first: NOTHING,
            later: VecDeque::new(),
            unacked: VecDeque::new(),
            written: 0,
            associations: 0,
            associations_begun: 0,
            echoed: false,
            transport: 0,
            at_host_bytes: 0,
            waits_for_host: false,
        }
    }

    /// Begins the flow with this number between two hosts, which keeps its slot until the end.
    pub fn begin(&mut self, (src, dst): (u32, u32), transport: u16, number: u64) {
        self.src = src;
        self.dst = dst;
        self.reverse = NONE;
        self.transient = false;
        self.live = true;
        self.is_half = false;
        self.number = number;
        self.first = NOTHING;
        self.later.clear();
        self.written = 0;
        self.associations = 0;
        self.associations_begun = 0;
        self.echoed = false;
        self.transport = transport;
        self.at_host_bytes = 0;
        self.waits_for_host = false;
    }

    /// Counts the effect of an ECN-Echo.
    #[inline]
    pub fn count(&mut self, echo: Echo) {
        self.associations += u32::from(echo != Echo::Nothing);
        self.associations_begun += u32::from(echo == Echo::Begun);
    }

    /// Priority class of the byte at `position`.
    #[inline]
    pub fn class_at(&self, position: u64) -> u16 {
        if position < self.first.end || self.later.is_empty() {
            return self.first.class;
        }
        let message = self.later.iter().find(|message| position < message.end);
        message.map_or(self.first.class, |message| message.class)
    }

    /// Removes the first message if it has arrived, given that all bytes up to `position` have.
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

    /// Whether an incomplete message ends at the byte with this sequence number.
    pub fn ends_message(&self, number: u32) -> bool {
        let ends = self.later.iter().map(|message| message.end);
        self.first.end as u32 == number || ends.into_iter().any(|end| end as u32 == number)
    }

    /// Whether an incomplete message ends at this position.
    #[inline]
    pub fn ends_at(&self, position: u64) -> bool {
        let is_later = position > self.first.end;
        position == self.first.end
            || is_later && (self.later.binary_search_by_key(&position, |of| of.end)).is_ok()
    }

    /// Ends a lasting message at the position where the sender has stopped.
    pub fn cut(&mut self, position: u64) {
        self.written = self.written.min(position);
        self.first.end = self.first.end.min(position);
    }
}

/// All flows, by slot.
#[derive(Debug)]
pub struct FlowTable {
    pub flows: Vec<Flow>,
    /// Ends of streams.
    pub senders: Vec<Sender>,
    pub receivers: Vec<Receiver>,
    /// State of paced streams; empty if no transport is paced.
    pub paced: Vec<Paced>,
    /// Whether data of any transport asks switches for something.
    pub(super) asks_switches: bool,
    /// Telemetry of each slot's last data, at the receiver; empty if no transport asks for it.
    pub(super) telemetry: Vec<HopRecords>,
    /// Ends of the message transport.
    pub(super) connections: Vec<Connection>,
    /// Place of each slot's ends in the slab of their kind; empty if all flows are of one kind, whose
    /// places are the slots.
    pub(super) places: Vec<u32>,
    /// Whether there are transports of both kinds.
    pub(super) has_both_kinds: bool,
    /// Rate limiters that flows share.
    pub(super) limiters: Limiters,
    /// Free slots of streams and of the message transport.
    pub(super) free: [Vec<u32>; 2],
    /// Largest number of flows at the same time.
    pub most_flows: usize,
    /// One template per transport.
    pub templates: Vec<Template>,
    /// Largest number of ports on a route.
    pub longest_route: usize,
    /// Number of routes computed so far, at openings and changes; with the seed it determines the
    /// route.
    pub(super) opened: u64,
    pub(super) seed: u64,
    /// Number of flows opened so far.
    pub(super) numbered: u64,
    pub(super) following: Followed,
    pub(super) last_packets: LastPackets,
    pub(super) scratch: Vec<u32>,
    /// Number of messages of all flows that wait for their last acknowledgment.
    pub unacked: u64,
    /// Tags of acknowledged messages that have not yet been reported to a workload that requests
    /// them.
    pub(super) heard_acked: Option<Vec<u64>>,
    /// Timeouts and retransmitted segments of flows whose slots were returned, by transport.
    past: Vec<(u64, u64)>,
    /// Whether timers due at the same time are served in the order in which their flows were opened.
    pub(super) orders_timers: bool,
    /// Flows shared with other parts, if the run is divided by hosts.
    pub(super) halves: Option<Box<Halves>>,
    /// Largest number of slots: [`limits::FLOWS`], or fewer in a test.
    pub(super) most_slots: usize,
}

impl FlowTable {
    /// Creates an empty table; flows begin as one of `templates`.
    pub fn new(templates: Vec<Template>, longest_route: usize, seed: u64) -> Self {
        let messages = templates.iter().filter(|one| one.messages().is_some());
        let messages = messages.count();
        FlowTable {
            flows: Vec::new(),
            senders: Vec::new(),
            receivers: Vec::new(),
            paced: Vec::new(),
            asks_switches: templates.iter().any(|one| one.asks != InBand::Nothing),
            telemetry: Vec::new(),
            connections: Vec::new(),
            places: Vec::new(),
            has_both_kinds: messages > 0 && messages < templates.len(),
            limiters: Limiters::default(),
            free: [Vec::new(), Vec::new()],
            most_flows: 0,
            past: vec![(0, 0); templates.len()],
            templates,
            longest_route,
            opened: 0,
            seed,
            numbered: 0,
            following: Followed::default(),
            last_packets: LastPackets::default(),
            scratch: Vec::new(),
            unacked: 0,
            heard_acked: None,
            orders_timers: false,
            halves: None,
            most_slots: limits::FLOWS,
        }
    }

    /// Makes room for the slots and routes of `flows` flows, which are open at once for certain: a
    /// list that grows holds its earlier copies for a while.
    pub fn with_room(mut self, flows: u64, network: &mut Network) -> Self {
        let slots = flows.min(self.most_slots as u64) as usize;
        network.make_room(2 * slots, self.longest_route);
        self.flows.reserve_exact(slots);
        match (self.has_both_kinds, self.templates[0].messages()) {
            (true, _) => {} // how many there are of each is not known
            (false, None) => {
                self.senders.reserve_exact(slots);
                self.receivers.reserve_exact(slots);
            }
            (false, Some(_)) => self.connections.reserve_exact(slots),
        }
        self
    }

    /// Records the tags of acknowledged messages if the workload `hears` of them.
    pub fn reporting_acked(mut self, hears: bool) -> Self {
        self.heard_acked = hears.then(Vec::new);
        self
    }

    /// Serves timers due at the same time in the order in which their flows were opened, if `orders`.
    pub fn ordering_timers(mut self, orders: bool) -> Self {
        self.orders_timers = orders;
        self
    }

    /// Follows the first `flows` flows.
    pub fn following(mut self, flows: u64) -> Self {
        self.following.below = flows;
        self
    }

    /// Whether an ECN-Echo associates the flow with its host's pacer.
    pub fn is_paced(&self, slot: u32) -> bool {
        self.template(slot).paced
    }

    /// Whether the flow is paced.
    #[inline]
    pub fn has_pace(&self, slot: u32) -> bool {
        !self.paced.is_empty() && self.template(slot).has_pace
    }

    pub fn template(&self, slot: u32) -> &Template {
        &self.templates[usize::from(self.flows[slot as usize].transport)]
    }

    /// Starts a message on a flow.
    pub fn write(&mut self, now_ps: u64, slot: u32, bytes: u64, tag: u64, class: u16) {
        self.write_data(now_ps, slot, bytes);
        let (timeouts_before, _) = self.ends(slot).losses();
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

    /// Returns the slot when the flow is done. `now_ps` is the time of the change that may have
    /// been its last one.
    #[inline]
    pub fn release_if_done(&mut self, slot: u32, now_ps: u64) {
        let flow = &self.flows[slot as usize];
        if flow.transient
            && flow.in_flight == 0
            && flow.live
            && flow.first.end == u64::MAX
            && self.ends(slot).are_idle()
        {
            self.release(slot, now_ps);
        } else if self.flows[slot as usize].is_half {
            self.settle(slot, now_ps);
        }
    }

    /// Returns a slot, which is free from `now_ps` on.
    pub(super) fn release(&mut self, slot: u32, now_ps: u64) {
        let at = slot as usize;
        let (timeouts, retransmissions) = self.ends(slot).losses();
        let flow = &mut self.flows[at];
        flow.live = false;
        let past = &mut self.past[usize::from(flow.transport)];
        past.0 += u64::from(timeouts);
        past.1 += u64::from(retransmissions);
        self.stop_ends(slot);
        self.free[usize::from(self.is_message(slot))].push(slot);
        if let Some(halves) = &mut self.halves {
            halves.report_freed(now_ps);
        }
    }

    /// Adds the counts of past flows of another part at the end of the run.
    pub(super) fn join(&mut self, other: &FlowTable) {
        for (here, there) in self.past.iter_mut().zip(other.losses()) {
            here.0 += there.0;
            here.1 += there.1;
        }
    }

    /// Timeouts and retransmitted segments of all flows so far, by transport.
    pub fn losses(&self) -> Vec<(u64, u64)> {
        let mut losses = self.past.clone();
        for (slot, flow) in self.flows.iter().enumerate().filter(|(_, f)| f.live) {
            let (timeouts, retransmissions) = self.ends(slot as u32).losses();
            let of_transport = &mut losses[usize::from(flow.transport)];
            of_transport.0 += u64::from(timeouts);
            of_transport.1 += u64::from(retransmissions);
        }
        losses
    }
}
