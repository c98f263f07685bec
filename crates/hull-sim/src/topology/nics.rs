//! The NICs of a network: a NIC is a host's end of one of its links, with the port that sends there.
//! Rates are bit/s.
//!
//! NICs are numbered host by host, at each host in the order of its ports. If each host has one link,
//! a NIC has the number of its host, and nothing is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::graph::{Graph, Kind};
use crate::memory::block_of;
use crate::quote;

/// NICs of hosts of which some have several links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Nics {
    /// First NIC of each host, with the number of NICs as the last entry.
    first: Vec<u32>,
    /// Port of each NIC.
    ports: Vec<u32>,
}

impl Nics {
    /// Creates the NICs of a graph; `None` if each host has one link.
    pub(super) fn of(graph: &Graph) -> Option<Nics> {
        let ports_of = |&host: &usize| graph.node_ports(host);
        if graph.hosts().iter().all(|host| ports_of(host).len() == 1) {
            return None;
        }
        let mut nics = Nics {
            first: vec![0],
            ports: Vec::new(),
        };
        for host in graph.hosts() {
            nics.ports
                .extend(ports_of(host).iter().map(|&port| port as u32));
            nics.first.push(nics.ports.len() as u32);
        }
        Some(nics)
    }

    /// Memory of its lists, bytes.
    pub(super) fn heap_bytes(&self) -> u64 {
        block_of::<u32>(self.first.len()) + block_of::<u32>(self.ports.len())
    }
}

impl Graph {
    /// Whether some host has several links.
    pub fn has_several_nics(&self) -> bool {
        self.nics.is_some()
    }

    /// Number of NICs.
    pub fn nics(&self) -> usize {
        let several = self.nics.as_ref();
        several.map_or(self.hosts().len(), |nics| nics.ports.len())
    }

    /// NICs of host number `host`.
    pub fn nics_of(&self, host: usize) -> Range<usize> {
        match &self.nics {
            None => host..host + 1,
            Some(nics) => nics.first[host] as usize..nics.first[host + 1] as usize,
        }
    }

    /// Port on which a NIC sends.
    pub fn nic_port(&self, nic: usize) -> usize {
        match &self.nics {
            None => self.host_port(nic),
            Some(nics) => nics.ports[nic] as usize,
        }
    }

    /// Ports on which the NICs of a host send.
    pub fn host_ports(&self, host: usize) -> &[usize] {
        self.node_ports(self.hosts()[host])
    }

    /// Total rates of a host's links: to the network and from it.
    pub fn host_bps(&self, host: usize) -> (u64, u64) {
        let rate_bps = |port: usize| self.wire(port).rate_bps;
        let ports = || self.host_ports(host).iter().copied();
        let (out, back) = (
            ports().map(rate_bps),
            ports().map(Graph::opposite).map(rate_bps),
        );
        (out.sum(), back.sum())
    }

    /// Rates of a host's fastest link, as [`Graph::host_bps`].
    pub fn fastest_bps(&self, host: usize) -> (u64, u64) {
        let rate_bps = |port: usize| self.wire(port).rate_bps;
        let ports = || self.host_ports(host).iter().copied();
        let (out, back) = (
            ports().map(rate_bps),
            ports().map(Graph::opposite).map(rate_bps),
        );
        (out.max().unwrap_or(0), back.max().unwrap_or(0))
    }

    /// Rejects a graph in which two hosts are connected only through hosts, which forward nothing; the
    /// error names them.
    pub(super) fn check_reach(&self) -> Result<(), String> {
        let islands = self.islands();
        let mut hosts_by_islands = BTreeMap::new();
        for (host, &node) in self.hosts().iter().enumerate() {
            let ports = self.node_ports(node).iter();
            let there = ports.map(|&port| islands[self.port_far_end(port)]);
            let there: BTreeSet<usize> = there.collect();
            hosts_by_islands.entry(there).or_insert(host);
        }
        for (one, &host) in &hosts_by_islands {
            let apart = hosts_by_islands
                .iter()
                .find(|(other, _)| one.is_disjoint(other));
            if let Some((_, &other)) = apart {
                let name = |host: usize| quote::text(&self.name(self.hosts()[host]));
                return Err(format!(
                    "found no path over switches between the hosts {} and {}; expected one: hosts \
                     forward nothing",
                    name(host.min(other)),
                    name(host.max(other))
                ));
            }
        }
        Ok(())
    }

    /// For each switch, the first node of the switches that are connected with it through switches.
    pub(super) fn islands(&self) -> Vec<usize> {
        let is_switch = |node: usize| self.nodes[node].kind == Kind::Switch;
        let mut island = vec![usize::MAX; self.nodes.len()];
        for first in (0..self.nodes.len()).filter(|&node| is_switch(node)) {
            if island[first] != usize::MAX {
                continue;
            }
            island[first] = first;
            let mut open = vec![first];
            while let Some(node) = open.pop() {
                for &port in self.node_ports(node) {
                    let next = self.port_far_end(port);
                    if is_switch(next) && island[next] == usize::MAX {
                        island[next] = first;
                        open.push(next);
                    }
                }
            }
        }
        island
    }
}
