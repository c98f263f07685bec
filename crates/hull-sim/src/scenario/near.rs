//! Suggestions for an unknown key of a scenario: keys elsewhere with its name.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::keys;
use crate::spelling::{LONGEST, distance};

/// Largest number of places at which a name is a useful suggestion.
const MOST_PLACES: usize = 3;

/// Returns the keys and tables anywhere in a scenario with this name, or one letter from it, if
/// they are few.
pub(super) fn elsewhere(name: &str) -> Vec<&'static str> {
    static ALL: OnceLock<BTreeSet<String>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let rows = keys();
        let keys = rows.iter().filter_map(|row| row["key"].as_str());
        let prefixes = keys.flat_map(|key| {
            let ends = key.match_indices('.').map(|(at, _)| at);
            ends.chain([key.len()]).map(|end| key[..end].to_owned())
        });
        prefixes.collect()
    });
    if name.len() > LONGEST {
        return Vec::new();
    }
    let last = |key: &'static str| key.rsplit('.').next().unwrap_or(key).trim_end_matches("[]");
    let all = || {
        all.iter()
            .map(String::as_str)
            .filter(|key| !key.contains("[]."))
    };
    for most in [0, usize::from(name.len() > 4)] {
        let found: Vec<&str> = all()
            .filter(|key| distance(last(key), name) <= most)
            .collect();
        if (1..=MOST_PLACES).contains(&found.len()) {
            return found;
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::elsewhere;

    #[test]
    fn same_name_in_another_table_is_found() {
        assert_eq!(elsewhere("min_rto"), ["transport.min_rto"]);
        assert_eq!(elsewhere("marking"), ["switch.marking"]);
        assert_eq!(
            elsewhere("latncy"),
            ["switch.latency", "workload.job.servers.latency"]
        );
        assert!(elsewhere("colour").is_empty());
        assert!(elsewhere("size").is_empty(), "at many places");
    }
}
