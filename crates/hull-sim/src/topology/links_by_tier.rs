//! The links of a network by the tiers that they connect, for people who check what they wrote.

use std::collections::BTreeMap;

use serde::Serialize;

use super::graph::{Graph, Wire};

/// Rate in bit/s and delay in ps, away from the hosts and back.
type Wires = [(u64, u64); 2];

/// Links between two tiers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TierLinks {
    /// Names of the tiers, the one nearer to the hosts first: `host-leaf`.
    pub tiers: String,
    /// Number of links.
    pub links: usize,
    /// Their rates and delays, the most frequent first.
    pub kinds: Vec<LinkKind>,
}

/// Links with the same rates and delays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LinkKind {
    /// Number of links.
    pub links: usize,
    /// Rate away from the hosts, bit/s. Of a link within a tier, the higher one.
    pub up_bps: u64,
    /// Rate in the other direction, bit/s.
    pub down_bps: u64,
    /// One-way delay away from the hosts, ps.
    pub up_ps: u64,
    /// One-way delay in the other direction, ps.
    pub down_ps: u64,
}

impl Graph {
    /// Links by tier, from the hosts up.
    pub fn links_by_tier(&self) -> Vec<TierLinks> {
        let mut counts: BTreeMap<(u8, u8), BTreeMap<Wires, usize>> = BTreeMap::new();
        for port in (0..self.ports()).filter(|&port| port < Graph::opposite(port)) {
            let of = |wire: Wire| (wire.rate_bps, wire.delay_ps);
            let mut wires = [of(self.wire(port)), of(self.wire(Graph::opposite(port)))];
            let (from, to) = self.tiers_of(port);
            if from > to || (from == to && wires[0] < wires[1]) {
                wires.reverse();
            }
            let of_tiers = counts.entry((from.min(to), from.max(to))).or_default();
            *of_tiers.entry(wires).or_default() += 1;
        }
        let tiers = counts.into_iter().map(|(tiers, kinds)| {
            let kind = |(wires, links): (Wires, usize)| {
                let [(up_bps, up_ps), (down_bps, down_ps)] = wires;
                LinkKind {
                    links,
                    up_bps,
                    down_bps,
                    up_ps,
                    down_ps,
                }
            };
            let mut kinds = Vec::from_iter(kinds.into_iter().map(kind));
            kinds.sort_by_key(|kind| std::cmp::Reverse(kind.links));
            TierLinks {
                tiers: self.name_of_tiers(tiers),
                links: kinds.iter().map(|kind| kind.links).sum(),
                kinds,
            }
        });
        tiers.collect()
    }
}
