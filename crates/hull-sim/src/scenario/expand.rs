//! From a file to cells: each scheme with each combination of swept values is one resolved scenario.

use toml::{Table, Value};

use super::short_keys::with_full_names;
use super::{OwnControls, Scenario, ScenarioError, check, congestion_control};

/// One variant of a scenario, ready to run.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The swept keys with their values, `"load=20%"`; empty when nothing is swept.
    pub condition: String,
    /// The scheme's name; empty when the scenario compares none.
    pub scheme: String,
    /// The scenario without schemes and sweep.
    pub scenario: Scenario,
}

/// Reads a scenario file and makes its cells, conditions in the outer loop, schemes in the inner.
///
/// `overrides` are `key=value` with dotted keys, or their short forms; one on a swept key takes the
/// place of its sweep. A key in a table that only some schemes have (a phantom queue's threshold, say)
/// is set in those. Fails with the first thing that is wrong.
pub fn expand(text: &str, file: &str, overrides: &[String]) -> Result<Vec<Cell>, ScenarioError> {
    expand_with_own(text, file, overrides, &OwnControls::new())
}

/// The same where there are congestion controls from outside, which scenarios may name.
pub fn expand_with_own(
    text: &str,
    file: &str,
    overrides: &[String],
    own: &OwnControls,
) -> Result<Vec<Cell>, ScenarioError> {
    let error = |key: &str, problem: String| ScenarioError {
        file: file.to_owned(),
        key: key.to_owned(),
        problem,
    };
    let mut base: Table = toml::from_str(text).map_err(|e| {
        let line = e
            .span()
            .map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        error("", format!("line {line}: {}", e.message()))
    })?;
    let mut settings = Vec::new();
    for setting in overrides {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            error(
                "--set",
                format!("found \"{setting}\", allowed is key=value"),
            )
        })?;
        let (key, value) = (key.trim(), parse_value(value.trim()));
        if key == "name" || !key.contains('.') {
            base.insert(key.to_owned(), value);
        } else {
            settings.push((key.to_owned(), value));
        }
    }
    with_full_names(&mut base, &mut settings).map_err(|(key, problem)| error(&key, problem))?;
    // The file is checked as a whole first, so that schemes and sweep have the right shape.
    let mut probe = base.clone();
    for (key, value) in &settings {
        if parent(&probe, key).is_some() {
            set(&mut probe, key, value.clone());
        }
    }
    let whole: Scenario = decode(&probe, file, "")?;
    base.remove("schemes");
    base.remove("sweep");

    let schemes: Vec<(String, Table)> = if whole.schemes.is_empty() {
        vec![(String::new(), Table::new())]
    } else {
        whole.schemes.into_iter().collect()
    };
    let mut conditions: Vec<Vec<(String, Value)>> = vec![Vec::new()];
    for (key, values) in &whole.sweep {
        if settings.iter().any(|(set, _)| set == key) {
            continue; // set by hand: nothing left to sweep
        }
        let values = (values.values()).map_err(|why| error(&format!("sweep.\"{key}\""), why))?;
        conditions = conditions
            .iter()
            .flat_map(|so_far| {
                values.iter().map(|value| {
                    let mut next = so_far.clone();
                    next.push((key.clone(), value.clone()));
                    next
                })
            })
            .collect();
    }
    let merged: Vec<(&str, Table)> = schemes
        .iter()
        .map(|(name, table)| {
            let mut cell = base.clone();
            merge(&mut cell, table);
            (name.as_str(), cell)
        })
        .collect();
    let mut cells = Vec::new();
    for condition in &conditions {
        for (scheme, table) in &merged {
            let mut table = table.clone();
            for (key, value) in condition.iter().chain(&settings) {
                let here = parent(&table, key).is_some();
                let elsewhere = merged.iter().any(|(_, other)| parent(other, key).is_some());
                if here || !elsewhere {
                    set(&mut table, key, value.clone());
                }
            }
            let mut scenario: Scenario = decode(&table, file, scheme)?;
            congestion_control::resolve(&mut scenario, own)
                .and_then(|()| check::check(&scenario))
                .map_err(|(key, problem)| error(&key, format!("{problem}{}", of_scheme(scheme))))?;
            let condition = condition
                .iter()
                .map(|(key, value)| {
                    let last = key.rsplit('.').next().unwrap_or(key);
                    format!("{last}={}", plain(value))
                })
                .collect::<Vec<_>>()
                .join(",");
            cells.push(Cell {
                condition,
                scheme: (*scheme).to_owned(),
                scenario,
            });
        }
    }
    Ok(cells)
}

fn of_scheme(scheme: &str) -> String {
    if scheme.is_empty() {
        String::new()
    } else {
        format!(" (scheme {scheme})")
    }
}

fn decode(table: &Table, file: &str, scheme: &str) -> Result<Scenario, ScenarioError> {
    serde_path_to_error::deserialize(table.clone()).map_err(|e| {
        let path = e.path().to_string();
        let key = if path == "." { String::new() } else { path };
        let problem = e.into_inner();
        ScenarioError {
            file: file.to_owned(),
            key,
            problem: format!("{}{}", problem.message().trim_end(), of_scheme(scheme)),
        }
    })
}

/// A value as TOML writes it, or the bare text.
fn parse_value(text: &str) -> Value {
    toml::from_str::<Table>(&format!("v = {text}"))
        .ok()
        .and_then(|mut table| table.remove("v"))
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The table that holds `key`'s last part, if it exists.
pub(super) fn parent<'t>(table: &'t Table, key: &str) -> Option<&'t Table> {
    let mut parts: Vec<&str> = key.split('.').collect();
    parts.pop();
    parts
        .iter()
        .try_fold(table, |table, part| table.get(*part)?.as_table())
}

/// Sets a dotted key, making tables on the way. A part that is a list is left alone.
pub(super) fn set(table: &mut Table, key: &str, value: Value) {
    match key.split_once('.') {
        None => {
            table.insert(key.to_owned(), value);
        }
        Some((first, rest)) => {
            let entry = table
                .entry(first)
                .or_insert_with(|| Value::Table(Table::new()));
            match entry {
                Value::Table(inner) => set(inner, rest, value),
                other => *other = value,
            }
        }
    }
}

/// Lays `over` on `base`: tables join, everything else is replaced.
pub(super) fn merge(base: &mut Table, over: &Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => merge(inner, over),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}
