//! Which NIC sends a packet, and which one receives it, if hosts have several. One file per rule.

mod hash;
mod per_packet;
mod rail;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::graph::Graph;
use super::routing::Routes;
use crate::problem::Problem;

/// Rule that chooses the NIC of a flow, for hosts with several links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NicRule {
    /// A hash of the flow, among the NICs with a path.
    Hash,
    /// The receiver's rail: host n receives and is sent to on NIC n modulo the number of links, which must be
    /// the same for all hosts.
    Rail,
    /// The paths of a connection use the NICs in turn: for the message transport.
    PerPacket,
}

/// What a rule knows of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Hosts that send and receive the packet.
    pub ends: (u32, u32),
    /// Host that receives the data of the packet's flow.
    pub receiver: u32,
    /// Hash of the flow and the packet's direction.
    pub flow_hash: u64,
    /// Number of the packet's path, 0 if its flow has one.
    pub path: u16,
    /// Hash of the packet's path, which ECMP uses: a flow may have several paths.
    pub path_hash: u64,
}

/// Chooses the NICs of packets by the rule of a scenario.
#[derive(Debug)]
pub struct NicChoice {
    graph: Arc<Graph>,
    rule: NicRule,
    /// Path whose length is being computed.
    path: Vec<u32>,
}

impl NicChoice {
    /// Creates the choice for a network; `None` if each host has one link.
    pub fn new(graph: &Arc<Graph>, rule: NicRule) -> Option<NicChoice> {
        graph.has_several_nics().then(|| NicChoice {
            graph: Arc::clone(graph),
            rule,
            path: Vec::new(),
        })
    }

    /// Chooses the NICs that send and receive a packet; `None` if no path is left.
    pub fn choose(&mut self, routes: &Routes, sending: &Sending) -> Option<(usize, usize)> {
        match self.rule {
            NicRule::Hash => self.by_hash(routes, sending),
            NicRule::Rail => self.by_rail(routes, sending),
            NicRule::PerPacket => self.by_path(routes, sending),
        }
    }

    /// Port of the NIC that sends packets without a path.
    pub fn port_of_lost(&self, sending: &Sending) -> u32 {
        let nic = match self.rule {
            NicRule::Hash | NicRule::PerPacket => self.graph.nics_of(sending.ends.0 as usize).start,
            NicRule::Rail => self.on_rail(sending).0,
        };
        self.graph.nic_port(nic) as u32
    }

    /// NICs of the first host with a path to the second one.
    fn senders(&mut self, routes: &Routes, (from, to): (u32, u32)) -> Vec<usize> {
        let receivers = self.graph.nics_of(to as usize);
        let mut senders = Vec::from_iter(self.graph.nics_of(from as usize));
        senders.retain(|&nic| {
            let mut others = receivers.clone();
            others.any(|other| self.length(routes, nic, other).is_some())
        });
        senders
    }

    /// NICs of a host that are nearest to another one by number of links, of the NICs with a path.
    fn nearest(&mut self, routes: &Routes, sender: usize, to: u32) -> Vec<usize> {
        let receivers = self.graph.nics_of(to as usize);
        let mut lengths: Vec<(usize, usize)> = receivers
            .filter_map(|nic| Some((nic, self.length(routes, sender, nic)?)))
            .collect();
        let least = lengths.iter().map(|&(_, length)| length).min();
        lengths.retain(|&(_, length)| Some(length) == least);
        lengths.into_iter().map(|(nic, _)| nic).collect()
    }

    /// Number of ports on the paths between two NICs; `None` if there is none.
    fn length(&mut self, routes: &Routes, from: usize, to: usize) -> Option<usize> {
        self.path.clear();
        let found = routes.path(from, to, 0, &mut self.path);
        found.then_some(self.path.len())
    }
}

impl NicRule {
    /// Checks that the rule fits the network.
    pub(crate) fn check(self, graph: &Graph) -> Result<(), Problem> {
        match self {
            NicRule::Hash | NicRule::PerPacket => Ok(()),
            NicRule::Rail => rail::check(graph),
        }
    }
}
