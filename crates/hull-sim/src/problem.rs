//! Messages about a scenario's keys. A message shows the value as the user wrote it or, if the file has
//! none, the default, labelled as such. Each section's file checks its own keys with the functions
//! here.

use std::fmt;

use toml::{Table, Value};

use crate::quote;
use crate::units::{Buffer, Rate, Share, Time};

/// Separator between a value and its expected form.
const IS_INVALID: &str = " is invalid; expected ";

/// Mistake at a key of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    key: String,
    what: What,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// The key's value, as read, is invalid.
    Value { found: String, allowed: String },
    /// Other mistake, as a complete message.
    Told(String),
    /// Unknown key, with a complete message.
    Unknown(String),
    /// Missing required key, with a complete message.
    Missing(String),
}

impl Problem {
    /// Creates a mistake at `key` with a complete message.
    pub fn new(key: impl Into<String>, told: impl Into<String>) -> Self {
        Problem {
            key: key.into(),
            what: What::Told(told.into()),
        }
    }

    /// Creates the mistake of an unknown key, with a complete message that suggests another.
    pub(crate) fn unknown(key: String, told: String) -> Self {
        let what = What::Unknown(told);
        Problem { key, what }
    }

    /// Creates the mistake of a missing key, with a complete message that states what requires it.
    pub(crate) fn missing(key: String, told: String) -> Self {
        let what = What::Missing(told);
        Problem { key, what }
    }

    /// Whether a required key is missing.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.what, What::Missing(_))
    }

    /// Whether the key itself is wrong, not its value.
    pub(crate) fn is_of_key(&self) -> bool {
        matches!(self.what, What::Unknown(_))
    }

    /// Creates the mistake of an invalid value of `key`, which was read as `found`.
    pub(crate) fn of_value(key: &str, found: String, allowed: &str) -> Self {
        let allowed = allowed.to_owned();
        Problem {
            key: key.to_owned(),
            what: What::Value { found, allowed },
        }
    }

    /// Moves the mistake from the table `from` to the table `to`, which has the same form.
    pub(crate) fn moved(mut self, from: &str, to: &str) -> Self {
        if let Some(rest) = self
            .key
            .strip_prefix(from)
            .and_then(|key| key.strip_prefix('.'))
        {
            self.key = format!("{to}{rest}");
        }
        let (What::Value { allowed: text, .. }
        | What::Told(text)
        | What::Unknown(text)
        | What::Missing(text)) = &mut self.what;
        let control = format!("{from}.congestion_control");
        *text = text.replace(&control, &format!("{to}congestion_control"));
        self
    }

    /// Key and message; `written` contains the values of the file and the overrides.
    pub(crate) fn told(self, written: &Table) -> (String, String) {
        let (found, allowed) = match &self.what {
            What::Value { found, allowed } => (found.as_str(), allowed.as_str()),
            What::Unknown(_) | What::Missing(_) => return self.into(),
            What::Told(told) => match told.split_once(IS_INVALID) {
                Some(parts) if is_value(parts.0) && at(written, &self.key).is_some() => parts,
                _ => return self.into(),
            },
        };
        let told = match at(written, &self.key) {
            Some(Value::Table(_) | Value::Array(_)) => return self.into(),
            Some(value) => format!("{}{IS_INVALID}{allowed}", quote::value(value)),
            None => {
                let mut others = keys_in(allowed)
                    .filter_map(|other| Some((other, at(written, other)?)))
                    .filter(|(_, value)| !value.is_table() && !value.is_array());
                let other = others.next().map_or_else(String::new, |(other, value)| {
                    format!(" {other} = {}", quote::value(value))
                });
                format!(
                    "not given, and its default, {found}, does not fit{other}; expected {allowed}"
                )
            }
        };
        (self.key, told)
    }
}

impl std::error::Error for Problem {}

impl From<(String, String)> for Problem {
    fn from((key, told): (String, String)) -> Self {
        Problem {
            key,
            what: What::Told(told),
        }
    }
}

impl From<Problem> for (String, String) {
    fn from(problem: Problem) -> Self {
        let told = match problem.what {
            What::Value { found, allowed } => format!("{found}{IS_INVALID}{allowed}"),
            What::Told(told) | What::Unknown(told) | What::Missing(told) => told,
        };
        (problem.key, told)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, told) = self.clone().into();
        write!(f, "{key}: {told}")
    }
}

/// Rejects a key whose mistake is not a single value, such as a missing table or two conflicting
/// ones.
pub(crate) fn refuse(
    key: &str,
    found: impl std::fmt::Display,
    allowed: &str,
) -> Result<(), Problem> {
    let told = format!("found {found}; expected {allowed}");
    Err((key.to_owned(), told).into())
}

/// Rejects as `refuse` does unless `ok`.
pub(crate) fn need(
    ok: bool,
    key: &str,
    found: impl std::fmt::Display,
    allowed: &str,
) -> Result<(), Problem> {
    if ok {
        Ok(())
    } else {
        refuse(key, found, allowed)
    }
}

/// Rejects the value of a key, read as `found`, unless `ok`.
pub(crate) fn require(
    ok: bool,
    key: &str,
    found: impl std::fmt::Display,
    allowed: &str,
) -> Result<(), Problem> {
    ok.then_some(())
        .ok_or_else(|| Problem::of_value(key, found.to_string(), allowed))
}

pub(crate) fn quoted(text: impl std::fmt::Display) -> String {
    quote::text(&text.to_string())
}

pub(crate) const MIN_RATE: Rate = Rate(1_000_000);

pub(crate) fn rate(key: &str, rate: Rate) -> Result<(), Problem> {
    let fits = (MIN_RATE..=Rate::MOST).contains(&rate);
    let allowed = format!("a rate from {MIN_RATE} to {}", Rate::MOST);
    require(fits, key, quoted(rate), &allowed)
}

pub(crate) fn delay(key: &str, delay: Time) -> Result<(), Problem> {
    let longest = Time(1_000_000_000_000);
    require(delay <= longest, key, quoted(delay), "at most 1s")
}

/// Checks a random loss, if given.
pub(crate) fn loss(key: &str, share: Option<Share>) -> Result<(), Problem> {
    let share = share.unwrap_or_default();
    let is_some_left = share.0 < Share::ONE;
    require(is_some_left, key, quoted(share), "0 to less than 100%")
}

pub(crate) fn buffer(key: &str, buffer: Buffer, mtu: u64) -> Result<(), Problem> {
    let holds_one = match buffer {
        Buffer::Unlimited => true,
        Buffer::Bytes(bytes) => bytes >= mtu,
        Buffer::Packets(packets) => packets >= 1,
    };
    require(
        holds_one,
        key,
        quoted(buffer),
        "room for at least one packet of transport.mtu",
    )
}

/// Whether a message begins with a value, not with a place in a file that the key names.
fn is_value(found: &str) -> bool {
    let first = found.chars().next();
    !found.contains(": ") && first.is_some_and(|c| c == '"' || c == '-' || c.is_ascii_digit())
}

/// Value at a key such as `workload.long_lived.flows[0].src`, as written.
pub(crate) fn at<'t>(table: &'t Table, key: &str) -> Option<&'t Value> {
    let mut parts = key.split('.');
    let mut value = indexed(table.get(name(parts.next()?))?, key.split('.').next()?)?;
    for part in parts {
        value = indexed(value.as_table()?.get(name(part))?, part)?;
    }
    Some(value)
}

/// Words of a message that may be keys, such as `transport.min_rto`.
pub(crate) fn keys_in(told: &str) -> impl Iterator<Item = &str> {
    let is_of_key = |c: char| c.is_ascii_alphanumeric() || "._[]".contains(c);
    told.split(move |c| !is_of_key(c))
        .map(|word| word.trim_matches(|c| c == '.' || c == '['))
        .filter(|word| word.contains('.') && word.starts_with(|c: char| c.is_ascii_lowercase()))
}

fn name(part: &str) -> &str {
    part.split('[').next().unwrap_or(part)
}

/// Follows the indices of a part of a key, such as `flows[0]`.
fn indexed<'t>(value: &'t Value, part: &str) -> Option<&'t Value> {
    part.split('[').skip(1).try_fold(value, |value, index| {
        let index: usize = index.trim_end_matches(']').parse().ok()?;
        value.as_array()?.get(index)
    })
}

#[cfg(test)]
mod tests {
    use super::{Problem, at, keys_in};

    fn table() -> toml::Table {
        toml::from_str("a = { b = [{ c = \"9001B\" }, 7] }").expect("right")
    }

    #[test]
    fn a_value_is_shown_as_it_was_written() {
        let problem = Problem::of_value("a.b[0].c", "\"9.001KB\"".to_owned(), "at most 9000B");
        let (_, told) = problem.told(&table());
        assert_eq!(told, "\"9001B\" is invalid; expected at most 9000B");
    }

    #[test]
    fn value_rejected_by_a_network_is_shown_as_written() {
        let told = "\"9.001KB\" is invalid; expected at most 9000B".to_owned();
        let problem = Problem::from(("a.b[0].c".to_owned(), told));
        let (_, told) = problem.told(&table());
        assert_eq!(told, "\"9001B\" is invalid; expected at most 9000B");
    }

    #[test]
    fn defaults_are_identified() {
        let problem = Problem::of_value("a.x", "3".to_owned(), "at most 2");
        let (_, told) = problem.told(&table());
        assert_eq!(
            told,
            "not given, and its default, 3, does not fit; expected at most 2"
        );
    }

    #[test]
    fn keys_are_found_in_messages() {
        let told =
            "not given, and its default, 1.5ms, does not fit; expected below transport.min_rto.";
        assert_eq!(keys_in(told).collect::<Vec<_>>(), ["transport.min_rto"]);
    }

    #[test]
    fn key_that_conflicts_with_a_default_is_shown() {
        let problem = Problem::of_value("a.x", "3".to_owned(), "at most a.b[1]");
        let (_, told) = problem.told(&table());
        assert_eq!(
            told,
            "not given, and its default, 3, does not fit a.b[1] = 7; expected at most a.b[1]"
        );
    }

    #[test]
    fn keys_can_have_indexes() {
        assert_eq!(
            at(&table(), "a.b[1]").and_then(toml::Value::as_integer),
            Some(7)
        );
        assert_eq!(at(&table(), "a.b[2]"), None);
        assert_eq!(at(&table(), "a.b[0].d"), None);
    }
}
