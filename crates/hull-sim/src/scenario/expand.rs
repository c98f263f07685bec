//! From a file to cells: each scheme with each combination of swept values is one resolved scenario.

use toml::{Table, Value};

use super::short_keys::with_full_names;
use super::{
    ExternalControls, Scenario, ScenarioError, check, congestion_control, overrides, pacer, shape,
    transports, whole_numbers,
};
use crate::limits;
use crate::quote;

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
/// place of its sweep. Which schemes they change: see `overrides`. Fails with the first thing that is wrong.
pub fn expand(text: &str, file: &str, overrides: &[String]) -> Result<Vec<Cell>, ScenarioError> {
    expand_with_external(text, file, overrides, &ExternalControls::new())
}

/// The same where there are congestion controls from outside, which scenarios may name.
pub fn expand_with_external(
    text: &str,
    file: &str,
    set: &[String],
    own: &ExternalControls,
) -> Result<Vec<Cell>, ScenarioError> {
    let error = |key: &str, problem: String| ScenarioError {
        file: file.to_owned(),
        key: key.to_owned(),
        problem,
    };
    let mut base: Table = toml::from_str(text).map_err(|e| {
        if let Some((key, told)) = whole_numbers::beyond(text) {
            return error(&key, told);
        }
        let line = e
            .span()
            .map_or(1, |span| text[..span.start].matches('\n').count() + 1);
        let message = Vec::from_iter(e.message().lines()).join("; ");
        error("", format!("line {line}: {message}"))
    })?;
    let mut settings = Vec::new();
    for setting in set {
        let (key, value) = setting.split_once('=').ok_or_else(|| {
            error(
                "--set",
                format!("{} is invalid; expected key=value", quote::text(setting)),
            )
        })?;
        let (key, value) = (key.trim(), parse_value(value.trim()));
        if let Some(swept) = overrides::swept_key(key) {
            overrides::set_swept(&mut base, &swept, value);
        } else if overrides::is_of_file(key) {
            overrides::check_scheme(&base, key).map_err(|told| error(key, told))?;
            overrides::set(&mut base, key, value);
        } else {
            settings.push((key.to_owned(), value));
        }
    }
    with_full_names(&mut base, &mut settings).map_err(|(key, problem)| error(&key, problem))?;
    // The file is checked as a whole first, so that schemes and sweep have the right shape.
    let whole: Scenario = decode(&overrides::whole(&base, &settings), file, "")?;
    let variants = overrides::variants(&base);
    let mut conditions: Vec<Vec<(String, Value)>> = vec![Vec::new()];
    for (key, values) in &whole.sweep {
        if settings.iter().any(|(set, _)| set == key) {
            continue; // set by hand: nothing left to sweep
        }
        let swept = format!("sweep.\"{key}\"");
        let values = (values.values()).map_err(|why| error(&swept, why))?;
        let cells = values
            .len()
            .saturating_mul(conditions.len() * variants.len());
        if cells > limits::CELLS {
            let most = limits::CELLS;
            let why = format!(
                "{cells} cells (schemes times swept values) are invalid; expected at most {most}"
            );
            return Err(error(&swept, why));
        }
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
    if let Some(condition) = conditions.first() {
        check_replaced(&variants, condition, &settings, file)?;
    }
    let mut cells = Vec::new();
    for condition in &conditions {
        let mut variants = variants.clone();
        for (key, value) in condition.iter().chain(&settings) {
            overrides::apply(&mut variants, key, value);
        }
        for variant in &variants {
            let scheme = variant.name.as_str();
            let mut scenario: Scenario = decode(&variant.table, file, scheme)?;
            congestion_control::resolve(&mut scenario, own)
                .and_then(|()| check::check(&scenario))
                .and_then(|()| pacer::resolve(&mut scenario))
                .map_err(|problem| {
                    let (key, told) = problem.told(&variant.table);
                    error(&key, format!("{told}{}", of_scheme(scheme)))
                })?;
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
                scheme: scheme.to_owned(),
                scenario,
            });
        }
    }
    Ok(cells)
}

/// Decodes what schemes set for swept keys: the sweep replaces it, but a wrong value is not passed over.
fn check_replaced(
    variants: &[overrides::Variant],
    condition: &[(String, Value)],
    settings: &[(String, Value)],
    file: &str,
) -> Result<(), ScenarioError> {
    for (key, _) in condition {
        let setters: Vec<bool> = variants.iter().map(|scheme| scheme.sets(key)).collect();
        if !setters.contains(&true) {
            continue;
        }
        let mut others = variants.to_vec();
        for (other, value) in condition.iter().chain(settings) {
            if other != key {
                overrides::apply(&mut others, other, value);
            }
        }
        for (scheme, _) in others.iter().zip(setters).filter(|&(_, sets)| sets) {
            decode(&scheme.table, file, &scheme.name)?;
        }
    }
    Ok(())
}

fn of_scheme(scheme: &str) -> String {
    if scheme.is_empty() {
        String::new()
    } else {
        format!(" (scheme {scheme})")
    }
}

fn decode(table: &Table, file: &str, scheme: &str) -> Result<Scenario, ScenarioError> {
    shape::check(table).map_err(|problem| {
        let (key, told) = problem.into();
        ScenarioError {
            file: file.to_owned(),
            key,
            problem: format!("{told}{}", of_scheme(scheme)),
        }
    })?;
    let mut table = table.clone();
    transports::complete(&mut table);
    serde_path_to_error::deserialize(table).map_err(|e| {
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
