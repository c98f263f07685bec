//! The flows of a run by slot: routes and open messages, and the ends in a slab of their kind.
//!
//! A flow of its own (`Channel::New`) gets a slot when it begins. It returns the slot when all its
//! data is acknowledged and none of its packets is left in the network, so memory follows the
//! number of active flows. Connection c has slot 2c from its first host to its second, and 2c + 1
//! for the reverse direction.

mod closing;
mod connections;
mod ends;
mod followed;
mod halves;
mod in_band;
mod limiters;
mod messages;
mod notices;
mod opening;
mod paced;
mod pinned;
mod renewal;
mod routes;
mod sprayed;

use pinned::Pinned;

use crate::limits;
use crate::network::{HopRecords, InBand, Network};
use crate::simulation::flow::Flow;
use crate::simulation::flow::connection::Connection;
use crate::simulation::flow::followed::Followed;
use crate::simulation::flow::halves::Halves;
use crate::simulation::flow::last_packets::LastPackets;
use crate::simulation::flow::limiters::Limiters;
use crate::simulation::flow::paced::Paced;
use crate::simulation::flow::spraying::Spraying;
use crate::simulation::flow::template::Template;
use crate::topology::NicChoice;
use crate::transport::{Receiver, Sender};

/// All flows, by slot.
#[derive(Debug)]
pub struct FlowTable {
    pub flows: Vec<Flow>,
    /// Ends of streams.
    pub senders: Vec<Sender>,
    pub receivers: Vec<Receiver>,
    /// State of paced streams; empty if no transport is paced.
    pub paced: Vec<Paced>,
    /// Paths of streams; empty if none has several.
    pub spraying: Vec<Spraying>,
    /// Whether data of any transport asks switches for something.
    pub asks_switches: bool,
    /// Telemetry of each slot's last data, at the receiver; empty if no transport asks for it.
    pub telemetry: Vec<HopRecords>,
    /// Ends of the message transport.
    pub connections: Vec<Connection>,
    /// Place of each slot's ends in the slab of their kind; empty if all flows are of one kind, whose
    /// places are the slots.
    pub places: Vec<u32>,
    /// Whether there are transports of both kinds.
    pub has_both_kinds: bool,
    /// Rate limiters that flows share.
    pub limiters: Limiters,
    /// Free slots of streams and of the message transport.
    pub free: [Vec<u32>; 2],
    /// Largest number of flows at the same time.
    pub most_flows: u64,
    /// One template per transport.
    pub templates: Vec<Template>,
    /// Largest number of ports on a route.
    pub longest_route: usize,
    /// Number of routes computed so far, at openings and changes; with the seed it determines the
    /// route.
    pub opened: u64,
    pub seed: u64,
    /// Number of flows opened so far.
    pub numbered: u64,
    pub following: Followed,
    pub last_packets: LastPackets,
    pub scratch: Vec<u32>,
    /// Chooses the NICs of flows, if hosts have several.
    pub nic_choice: Option<Box<NicChoice>>,
    /// Port on which each slot's flow sends; empty if hosts have one NIC.
    pub nic_ports: Vec<u32>,
    /// Flows that must pass given switches, if there are any.
    pub pinned: Option<Box<Pinned>>,
    /// Number of messages of all flows that wait for their last acknowledgment.
    pub unacked: u64,
    /// Tags of acknowledged messages that have not yet been reported to a workload that requests
    /// them.
    pub heard_acked: Option<Vec<u64>>,
    /// Timeouts and retransmitted segments of flows whose slots were returned, by transport.
    past: Vec<(u64, u64)>,
    /// Whether timers due at the same time are served in the order in which their flows were opened.
    pub orders_timers: bool,
    /// Flows shared with other parts, if the run is divided by hosts.
    pub halves: Option<Box<Halves>>,
    /// Largest number of slots: [`limits::FLOWS`], or fewer in a test.
    pub most_slots: usize,
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
            spraying: Vec::new(),
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
            nic_choice: None,
            nic_ports: Vec::new(),
            pinned: None,
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

    /// Chooses NICs by `choice`, if hosts have several.
    pub fn choosing_nics(mut self, choice: Option<NicChoice>) -> Self {
        self.nic_choice = choice.map(Box::new);
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
    pub fn associates(&self, slot: u32) -> bool {
        self.template(slot).associates
    }

    /// Whether the flow is paced.
    #[inline]
    pub fn has_pace(&self, slot: u32) -> bool {
        !self.paced.is_empty() && self.template(slot).has_pace
    }

    pub fn template(&self, slot: u32) -> &Template {
        &self.templates[usize::from(self.flows[slot as usize].transport)]
    }
}
