//! Short forms of keys, for `--set`, `[sweep]` and `hull sweep --over`.
//!
//! `workload.X` is the key X of the file's only workload: `workload.load` is `workload.requests.load`
//! if that is the traffic. `scheme.X` is the one key that ends with X in the tables of a scheme
//! (`host`, `switch`, `transport`, `pacer`), among those that a scheme of the file has: `scheme.drain`
//! is `switch.phantom_queue.drain`. `scheme.k` is the papers' K, `switch.marking.threshold`.

use std::sync::OnceLock;

use serde_json::Value as Json;
use toml::{Table, Value};

use super::{Scenario, keys, overrides};

const OF_SCHEMES: [&str; 4] = ["host", "switch", "transport", "pacer"];
const NO_AXIS: [&str; 7] = [
    "name",
    "title",
    "source",
    "schemes",
    "sweep",
    "run.seed",
    "run.seeds",
];

/// Keys that a short form may stand for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meanings {
    /// All keys with this ending.
    pub possible: Vec<String>,
    /// Keys whose table is present in at least one of the scenarios.
    pub present: Vec<String>,
}

fn known() -> &'static [String] {
    static KNOWN: OnceLock<Vec<String>> = OnceLock::new();
    KNOWN.get_or_init(|| {
        keys()
            .iter()
            .filter_map(|row| row["key"].as_str())
            .filter(|key| !key.contains("[]") && !NO_AXIS.contains(key))
            .map(ToOwned::to_owned)
            .collect()
    })
}

/// Parts of a short form; `None` for the full name of a key or table, such as `workload.flows`.
fn short(key: &str) -> Option<(&str, &str)> {
    let (first, rest) = key.split_once('.')?;
    let may = matches!(first, "scheme" | "workload") && !rest.is_empty();
    let is_full = |known: &String| {
        let behind = known.strip_prefix(key);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
    };
    (may && !known().iter().any(is_full)).then_some((first, rest))
}

/// Keys that `key` may stand for in a file with these resolved scenarios; empty if it is not a
/// short form.
pub fn meanings<'s>(key: &str, scenarios: impl Iterator<Item = &'s Json> + Clone) -> Meanings {
    let Some((first, rest)) = short(key) else {
        return Meanings::default();
    };
    let ending = format!(".{rest}");
    let of_scheme = first == "scheme";
    let possible: Vec<String> = if key == "scheme.k" {
        vec!["switch.marking.threshold".to_owned()]
    } else {
        let mine = |key: &&String| {
            let section = key.split('.').next().unwrap_or(key);
            let right = if of_scheme {
                OF_SCHEMES.contains(&section)
            } else {
                section == "workload"
            };
            right && key.ends_with(&ending)
        };
        known().iter().filter(mine).cloned().collect()
    };
    let is_there = |key: &&String| {
        scenarios.clone().any(|scenario| {
            let mut parts: Vec<&str> = key.split('.').collect();
            parts.pop();
            let table = parts
                .iter()
                .try_fold(scenario, |table, part| table.get(part));
            table.is_some_and(Json::is_object)
        })
    };
    let present = possible.iter().filter(is_there).cloned().collect();
    Meanings { possible, present }
}

/// Replaces short forms by full names, in overrides and in the file's sweep. Fails with the key and
/// the reason if a short form is ambiguous or its table is absent. A key that matches nothing is
/// unchanged.
pub(super) fn with_full_names(
    base: &mut Table,
    settings: &mut [(String, Value)],
) -> Result<(), (String, String)> {
    let swept = base.get("sweep").and_then(Value::as_table);
    let in_sweep = swept.is_some_and(|sweep| sweep.keys().any(|key| short(key).is_some()));
    if !in_sweep && !settings.iter().any(|(key, _)| short(key).is_some()) {
        return Ok(());
    }
    let scenarios = resolved(base, settings);
    let full = |key: &str| -> Result<String, String> {
        let Meanings { possible, present } = meanings(key, scenarios.iter());
        match (&present[..], &possible[..]) {
            ([one], _) => Ok(one.clone()),
            ([], []) => Ok(key.to_owned()),
            ([], _) => Err(format!(
                "could mean {}, but nothing in this file has that table; expected a key of a table \
                 that is there",
                possible.join(" or ")
            )),
            _ => Err(format!(
                "could mean {}; expected one of them",
                present.join(" or ")
            )),
        }
    };
    for (key, _) in settings.iter_mut() {
        *key = full(key).map_err(|why| (key.clone(), why))?;
    }
    if let Some(Value::Table(sweep)) = base.get_mut("sweep") {
        let mut named = Table::new();
        for (key, values) in std::mem::take(sweep) {
            let label = format!("sweep.\"{key}\"");
            let name = full(&key).map_err(|why| (label.clone(), why))?;
            if named.insert(name.clone(), values).is_some() {
                return Err((label, format!("{name} is swept twice; expected once")));
            }
        }
        *sweep = named;
    }
    Ok(())
}

/// Resolved scenarios of the file, one per scheme, as far as they are valid.
fn resolved(base: &Table, settings: &[(String, Value)]) -> Vec<Json> {
    let mut variants = overrides::variants(base);
    for (key, value) in settings {
        if short(key).is_none() {
            overrides::apply(&mut variants, key, value);
        }
    }
    let json = |variant: &overrides::Variant| {
        let read = variant.table.clone().try_into::<Scenario>().ok();
        match read {
            Some(scenario) => serde_json::to_value(scenario).ok(),
            None => serde_json::to_value(&variant.table).ok(),
        }
    };
    variants.iter().filter_map(json).collect()
}
