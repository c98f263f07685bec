//! GraphML, the subset that NetworkX writes: one `graph` of `node` and `edge`, `data` with the keys
//! that `key` declares, defaults included. Without `edgedefault` a graph is undirected. Hyperedges,
//! ports and nested graphs are not supported.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::{Attributes, Meant, Sheet, SheetEdge, SheetNode, meant};
use crate::quote;

/// Parses a document. An error names the line.
pub(super) fn parse(text: &str) -> Result<Sheet, String> {
    let document = Document::parse(text)
        .map_err(|error| format!("line {}: is no XML: {error}", error.pos().row))?;
    let root = document.root_element();
    if root.tag_name().name() != "graphml" {
        return Err(wrong(root, &tag(root), "<graphml>"));
    }
    let keys = elements(root, "key")
        .map(Key::read)
        .collect::<Result<BTreeMap<_, _>, _>>()?;
    let mut graphs = elements(root, "graph");
    let graph = graphs
        .next()
        .ok_or_else(|| wrong(root, "no <graph>", "one"))?;
    if let Some(second) = graphs.next() {
        return Err(wrong(second, "a second <graph>", "one"));
    }
    let directed = match graph.attribute("edgedefault") {
        None | Some("undirected") => false,
        Some("directed") => true,
        Some(other) => {
            return Err(invalid(
                graph,
                "edgedefault",
                other,
                "directed or undirected",
            ));
        }
    };
    let mut sheet = Sheet {
        directed,
        ..Sheet::default()
    };
    for element in graph.children().filter(Node::is_element) {
        match element.tag_name().name() {
            "node" => sheet.nodes.push(SheetNode {
                place: place(element),
                id: attribute(element, "id")?,
                attributes: attributes(element, &keys, "node")?,
            }),
            "edge" => {
                if let Some(own) = element.attribute("directed") {
                    let is_directed = match own {
                        "true" | "1" => true,
                        "false" | "0" => false,
                        other => {
                            return Err(invalid(element, "directed", other, "true or false"));
                        }
                    };
                    if is_directed != directed {
                        let found = format!("directed=\"{own}\" in a graph whose edges are not");
                        return Err(wrong(element, &found, "one kind of edges"));
                    }
                }
                sheet.edges.push(SheetEdge {
                    place: place(element),
                    source: attribute(element, "source")?,
                    target: attribute(element, "target")?,
                    attributes: attributes(element, &keys, "edge")?,
                });
            }
            "data" | "desc" => {}
            _ => return Err(wrong(element, &tag(element), "<node> and <edge>")),
        }
    }
    Ok(sheet)
}

/// Declared attribute.
struct Key<'d> {
    /// Domain of the attribute: `node`, `edge`, `graph` or `all`.
    domain: &'d str,
    name: &'d str,
    /// Attribute of links that the name means.
    meant: Option<Meant>,
    default: Option<String>,
}

impl<'d> Key<'d> {
    /// Parses a `key` element: its id and its declaration.
    fn read(element: Node<'d, '_>) -> Result<(String, Key<'d>), String> {
        let id = attribute(element, "id")?;
        let name = element.attribute("attr.name").unwrap_or_default();
        let key = Key {
            domain: element.attribute("for").unwrap_or("all"),
            name,
            meant: meant(name),
            default: elements(element, "default").next().map(content),
        };
        Ok((id, key))
    }
}

/// Attributes of a node or edge: its `data`, and the defaults of omitted ones.
fn attributes(
    element: Node<'_, '_>,
    keys: &BTreeMap<String, Key<'_>>,
    domain: &str,
) -> Result<Attributes, String> {
    let mut attributes = Attributes::default();
    let mut set = |key: &Key<'_>, value: String| match key.meant {
        Some(meant) if !value.is_empty() => attributes.note(key.name, meant),
        _ => attributes.set(key.name, value),
    };
    for key in keys
        .values()
        .filter(|key| key.domain == domain || key.domain == "all")
    {
        if let Some(default) = &key.default {
            set(key, default.clone());
        }
    }
    for data in elements(element, "data") {
        let id = attribute(data, "key")?;
        let key = keys.get(&id).ok_or_else(|| {
            wrong(
                data,
                &format!("key {}", quote::text(&id)),
                "a key that is declared",
            )
        })?;
        set(key, content(data));
    }
    Ok(attributes)
}

fn elements<'d, 'i>(node: Node<'d, 'i>, name: &'static str) -> impl Iterator<Item = Node<'d, 'i>> {
    node.children()
        .filter(move |child| child.is_element() && child.tag_name().name() == name)
}

fn attribute(element: Node<'_, '_>, name: &str) -> Result<String, String> {
    element.attribute(name).map(str::to_owned).ok_or_else(|| {
        wrong(
            element,
            &format!("{} without {name}", tag(element)),
            &format!("one with {name}"),
        )
    })
}

fn content(element: Node<'_, '_>) -> String {
    element.text().unwrap_or_default().trim().to_owned()
}

fn tag(element: Node<'_, '_>) -> String {
    format!("<{}>", quote::unquoted(element.tag_name().name()))
}

fn place(node: Node<'_, '_>) -> String {
    format!(
        "line {}",
        node.document().text_pos_at(node.range().start).row
    )
}

/// Error for an attribute whose value GraphML does not allow.
fn invalid(node: Node<'_, '_>, name: &str, value: &str, expected: &str) -> String {
    let (place, tag, value) = (place(node), tag(node), quote::text(value));
    format!("{place}: {tag}: {name}: {value} is invalid; expected {expected}")
}

fn wrong(node: Node<'_, '_>, found: &str, allowed: &str) -> String {
    format!("{}: found {found}; expected {allowed}", place(node))
}
