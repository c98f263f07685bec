//! The tables of `[topology]`, which define the connections between hosts and switches.
//! [`build`](super::build) builds the graph from them. A link has `host.rate` and `host.delay` out
//! of a host and `switch.rate` and `switch.delay` out of a switch, unless a key here overrides
//! them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::dual_tor::{self, DualTor};
use super::failures::{self, Failure};
use super::rail_optimized::{self, RailOptimized};
use super::two_datacentres::{self, TwoDatacentres};
use crate::limits;
use crate::problem::{Problem, delay, loss, need, rate, refuse, require};
use crate::units::{Rate, Share, Time};

/// Connections between hosts and switches: exactly one of the tables, and settings of single links.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// All hosts at one switch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub star: Option<Star>,
    /// Senders and receivers on the two sides of one link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dumbbell: Option<Dumbbell>,
    /// The network with two bottlenecks of thesis figure 2.17.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub multihop: Option<Multihop>,
    /// Two tiers: each leaf is connected to each spine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leaf_spine: Option<LeafSpine>,
    /// Three tiers in pods; by default the network of paper 6.3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Tree>,
    /// The fat tree of k-port switches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fat_tree: Option<FatTree>,
    /// Two fat trees with links of millisecond delays between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub two_datacentres: Option<TwoDatacentres>,
    /// Groups of hosts with a NIC for each rail, and a leaf for each group and rail.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_optimized: Option<RailOptimized>,
    /// Racks with two top-of-rack switches, and hosts with a NIC at each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dual_tor: Option<DualTor>,
    /// Any graph, from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<GraphFile>,
    /// Any graph, in the scenario itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphText>,
    /// Links with their own rate, delay or loss.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<LinkSettings>,
    /// Links, NICs, switches and hosts that fail during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Failure>,
}

/// One switch with all hosts; host 0 is the client, and the port to it is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts, the client included.
    pub hosts: u16,
}

/// Senders at one switch, as many receivers at another, one link between the two. The measured port
/// sends over this link from senders to receivers. The first receiver is the client and the first
/// sender the source of probes; data should flow in that direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dumbbell {
    /// Number of senders and of receivers; hosts 0 to pairs - 1 are the senders.
    pub pairs: u32,
    /// Rate of the link between the switches (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck_rate: Option<Rate>,
    /// Propagation delay of the link between the switches (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bottleneck_delay: Option<Time>,
    /// Round-trip propagation delay between sender i and receiver i: entry i modulo the number of
    /// entries. The sender's own link gets the remainder after the other links. Without entries
    /// that link has the same delay as the others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rtts: Vec<Time>,
}

/// The multi-hop network of thesis 2.3.1, figure 2.17: groups S1 and S2 at the switch `triumph1`,
/// groups S3, R1 and R2 at `triumph2`, both connected to `scorpion`. R1 is one host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Multihop {
    /// Hosts of group S1.
    #[serde(default = "ten_hosts")]
    pub s1: u32,
    /// Hosts of group S2.
    #[serde(default = "twenty_hosts")]
    pub s2: u32,
    /// Hosts of group S3.
    #[serde(default = "ten_hosts")]
    pub s3: u32,
    /// Hosts of group R2.
    #[serde(default = "twenty_hosts")]
    pub r2: u32,
    /// Rate of the two links between switches.
    #[serde(default = "trunk_rate")]
    pub trunk_rate: Rate,
    /// Propagation delay of the two links between switches (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trunk_delay: Option<Time>,
}

/// Two tiers: each leaf is connected to each spine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeafSpine {
    /// Number of leaves.
    pub leaves: u32,
    /// Number of spines.
    pub spines: u32,
    /// Hosts at each leaf.
    pub hosts_per_leaf: u32,
    /// Equal networks of leaves and spines, with a NIC of each host in each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub planes: u32,
    /// Rate of the links between leaves and spines (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<Rate>,
    /// Propagation delay of the links between leaves and spines (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<Time>,
}

/// Three tiers in pods. Each ToR is connected to each aggregation switch of its pod; aggregation
/// switch i of each pod is connected to the i-th group of cores / aggs_per_pod cores. The defaults
/// are the network of paper 6.3: 56 switches of 8 ports, 192 hosts, 3:1 at the ToR.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tree {
    /// Number of pods.
    #[serde(default = "eight")]
    pub pods: u32,
    /// Top-of-rack switches in each pod.
    #[serde(default = "four")]
    pub tors_per_pod: u32,
    /// Hosts at each top-of-rack switch.
    #[serde(default = "six")]
    pub hosts_per_tor: u32,
    /// Aggregation switches in each pod.
    #[serde(default = "two")]
    pub aggs_per_pod: u32,
    /// Core switches, a multiple of aggs_per_pod.
    #[serde(default = "eight")]
    pub cores: u32,
    /// Rate of the links between ToR and aggregation (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<Rate>,
    /// Propagation delay of the links between ToR and aggregation (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<Time>,
    /// Rate of the links between aggregation and core (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_rate: Option<Rate>,
    /// Propagation delay of the links between aggregation and core (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_delay: Option<Time>,
}

/// The fat tree of k-port switches: k pods with k / 2 ToRs and k / 2 aggregation switches each, k^2
/// / 4 cores, k^3 / 4 hosts, without oversubscription.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Ports of each switch, even.
    pub k: u32,
    /// Equal fat trees, with a NIC of each host in each.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub planes: u32,
    /// Rate of the links between switches (default: switch.rate).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_rate: Option<Rate>,
    /// Propagation delay of the links between switches (default: switch.delay).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uplink_delay: Option<Time>,
}

/// A graph in a file, as NetworkX or HPCC's simulator has it; the page on topologies lists the formats.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphFile {
    /// The file.
    pub path: String,
}

/// A graph as text: the content of a graph file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphText {
    /// The content of a graph file; from Python also a graph of NetworkX.
    pub text: String,
}

/// Settings of one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkSettings {
    /// The link: "a--b" for both directions, "a->b" for one.
    pub link: String,
    /// Its rate (default: as other links).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Its propagation delay (default: as other links).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay: Option<Time>,
    /// Share of the packets that it loses at random (default: as other links).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<Share>,
}

/// Largest number of ports per switch of a fat tree: 1,024,000 hosts.
const MOST_K: u32 = 160;
const _: () = {
    let k = MOST_K as u64;
    assert!(k * k * k / 4 <= limits::HOSTS && 3 * k * k * k / 4 <= limits::LINKS as u64);
    assert!(k * k / 2 <= limits::SWITCHES);
};

const fn one() -> u32 {
    1
}
const fn is_one(planes: &u32) -> bool {
    *planes == 1
}
const fn two() -> u32 {
    2
}
const fn four() -> u32 {
    4
}
const fn six() -> u32 {
    6
}
const fn eight() -> u32 {
    8
}
const fn ten_hosts() -> u32 {
    10
}
const fn twenty_hosts() -> u32 {
    20
}
const fn trunk_rate() -> Rate {
    Rate(10_000_000_000)
}

/// Checks the topology's keys. [`build`](super::build) checks the graph.
pub(crate) fn check(topology: &Topology) -> Result<(), Problem> {
    let allowed = "one of the tables star, dumbbell, multihop, leaf_spine, tree, fat_tree, two_datacentres, rail_optimized, dual_tor, file, graph";
    let checks: Vec<Result<(), Problem>> = [
        topology.star.as_ref().map(star),
        topology.dumbbell.as_ref().map(dumbbell),
        topology.multihop.as_ref().map(multihop),
        topology.leaf_spine.as_ref().map(leaf_spine),
        topology.tree.as_ref().map(tree),
        topology.fat_tree.as_ref().map(fat_tree),
        topology
            .two_datacentres
            .as_ref()
            .map(two_datacentres::check),
        topology.rail_optimized.as_ref().map(rail_optimized::check),
        topology.dual_tor.as_ref().map(dual_tor::check),
        topology.file.as_ref().map(|_| Ok(())),
        topology.graph.as_ref().map(|_| Ok(())),
    ]
    .into_iter()
    .flatten()
    .collect();
    match checks.len() {
        0 => return refuse("topology", "no network", allowed),
        1 => {}
        _ => return refuse("topology", "several networks", allowed),
    }
    checks.into_iter().collect::<Result<(), _>>()?;
    for (i, settings) in topology.links.iter().enumerate() {
        let key = |name: &str| format!("topology.links[{i}]{name}");
        require(
            settings.rate.is_some() || settings.delay.is_some() || settings.loss.is_some(),
            &key(""),
            "a link without rate, delay and loss",
            "at least one of them",
        )?;
        loss(&key(".loss"), settings.loss)?;
        wire(&key(".rate"), settings.rate, &key(".delay"), settings.delay)?;
    }
    failures::check(&topology.failures)
}

/// Checks a rate and a delay, if given.
pub(super) fn wire(
    rate_key: &str,
    its_rate: Option<Rate>,
    delay_key: &str,
    its_delay: Option<Time>,
) -> Result<(), Problem> {
    its_rate.map_or(Ok(()), |found| rate(rate_key, found))?;
    its_delay.map_or(Ok(()), |found| delay(delay_key, found))
}

/// Checks a count, which must be 1 to `max`.
pub(super) fn count(key: &str, found: u32, max: u64) -> Result<(), Problem> {
    let fits = (1..=max).contains(&u64::from(found));
    require(fits, key, found, &format!("1 to {max}"))
}

/// Checks the product of several counts of hosts.
pub(super) fn check_total(key: &str, hosts: u64) -> Result<(), Problem> {
    need(
        (2..=limits::HOSTS).contains(&hosts),
        key,
        format!("{hosts} hosts"),
        &format!("2 to {} hosts", limits::HOSTS),
    )
}

/// Checks the total number of links: host links and links between switches.
pub(super) fn check_links(key: &str, hosts: u64, between: u64) -> Result<(), Problem> {
    let (found, most) = (hosts + between, limits::LINKS);
    require(
        found <= most as u64,
        key,
        format!("{found} links"),
        &format!("at most {most}"),
    )
}

fn star(star: &Star) -> Result<(), Problem> {
    let hosts = star.hosts;
    require(
        (2..=4096).contains(&hosts),
        "topology.star.hosts",
        hosts,
        "2 to 4096",
    )
}

fn dumbbell(d: &Dumbbell) -> Result<(), Problem> {
    count("topology.dumbbell.pairs", d.pairs, limits::HOSTS / 2)?;
    wire(
        "topology.dumbbell.bottleneck_rate",
        d.bottleneck_rate,
        "topology.dumbbell.bottleneck_delay",
        d.bottleneck_delay,
    )?;
    for (i, &rtt) in d.rtts.iter().enumerate() {
        delay(&format!("topology.dumbbell.rtts[{i}]"), rtt)?;
    }
    require(
        d.rtts.len() as u64 <= u64::from(d.pairs),
        "topology.dumbbell.rtts",
        format!("{} entries", d.rtts.len()),
        &format!("at most one for each of the {} pairs", d.pairs),
    )
}

fn multihop(m: &Multihop) -> Result<(), Problem> {
    count("topology.multihop.s1", m.s1, 10_000)?;
    count("topology.multihop.s2", m.s2, 10_000)?;
    count("topology.multihop.s3", m.s3, 10_000)?;
    count("topology.multihop.r2", m.r2, 10_000)?;
    wire(
        "topology.multihop.trunk_rate",
        Some(m.trunk_rate),
        "topology.multihop.trunk_delay",
        m.trunk_delay,
    )
}

fn leaf_spine(l: &LeafSpine) -> Result<(), Problem> {
    count("topology.leaf_spine.leaves", l.leaves, limits::SWITCHES)?;
    count("topology.leaf_spine.spines", l.spines, 1000)?;
    let per_leaf = l.hosts_per_leaf;
    count(
        "topology.leaf_spine.hosts_per_leaf",
        per_leaf,
        limits::HOSTS,
    )?;
    count("topology.leaf_spine.planes", l.planes, limits::NICS as u64)?;
    let hosts = u64::from(l.leaves) * u64::from(per_leaf);
    check_total("topology.leaf_spine", hosts)?;
    let (planes, uplinks) = (
        u64::from(l.planes),
        u64::from(l.leaves) * u64::from(l.spines),
    );
    check_links("topology.leaf_spine", planes * hosts, planes * uplinks)?;
    wire(
        "topology.leaf_spine.uplink_rate",
        l.uplink_rate,
        "topology.leaf_spine.uplink_delay",
        l.uplink_delay,
    )
}

fn tree(t: &Tree) -> Result<(), Problem> {
    count("topology.tree.pods", t.pods, 1000)?;
    count("topology.tree.tors_per_pod", t.tors_per_pod, 1000)?;
    count("topology.tree.hosts_per_tor", t.hosts_per_tor, 1000)?;
    count("topology.tree.aggs_per_pod", t.aggs_per_pod, 100)?;
    count("topology.tree.cores", t.cores, limits::SWITCHES)?;
    require(
        t.cores.is_multiple_of(t.aggs_per_pod),
        "topology.tree.cores",
        t.cores,
        &format!("a multiple of aggs_per_pod, {}", t.aggs_per_pod),
    )?;
    let tors = u64::from(t.pods) * u64::from(t.tors_per_pod);
    let hosts = tors * u64::from(t.hosts_per_tor);
    check_total("topology.tree", hosts)?;
    require(
        tors <= limits::SWITCHES,
        "topology.tree",
        format!("{tors} top-of-rack switches"),
        &format!("1 to {}", limits::SWITCHES),
    )?;
    let uplinks = tors * u64::from(t.aggs_per_pod);
    let core_links = u64::from(t.pods) * u64::from(t.cores);
    check_links("topology.tree", hosts, uplinks + core_links)?;
    wire(
        "topology.tree.uplink_rate",
        t.uplink_rate,
        "topology.tree.uplink_delay",
        t.uplink_delay,
    )?;
    wire(
        "topology.tree.core_rate",
        t.core_rate,
        "topology.tree.core_delay",
        t.core_delay,
    )
}

fn fat_tree(f: &FatTree) -> Result<(), Problem> {
    require(
        (2..=MOST_K).contains(&f.k) && f.k.is_multiple_of(2),
        "topology.fat_tree.k",
        f.k,
        &format!("an even number from 2 to {MOST_K}"),
    )?;
    count("topology.fat_tree.planes", f.planes, limits::NICS as u64)?;
    let (planes, hosts) = (u64::from(f.planes), u64::from(f.k).pow(3) / 4);
    check_links("topology.fat_tree", planes * hosts, planes * 2 * hosts)?;
    wire(
        "topology.fat_tree.uplink_rate",
        f.uplink_rate,
        "topology.fat_tree.uplink_delay",
        f.uplink_delay,
    )
}
