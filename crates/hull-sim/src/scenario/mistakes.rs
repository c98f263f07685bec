//! Collects mistakes: each once, with its place and the affected schemes.

use indexmap::IndexMap;
use toml::Value;

use super::source::{Found, Source};
use super::{Mistake, Place, ScenarioError};
use crate::problem::{Problem, at, keys_in};

/// Number of mistakes after which the search stops.
const ENOUGH: usize = 100;

/// Mistakes found so far in a scenario.
pub(super) struct Mistakes<'t> {
    file: &'t str,
    source: Source<'t>,
    /// Overrides with full keys and their indices on the command line.
    settings: Vec<(usize, String, Value)>,
    /// Names of all schemes.
    schemes: Vec<String>,
    /// Swept keys of the file with their values.
    sweep: toml::Table,
    /// Mistakes by place, cause, key and message, each with the schemes that have it; an empty list
    /// means all.
    found: IndexMap<(Place, String, String, String), Vec<String>>,
}

impl<'t> Mistakes<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Mistakes {
            file,
            source: Source::new(text),
            settings: Vec::new(),
            schemes: Vec::new(),
            sweep: toml::Table::new(),
            found: IndexMap::new(),
        }
    }

    pub(super) fn source(&self) -> &Source<'t> {
        &self.source
    }

    /// Sets the names of the schemes, for mistakes that only some of them have.
    pub(super) fn set_schemes(&mut self, schemes: impl Iterator<Item = String>) {
        self.schemes = schemes.filter(|name| !name.is_empty()).collect();
    }

    /// Records the swept keys, which supply the places of their values.
    pub(super) fn set_sweep(&mut self, sweep: Option<&Value>) {
        self.sweep = sweep.and_then(Value::as_table).cloned().unwrap_or_default();
    }

    /// Records an override.
    pub(super) fn set_by_hand(&mut self, number: usize, key: &str, value: &Value) {
        self.settings.push((number, key.to_owned(), value.clone()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    pub(super) fn are_enough(&self) -> bool {
        self.found.len() >= ENOUGH
    }

    /// Adds a mistake whose place is known.
    pub(super) fn add_at(&mut self, place: Place, key: &str, told: String) {
        let mistake = (place, String::new(), key.to_owned(), told);
        self.found.insert(mistake, Vec::new());
    }

    /// Adds a problem of a scheme, or of the file as a whole if `scheme` is empty. `written` is the
    /// scheme's table.
    pub(super) fn add(&mut self, scheme: &str, problem: Problem, written: &toml::Table) {
        let is_of_key = problem.is_of_key();
        let (key, told) = self.of_swept(problem.told(written), is_of_key);
        let value = at(written, &key);
        let (place, cause) = match self.place(&key, value, scheme, is_of_key) {
            Some((place, true)) => (place, String::new()),
            // A default is invalid: the message names the keys that it conflicts with.
            part => {
                let others = keys_in(&told).filter(|other| at(written, other).is_some());
                let mut others = others.filter_map(|other| {
                    let (place, whole) = self.place(other, at(written, other), scheme, false)?;
                    whole.then_some((place, other))
                });
                match (others.next(), part) {
                    (Some((place, other)), _) => (place, other.to_owned()),
                    (None, Some((place, _))) => (place, String::new()),
                    (None, None) => (Place::Nowhere, String::new()),
                }
            }
        };
        let schemes = self.found.entry((place, cause, key, told));
        match schemes {
            indexmap::map::Entry::Vacant(new) if scheme.is_empty() => {
                new.insert(Vec::new());
            }
            indexmap::map::Entry::Vacant(new) => {
                new.insert(vec![scheme.to_owned()]);
            }
            indexmap::map::Entry::Occupied(mut there) => {
                let schemes = there.get_mut();
                let is_new = !schemes.is_empty() && !schemes.iter().any(|name| name == scheme);
                if is_new && !scheme.is_empty() {
                    schemes.push(scheme.to_owned());
                }
            }
        }
    }

    /// Names the swept key whose first parts are unknown: `switches` of `switches.buffer` is written
    /// nowhere.
    fn of_swept(&self, (key, told): (String, String), is_of_key: bool) -> (String, String) {
        let begins = |full: &&String| {
            full.strip_prefix(key.as_str())
                .is_some_and(|rest| rest.starts_with('.'))
        };
        match self.sweep.keys().find(begins) {
            Some(full) if is_of_key && self.source.find(&key).is_none_or(|found| !found.whole) => {
                let told = told.replacen("no such key", &format!("no key {key}"), 1);
                (format!("sweep.\"{full}\""), told)
            }
            _ => (key, told),
        }
    }

    /// Place of a key's value, and whether that is the value itself (true) or a table around it
    /// (false).
    fn place(
        &self,
        key: &str,
        value: Option<&Value>,
        scheme: &str,
        is_of_key: bool,
    ) -> Option<(Place, bool)> {
        let in_scheme = format!("schemes.{scheme}.{key}");
        let set = self.settings.iter().rev().find(|(_, setting, value)| {
            [key, &in_scheme]
                .into_iter()
                .any(|key| gives(setting, value, key))
        });
        if let Some(&(number, ..)) = set {
            return Some((Place::Override(number), true));
        }
        let position = |found: Found| {
            Place::At(if is_of_key && found.whole {
                found.key
            } else {
                found.value
            })
        };
        let list = self.sweep.get(key).and_then(Value::as_array);
        let index = list.and_then(|list| list.iter().position(|one| Some(one) == value));
        let index = index.map_or_else(String::new, |index| format!("[{index}]"));
        let swept = self.source.find(&format!("sweep.{key}{index}"));
        if let Some(found) = swept.filter(|found| found.whole) {
            return Some((position(found), true));
        }
        let mut of_scheme = match scheme.is_empty() {
            true => None,
            false => self.source.find(&in_scheme),
        };
        if let Some(found) = &mut of_scheme {
            found.depth = found.depth.saturating_sub(2);
        }
        let of_file = self.source.find(key);
        let found = match (of_scheme, of_file) {
            (Some(own), Some(base)) if own.whole || (!base.whole && own.depth > base.depth) => own,
            (Some(own), None) if own.depth > 0 || own.whole => own,
            (_, Some(base)) => base,
            _ => return self.around(key, &in_scheme),
        };
        let whole = found.whole;
        Some((position(found), whole))
    }

    /// Override that creates the table around a key that the file does not have.
    fn around(&self, key: &str, in_scheme: &str) -> Option<(Place, bool)> {
        let makes = |(_, setting, _): &&(usize, String, Value)| {
            [key, in_scheme].into_iter().any(|key| {
                let table = key.rsplit_once('.').map_or("", |(table, _)| table);
                let inside = setting.strip_prefix(table);
                !table.is_empty()
                    && inside.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            })
        };
        let setting = self.settings.iter().rev().find(makes)?;
        Some((Place::Override(setting.0), false))
    }

    /// Returns the error with all mistakes found.
    pub(super) fn error(self) -> ScenarioError {
        let all = self.schemes.len();
        let mistakes = self
            .found
            .into_iter()
            .map(|((place, cause, key, told), schemes)| {
                let of_schemes = match &schemes[..] {
                    [] => String::new(),
                    some if some.len() == all && all > 1 => String::new(),
                    [one] => format!(" (scheme {one})"),
                    some => format!(" (schemes {})", some.join(", ")),
                };
                let problem = format!("{told}{of_schemes}");
                Mistake {
                    place,
                    cause,
                    key,
                    problem,
                }
            });
        ScenarioError::new(self.file, mistakes.collect())
    }
}

/// Whether an override supplies the value of `key`: by the key itself, a table that contains it, or
/// a key inside its table.
fn gives(setting: &str, value: &Value, key: &str) -> bool {
    let inside = setting.strip_prefix(key);
    if inside.is_some_and(|rest| rest.starts_with('.')) {
        return true;
    }
    match key.strip_prefix(setting) {
        Some("") => true,
        Some(rest) => match (rest.strip_prefix('.'), value) {
            (Some(inner), Value::Table(table)) => at(table, inner).is_some(),
            (None, Value::Array(_)) => rest.starts_with('['),
            _ => false,
        },
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::gives;

    #[test]
    fn override_sets_the_keys_inside_it() {
        let value =
            toml::from_str::<toml::Table>("v = { a = [{ b = 1 }] }").expect("TOML")["v"].clone();
        assert!(gives("x", &value, "x"));
        assert!(gives("x", &value, "x.a[0].b"));
        assert!(!gives("x", &value, "x.a[1].b"));
        assert!(!gives("x", &value, "xy"));
        assert!(gives("x.y", &value, "x"));
        assert!(gives("x.a", &value["a"], "x.a[0].b"));
    }
}
