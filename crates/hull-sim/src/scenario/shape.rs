//! Checks the form of a scenario file before its values are read: known keys, and tables, lists,
//! numbers, quantities and texts in their places, all from the schema.

use std::sync::OnceLock;

use serde_json::Value as Json;
use toml::{Table, Value};

use super::keys::schema;
use super::near;
use crate::problem::Problem;
use crate::quote;
use crate::spelling;
use crate::units::{self, Size};

/// Returns all mistakes in the form of a scenario and in its quantities.
pub(super) fn problems(table: &Table) -> Vec<Problem> {
    let root = root();
    let mut found = Vec::new();
    keys(root, root, table, "", &mut found);
    found
}

/// Replaces packets by bytes in keys that accept both (`x-packets`); a packet has `mtu`.
pub(super) fn packets_to_bytes(table: &mut Table, mtu: Size) {
    let root = root();
    replace_in_table(root, root, table, mtu);
}

fn root() -> &'static Json {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    SCHEMA.get_or_init(schema)
}

/// Schema node that applies: references are resolved, and the null of optional keys is removed.
fn meant<'s>(root: &'s Json, mut node: &'s Json) -> &'s Json {
    loop {
        let choices = node["anyOf"].as_array().into_iter().flatten();
        let mut choices = choices.filter(|choice| choice["type"] != "null");
        node = match (node["$ref"].as_str(), choices.next(), choices.next()) {
            (Some(reference), ..) => root
                .pointer(reference.trim_start_matches('#'))
                .unwrap_or(&Json::Null),
            (None, Some(one), None) => one,
            _ => return node,
        }
    }
}

/// Schema node of a key in a table.
fn inside<'s>(node: &'s Json, name: &str) -> Option<&'s Json> {
    let property = node["properties"].get(name);
    property.or_else(|| Some(&node["additionalProperties"]).filter(|other| other.is_object()))
}

fn replace_in_table(root: &Json, node: &Json, table: &mut Table, mtu: Size) {
    for (name, value) in table.iter_mut() {
        if let Some(property) = inside(node, name) {
            replace(root, property, value, mtu);
        }
    }
}

fn replace(root: &Json, property: &Json, value: &mut Value, mtu: Size) {
    let node = meant(root, property);
    match value {
        Value::String(text) if property["x-packets"] == true => {
            if let Some(bytes) = units::in_bytes(text, mtu) {
                *text = bytes.to_string();
            }
        }
        Value::Table(table) => replace_in_table(root, node, table, mtu),
        Value::Array(list) => {
            for value in list {
                replace(root, &node["items"], value, mtu);
            }
        }
        _ => {}
    }
}

/// Checks one value.
fn form(root: &Json, property: &Json, value: &Value, key: &str, found: &mut Vec<Problem>) {
    let node = meant(root, property);
    if node["anyOf"].is_array() {
        return one_of(root, node, value, key, found);
    }
    if let Some(quantity) = node["x-quantity"].as_str() {
        let in_packets = property["x-packets"] == true;
        let read = units::check(quantity, in_packets, value);
        found.extend(read.err().map(|told| Problem::new(key, told)));
        return;
    }
    if node["type"].is_null() && node["oneOf"].is_null() && node["enum"].is_null() {
        return; // Any value.
    }
    let fits = match value {
        Value::Table(table) if is(node, "object") => return keys(root, node, table, key, found),
        Value::Array(list) if is(node, "array") => {
            for (i, value) in list.iter().enumerate() {
                form(root, &node["items"], value, &format!("{key}[{i}]"), found);
            }
            return;
        }
        Value::Integer(number) if is(node, "integer") => {
            let (least, most) = limits(node);
            (least..=most).contains(&i128::from(*number))
        }
        Value::Integer(_) => is(node, "number"),
        Value::Float(_) => is(node, "number"),
        Value::Boolean(_) => is(node, "boolean"),
        Value::String(text) => match names(node) {
            Some(names) => node["x-open"] == true || names.contains(&text.as_str()),
            None => is(node, "string"),
        },
        _ => false,
    };
    if !fits {
        let shown = quote::value(value);
        let told = format!("{shown} is invalid; expected {}", expected(property, node));
        found.push(Problem::new(key, told));
    }
}

/// Checks a value that may have several forms. For a list or a table the mistakes inside it are
/// reported.
fn one_of(root: &Json, choices: &Json, value: &Value, key: &str, found: &mut Vec<Problem>) {
    let mut words = Vec::new();
    for choice in choices["anyOf"].as_array().into_iter().flatten() {
        let choice = meant(root, choice);
        let mut inner = Vec::new();
        form(root, choice, value, key, &mut inner);
        if inner.is_empty() {
            return;
        }
        if (value.is_array() && is(choice, "array")) || (value.is_table() && is(choice, "object")) {
            found.append(&mut inner);
            return;
        }
        words.push(expected(choice, choice));
    }
    let shown = quote::value(value);
    let allowed = match choices["x-form"].as_str() {
        Some(form) => form.to_owned(),
        None => words.join(", or "),
    };
    let told = format!("{shown} is invalid; expected {allowed}");
    found.push(Problem::new(key, told));
}

/// Checks the keys of a table.
fn keys(root: &Json, node: &Json, table: &Table, key: &str, found: &mut Vec<Problem>) {
    let of = |name: &str| match key {
        "" => name.to_owned(),
        _ => format!("{key}.{name}"),
    };
    for (name, value) in table {
        match inside(node, name) {
            Some(property) => form(root, property, value, &of(name), found),
            None if node["additionalProperties"] == false => {
                let shown = match name.as_str() {
                    "" => "\"\"".to_owned(),
                    name => quote::plain(name),
                };
                found.push(Problem::unknown(of(&shown), unknown(node, name, key)));
            }
            None => {}
        }
    }
    let required = node["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Json::as_str) {
        if !table.contains_key(name) {
            let property = &node["properties"][name];
            let expected = expected(property, meant(root, property));
            let by = match key {
                "" => "every scenario".to_owned(),
                key if key.ends_with(']') => key.to_owned(),
                key => format!("[{key}]"),
            };
            let told = format!("missing, {by} requires it; expected {expected}");
            found.push(Problem::missing(of(name), told));
        }
    }
}

/// Message about an unknown key in the table `key`.
fn unknown(node: &Json, name: &str, key: &str) -> String {
    let known = node["properties"].as_object();
    let known = || {
        known
            .into_iter()
            .flat_map(|known| known.keys())
            .map(String::as_str)
    };
    let dot = if key.is_empty() { "" } else { "." };
    if let Some(meant) = spelling::nearest(name, known()) {
        return format!("there is no such key; did you mean {key}{dot}{meant}?");
    }
    let all = Vec::from_iter(known()).join(", ");
    let places = near::elsewhere(name);
    match places.is_empty() {
        true => format!("there is no such key; expected {all}"),
        false => format!(
            "there is no such key; did you mean {}? Keys of {}: {all}",
            places.join(" or "),
            if key.is_empty() { "a scenario" } else { key },
        ),
    }
}

/// Whether a node accepts this type.
fn is(node: &Json, name: &str) -> bool {
    match &node["type"] {
        Json::Array(types) => types.iter().any(|of| of == name),
        one => one == name,
    }
}

/// Smallest and largest allowed integer. TOML integers have at most 63 bits.
fn limits(node: &Json) -> (i128, i128) {
    let least = node["minimum"].as_i64().unwrap_or(i64::MIN);
    let most = match node["format"].as_str() {
        Some("uint32") => u32::MAX.into(),
        _ => node["maximum"].as_i64().unwrap_or(i64::MAX),
    };
    (least.into(), most.into())
}

/// Names of an enumeration; `None` if any text is allowed.
fn names(node: &Json) -> Option<Vec<&str>> {
    let of_const = |choice: &'_ Json| choice.get("const").and_then(Json::as_str).is_some();
    if let Some(names) = node["enum"].as_array() {
        return Some(names.iter().filter_map(Json::as_str).collect());
    }
    let choices = node["oneOf"].as_array()?;
    let all = choices.iter().all(of_const);
    all.then(|| {
        choices
            .iter()
            .filter_map(|choice| choice["const"].as_str())
            .collect()
    })
}

/// Expected form of a value, as text.
fn expected(property: &Json, node: &Json) -> String {
    if let Some(quantity) = node["x-quantity"].as_str() {
        return units::expected(quantity, property["x-packets"] == true);
    }
    if let Some(form) = node["x-form"].as_str() {
        return form.to_owned();
    }
    let example = node["examples"].get(0);
    if let Some(names) = names(node) {
        let names = names.iter().map(|name| format!("\"{name}\""));
        return Vec::from_iter(names).join(", ");
    }
    if is(node, "string") {
        let examples = node["examples"].as_array().into_iter().flatten();
        let examples = Vec::from_iter(examples.map(Json::to_string)).join(" or ");
        return match example {
            Some(_) => format!("a value such as {examples}"),
            None => "a text in quotes".to_owned(),
        };
    }
    if is(node, "integer") {
        return match limits(node) {
            (least, most) if most == i64::MAX.into() => {
                format!("a whole number from {least} on")
            }
            (least, most) => format!("a whole number from {least} to {most}"),
        };
    }
    if is(node, "number") {
        return "a number".to_owned();
    }
    if is(node, "boolean") {
        return "true or false".to_owned();
    }
    if is(node, "array") {
        return "a list".to_owned();
    }
    let known = node["properties"].as_object();
    let known = known.into_iter().flat_map(|known| known.keys());
    match Vec::from_iter(known.map(String::as_str)).join(", ") {
        known if known.is_empty() => "a table".to_owned(),
        known => format!("a table with the keys {known}"),
    }
}
