//! Utilization of each link and each tier of links in the measured time, and their drops.

use std::io;
use std::path::Path;

use indexmap::IndexMap;
use serde::Serialize;

use super::parquet_file::{self, Column, TableFile, Values};

/// Counts of one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkCount {
    /// Sending node.
    pub from: String,
    /// Receiving node.
    pub to: String,
    /// Tier, such as `host-tor`.
    pub tier: String,
    /// Rate, bit/s.
    pub rate_bps: u64,
    /// Bytes of the packets counted in `packets`.
    pub bytes: u64,
    /// Packets whose transmission began in the measured time.
    pub packets: u64,
    /// Share of the rate in use. A packet at an edge of the measured time counts with the part
    /// inside.
    pub utilization: f64,
    /// Mean wait for transmission, us, of the packets that arrived in the measured time; at a port
    /// with several queues, of the packets that were scheduled. `None` without packets.
    pub mean_wait_us: Option<f64>,
    /// Packets marked CE in the whole run.
    pub marks: u64,
    /// Packets dropped in the whole run; at a host's link, by the NIC's queue or at random.
    pub drops: u64,
    /// Dropped packets that were lost because the link had failed.
    pub failure_drops: u64,
    /// Dropped packets that the watchdog of pauses discarded; `None` without one.
    pub discarded: Option<u64>,
    /// Dropped packets that the link lost at random; `None` at a link without random loss.
    pub lost: Option<u64>,
    /// Packets dropped by the host's pacer before the link, in the whole run.
    pub pacer_drops: u64,
}

/// Columns of `links.parquet`.
pub const LINK_COLUMNS: [Column; 11] = [
    Column::new("from", "", "sending node"),
    Column::new("to", "", "receiving node"),
    Column::new("tier", "", "tier of the link, by the kinds of its ends"),
    Column::new("rate_bps", "bit/s", "rate of the link"),
    Column::new(
        "bytes",
        "byte",
        "bytes of the packets whose transmission began in the measured time, headers included",
    ),
    Column::new(
        "packets",
        "packet",
        "packets whose transmission began in the measured time",
    ),
    Column::new(
        "utilization",
        "",
        "share of the rate in use in the measured time; a packet at its edges counts with the part inside",
    ),
    Column::new(
        "mean_wait_us",
        "us",
        "mean wait of the packets of the measured time for this link; null without packets",
    ),
    Column::new(
        "marks",
        "",
        "packets marked CE at this link, in the whole run",
    ),
    Column::new(
        "drops",
        "",
        "packets dropped at this link, in the whole run; at a host's link, by the NIC's queue or at random",
    ),
    Column::new(
        "pacer_drops",
        "",
        "packets dropped before the link by the FIFO of the host's pacer, in the whole run",
    ),
];

/// Counts of all links of one tier and direction.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TierCount {
    /// Number of links.
    pub links: usize,
    /// Packets whose transmission began in the measured time.
    pub packets: u64,
    /// Mean utilization.
    pub mean_utilization: f64,
    /// Largest utilization.
    pub max_utilization: f64,
    /// Mean wait per packet, us: the links' means, weighted by their packets.
    pub mean_wait_us: f64,
    /// Largest mean wait of a link, us.
    pub max_wait_us: f64,
    /// Packets marked CE.
    pub marks: u64,
    /// Packets dropped.
    pub drops: u64,
    /// Packets dropped by hosts' pacers before these links.
    pub pacer_drops: u64,
}

/// Combines the links of each tier; tiers are in the order of their first link.
pub fn by_tier(links: &[LinkCount]) -> IndexMap<String, TierCount> {
    let mut tiers: IndexMap<String, TierCount> = IndexMap::new();
    for link in links {
        let tier = tiers.entry(link.tier.clone()).or_insert(TierCount {
            links: 0,
            packets: 0,
            mean_utilization: 0.0,
            max_utilization: 0.0,
            mean_wait_us: 0.0,
            max_wait_us: 0.0,
            marks: 0,
            drops: 0,
            pacer_drops: 0,
        });
        tier.links += 1;
        tier.packets += link.packets;
        tier.mean_utilization += link.utilization;
        tier.max_utilization = tier.max_utilization.max(link.utilization);
        let wait_us = link.mean_wait_us.unwrap_or(0.0);
        tier.mean_wait_us += wait_us * link.packets as f64;
        tier.max_wait_us = tier.max_wait_us.max(wait_us);
        tier.marks += link.marks;
        tier.drops += link.drops;
        tier.pacer_drops += link.pacer_drops;
    }
    for tier in tiers.values_mut() {
        tier.mean_utilization /= tier.links as f64;
        tier.mean_wait_us /= (tier.packets as f64).max(1.0);
    }
    tiers
}

/// Packets dropped in the whole run, by place: in the hosts `pacer` and `nic`; if links fail,
/// `failed_links` and `no_route`, with the packets of flows without a path; `receive_ring`, if rings are
/// limited; then by the tiers of switches' links, `watchdog` if there is one, and hosts' links that lose packets
/// at random. The sum is all drops.
pub fn drops_by_place(
    links: &[LinkCount],
    no_route: Option<u64>,
    ring: Option<u64>,
) -> IndexMap<String, u64> {
    let mut places = IndexMap::from([("pacer".to_owned(), 0), ("nic".to_owned(), 0)]);
    if let Some(packets) = no_route {
        places.insert("failed_links".to_owned(), 0);
        places.insert("no_route".to_owned(), packets);
    }
    if let Some(packets) = ring {
        places.insert("receive_ring".to_owned(), packets);
    }
    let mut add = |place: &str, packets: u64| match places.get_mut(place) {
        Some(count) => *count += packets,
        None => {
            places.insert(place.to_owned(), packets);
        }
    };
    for link in links {
        let leaves_host = link.tier.starts_with("host-");
        add("pacer", link.pacer_drops);
        if leaves_host {
            add(
                "nic",
                link.drops - link.failure_drops - link.lost.unwrap_or(0),
            );
            if let Some(packets) = link.lost {
                add(&link.tier, packets);
            }
        } else {
            let discarded = link.discarded.unwrap_or(0);
            add(&link.tier, link.drops - link.failure_drops - discarded);
            if let Some(packets) = link.discarded {
                add("watchdog", packets);
            }
        }
        if link.failure_drops > 0 {
            add("failed_links", link.failure_drops);
        }
    }
    places
}

/// Packets lost on each link while it had failed, in both directions together; `links` has the two
/// directions of a link one after the other. Links without a loss are left out.
pub fn failure_drops(links: &[LinkCount]) -> IndexMap<String, u64> {
    let both = links.chunks_exact(2).map(|ports| {
        let name = format!("{}--{}", ports[0].from, ports[0].to);
        (name, ports[0].failure_drops + ports[1].failure_drops)
    });
    both.filter(|&(_, drops)| drops > 0).collect()
}

/// Writes `links.parquet`.
pub fn write(links: &[LinkCount], path: &Path) -> io::Result<()> {
    let mut table = TableFile::create(path, &LINK_COLUMNS, &columns(&[]))?;
    for group in links.chunks(parquet_file::GROUP) {
        table.write(&columns(group), 0, group.len())?;
    }
    table.close()
}

fn columns(links: &[LinkCount]) -> [Values; LINK_COLUMNS.len()] {
    let text = |get: fn(&LinkCount) -> &String| {
        Values::Strings(links.iter().map(|link| get(link).clone()).collect())
    };
    [
        text(|link| &link.from),
        text(|link| &link.to),
        text(|link| &link.tier),
        Values::long(links, |link| link.rate_bps),
        Values::long(links, |link| link.bytes),
        Values::long(links, |link| link.packets),
        Values::Double(links.iter().map(|link| link.utilization).collect()),
        Values::OptionalDouble(links.iter().map(|link| link.mean_wait_us).collect()),
        Values::long(links, |link| link.marks),
        Values::long(links, |link| link.drops),
        Values::long(links, |link| link.pacer_drops),
    ]
}
