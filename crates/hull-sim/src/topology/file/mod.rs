//! Any graph, from a file: GraphML (`write_graphml`) or node-link JSON (`node_link_data`) as NetworkX writes
//! them, or a topology of HPCC's simulator. The beginning of the file distinguishes the formats. To add one, write its reader
//! in a file, and add it to `FORMATS` below.
//!
//! Nodes have the attributes `kind` (`host` or `switch`), and optionally `name` and `tier`; links
//! optionally `rate` (`"10Gbps"`, or a number of bit/s) and `delay` (`"200ns"`, or a number of seconds,
//! rounded to ps). Other attributes are ignored, except those that [mean](near_names) a missing rate
//! or delay. The scenario supplies a link's missing values:
//! `host.rate` and `host.delay` out of a host, `switch.rate` and `switch.delay` out of a switch. The
//! default tier of a switch is its number of links to the nearest host.

mod graphml;
mod hpcc;
mod near_names;
mod node_link;

use std::collections::{HashMap, VecDeque};
use std::io::ErrorKind;

use super::graph::{Graph, Kind, Link, Node, TIERS, Wire};
use super::link_name::SEPARATORS;
use super::parts::{Parts, Wires};
use crate::problem;
use crate::quote;
use crate::text_file;
use crate::topology::GraphFile;
use crate::units::{Rate, Share, Time};
use near_names::{Meant, meant};

/// Largest size of a file, bytes.
const MAX_BYTES: u64 = 200_000_000;

/// Format of graph files.
struct Format {
    /// Name, for messages.
    name: &'static str,
    /// Usual ending of a file's name.
    ending: &'static str,
    /// Whether a text, which does not begin with a blank, is in this format.
    is_of: fn(&str) -> bool,
    /// Reads the contents of a text, which may begin with blanks.
    parse: fn(&str) -> Result<Sheet, String>,
}

/// All formats: the only list of them.
const FORMATS: &[Format] = &[
    Format {
        name: "GraphML",
        ending: ".graphml",
        is_of: |text| text.starts_with('<'),
        parse: graphml::parse,
    },
    Format {
        name: "node-link JSON",
        ending: ".json",
        is_of: |text| text.starts_with('{'),
        parse: node_link::parse,
    },
    Format {
        name: "a topology of HPCC's",
        ending: ".txt",
        is_of: hpcc::is_of,
        parse: hpcc::parse,
    },
];

/// Usual endings of the names of graph files.
pub fn graph_endings() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.ending).collect()
}

/// Contents common to all formats, with attributes as text.
#[derive(Debug, Default)]
struct Sheet {
    directed: bool,
    nodes: Vec<SheetNode>,
    edges: Vec<SheetEdge>,
}

/// Node as written.
#[derive(Debug)]
struct SheetNode {
    /// Place in the file, for messages.
    place: String,
    id: String,
    attributes: Attributes,
}

/// Edge as written, its ends given by their ids.
#[derive(Debug)]
struct SheetEdge {
    /// Place in the file, for messages.
    place: String,
    source: String,
    target: String,
    attributes: Attributes,
}

/// Attributes that are used, and names that mean one of them; all others are ignored.
#[derive(Clone, Debug, Default)]
struct Attributes {
    kind: Option<String>,
    name: Option<String>,
    tier: Option<String>,
    rate: Option<String>,
    delay: Option<String>,
    /// Share of packets that the link loses at random.
    loss: Option<Share>,
    /// First name, in alphabetical order, of an attribute that means `rate`.
    near_rate: Option<String>,
    /// First name of one that means `delay`.
    near_delay: Option<String>,
}

impl Attributes {
    /// Sets the attribute with this name, if it is used.
    fn set(&mut self, name: &str, value: String) {
        match name {
            "kind" => self.kind = Some(value),
            "name" => self.name = Some(value),
            "tier" => self.tier = Some(value),
            "rate" => self.rate = Some(value),
            "delay" => self.delay = Some(value),
            _ => {}
        }
    }

    /// Notes an attribute whose name means another one.
    fn note(&mut self, name: &str, meant: Meant) {
        let near = match meant {
            Meant::Rate => &mut self.near_rate,
            Meant::Delay => &mut self.near_delay,
        };
        if near.as_deref().is_none_or(|before| name < before) {
            *near = Some(name.to_owned());
        }
    }
}

/// Attribute of links, `rate` or `delay`, that another name means.
pub fn meant_attribute(name: &str) -> Option<&'static str> {
    meant(name).map(Meant::name)
}

/// Reads the file and builds the graph.
pub(super) fn build(file: &GraphFile, parts: Parts) -> Result<Graph, String> {
    read(&file.path)
        .and_then(|text| from_text(&text, parts))
        .map_err(|problem| {
            // "FILE is neither ...", but "FILE: nodes[3]: ...".
            let colon = if problem.starts_with("is ") { "" } else { ":" };
            format!("{}{colon} {problem}", quote::name(&file.path))
        })
}

/// Builds the graph from the text of a file.
pub(super) fn from_text(text: &str, parts: Parts) -> Result<Graph, String> {
    graph(&parse(text)?, parts)
}

fn read(path: &str) -> Result<String, String> {
    text_file::read(path, MAX_BYTES).map_err(|error| match error.kind() {
        ErrorKind::InvalidData => error.to_string(),
        _ => format!("cannot be read: {}", quote::reason(&error)),
    })
}

fn parse(text: &str) -> Result<Sheet, String> {
    let text = text.trim_start_matches('\u{feff}');
    let start = text.trim_start();
    let names = Vec::from_iter(FORMATS.iter().map(|format| format.name));
    if start.is_empty() {
        return Err(format!("is empty; expected {}", names.join(" or ")));
    }
    let format = FORMATS.iter().find(|format| (format.is_of)(start));
    let format = format.ok_or_else(|| format!("is neither {}", names.join(" nor ")))?;
    (format.parse)(text)
}

fn graph(sheet: &Sheet, mut parts: Parts) -> Result<Graph, String> {
    let mut by_id = HashMap::new();
    for (i, node) in sheet.nodes.iter().enumerate() {
        if by_id.insert(node.id.as_str(), i).is_some() {
            return Err(format!(
                "{}: found the id {} twice; expected once",
                node.place,
                quote::text(&node.id)
            ));
        }
    }
    let kinds = sheet
        .nodes
        .iter()
        .map(kind)
        .collect::<Result<Vec<_>, _>>()?;
    let ends = sheet
        .edges
        .iter()
        .map(|edge| {
            let end = |id: &String| {
                by_id.get(id.as_str()).copied().ok_or_else(|| {
                    format!(
                        "{}: found the node {}; expected ids of nodes",
                        edge.place,
                        quote::text(id)
                    )
                })
            };
            let (source, target) = (end(&edge.source)?, end(&edge.target)?);
            if source == target {
                return Err(format!(
                    "{}: found a link from {} to itself; expected a link between two nodes",
                    edge.place,
                    quote::text(&edge.source)
                ));
            }
            Ok((source, target))
        })
        .collect::<Result<Vec<_>, String>>()?;
    let near = links_to_a_host(&kinds, &ends);
    let mut names = Vec::with_capacity(sheet.nodes.len());
    for ((node, &kind), &near) in sheet.nodes.iter().zip(&kinds).zip(&near) {
        names.push(name(node)?);
        let tier = tier(node, kind, near)?;
        parts.nodes.push(Node { kind, tier });
    }
    let mut wires = Wires::default();
    let of_edges = sheet
        .edges
        .iter()
        .zip(&ends)
        .map(|(edge, &(source, target))| {
            let default = |end: usize| match kinds[end] {
                Kind::Host => parts.out_of_host,
                Kind::Switch => parts.out_of_switch,
            };
            let out = wire(edge, default(source))?;
            let back = wire(edge, default(target))?;
            Ok((wires.number(out), wires.number(back)))
        })
        .collect::<Result<Vec<_>, String>>()?;
    if sheet.directed {
        parts.links = pair(sheet, &ends, &of_edges)?;
    } else {
        let link = |(&(a, b), &(a_to_b, b_to_a)): (&(usize, usize), &(u32, u32))| Link {
            a: a as u32,
            b: b as u32,
            a_to_b,
            b_to_a,
        };
        parts.links = ends.iter().zip(&of_edges).map(link).collect();
    }
    parts.wires = wires;
    let mut graph = parts.graph_named(names, TIERS)?;
    let losses = sheet.edges.iter().map(|edge| edge.attributes.loss);
    for (link, share) in losses.enumerate() {
        for port in [2 * link, 2 * link + 1] {
            if let Some(share) = share {
                graph.set_loss(port, share);
            }
        }
    }
    Ok(graph)
}

/// Pairs the two directions of a directed graph: the n-th edge from a to b and the n-th edge from b
/// to a form one link, at the position of the first of them.
fn pair(sheet: &Sheet, ends: &[(usize, usize)], wires: &[(u32, u32)]) -> Result<Vec<Link>, String> {
    let mut links: Vec<Link> = Vec::new();
    let mut open: HashMap<(usize, usize), VecDeque<(usize, usize)>> = HashMap::new();
    for (edge, (&(source, target), &(out, _))) in ends.iter().zip(wires).enumerate() {
        let waiting = open
            .get_mut(&(target, source))
            .and_then(VecDeque::pop_front);
        if let Some((link, _)) = waiting {
            links[link].b_to_a = out;
        } else {
            open.entry((source, target))
                .or_default()
                .push_back((links.len(), edge));
            links.push(Link {
                a: source as u32,
                b: target as u32,
                a_to_b: out,
                b_to_a: out,
            });
        }
    }
    match open.values().flatten().map(|&(_, edge)| edge).min() {
        None => Ok(links),
        Some(edge) => {
            let SheetEdge {
                place,
                source,
                target,
                ..
            } = &sheet.edges[edge];
            Err(format!(
                "{place}: found {} to {} but not back; expected both directions, or an undirected graph",
                quote::text(source),
                quote::text(target)
            ))
        }
    }
}

fn kind(node: &SheetNode) -> Result<Kind, String> {
    let found = match node.attributes.kind.as_deref() {
        Some("host") => return Ok(Kind::Host),
        Some("switch") => return Ok(Kind::Switch),
        Some(other) => format!("found kind {}", quote::text(other)),
        None => "found no kind".to_owned(),
    };
    Err(format!(
        "{}: node {}: {found}; expected \"host\" or \"switch\"",
        node.place,
        quote::text(&node.id)
    ))
}

/// Name of a node. A name of digits only is rejected, because it would look like a host number.
fn name(node: &SheetNode) -> Result<String, String> {
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match &node.attributes.name {
        Some(name) => name.clone(),
        None if is_number(&node.id) && !node.id.is_empty() => format!("n{}", node.id),
        None => node.id.clone(),
    };
    let bad = is_number(&name)
        || name.trim() != name
        || !quote::is_visible(&name)
        || SEPARATORS.iter().any(|separator| name.contains(separator));
    if bad {
        return Err(format!(
            "{}: found the name {}; expected a text that is not a number, without \"--\", \"->\", invisible characters or spaces at its ends",
            node.place,
            quote::text(&name)
        ));
    }
    Ok(name)
}

/// Tier of a node; the default is its distance from the nearest host.
fn tier(node: &SheetNode, kind: Kind, near: Option<usize>) -> Result<u8, String> {
    let range = match kind {
        Kind::Host => 0..=0,
        Kind::Switch => 1..=255,
    };
    let Some(text) = &node.attributes.tier else {
        let far = near.map_or(1, |links| links.min(255)) as u8;
        return Ok(far.max(*range.start()));
    };
    let number = text.strip_suffix(".0").unwrap_or(text).parse::<u8>().ok();
    number.filter(|tier| range.contains(tier)).ok_or_else(|| {
        format!(
            "{}: node {}: found tier {}; expected 0 for a host and 1 to 255 for a switch",
            node.place,
            quote::text(&node.id),
            quote::text(text)
        )
    })
}

/// Rate and delay of an edge.
fn wire(edge: &SheetEdge, default: Wire) -> Result<Wire, String> {
    let SheetEdge {
        place,
        source,
        target,
        attributes,
    } = edge;
    let at = |problem: String| {
        let (source, target) = (quote::text(source), quote::text(target));
        format!("{place}: link {source} to {target}: {problem}")
    };
    let near = |name: &str, meant: Meant| {
        let (name, meant) = (quote::name(name), meant.name());
        Err(at(format!(
            "{name}: there is no such attribute; did you mean {meant}? It is ignored only on links \
             that have {meant}"
        )))
    };
    let rate_bps = match (&attributes.rate, &attributes.near_rate) {
        (None, Some(name)) => return near(name, Meant::Rate),
        (None, None) => default.rate_bps,
        (Some(text), _) => {
            let rate = quantity(text, 1.0)
                .map(Rate)
                .map_or_else(|| Rate::parse(text), Ok);
            let rate = rate.map_err(|problem| at(format!("rate: {problem}")))?;
            problem::rate("rate", rate).map_err(|problem| at(problem.to_string()))?;
            rate.0
        }
    };
    let delay_ps = match (&attributes.delay, &attributes.near_delay) {
        (None, Some(name)) => return near(name, Meant::Delay),
        (None, None) => default.delay_ps,
        (Some(text), _) => {
            let delay = quantity(text, 1e12)
                .map(Time)
                .map_or_else(|| Time::parse(text), Ok);
            let delay = delay.map_err(|problem| at(format!("delay: {problem}")))?;
            problem::delay("delay", delay).map_err(|problem| at(problem.to_string()))?;
            delay.0
        }
    };
    Ok(Wire { rate_bps, delay_ps })
}

/// Parses a number without a unit, times `factor`, rounded; `None` if it is not one.
fn quantity(text: &str, factor: f64) -> Option<u64> {
    let number: f64 = text.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then(|| (number * factor).round() as u64)
}

/// Number of links from each node to the nearest host, 0 for hosts.
fn links_to_a_host(kinds: &[Kind], ends: &[(usize, usize)]) -> Vec<Option<usize>> {
    let mut neighbours = vec![Vec::new(); kinds.len()];
    for &(a, b) in ends {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut near: Vec<Option<usize>> = kinds
        .iter()
        .map(|&kind| (kind == Kind::Host).then_some(0))
        .collect();
    let mut open: VecDeque<usize> = (0..kinds.len())
        .filter(|&node| near[node] == Some(0))
        .collect();
    while let Some(node) = open.pop_front() {
        for &next in &neighbours[node] {
            if near[next].is_none() {
                near[next] = near[node].map(|links| links + 1);
                open.push_back(next);
            }
        }
    }
    near
}
