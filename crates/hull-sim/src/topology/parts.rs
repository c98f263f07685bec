//! Nodes and links of a network while a builder puts it together. Rates in bit/s, delays in ps.
//! A link of a host is made when the host is, so that link h is the link of host h.

use super::graph::{Graph, Kind, Link, Node, Wire};
use crate::units::{Rate, Time};

/// What there is so far, and the wires that links get unless the topology says otherwise.
pub(super) struct Parts {
    /// Hosts and switches.
    pub(super) nodes: Vec<Node>,
    /// Links.
    pub(super) links: Vec<Link>,
    /// The direction out of a host: `host.rate`, `host.delay`.
    pub(super) out_of_host: Wire,
    /// The direction out of a switch: `switch.rate`, `switch.delay`.
    pub(super) out_of_switch: Wire,
}

impl Parts {
    /// Nothing yet.
    pub(super) fn new(out_of_host: Wire, out_of_switch: Wire) -> Self {
        Parts {
            nodes: Vec::new(),
            links: Vec::new(),
            out_of_host,
            out_of_switch,
        }
    }

    /// Adds a switch and returns its node.
    pub(super) fn switch(&mut self, name: impl Into<String>, tier: u8) -> usize {
        self.nodes.push(Node {
            name: name.into(),
            kind: Kind::Switch,
            tier,
        });
        self.nodes.len() - 1
    }

    /// Adds a host with its link to `switch` and returns the link.
    pub(super) fn host(&mut self, name: impl Into<String>, switch: usize) -> &mut Link {
        let a = self.nodes.len();
        self.nodes.push(Node {
            name: name.into(),
            kind: Kind::Host,
            tier: 0,
        });
        let link = self.links.len();
        self.links.push(Link {
            a,
            b: switch,
            a_to_b: self.out_of_host,
            b_to_a: self.out_of_switch,
        });
        &mut self.links[link]
    }

    /// Joins two switches, `wire` in both directions.
    pub(super) fn join(&mut self, a: usize, b: usize, wire: Wire) {
        self.links.push(Link {
            a,
            b,
            a_to_b: wire,
            b_to_a: wire,
        });
    }

    /// The wire of a link between switches, where the topology may give a rate and a delay.
    pub(super) fn between_switches(&self, rate: Option<Rate>, delay: Option<Time>) -> Wire {
        Wire {
            rate_bps: rate.map_or(self.out_of_switch.rate_bps, |rate| rate.0),
            delay_ps: delay.map_or(self.out_of_switch.delay_ps, |delay| delay.0),
        }
    }

    /// The graph of it all.
    pub(super) fn graph(self, tiers: &'static [&'static str]) -> Result<Graph, String> {
        Graph::new(self.nodes, self.links, tiers)
    }
}
