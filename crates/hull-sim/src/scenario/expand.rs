//! Expands a file to cells: each scheme with each combination of swept values is one resolved scenario.

use serde::Deserialize;
use toml::{Table, Value};

use super::mistakes::Mistakes;
use super::overrides::Variant;
use super::short_keys::with_full_names;
use super::source::Position;
use super::{
    ExternalControls, Place, Resolved, Scenario, ScenarioError, Swept, check, congestion_control,
    delayed_ack, one_path, overrides, pacer, queue_rules, shape, transports, uno_phantom_queue,
};
use crate::limits;
use crate::memory::Estimate;
use crate::problem::Problem;
use crate::quote;
use crate::units::Size;

/// Variant of a scenario, ready to run.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Swept keys with their values, such as `"load=20%"`; empty if nothing is swept.
    pub condition: String,
    /// Name of the scheme; empty if the scenario compares none.
    pub scheme: String,
    /// Scenario without schemes and sweep, with its network.
    pub scenario: Resolved,
    /// Keys that were not set and whose values were derived from the network or other keys.
    pub derived: Vec<String>,
    /// Memory of a run; empty if the cell was not verified.
    pub memory: Estimate,
}

/// Largest number of values of a swept key that are checked if the scenario has another mistake.
const MOST_TRIED: usize = 100;

/// Values of the swept keys of one cell.
type Condition = Vec<(String, Value)>;

/// Reads a scenario file and creates its cells: conditions in the outer loop, schemes in the inner
/// one.
///
/// `overrides` are `key=value` with dotted keys or their short forms. An override of a swept key
/// replaces its sweep; the module `overrides` defines the schemes that an override changes. Fails
/// with all mistakes found. Constraints between keys are checked once each key is valid by itself.
pub fn expand(text: &str, file: &str, overrides: &[String]) -> Result<Vec<Cell>, ScenarioError> {
    expand_verified(text, file, overrides, &ExternalControls::new(), &|_| {
        Ok(Estimate::default())
    })
}

/// Does the same as [`expand`], with external congestion controls (`own`) that scenarios may name,
/// and with `verify`, which each cell must pass and which estimates its memory.
pub fn expand_verified(
    text: &str,
    file: &str,
    set: &[String],
    own: &ExternalControls,
    verify: &dyn Fn(&Resolved) -> Result<Estimate, Problem>,
) -> Result<Vec<Cell>, ScenarioError> {
    let mut mistakes = Mistakes::new(file, text);
    let Some(mut base) = read(text, &mut mistakes) else {
        return Err(mistakes.error());
    };
    let Some(settings) = read_settings(&mut base, set, &mut mistakes) else {
        for problem in shape::problems(&base) {
            mistakes.add("", problem, &base);
        }
        return Err(mistakes.error());
    };
    let variants = overrides::variants(&base);
    mistakes.set_schemes(variants.iter().map(|variant| variant.name.clone()));
    // Checks the file as a whole first, so that schemes and sweep have the right structure.
    let whole = overrides::whole(&base, &settings);
    if let Err(problems) = decode(&whole) {
        for problem in problems {
            mistakes.add("", problem, &whole);
        }
    }
    let whole_is_right = mistakes.is_empty();
    // If the file has mistakes, a key missing in a scheme is missing or misspelt in the file too.
    let is_told = |problem: &Problem| whole_is_right || !problem.is_missing();
    mistakes.set_sweep(base.get("sweep"));
    let conditions = conditions(&base, &settings, variants.len(), &mut mistakes);
    if let Some(condition) = conditions.first() {
        check_replaced(&variants, condition, &settings, &mut mistakes);
    }
    let mut cells: Vec<Cell> = Vec::new();
    // Constraints between keys are reported only if each key is valid by itself.
    let mut misfits = Vec::new();
    for condition in &conditions {
        let mut variants = variants.clone();
        for (key, value) in condition.iter().chain(&settings) {
            overrides::apply(&mut variants, key, value);
        }
        let name = name_of(condition);
        for Variant {
            name: scheme,
            table,
            ..
        } in variants
        {
            if mistakes.are_enough() || misfits.len() >= 100 {
                break;
            }
            let (scenario, from_keys) = match decode(&table) {
                Ok(decoded) => decoded,
                Err(problems) => {
                    for problem in problems.into_iter().filter(is_told) {
                        mistakes.add(&scheme, problem, &table);
                    }
                    continue;
                }
            };
            if !mistakes.is_empty() {
                continue;
            }
            // Skips the slow check once a mistake is known.
            let verify = |scenario: &Resolved| match misfits.is_empty() {
                true => verify(scenario),
                false => Ok(Estimate::default()),
            };
            let last = cells.last().map(|cell| &cell.scenario);
            match complete(last, scenario, own, &verify) {
                Ok((scenario, derived, memory)) => cells.push(Cell {
                    condition: name.clone(),
                    scheme,
                    scenario,
                    derived: [from_keys, derived.into_iter().map(str::to_owned).collect()].concat(),
                    memory,
                }),
                Err(problems) => misfits.push((scheme, problems, table)),
            }
        }
    }
    if mistakes.is_empty() {
        for (scheme, problems, table) in misfits {
            for problem in problems {
                mistakes.add(&scheme, problem, &table);
            }
        }
    }
    match mistakes.is_empty() {
        true => Ok(cells),
        false => Err(mistakes.error()),
    }
}

/// Parses the text as TOML.
fn read(text: &str, mistakes: &mut Mistakes<'_>) -> Option<Table> {
    let error = match toml::from_str(text) {
        Ok(table) => return Some(table),
        Err(error) => error,
    };
    let too_large = mistakes.source().too_large();
    if too_large.is_empty() {
        let start = error.span().map_or(0, |span| span.start);
        let place = Place::At(Position::of(text, start));
        let told = Vec::from_iter(error.message().lines()).join("; ");
        mistakes.add_at(place, "", format!("is not TOML: {told}"));
    }
    for (key, told, position) in too_large {
        mistakes.add_at(Place::At(position), &key, told);
    }
    None
}

/// Parses the overrides and applies the ones for the whole file to `base`. Returns `None` if one is
/// invalid.
fn read_settings(
    base: &mut Table,
    set: &[String],
    mistakes: &mut Mistakes<'_>,
) -> Option<Condition> {
    let mut settings = Vec::new();
    let mut numbers = Vec::new();
    for (number, setting) in set.iter().enumerate() {
        let Some((key, value)) = setting.split_once('=') else {
            let told = format!("{} is invalid; expected key=value", quote::text(setting));
            mistakes.add_at(Place::Override(number), "", told);
            continue;
        };
        let (key, value) = (key.trim(), parse_value(value.trim()));
        if let Some(swept) = overrides::swept_key(key) {
            mistakes.set_by_hand(number, &format!("sweep.\"{swept}\""), &value);
            mistakes.set_by_hand(number, &format!("sweep.{swept}"), &value);
            overrides::set_swept(base, &swept, value);
        } else if overrides::is_of_file(key) {
            if let Err(told) = overrides::check_scheme(base, key) {
                mistakes.add_at(Place::Override(number), key, told);
            }
            mistakes.set_by_hand(number, key, &value);
            overrides::set(base, key, value);
        } else {
            settings.push((key.to_owned(), value));
            numbers.push(number);
        }
    }
    if let Err((key, told)) = with_full_names(base, &mut settings) {
        let place = settings.iter().position(|(setting, _)| *setting == key);
        match place {
            Some(at) => mistakes.add_at(Place::Override(numbers[at]), &key, told),
            None => mistakes.add("", Problem::new(key, told), base),
        }
    }
    for ((key, value), number) in settings.iter().zip(numbers) {
        mistakes.set_by_hand(number, key, value);
    }
    mistakes.is_empty().then_some(settings)
}

/// Returns all combinations of swept values.
fn conditions(
    base: &Table,
    settings: &[(String, Value)],
    schemes: usize,
    mistakes: &mut Mistakes<'_>,
) -> Vec<Condition> {
    let mut all: Vec<(String, Vec<Value>)> = Vec::new();
    let mut cells = schemes;
    let swept = base.get("sweep").and_then(Value::as_table);
    for (key, values) in swept.into_iter().flatten() {
        // The key is overridden, so it is not swept; or its form is invalid, which has been
        // reported.
        let Ok(values) = Swept::deserialize(values.clone()) else {
            continue;
        };
        if settings.iter().any(|(set, _)| set == key) {
            continue;
        }
        let label = format!("sweep.\"{key}\"");
        let values = match values.values() {
            Ok(values) => values,
            Err(why) => {
                mistakes.add("", Problem::new(label, why), base);
                continue;
            }
        };
        cells = cells.saturating_mul(values.len());
        if cells > limits::CELLS {
            let most = limits::CELLS;
            let why = format!(
                "{cells} cells (schemes times swept values) are invalid; expected at most {most}"
            );
            mistakes.add("", Problem::new(label, why), base);
            break;
        }
        all.push((key.clone(), values));
    }
    // With another mistake present, checking each value once is enough.
    if !mistakes.is_empty() {
        let first =
            |(key, values): &(String, Vec<Value>)| Some((key.clone(), values.first()?.clone()));
        let first: Condition = all.iter().filter_map(first).collect();
        let mut each = vec![first.clone()];
        for (i, (_, values)) in all.iter().enumerate() {
            for value in values.iter().skip(1).take(MOST_TRIED) {
                let mut other = first.clone();
                other[i].1 = value.clone();
                each.push(other);
            }
        }
        return each;
    }
    let mut conditions: Vec<Condition> = vec![Vec::new()];
    for (key, values) in &all {
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
    conditions
}

/// Decodes the scheme's values of swept keys: the sweep replaces them, but an invalid value must be
/// reported.
fn check_replaced(
    variants: &[Variant],
    condition: &[(String, Value)],
    settings: &[(String, Value)],
    mistakes: &mut Mistakes<'_>,
) {
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
            if let Err(problems) = decode(&scheme.table) {
                for problem in problems {
                    mistakes.add(&scheme.name, problem, &scheme.table);
                }
            }
        }
    }
}

/// Decodes the values of a scenario. Returns also the keys whose values were derived from other keys. Fails
/// with at least one problem.
fn decode(table: &Table) -> Result<(Scenario, Vec<String>), Vec<Problem>> {
    let problems = shape::problems(table);
    if !problems.is_empty() {
        return Err(problems);
    }
    let mut table = table.clone();
    let mtu = table
        .get("transport")
        .and_then(|transport| transport.get("mtu"));
    let mtu = mtu.and_then(|mtu| Size::deserialize(mtu.clone()).ok());
    shape::packets_to_bytes(&mut table, mtu.unwrap_or(super::default::mtu()));
    transports::complete(&mut table);
    let mut derived = delayed_ack::derive(&mut table);
    derived.extend(one_path::derive(&mut table));
    let scenario = serde_path_to_error::deserialize(table).map_err(|e| {
        let path = e.path().to_string();
        let key = if path == "." { String::new() } else { path };
        vec![Problem::new(key, e.into_inner().message().trim_end())]
    })?;
    Ok((scenario, derived))
}

/// Checks a decoded scenario and derives the values that depend on others. Returns it with the derived
/// keys and what `verify` does; fails with at least one problem. `last` is the scenario before it.
fn complete(
    last: Option<&Resolved>,
    mut scenario: Scenario,
    own: &ExternalControls,
    verify: &dyn Fn(&Resolved) -> Result<Estimate, Problem>,
) -> Result<(Resolved, Vec<&'static str>, Estimate), Vec<Problem>> {
    congestion_control::resolve(&mut scenario, own).map_err(|problem| vec![problem])?;
    queue_rules::resolve(&mut scenario);
    let names_queue = scenario.host.queue.is_some() || scenario.sends_messages_only();
    scenario.host.queue = Some(scenario.host.queue());
    let graph = check::check(last, &scenario)?;
    let mut derived = Vec::from_iter(uno_phantom_queue::resolve(&mut scenario, &graph));
    derived.extend((!names_queue).then_some("host.queue"));
    derived.extend(pacer::resolve(&mut scenario, &graph));
    let resolved = Resolved::with(last, scenario, graph);
    match verify(&resolved) {
        Ok(memory) => Ok((resolved, derived, memory)),
        Err(problem) => Err(vec![problem]),
    }
}

fn name_of(condition: &[(String, Value)]) -> String {
    let parts = condition.iter().map(|(key, value)| {
        let last = key.rsplit('.').next().unwrap_or(key);
        format!("{last}={}", plain(value))
    });
    Vec::from_iter(parts).join(",")
}

/// Parses a value as TOML, or else takes it as a bare string.
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
