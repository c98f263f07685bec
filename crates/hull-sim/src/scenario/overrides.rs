//! Which schemes an override changes: one rule for `--set`, `[sweep]`, `--over` and `hull.run`.
//!
//! An override changes the schemes that have its table: `pacer.fifo` those with a pacer, and so does
//! `pacer = {...}`. If no scheme has the table, it belongs to the base scenario, hence to all schemes.
//! A named scheme, `schemes.hull.pacer = {...}`, gets exactly the given table. A table replaces the
//! base scenario's; values that a scheme itself sets in that table stay unless the override sets them.

use toml::{Table, Value};

/// Sections that every scenario has, written or not. An override of an omitted section, such as
/// `workload.flows = "list.csv"`, therefore applies to all schemes.
const ALWAYS: [&str; 7] = [
    "run",
    "topology",
    "host",
    "switch",
    "transport",
    "workload",
    "measure",
];

/// Scheme during the expansion to cells.
#[derive(Clone, Debug)]
pub(super) struct Variant {
    /// Name of the scheme; empty if the file has none.
    pub(super) name: String,
    /// Keys set by the scheme itself.
    own: Table,
    /// Base scenario with the scheme's keys applied.
    pub(super) table: Table,
}

impl Variant {
    /// Whether the scheme itself sets this key.
    pub(super) fn sets(&self, key: &str) -> bool {
        lookup(&self.own, key).is_some()
    }
}

/// Returns the schemes of a file, or the base scenario if there are none, without `schemes` and
/// `sweep`.
pub(super) fn variants(base: &Table) -> Vec<Variant> {
    let mut plain = base.clone();
    plain.remove("sweep");
    let schemes = match plain.remove("schemes") {
        Some(Value::Table(schemes)) => schemes,
        _ => Table::new(),
    };
    if schemes.is_empty() {
        return vec![Variant {
            name: String::new(),
            own: Table::new(),
            table: plain,
        }];
    }
    let variant = |(name, own): (String, Value)| {
        let own = match own {
            Value::Table(own) => own,
            _ => Table::new(),
        };
        let mut table = plain.clone();
        merge(&mut table, &own);
        Variant { name, own, table }
    };
    schemes.into_iter().map(variant).collect()
}

/// Returns the file with the overrides that change its base scenario.
pub(super) fn whole(base: &Table, settings: &[(String, Value)]) -> Table {
    let mut whole = base.clone();
    let variants = variants(base);
    for (key, value) in settings {
        let nowhere = || !variants.iter().any(|v| holds(&v.table, key, value));
        if holds(&whole, key, value) || nowhere() {
            set(&mut whole, key, value.clone());
        }
    }
    whole
}

/// Applies one override to the schemes that it changes.
pub(super) fn apply(variants: &mut [Variant], key: &str, value: &Value) {
    let somewhere = variants.iter().any(|v| holds(&v.table, key, value));
    for variant in variants {
        if somewhere && !holds(&variant.table, key, value) {
            continue;
        }
        let laid = match (value, lookup(&variant.own, key)) {
            (Value::Table(over), Some(Value::Table(own))) => {
                let mut laid = own.clone();
                merge(&mut laid, over);
                Value::Table(laid)
            }
            _ => value.clone(),
        };
        set(&mut variant.table, key, laid);
    }
}

/// Whether an override belongs to the file as a whole: name, title, source, schemes or sweep.
pub(super) fn is_of_file(key: &str) -> bool {
    let first = key.split('.').next().unwrap_or(key);
    matches!(first, "name" | "title" | "source" | "schemes" | "sweep")
}

/// Swept key that an override sets: `switch.buffer` for `sweep.switch.buffer` or
/// `sweep."switch.buffer"`.
pub(super) fn swept_key(key: &str) -> Option<String> {
    let name = key.strip_prefix("sweep.")?;
    let quoted = |quote: char| name.strip_prefix(quote)?.strip_suffix(quote);
    let name = quoted('"').or_else(|| quoted('\'')).unwrap_or(name);
    Some(name.to_owned())
}

/// Sets the values of a swept key.
pub(super) fn set_swept(base: &mut Table, key: &str, values: Value) {
    let sweep = base
        .entry("sweep")
        .or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(sweep) = sweep {
        sweep.insert(key.to_owned(), values);
    }
}

/// Checks that a key inside a scheme, such as `schemes.hull.pacer.beta`, names an existing scheme.
/// A whole scheme, `schemes.hull = {...}`, may be new.
pub(super) fn check_scheme(base: &Table, key: &str) -> Result<(), String> {
    let Some((name, _)) = key
        .strip_prefix("schemes.")
        .and_then(|rest| rest.split_once('.'))
    else {
        return Ok(());
    };
    let schemes = base.get("schemes").and_then(Value::as_table);
    if schemes.is_some_and(|schemes| schemes.contains_key(name)) {
        return Ok(());
    }
    let known = schemes.into_iter().flat_map(Table::keys);
    let known = Vec::from_iter(known.map(String::as_str)).join(", ");
    let whole = format!("schemes.{name}={{...}}, which adds one");
    Err(match known.is_empty() {
        true => format!("the file has no schemes; expected a whole one, {whole}"),
        false => format!("there is no such scheme; expected one of {known}, or {whole}"),
    })
}

/// Whether a scenario has the table that an override changes: `key` itself if the value is a table,
/// otherwise the table that contains it.
fn holds(table: &Table, key: &str, value: &Value) -> bool {
    let name = match value {
        Value::Table(_) => Some(key),
        _ => key.rsplit_once('.').map(|(name, _)| name),
    };
    name.is_none_or(|name| {
        ALWAYS.contains(&name) || lookup(table, name).is_some_and(Value::is_table)
    })
}

fn lookup<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    match key.split_once('.') {
        None => table.get(key),
        Some((first, rest)) => lookup(table.get(first)?.as_table()?, rest),
    }
}

/// Sets a dotted key and creates missing tables. A value on the way that is not a table is
/// replaced.
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

/// Merges `over` into `base`: tables are merged, other values are replaced.
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
