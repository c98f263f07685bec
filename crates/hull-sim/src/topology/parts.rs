//! Nodes and links of a network under construction. Rates in bit/s, delays in ps. A host's first link
//! is created with the host, so if each has one, link h is the link of host h.

use std::collections::HashMap;
use std::ops::Range;

use super::graph::{Graph, Kind, Link, Node, Wire};
use super::names::{Names, Numbering, Series};
use super::pods::Pods;
use crate::units::{Rate, Time};

/// Nodes and links so far, and the default wires of links.
pub(super) struct Parts {
    /// Hosts and switches.
    pub(super) nodes: Vec<Node>,
    series: Vec<Series>,
    /// Links so far.
    pub(super) links: Vec<Link>,
    /// Distinct wires of the links.
    pub(super) wires: Wires,
    /// Pods, if the network has this shape.
    pub(super) pods: Option<Pods>,
    /// Default wire out of a host: `host.rate`, `host.delay`.
    pub(super) out_of_host: Wire,
    /// Default wire out of a switch: `switch.rate`, `switch.delay`.
    pub(super) out_of_switch: Wire,
}

/// Distinct rates and delays of links, by number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Wires {
    list: Vec<Wire>,
    numbers: HashMap<Wire, u32>,
}

impl Wires {
    /// Number of a wire; a new wire is added.
    pub(super) fn number(&mut self, wire: Wire) -> u32 {
        *self.numbers.entry(wire).or_insert_with(|| {
            self.list.push(wire);
            self.list.len() as u32 - 1
        })
    }

    /// Wire with this number.
    #[inline]
    pub(super) fn get(&self, number: u32) -> Wire {
        self.list[number as usize]
    }

    /// Number of wires.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}

impl Parts {
    /// Creates an empty network.
    pub(super) fn new(out_of_host: Wire, out_of_switch: Wire) -> Self {
        Parts {
            nodes: Vec::new(),
            series: Vec::new(),
            links: Vec::new(),
            wires: Wires::default(),
            pods: None,
            out_of_host,
            out_of_switch,
        }
    }

    /// Adds `count` nodes whose names share a stem.
    fn add(
        &mut self,
        stem: &'static str,
        numbering: Numbering,
        count: usize,
        node: Node,
    ) -> Range<usize> {
        let first = self.nodes.len();
        self.series.push(Series {
            first,
            count,
            stem,
            numbering,
        });
        self.nodes.resize(first + count, node);
        first..first + count
    }

    /// Adds a switch and returns its node.
    pub(super) fn switch(&mut self, name: &'static str, tier: u8) -> usize {
        self.add(name, Numbering::None, 1, Node::switch(tier)).start
    }

    /// Adds `count` switches, named by `numbering`, and returns their nodes.
    pub(super) fn switches(
        &mut self,
        stem: &'static str,
        numbering: Numbering,
        count: usize,
        tier: u8,
    ) -> Range<usize> {
        self.add(stem, numbering, count, Node::switch(tier))
    }

    /// Adds a host with its link to `switch`.
    pub(super) fn host(&mut self, name: &'static str, switch: usize) {
        let host = self.add(name, Numbering::None, 1, Node::HOST);
        self.join_hosts(host, |_| switch);
    }

    /// Adds `count` hosts, numbered from 0, each with a link to the switch that `switch_of`
    /// returns.
    pub(super) fn hosts(
        &mut self,
        stem: &'static str,
        count: usize,
        switch_of: impl Fn(usize) -> usize,
    ) {
        let hosts = self.add_hosts(stem, count);
        self.join_hosts(hosts, switch_of);
    }

    /// Adds `count` hosts without links, numbered from 0, and returns their nodes.
    pub(super) fn add_hosts(&mut self, stem: &'static str, count: usize) -> Range<usize> {
        self.add(stem, Numbering::Single, count, Node::HOST)
    }

    /// Adds a link of each host to the switch that `switch_of` returns for its number among them.
    pub(super) fn join_hosts(&mut self, hosts: Range<usize>, switch_of: impl Fn(usize) -> usize) {
        let a_to_b = self.wire(self.out_of_host);
        let b_to_a = self.wire(self.out_of_switch);
        let link = |(number, host): (usize, usize)| Link {
            a: host as u32,
            b: switch_of(number) as u32,
            a_to_b,
            b_to_a,
        };
        self.links.extend(hosts.enumerate().map(link));
    }

    /// Number of a wire, for links.
    pub(super) fn wire(&mut self, wire: Wire) -> u32 {
        self.wires.number(wire)
    }

    /// Connects two switches by a link with this wire in both directions.
    pub(super) fn join(&mut self, a: usize, b: usize, wire: u32) {
        self.links.push(Link {
            a: a as u32,
            b: b as u32,
            a_to_b: wire,
            b_to_a: wire,
        });
    }

    /// Sets the delays of a host's link, ps: out of the host and into it.
    pub(super) fn set_delays(&mut self, link: usize, out_ps: u64, in_ps: u64) {
        let Link { a_to_b, b_to_a, .. } = self.links[link];
        let mut wire_of = |number: u32, delay_ps: u64| {
            let wire = self.wires.get(number);
            self.wires.number(Wire { delay_ps, ..wire })
        };
        (self.links[link].a_to_b, self.links[link].b_to_a) =
            (wire_of(a_to_b, out_ps), wire_of(b_to_a, in_ps));
    }

    /// Wire of a link between switches, for which the topology may set rate and delay.
    pub(super) fn between_switches(&self, rate: Option<Rate>, delay: Option<Time>) -> Wire {
        Wire {
            rate_bps: rate.map_or(self.out_of_switch.rate_bps, |rate| rate.0),
            delay_ps: delay.map_or(self.out_of_switch.delay_ps, |delay| delay.0),
        }
    }

    /// Builds the graph.
    pub(super) fn graph(mut self, tiers: &'static [&'static str]) -> Result<Graph, String> {
        let names = Names::Numbered(std::mem::take(&mut self.series));
        Graph::new(self, names, tiers)
    }

    /// Builds the graph with names from a list.
    pub(super) fn graph_named(
        self,
        names: Vec<String>,
        tiers: &'static [&'static str],
    ) -> Result<Graph, String> {
        Graph::new(self, Names::listed(names)?, tiers)
    }

    /// Whether a node is a switch.
    pub(super) fn is_switch(&self, node: u32) -> bool {
        self.nodes[node as usize].kind == Kind::Switch
    }
}
