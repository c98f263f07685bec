//! The description of a scenario: JSON Schema for editors, and one row per key for the documentation.

use serde_json::{Map, Value, json};

use super::Scenario;

/// JSON Schema (2020-12) of a scenario file.
pub fn schema() -> Value {
    schemars::schema_for!(Scenario).to_value()
}

/// Returns one row per key: `key`, `type` (the kind of a quantity), `unit` (an example of its
/// notation), `default` (null if the key is required), `required`, `doc`.
pub fn keys() -> Vec<Value> {
    let schema = schema();
    let mut rows = Vec::new();
    walk(&schema, &schema, "", &mut rows);
    rows
}

fn resolve<'s>(root: &'s Value, schema: &'s Value) -> &'s Value {
    match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => root
            .pointer(reference.trim_start_matches('#'))
            .unwrap_or(schema),
        None => match schema
            .get("anyOf")
            .and_then(Value::as_array)
            .and_then(|any| any.first())
        {
            Some(first) => resolve(root, first),
            None => schema,
        },
    }
}

fn walk(root: &Value, schema: &Value, prefix: &str, rows: &mut Vec<Value>) {
    let none = Map::new();
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .map(|list| list.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    for (name, property) in properties {
        let key = if prefix.is_empty() {
            name.clone()
        } else {
            format!("{prefix}.{name}")
        };
        let target = resolve(root, property);
        let doc = property.get("description").or(target.get("description"));
        if target.get("properties").is_some() {
            walk(root, target, &key, rows);
            continue;
        }
        let items = target.get("items").map(|items| resolve(root, items));
        rows.push(json!({
            "key": key,
            "type": match property["x-packets"] == true {
                true => "size or packets".to_owned(),
                false => type_of(target),
            },
            "unit": target.get("examples").and_then(|list| list.get(0)).unwrap_or(&Value::Null),
            "default": property.get("default").unwrap_or(&Value::Null),
            "required": required.contains(&name.as_str()),
            "doc": doc.unwrap_or(&Value::Null),
        }));
        if let Some(items) = items.filter(|items| items.get("properties").is_some()) {
            walk(root, items, &format!("{key}[]"), rows);
        }
    }
}

fn type_of(schema: &Value) -> String {
    let quantity = match schema["x-quantity"].as_str() {
        Some("Time") => "time",
        Some("Tick") => "time or continuous",
        Some("Rate") => "rate",
        Some("RelativeRate") => "rate or share",
        Some("Size") => "size",
        Some("Buffer") => "size or packets",
        Some("Share") => "share",
        _ => "",
    };
    if !quantity.is_empty() {
        return quantity.to_owned();
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names
            .iter()
            .filter_map(Value::as_str)
            .collect::<Vec<_>>()
            .join(" | ");
    }
    if let Some(choices) = schema.get("oneOf").and_then(Value::as_array) {
        let names = choices
            .iter()
            .filter_map(|choice| choice.get("const")?.as_str());
        return names.collect::<Vec<_>>().join(" | ");
    }
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|&name| name != "null")
            .collect::<Vec<_>>()
            .join(" or "),
        _ => "table".to_owned(),
    }
}
