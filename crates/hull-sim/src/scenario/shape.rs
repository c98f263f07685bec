//! The form of a scenario file, before its values are read: keys that there are, tables, lists, numbers and
//! texts where they belong, all from the schema.

use std::sync::OnceLock;

use serde_json::Value as Json;
use toml::{Table, Value};

use super::keys::schema;
use crate::problem::Problem;
use crate::quote;

/// Checks the form of a scenario.
pub(super) fn check(table: &Table) -> Result<(), Problem> {
    static SCHEMA: OnceLock<Json> = OnceLock::new();
    let root = SCHEMA.get_or_init(schema);
    keys(root, root, table, "")
}

/// The node that is meant: without references, and without the null of what may be left out.
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

/// Checks one value.
fn form(root: &Json, node: &Json, value: &Value, key: &str) -> Result<(), Problem> {
    let node = meant(root, node);
    if node["anyOf"].is_array() {
        return one_of(root, node, value, key);
    }
    if node["type"].is_null() && node["oneOf"].is_null() && node["enum"].is_null() {
        return Ok(()); // Any value.
    }
    let fits = match value {
        Value::Table(table) if is(node, "object") => return keys(root, node, table, key),
        Value::Array(list) if is(node, "array") => {
            let item = |(i, value)| form(root, &node["items"], value, &format!("{key}[{i}]"));
            return list.iter().enumerate().try_for_each(item);
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
    if fits {
        return Ok(());
    }
    Err(Problem::from((
        key.to_owned(),
        format!(
            "{} is invalid; expected {}",
            quote::value(value),
            expected(node)
        ),
    )))
}

/// Checks a value that may have several forms: where it is a list, its items tell what is wrong.
fn one_of(root: &Json, choices: &Json, value: &Value, key: &str) -> Result<(), Problem> {
    let mut words = Vec::new();
    for choice in choices["anyOf"].as_array().into_iter().flatten() {
        let choice = meant(root, choice);
        match form(root, choice, value, key) {
            Ok(()) => return Ok(()),
            Err(problem) if value.is_array() && is(choice, "array") => return Err(problem),
            Err(problem) if value.is_table() && is(choice, "object") => return Err(problem),
            Err(_) => words.push(expected(choice)),
        }
    }
    let found = quote::value(value);
    let allowed = match choices["x-form"].as_str() {
        Some(form) => form.to_owned(),
        None => words.join(", or "),
    };
    let told = format!("{found} is invalid; expected {allowed}");
    Err((key.to_owned(), told).into())
}

/// Checks the keys of a table.
fn keys(root: &Json, node: &Json, table: &Table, key: &str) -> Result<(), Problem> {
    let inside = |name: &str| match key {
        "" => name.to_owned(),
        _ => format!("{key}.{name}"),
    };
    let known = node["properties"].as_object();
    for (name, value) in table {
        match known.and_then(|known| known.get(name)) {
            Some(property) => form(root, property, value, &inside(name))?,
            None if node["additionalProperties"] == false => {
                let known = known.into_iter().flat_map(|known| known.keys());
                let known = Vec::from_iter(known.map(String::as_str)).join(", ");
                let told = format!("there is no such key; expected {known}");
                let name = match name.as_str() {
                    "" => "\"\"".to_owned(),
                    name => quote::plain(name),
                };
                return Err((inside(&name), told).into());
            }
            None if node["additionalProperties"].is_object() => {
                form(root, &node["additionalProperties"], value, &inside(name))?;
            }
            None => {}
        }
    }
    let required = node["required"].as_array().into_iter().flatten();
    for name in required.filter_map(Json::as_str) {
        if !table.contains_key(name) {
            let property = meant(root, &node["properties"][name]);
            let told = format!("missing; expected {}", expected(property));
            return Err((inside(name), told).into());
        }
    }
    Ok(())
}

/// Whether a node takes this type.
fn is(node: &Json, name: &str) -> bool {
    match &node["type"] {
        Json::Array(types) => types.iter().any(|of| of == name),
        one => one == name,
    }
}

/// Least and most of a whole number. TOML has no more than 63 bits.
fn limits(node: &Json) -> (i128, i128) {
    let least = node["minimum"].as_i64().unwrap_or(i64::MIN);
    let most = match node["format"].as_str() {
        Some("uint32") => u32::MAX.into(),
        _ => node["maximum"].as_i64().unwrap_or(i64::MAX),
    };
    (least.into(), most.into())
}

/// The names that a text is one of.
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

/// What a node takes, in words.
fn expected(node: &Json) -> String {
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
            Some(Json::String(_)) if !is(node, "number") && !is(node, "integer") => {
                format!("a number with its unit in quotes, such as {examples}")
            }
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
