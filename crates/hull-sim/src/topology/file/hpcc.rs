//! The topology files of HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control, `mix/*.txt`) and
//! of its forks: the numbers of nodes, switches and links, then the ids of the switches, then a line for each
//! link with its ends, rate, delay and share of lost packets. The fork ns3-datacenter has a fourth number in
//! the first line, of ToRs, before the links. What follows the announced links is notes.
//!
//! Nodes have the ids from 0 on; those that are no switches are hosts. Node 17 is called `n17`.

use std::collections::BTreeSet;

use super::{Attributes, Sheet, SheetEdge, SheetNode};
use crate::quote;
use crate::units::Share;

/// Largest number of nodes.
const MOST_NODES: usize = 10_000_000;

/// Whether a text begins as these files do, with a number.
pub(super) fn is_of(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// Lines that are not blank, with their numbers, as words.
struct Lines<'a> {
    lines: std::iter::Enumerate<std::str::Lines<'a>>,
}

impl<'a> Lines<'a> {
    /// Number and words of the next line.
    fn next(&mut self) -> Option<(usize, Vec<&'a str>)> {
        self.lines.find_map(|(index, line)| {
            let words = Vec::from_iter(line.split_whitespace());
            (!words.is_empty()).then_some((index + 1, words))
        })
    }
}

/// Announced numbers.
struct Counts {
    nodes: usize,
    switches: usize,
    links: usize,
}

/// Parses a text. An error names the line.
pub(super) fn parse(text: &str) -> Result<Sheet, String> {
    let mut lines = Lines {
        lines: text.lines().enumerate(),
    };
    let counts = counts(&mut lines)?;
    let switches = switches(&mut lines, &counts)?;
    let node = |id: usize| SheetNode {
        place: format!("node {id}"),
        id: id.to_string(),
        attributes: Attributes {
            kind: Some(match switches.contains(&id) {
                true => "switch".to_owned(),
                false => "host".to_owned(),
            }),
            ..Attributes::default()
        },
    };
    let mut edges = Vec::new();
    for number in 0..counts.links {
        let Some((line, words)) = lines.next() else {
            return Err(format!(
                "line 1: announces {} links; found {number}",
                counts.links
            ));
        };
        edges.push(edge(line, &words, &counts)?);
    }
    if let Some((line, words)) = lines.next()
        && edge(line, &words, &counts).is_ok()
    {
        return Err(format!(
            "line {line}: found a link behind the {} that line 1 announces; expected notes or nothing",
            counts.links
        ));
    }
    Ok(Sheet {
        directed: false,
        nodes: (0..counts.nodes).map(node).collect(),
        edges,
    })
}

fn counts(lines: &mut Lines<'_>) -> Result<Counts, String> {
    let (line, words) = lines.next().unwrap_or((1, Vec::new()));
    let numbers = words.iter().map(|word| word.parse().ok());
    let numbers: Option<Vec<usize>> = numbers.collect();
    let (nodes, switches, links) = match numbers.as_deref() {
        Some(&[nodes, switches, links] | &[nodes, switches, _, links]) => (nodes, switches, links),
        _ => {
            return Err(format!(
                "line {line}: {} is invalid; expected the numbers of nodes, switches and links, such as \
                 \"376 56 480\", in PowerTCP's form with the ToRs before the links",
                quote::text(&words.join(" "))
            ));
        }
    };
    if switches >= nodes || nodes > MOST_NODES {
        return Err(format!(
            "line {line}: found {switches} switches among {nodes} nodes; expected fewer switches than nodes, \
             and at most {MOST_NODES} nodes"
        ));
    }
    Ok(Counts {
        nodes,
        switches,
        links,
    })
}

fn switches(lines: &mut Lines<'_>, counts: &Counts) -> Result<BTreeSet<usize>, String> {
    let mut switches = BTreeSet::new();
    if counts.switches == 0 {
        return Ok(switches);
    }
    let (line, words) = lines.next().unwrap_or((2, Vec::new()));
    for word in &words {
        let id = node(word, counts).map_err(|problem| format!("line {line}: {problem}"))?;
        if !switches.insert(id) {
            return Err(format!(
                "line {line}: found the switch {id} twice; expected once"
            ));
        }
    }
    match words.len() == counts.switches {
        true => Ok(switches),
        false => Err(format!(
            "line {line}: found {} ids; expected the {} switches that line 1 announces",
            words.len(),
            counts.switches
        )),
    }
}

fn node(word: &str, counts: &Counts) -> Result<usize, String> {
    let id = word.parse().ok().filter(|&id| id < counts.nodes);
    id.ok_or_else(|| {
        format!(
            "{} is invalid; expected the id of a node, 0 to {}",
            quote::text(word),
            counts.nodes - 1
        )
    })
}

fn edge(line: usize, words: &[&str], counts: &Counts) -> Result<SheetEdge, String> {
    let at = |problem: String| format!("line {line}: {problem}");
    let &[a, b, rate, delay, lost] = words else {
        return Err(at(format!(
            "{} is invalid; expected a link: source, destination, rate, delay and error rate, such as \"0 320 \
             100Gbps 1000ns 0\"",
            quote::text(&words.join(" "))
        )));
    };
    let end = |word: &str| node(word, counts).map_err(at);
    let share = lost.parse().ok().filter(|share| (0.0..1.0).contains(share));
    let share: f64 = share.ok_or_else(|| {
        at(format!(
            "error rate: {} is invalid; expected a share of packets from 0 to below 1",
            quote::text(lost)
        ))
    })?;
    let loss = Share((share * Share::ONE as f64).round() as u64);
    Ok(SheetEdge {
        place: format!("line {line}"),
        source: end(a)?.to_string(),
        target: end(b)?.to_string(),
        attributes: Attributes {
            // ns-3 has both spellings.
            rate: Some(rate.replace("b/s", "bps")),
            delay: Some(delay.to_owned()),
            loss: (loss.0 > 0).then_some(loss),
            ..Attributes::default()
        },
    })
}
