//! The names of a graph's nodes. A file lists them; for built-in networks they are computed from the
//! numbers of the nodes and take no memory.

use std::collections::HashMap;

use crate::quote;

/// Numbering of the names in a series of nodes, counted from its first node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Numbering {
    /// A single node: the stem alone.
    None,
    /// `h0`, `h1`, ...
    Single,
    /// This many nodes in each pod: `tor0_0`, `tor0_1`, `tor1_0`, ...
    InPods(usize),
}

/// Consecutive nodes whose names share a stem. No name matches two series of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Series {
    /// First node.
    pub(super) first: usize,
    /// Number of nodes.
    pub(super) count: usize,
    /// Common beginning of the names.
    pub(super) stem: &'static str,
    /// Numbering after the stem.
    pub(super) numbering: Numbering,
}

impl Series {
    fn name(&self, node: usize) -> String {
        let (stem, number) = (self.stem, node - self.first);
        match self.numbering {
            Numbering::None => stem.to_owned(),
            Numbering::Single => format!("{stem}{number}"),
            Numbering::InPods(each) => format!("{stem}{}_{}", number / each, number % each),
        }
    }

    fn find(&self, name: &str) -> Option<usize> {
        let rest = name.strip_prefix(self.stem)?;
        let number = match self.numbering {
            Numbering::None => rest.is_empty().then_some(0)?,
            Numbering::Single => number(rest)?,
            Numbering::InPods(each) => {
                let (pod, place) = rest.split_once('_')?;
                let place = number(place).filter(|&place| place < each)?;
                number(pod)?.checked_mul(each)?.checked_add(place)?
            }
        };
        (number < self.count).then_some(self.first + number)
    }
}

/// Parses a number as names contain it: digits only, without leading zeros.
fn number(text: &str) -> Option<usize> {
    let is_canonical =
        text.bytes().all(|byte| byte.is_ascii_digit()) && (text == "0" || !text.starts_with('0'));
    is_canonical.then(|| text.parse().ok())?
}

/// Unique names of all nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// List in the order of the nodes.
    Listed {
        names: Vec<String>,
        by_name: HashMap<String, usize>,
    },
    /// Series in the order of the nodes.
    Numbered(Vec<Series>),
}

impl Names {
    /// Creates the names from a list. Fails if a name occurs twice.
    pub(super) fn listed(names: Vec<String>) -> Result<Names, String> {
        let mut by_name = HashMap::with_capacity(names.len());
        for (node, name) in names.iter().enumerate() {
            if by_name.insert(name.clone(), node).is_some() {
                return Err(format!(
                    "found two nodes named {}; expected different names",
                    quote::text(name)
                ));
            }
        }
        Ok(Names::Listed { names, by_name })
    }

    /// Name of a node.
    pub(super) fn of(&self, node: usize) -> String {
        match self {
            Names::Listed { names, .. } => names[node].clone(),
            Names::Numbered(series) => {
                let after = series.partition_point(|series| series.first <= node);
                series[after - 1].name(node)
            }
        }
    }

    /// Node with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        match self {
            Names::Listed { by_name, .. } => by_name.get(name).copied(),
            Names::Numbered(series) => series.iter().find_map(|series| series.find(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Names, Numbering, Series};

    fn names() -> Names {
        let series = |first, count, stem, numbering| Series {
            first,
            count,
            stem,
            numbering,
        };
        Names::Numbered(vec![
            series(0, 6, "tor", Numbering::InPods(2)),
            series(6, 1, "core", Numbering::None),
            series(7, 12, "h", Numbering::Single),
        ])
    }

    #[test]
    fn every_name_resolves_to_its_node() {
        let names = names();
        for node in 0..19 {
            assert_eq!(names.find(&names.of(node)), Some(node));
        }
        let shown = [5, 6, 18].map(|node| names.of(node));
        assert_eq!(shown, ["tor2_1", "core", "h11"]);
    }

    #[test]
    fn unknown_node_names() {
        let names = names();
        for name in [
            "",
            "tor",
            "tor3_0",
            "tor0_2",
            "tor00_1",
            "tor0_1_",
            "core0",
            "h12",
            "h+1",
            "h01",
            "h",
            "H1",
            "h99999999999999999999",
        ] {
            assert_eq!(names.find(name), None, "{name}");
        }
    }
}
