//! The graph of a network: hosts and switches, joined by links of two directions. Rates in bit/s,
//! propagation delays in ps.
//!
//! Ports are numbered from links: port 2l sends from end a to end b of link l, port 2l + 1 back.
//! Hosts are numbered in the order in which they stand among the nodes.

use std::collections::HashMap;

use crate::limits;
use crate::quote;

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire {
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Propagation delay, ps.
    pub delay_ps: u64,
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A host: one link, which no other host's packets cross.
    Host,
    /// A switch.
    Switch,
}

/// A host or a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name, unique in the graph.
    pub name: String,
    /// Host or switch.
    pub kind: Kind,
    /// 0 for hosts, 1 for the switches next to them, and so on upwards.
    pub tier: u8,
}

/// A link between two nodes, given by their places in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// One end.
    pub a: usize,
    /// The other end.
    pub b: usize,
    /// The direction from a to b, port 2l.
    pub a_to_b: Wire,
    /// The direction from b to a, port 2l + 1.
    pub b_to_a: Wire,
}

/// Names of the tiers where a topology has none of its own (thesis figure 4.12).
pub const TIERS: &[&str] = &["host", "tor", "agg", "core"];

/// A network that is sound: connected, names unique, each host with one link to a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Hosts and switches.
    pub nodes: Vec<Node>,
    /// Links.
    pub links: Vec<Link>,
    tiers: &'static [&'static str],
    by_name: HashMap<String, usize>,
    hosts: Vec<usize>,
    /// The ports out of each node, in ascending order.
    node_ports: Vec<Vec<usize>>,
}

impl Graph {
    /// Makes a graph and checks it; `tiers` are the tiers' names. The error says what was found and
    /// what is allowed.
    pub fn new(
        nodes: Vec<Node>,
        links: Vec<Link>,
        tiers: &'static [&'static str],
    ) -> Result<Graph, String> {
        let by_name = index_names(&nodes)?;
        let hosts: Vec<usize> = (0..nodes.len())
            .filter(|&node| nodes[node].kind == Kind::Host)
            .collect();
        if !(2..=limits::HOSTS).contains(&(hosts.len() as u64)) {
            return Err(format!(
                "found {} hosts; expected 2 to {}",
                hosts.len(),
                limits::HOSTS
            ));
        }
        let mut node_ports = vec![Vec::new(); nodes.len()];
        for (l, link) in links.iter().enumerate() {
            node_ports[link.a].push(2 * l);
            node_ports[link.b].push(2 * l + 1);
        }
        check_links(&nodes, &links, &node_ports, &hosts)?;
        let graph = Graph {
            nodes,
            links,
            tiers,
            by_name,
            hosts,
            node_ports,
        };
        graph.check_connected()?;
        Ok(graph)
    }

    /// The hosts' places among the nodes, by host number.
    pub fn hosts(&self) -> &[usize] {
        &self.hosts
    }

    /// The node of that name.
    pub fn node_named(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// The number of the host of that name.
    pub fn host_named(&self, name: &str) -> Option<usize> {
        self.hosts.binary_search(&self.node_named(name)?).ok()
    }

    /// Number of ports, two for each link.
    pub fn ports(&self) -> usize {
        2 * self.links.len()
    }

    /// The port out of host number `host`.
    pub fn host_port(&self, host: usize) -> usize {
        self.node_ports[self.hosts[host]][0]
    }

    /// The port of the other direction of the same link.
    pub fn opposite(port: usize) -> usize {
        port ^ 1
    }

    /// The node that sends through `port`.
    pub fn port_owner(&self, port: usize) -> usize {
        let link = &self.links[port / 2];
        if port.is_multiple_of(2) {
            link.a
        } else {
            link.b
        }
    }

    /// The node that receives what `port` sends.
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
        let link = &self.links[port / 2];
        if port.is_multiple_of(2) {
            link.a_to_b
        } else {
            link.b_to_a
        }
    }

    /// Rate and delay of `port`, to be changed.
    pub(super) fn wire_mut(&mut self, port: usize) -> &mut Wire {
        let link = &mut self.links[port / 2];
        if port.is_multiple_of(2) {
            &mut link.a_to_b
        } else {
            &mut link.b_to_a
        }
    }

    /// `"a->b"`: the names of the port's owner and of its far end.
    pub fn port_name(&self, port: usize) -> String {
        let name = |node: usize| &self.nodes[node].name;
        format!(
            "{}->{}",
            name(self.port_owner(port)),
            name(self.port_far_end(port))
        )
    }

    /// The tiers that the port joins, in the direction of its packets: `"host-tor"`, `"tor-agg"`,
    /// `"agg-tor"`, ... Tiers without a name are called `tier4`, `tier5`, ...
    pub fn port_tiers(&self, port: usize) -> String {
        let tier = |node: usize| {
            let tier = usize::from(self.nodes[node].tier);
            self.tiers
                .get(tier)
                .map_or_else(|| format!("tier{tier}"), |name| (*name).to_owned())
        };
        format!(
            "{}-{}",
            tier(self.port_owner(port)),
            tier(self.port_far_end(port))
        )
    }

    /// The ports out of `node`, in ascending order.
    pub fn node_ports(&self, node: usize) -> &[usize] {
        &self.node_ports[node]
    }

    /// The ports from node `a` to node `b`, several where links are parallel.
    pub fn ports_between(&self, a: usize, b: usize) -> impl Iterator<Item = usize> {
        let ports = self.node_ports[a].iter().copied();
        ports.filter(move |&port| self.port_far_end(port) == b)
    }

    /// Refuses a graph of several pieces, and names a node of each of two.
    fn check_connected(&self) -> Result<(), String> {
        let mut reached = vec![false; self.nodes.len()];
        let mut open = vec![0];
        reached[0] = true;
        while let Some(node) = open.pop() {
            for &port in &self.node_ports[node] {
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
                quote::text(&self.nodes[0].name),
                quote::text(&self.nodes[node].name)
            )),
        }
    }
}

fn index_names(nodes: &[Node]) -> Result<HashMap<String, usize>, String> {
    let mut by_name = HashMap::with_capacity(nodes.len());
    for (i, node) in nodes.iter().enumerate() {
        if by_name.insert(node.name.clone(), i).is_some() {
            return Err(format!(
                "found two nodes named {}; expected different names",
                quote::text(&node.name)
            ));
        }
    }
    Ok(by_name)
}

/// Refuses links that lead nowhere, and hosts with several links or none.
fn check_links(
    nodes: &[Node],
    links: &[Link],
    node_ports: &[Vec<usize>],
    hosts: &[usize],
) -> Result<(), String> {
    for link in links {
        let (a, b) = (&nodes[link.a], &nodes[link.b]);
        if link.a == link.b {
            return Err(format!(
                "found a link from {} to itself; expected a link between two nodes",
                quote::text(&a.name)
            ));
        }
        if a.kind == Kind::Host && b.kind == Kind::Host {
            return Err(format!(
                "found a link between the hosts {} and {}; expected a link to a switch",
                quote::text(&a.name),
                quote::text(&b.name)
            ));
        }
    }
    for &host in hosts {
        let found = node_ports[host].len();
        if found != 1 {
            return Err(format!(
                "found {found} links at the host {}; expected 1",
                quote::text(&nodes[host].name)
            ));
        }
    }
    Ok(())
}
