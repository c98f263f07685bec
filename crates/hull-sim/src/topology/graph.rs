//! The graph of a network: hosts and switches, connected by bidirectional links. Rates in bit/s,
//! propagation delays in ps.
//!
//! Port numbers follow from links: port 2l sends from end a to end b of link l, port 2l + 1 back. Hosts
//! are numbered in their order among the nodes.
//!
//! A network of a million hosts has three million links: a node or link takes a few bytes in one array,
//! and names are computed from numbers where possible (`names`).

use std::collections::{BTreeMap, BTreeSet};

use super::names::Names;
use super::nics::Nics;
use super::parts::{Parts, Wires};
use super::pods::Pods;
use crate::limits;
use crate::memory::block_of;
use crate::quote;
use crate::units::{Rate, Share};

/// Rate and delay of one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Wire {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Propagation delay, ps.
    pub delay_ps: u64,
}

/// Kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Host: it has one or more links, and no packets of other hosts cross it.
    Host,
    /// Switch.
    Switch,
}

/// Host or switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// Kind of the node.
    pub kind: Kind,
    /// Tier: 0 for hosts, 1 for the switches next to them, and so on upwards.
    pub tier: u8,
}

impl Node {
    /// A host in tier 0.
    pub(super) const HOST: Node = Node {
        kind: Kind::Host,
        tier: 0,
    };

    /// Creates a switch of a tier.
    pub(super) fn switch(tier: u8) -> Node {
        Node {
            kind: Kind::Switch,
            tier,
        }
    }
}

/// Link between two nodes, given by their indices in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// One end.
    pub(super) a: u32,
    /// The other end.
    pub(super) b: u32,
    /// Number of the wire from a to b, port 2l.
    pub(super) a_to_b: u32,
    /// Number of the wire from b to a, port 2l + 1.
    pub(super) b_to_a: u32,
}

/// Default names of the tiers (thesis figure 4.12).
pub const TIERS: &[&str] = &["host", "tor", "agg", "core"];

/// Valid network: connected, with unique names, each host with links to switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    links: Vec<Link>,
    wires: Wires,
    names: Names,
    /// Pods, if the network has this shape.
    pods: Option<Pods>,
    /// Whether some link was given a rate or delay of its own.
    has_odd_wires: bool,
    /// Random loss of the ports whose links were given one.
    losses: BTreeMap<usize, Share>,
    tiers: &'static [&'static str],
    hosts: Vec<usize>,
    /// NICs, if some host has several.
    pub(super) nics: Option<Nics>,
    /// Ports out of each node, in ascending order, node by node.
    node_ports: Vec<usize>,
    /// Index in `node_ports` of each node's first port; the last entry is the end.
    first_ports: Vec<u32>,
}

impl Graph {
    /// Memory of its lists, without names that a file gives, bytes.
    pub fn heap_bytes(&self) -> u64 {
        block_of::<Node>(self.nodes.len())
            + block_of::<Link>(self.links.len())
            + block_of::<usize>(self.hosts.len())
            + block_of::<usize>(self.node_ports.len())
            + block_of::<u32>(self.first_ports.len())
            + self.nics.as_ref().map_or(0, Nics::heap_bytes)
    }

    /// Creates a graph from its parts and checks it; `tiers` are the names of the tiers. An error
    /// states what was found and what is expected.
    pub(super) fn new(
        parts: Parts,
        names: Names,
        tiers: &'static [&'static str],
    ) -> Result<Graph, String> {
        let is_host = |&node: &usize| parts.nodes[node].kind == Kind::Host;
        let hosts: Vec<usize> = (0..parts.nodes.len()).filter(is_host).collect();
        if !(2..=limits::HOSTS).contains(&(hosts.len() as u64)) {
            return Err(format!(
                "found {} hosts; expected 2 to {}",
                hosts.len(),
                limits::HOSTS
            ));
        }
        if parts.links.len() > limits::LINKS {
            return Err(format!(
                "found {} links; expected at most {}",
                parts.links.len(),
                limits::LINKS
            ));
        }
        check_links(&parts, &names)?;
        let (node_ports, first_ports) = node_ports(parts.nodes.len(), &parts.links);
        let mut graph = Graph {
            nodes: parts.nodes,
            links: parts.links,
            wires: parts.wires,
            names,
            pods: parts.pods,
            has_odd_wires: false,
            losses: BTreeMap::new(),
            tiers,
            hosts,
            nics: None,
            node_ports,
            first_ports,
        };
        graph.check_hosts()?;
        if graph.pods.is_none() {
            graph.check_connected()?;
        }
        graph.nics = Nics::of(&graph);
        if graph.has_several_nics() {
            graph.check_reach()?;
        }
        Ok(graph)
    }

    /// Node of each host, by host number.
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// Name of a node, unique in the graph.
    pub fn name(&self, node: usize) -> String {
        self.names.of(node)
    }

    /// Node with this name.
    pub fn node_named(&self, name: &str) -> Option<usize> {
        self.names.find(name)
    }

    /// Number of the host with this name.
    pub fn host_named(&self, name: &str) -> Option<usize> {
        self.hosts.binary_search(&self.node_named(name)?).ok()
    }

    /// Pods, if the network has this shape.
    pub(super) fn pods(&self) -> Option<&Pods> {
        self.pods.as_ref()
    }

    /// Whether the network looks the same from every switch with hosts.
    pub fn is_symmetric(&self) -> bool {
        self.pods.is_some() && !self.has_odd_wires
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.links.len()
    }

    /// Number of ports, two per link.
    pub fn ports(&self) -> usize {
        2 * self.links.len()
    }

    /// Port out of host number `host`, the first one if it has several.
    pub fn host_port(&self, host: usize) -> usize {
        self.node_ports(self.hosts[host])[0]
    }

    /// Rates of the slowest and of the fastest link of hosts to the network.
    pub fn host_rates(&self) -> (Rate, Rate) {
        let nics = 0..self.nics();
        let rates = nics.map(|nic| self.wire(self.nic_port(nic)).rate_bps);
        let (slowest, fastest) = (rates.clone().min(), rates.max());
        (Rate(slowest.unwrap_or(0)), Rate(fastest.unwrap_or(0)))
    }

    /// Port of the opposite direction of the same link.
    pub fn opposite(port: usize) -> usize {
        port ^ 1
    }

    /// Node that sends through `port`.
    pub fn port_owner(&self, port: usize) -> usize {
        let link = &self.links[port / 2];
        let end = if port.is_multiple_of(2) {
            link.a
        } else {
            link.b
        };
        end as usize
    }

    /// Node that receives from `port`.
    pub fn port_far_end(&self, port: usize) -> usize {
        self.port_owner(Self::opposite(port))
    }

    /// Whether both ends of the port's link are switches.
    pub fn is_between_switches(&self, port: usize) -> bool {
        let is_switch = |node: usize| self.nodes[node].kind == Kind::Switch;
        is_switch(self.port_owner(port)) && is_switch(self.port_far_end(port))
    }

    /// Rate and delay of `port`.
    pub fn wire(&self, port: usize) -> Wire {
        self.wires.get(self.wire_number(port))
    }

    fn wire_number(&self, port: usize) -> u32 {
        let link = &self.links[port / 2];
        if port.is_multiple_of(2) {
            link.a_to_b
        } else {
            link.b_to_a
        }
    }

    /// All distinct rates and delays of the ports.
    pub fn wires(&self) -> Vec<Wire> {
        let mut used = vec![false; self.wires.len()];
        for link in &self.links {
            used[link.a_to_b as usize] = true;
            used[link.b_to_a as usize] = true;
        }
        let numbers = (0..).zip(used).filter(|&(_, used)| used);
        numbers.map(|(number, _)| self.wires.get(number)).collect()
    }

    /// Sets the rate and delay of `port`.
    pub(super) fn set_wire(&mut self, port: usize, wire: Wire) {
        let number = self.wires.number(wire);
        let link = &mut self.links[port / 2];
        if port.is_multiple_of(2) {
            link.a_to_b = number;
        } else {
            link.b_to_a = number;
        }
        self.has_odd_wires = true;
    }

    /// Share of the packets that the link of `port` loses at random, if it was given one.
    pub fn loss(&self, port: usize) -> Option<Share> {
        self.losses.get(&port).copied()
    }

    pub(super) fn set_loss(&mut self, port: usize, share: Share) {
        self.losses.insert(port, share);
    }

    /// Name of a port, `"a->b"`: the names of its owner and of its far end.
    pub fn port_name(&self, port: usize) -> String {
        format!(
            "{}->{}",
            self.name(self.port_owner(port)),
            self.name(self.port_far_end(port))
        )
    }

    /// Tiers that the port connects, in the direction of its packets: `"host-tor"`, `"tor-agg"`,
    /// `"agg-tor"`, ... Tiers without a name are called `tier4`, `tier5`, ...
    pub fn port_tiers(&self, port: usize) -> String {
        self.name_of_tiers(self.tiers_of(port))
    }

    /// Name of two tiers that a port connects.
    pub fn name_of_tiers(&self, (from, to): (u8, u8)) -> String {
        let name = |tier: u8| {
            let known = self.tiers.get(usize::from(tier));
            known.map_or_else(|| format!("tier{tier}"), |name| (*name).to_owned())
        };
        format!("{}-{}", name(from), name(to))
    }

    /// Tiers that ports of switches connect, each pair once, in the order of a path: up, level, down.
    pub fn tiers_of_switch_ports(&self) -> Vec<(u8, u8)> {
        let is_of_switch = |port: usize| self.nodes[self.port_owner(port)].kind == Kind::Switch;
        let ports = (0..self.ports()).filter(|&port| is_of_switch(port));
        let all = BTreeSet::from_iter(ports.map(|port| self.tiers_of(port)));
        let (mut up, down): (Vec<_>, Vec<_>) = all.into_iter().partition(|(from, to)| from <= to);
        up.extend(down.into_iter().rev());
        up
    }

    /// Tiers that the port connects, by number.
    pub fn tiers_of(&self, port: usize) -> (u8, u8) {
        let tier = |node: usize| self.nodes[node].tier;
        (tier(self.port_owner(port)), tier(self.port_far_end(port)))
    }

    /// Ports out of `node`, in ascending order.
    pub fn node_ports(&self, node: usize) -> &[usize] {
        &self.node_ports[self.first_ports[node] as usize..self.first_ports[node + 1] as usize]
    }

    /// Ports from node `a` to node `b`; several if links are parallel.
    pub fn ports_between(&self, a: usize, b: usize) -> impl Iterator<Item = usize> {
        let ports = self.node_ports(a).iter().copied();
        ports.filter(move |&port| self.port_far_end(port) == b)
    }

    /// Rejects hosts without links, and with too many.
    fn check_hosts(&self) -> Result<(), String> {
        let fits = 1..=limits::NICS;
        let odd = self
            .hosts
            .iter()
            .find(|&&host| !fits.contains(&self.node_ports(host).len()));
        odd.map_or(Ok(()), |&host| {
            Err(format!(
                "found {} links at the host {}; expected 1 to {}",
                self.node_ports(host).len(),
                quote::text(&self.name(host)),
                limits::NICS
            ))
        })
    }

    /// Rejects a disconnected graph; the error names a node of each of two components.
    fn check_connected(&self) -> Result<(), String> {
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![0];
        reached[0] = true;
        while let Some(node) = open.pop() {
            for &port in self.node_ports(node) {
                let next = self.port_far_end(port);
                if !reached[next] {
                    reached[next] = true;
                    open.push(next);
                }
            }
        }
        match reached.iter().position(|&reached| !reached) {
            None => Ok(()),
            Some(node) => Err(format!(
                "found no path between {} and {}; expected a connected graph",
                quote::text(&self.name(0)),
                quote::text(&self.name(node))
            )),
        }
    }
}

/// Rejects links from a node to itself and links between hosts.
fn check_links(parts: &Parts, names: &Names) -> Result<(), String> {
    for link in &parts.links {
        let name = |node: u32| names.of(node as usize);
        if link.a == link.b {
            return Err(format!(
                "found a link from {} to itself; expected a link between two nodes",
                quote::text(&name(link.a))
            ));
        }
        if !parts.is_switch(link.a) && !parts.is_switch(link.b) {
            return Err(format!(
                "found a link between the hosts {} and {}; expected a link to a switch",
                quote::text(&name(link.a)),
                quote::text(&name(link.b))
            ));
        }
    }
    Ok(())
}

/// Returns the ports out of each of `nodes` nodes, in ascending order, node by node, and the index
/// of each node's first port, with the end as the last entry.
fn node_ports(nodes: usize, links: &[Link]) -> (Vec<usize>, Vec<u32>) {
    let ends = || links.iter().flat_map(|link| [link.a, link.b]);
    let mut first = vec![0; nodes + 1];
    for end in ends() {
        first[end as usize + 1] += 1;
    }
    for node in 0..nodes {
        first[node + 1] += first[node];
    }
    let mut next = first.clone();
    let mut ports = vec![0; 2 * links.len()];
    for (port, end) in ends().enumerate() {
        let place = &mut next[end as usize];
        ports[*place as usize] = port;
        *place += 1;
    }
    (ports, first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_hosts() {
        let wire = Wire {
            rate_bps: 1,
            delay_ps: 0,
        };
        let star = |hosts: u64| {
            let mut parts = Parts::new(wire, wire);
            let switch = parts.switch("switch", 1);
            parts.hosts("h", hosts as usize, |_| switch);
            parts.graph(TIERS).map(|graph| graph.links())
        };
        assert_eq!(star(limits::HOSTS), Ok(1_048_576));
        let told = star(limits::HOSTS + 1).expect_err("too many");
        assert_eq!(told, "found 1048577 hosts; expected 2 to 1048576");
    }
}
