//! Positions of keys in a scenario's text: line and column.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::quote;

/// Line and column in a text, both from 1; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// Line.
    pub line: usize,
    /// Column.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

impl Position {
    /// Position of a byte in a text.
    pub(super) fn of(text: &str, byte: usize) -> Self {
        let before = &text.as_bytes()[..byte.min(text.len())];
        let start = before
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |at| at + 1);
        // A byte that begins a character is not a continuation byte (10xxxxxx).
        let characters = before[start..].iter().filter(|&&b| b & 0xc0 != 0x80);
        Position {
            line: before.iter().filter(|&&b| b == b'\n').count() + 1,
            column: characters.count() + 1,
        }
    }
}

/// Place of a key in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    /// Number of leading parts of the key that are written, including indices.
    pub(super) depth: usize,
    /// Whether all parts are written.
    pub(super) whole: bool,
    /// Position of the last of these parts.
    pub(super) key: Position,
    /// Position of its value; for a table, of the key.
    pub(super) value: Position,
}

/// Text of a scenario, parsed as TOML.
pub(super) struct Source<'t> {
    text: &'t str,
    table: Option<Spanned<DeTable<'t>>>,
}

impl<'t> Source<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        let table = DeTable::parse(text).ok();
        Source { text, table }
    }

    /// Finds the longest leading part of a dotted key that is written; examples:
    /// `workload.flows[0].src`, `sweep."run.seed"`.
    pub(super) fn find(&self, key: &str) -> Option<Found> {
        let found = in_table(self.table.as_ref()?.get_ref(), key, 1)?;
        Some(Found {
            depth: found.depth,
            whole: found.whole,
            key: Position::of(self.text, found.key.start),
            value: Position::of(self.text, found.value.start),
        })
    }

    /// Finds each integer that the TOML reader rejects because it exceeds 63 bits. Returns its key,
    /// the message and its position.
    pub(super) fn too_large(&self) -> Vec<(String, String, Position)> {
        let mut found = Vec::new();
        if let Some(table) = &self.table {
            large_in_table(table.get_ref(), "", &mut found);
        }
        let placed = found.into_iter().map(|(key, told, span)| {
            let position = Position::of(self.text, span.start);
            (key, told, position)
        });
        placed.collect()
    }
}

struct Spot {
    depth: usize,
    whole: bool,
    key: Range<usize>,
    value: Range<usize>,
}

fn in_table(table: &DeTable<'_>, path: &str, depth: usize) -> Option<Spot> {
    let mut best: Option<Spot> = None;
    for (name, value) in table {
        let shown = quote::plain(name.get_ref());
        let quoted = format!("\"{shown}\"");
        for form in [&shown, &quoted] {
            let rest = path.strip_prefix(form.as_str());
            let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
            else {
                continue;
            };
            let spot = in_value(value, rest, name.span(), depth);
            if best
                .as_ref()
                .is_none_or(|best| spot.depth > best.depth || spot.whole)
            {
                best = Some(spot);
            }
        }
    }
    best
}

fn in_value(value: &Spanned<DeValue<'_>>, path: &str, key: Range<usize>, depth: usize) -> Spot {
    let deeper = match value.get_ref() {
        DeValue::Table(table) => {
            let path = path.strip_prefix('.');
            path.and_then(|path| in_table(table, path, depth + 1))
        }
        DeValue::Array(list) => item(path).and_then(|(index, rest)| {
            let item = list.get(index)?;
            Some(in_value(item, rest, item.span(), depth + 1))
        }),
        _ => None,
    };
    deeper.unwrap_or_else(|| Spot {
        depth,
        whole: path.is_empty(),
        value: match value.get_ref() {
            DeValue::Table(_) => key.clone(),
            _ => value.span(),
        },
        key,
    })
}

/// Splits `[3].src` into index and rest.
fn item(path: &str) -> Option<(usize, &str)> {
    let (index, rest) = path.strip_prefix('[')?.split_once(']')?;
    Some((index.parse().ok()?, rest))
}

fn large_in_table(
    table: &DeTable<'_>,
    path: &str,
    found: &mut Vec<(String, String, Range<usize>)>,
) {
    let dot = if path.is_empty() { "" } else { "." };
    for (key, value) in table {
        large_in_value(value, format!("{path}{dot}{}", key.get_ref()), found);
    }
}

fn large_in_value(
    value: &Spanned<DeValue<'_>>,
    key: String,
    found: &mut Vec<(String, String, Range<usize>)>,
) {
    match value.get_ref() {
        DeValue::Integer(number)
            if i64::from_str_radix(number.as_str(), number.radix()).is_err() =>
        {
            let shown = quote::unquoted(&number.to_string());
            let told = format!("{shown} is invalid; expected a whole number of at most 63 bits");
            found.push((key, told, value.span()));
        }
        DeValue::Table(table) => large_in_table(table, &key, found),
        DeValue::Array(list) => {
            for (i, value) in list.iter().enumerate() {
                large_in_value(value, format!("{key}[{i}]"), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::Source;

    const TEXT: &str = "\
name = \"\u{b5}\"
run.seeds = 3
[switch]
  buffer = \"3 apples\"
  ports = [{ tier = \"x\" }, { node = \"\u{b5}\", rate = 1 }]
[schemes.\"a.b\".pacer]
eta = 2
[[workload.long_lived.flows]]
src = 1
[[workload.long_lived.flows]]
dst = 2
[sweep]
\"run.seed\" = [1,
  2]
";

    fn at(key: &str) -> (String, bool, usize) {
        let found = Source::new(TEXT).find(key).expect(key);
        (found.value.to_string(), found.whole, found.depth)
    }

    #[test]
    fn keys_are_found() {
        for (key, position) in [
            ("name", "1:8"),
            ("run.seeds", "2:13"),
            ("switch", "3:2"),
            ("switch.buffer", "4:12"),
            ("switch.ports[0].tier", "5:21"),
            ("switch.ports[1].rate", "5:49"),
            ("schemes.a.b.pacer.eta", "7:7"),
            ("schemes.\"a.b\".pacer", "6:16"),
            ("workload.long_lived.flows[1].dst", "11:7"),
            ("sweep.run.seed[1]", "14:3"),
            ("sweep.\"run.seed\"", "13:14"),
        ] {
            let (found, whole, _) = at(key);
            assert_eq!((found.as_str(), whole), (position, true), "{key}");
        }
    }

    #[test]
    fn missing_key_points_to_its_table() {
        for (key, position, depth) in [
            ("switch.rate", "3:2", 1),
            ("switch.ports[0].rate", "5:12", 3),
            ("workload.long_lived.flows[1].src", "10:1", 4),
            ("run.duration.x", "2:1", 1),
        ] {
            assert_eq!(at(key), (position.to_owned(), false, depth), "{key}");
        }
        assert_eq!(Source::new(TEXT).find("host.rate"), None);
        assert_eq!(Source::new(TEXT).find("nam"), None);
        assert_eq!(Source::new("[no toml").find("name"), None);
    }

    #[test]
    fn numbers_that_toml_cannot_hold_are_found() {
        let keys = |text: &str| {
            let found = Source::new(text).too_large();
            let shown = found.into_iter().map(|(key, _, at)| format!("{at} {key}"));
            shown.collect::<Vec<_>>()
        };
        assert_eq!(keys("[a]\nb = 9223372036854775807"), [""; 0]);
        assert_eq!(
            keys("[a]\nb = 9223372036854775808\n[[c]]\nd = [{ e = -9223372036854775809 }]"),
            ["2:5 a.b", "4:12 c[0].d[0].e"]
        );
        let (_, told, _) = Source::new("f = 99999999999999999999")
            .too_large()
            .remove(0);
        assert!(
            told.starts_with("99999999999999999999 is invalid"),
            "{told}"
        );
    }
}
