//! Node-link JSON, as NetworkX's `node_link_data` makes it: `directed`, `nodes` with `id`, and
//! `edges` (NetworkX 3.4 and later) or `links` (before) with `source` and `target`.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::Value;

use super::near_names::Names;
use super::{Attributes, Sheet, SheetEdge, SheetNode};
use crate::quote;

/// Structure of a node-link document.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    directed: bool,
    nodes: Vec<HashMap<String, Value>>,
    edges: Option<Vec<HashMap<String, Value>>>,
    links: Option<Vec<HashMap<String, Value>>>,
}

/// Parses a document. An error names the line if the JSON is invalid, otherwise the entry.
pub(super) fn parse(text: &str) -> Result<Sheet, String> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| {
            let what = match error.classify() {
                serde_json::error::Category::Data => "node-link JSON",
                _ => "JSON",
            };
            let line = error.line();
            format!("line {line}: no {what}; expected an object with lists nodes and links, as NetworkX writes it")
        })?;
    let (list, edges) = match (document.edges, document.links) {
        (Some(edges), None) => ("edges", edges),
        (None, Some(links)) => ("links", links),
        (None, None) => {
            return Err("has neither edges nor links; expected one of the two lists".to_owned());
        }
        _ => return Err("has both edges and links; expected one of the two lists".to_owned()),
    };
    let nodes = document.nodes.iter().enumerate().map(|(i, entry)| {
        let place = format!("nodes[{i}]");
        Ok(SheetNode {
            id: id(entry, "id", &place)?,
            attributes: attributes(entry, &place)?,
            place,
        })
    });
    let mut names = Names::default();
    let edges = edges.iter().enumerate().map(|(i, entry)| {
        let place = format!("{list}[{i}]");
        let mut attributes = attributes(entry, &place)?;
        for (name, _) in entry.iter().filter(|(_, value)| !value.is_null()) {
            if let Some(meant) = names.meant(name) {
                attributes.note(name, meant);
            }
        }
        Ok(SheetEdge {
            source: id(entry, "source", &place)?,
            target: id(entry, "target", &place)?,
            attributes,
            place,
        })
    });
    Ok(Sheet {
        directed: document.directed,
        nodes: nodes.collect::<Result<_, String>>()?,
        edges: edges.collect::<Result<_, String>>()?,
    })
}

/// Id under `key`: a text, or the digits of an integer.
fn id(entry: &HashMap<String, Value>, key: &str, place: &str) -> Result<String, String> {
    let found = match entry.get(key) {
        Some(Value::String(text)) => return Ok(text.clone()),
        Some(Value::Number(number)) if number.is_u64() => return Ok(number.to_string()),
        Some(other) => quote::unquoted(&other.to_string()),
        None => "nothing".to_owned(),
    };
    Err(format!(
        "{place}.{key}: {found} is invalid; expected a text or a whole number"
    ))
}

/// Attributes that are used: texts and numbers; null counts as absent.
fn attributes(entry: &HashMap<String, Value>, place: &str) -> Result<Attributes, String> {
    let mut attributes = Attributes::default();
    for name in ["kind", "name", "tier", "rate", "delay"] {
        let value = match entry.get(name) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            Some(other) => {
                return Err(format!(
                    "{place}.{name}: {} is invalid; expected a text or a number",
                    quote::unquoted(&other.to_string())
                ));
            }
        };
        attributes.set(name, value);
    }
    Ok(attributes)
}
