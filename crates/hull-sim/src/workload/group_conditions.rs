//! Named groups of flows: `rpc = "bytes<10KB"`, `backups = "src:h3"`, `to_storage = "dst:4-7&bytes>=1MB"`.
//! The grammar is the same as for `hull ask --group` (python/hull/ask/groups.py), but with hosts in
//! place of addresses and without ports: flows of a simulation have none. Sizes in bytes.

use indexmap::IndexMap;

use super::host_list::HostRef;
use crate::limits;
use crate::problem::{Problem, quoted, require};
use crate::units::Size;

/// Name of the group of all other flows, in statistics and tables.
pub const OTHER: &str = "other";

/// Longest group name, characters.
const LONGEST_NAME: usize = 40;

const COMPARISONS: [(&str, Comparison); 4] = [
    ("<=", Comparison::AtMost),
    (">=", Comparison::AtLeast),
    ("<", Comparison::Below),
    (">", Comparison::Above),
];

/// Comparison of a flow's size with a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Comparison {
    /// `<`
    Below,
    /// `<=`
    AtMost,
    /// `>`
    Above,
    /// `>=`
    AtLeast,
}

/// Condition for membership in a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The source is this host or in this range of hosts.
    Src(HostRef),
    /// The destination is this host or in this range of hosts.
    Dst(HostRef),
    /// One end is this host or in this range of hosts.
    Host(HostRef),
    /// The size compares with this bound.
    Bytes(Comparison, Size),
}

/// Parses the conditions of the group `name`; its flows match all of them.
pub fn conditions(name: &str, text: &str) -> Result<Vec<Condition>, Problem> {
    let parts = text.split('&').map(str::trim);
    let read = |part: &str| {
        condition(part).ok_or_else(|| {
            let allowed = format!(
                "conditions joined by &: src:, dst: or host: with a host or a range such as 4-7, or bytes \
                 with <, <=, > or >= and a size, such as \"src:h3&bytes<10KB\"; {} is none",
                quoted(part)
            );
            Problem::of_value(&format!("groups.{name}"), quoted(text), &allowed)
        })
    };
    parts.map(read).collect()
}

fn condition(part: &str) -> Option<Condition> {
    if let Some(rest) = part.strip_prefix("bytes") {
        let rest = rest.trim_start();
        let (size, comparison) = COMPARISONS
            .iter()
            .find_map(|&(sign, comparison)| Some((rest.strip_prefix(sign)?, comparison)))?;
        let size = Size::parse(size.trim()).ok()?;
        return Some(Condition::Bytes(comparison, size));
    }
    let (key, host) = part.split_once(':')?;
    let host = Some(host.trim()).filter(|host| !host.is_empty())?;
    let host = HostRef::Text(host.to_owned());
    match key.trim_end() {
        "src" => Some(Condition::Src(host)),
        "dst" => Some(Condition::Dst(host)),
        "host" => Some(Condition::Host(host)),
        _ => None,
    }
}

/// Checks names and conditions. Hosts are resolved when the traffic is built.
pub(crate) fn check(groups: &IndexMap<String, String>) -> Result<(), Problem> {
    let (count, most) = (groups.len(), limits::GROUPS);
    require(
        count <= most,
        "groups",
        format!("{count} groups"),
        &format!("at most {most}"),
    )?;
    for (name, text) in groups {
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(letters)
            && name.len() <= LONGEST_NAME
            && name != OTHER;
        let allowed = format!(
            "names of letters, digits, - and _ that begin with a letter, at most {LONGEST_NAME} characters, and \
             not \"{OTHER}\", the flows of no group"
        );
        require(is_name, "groups", quoted(name), &allowed)?;
        conditions(name, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostRef {
        HostRef::Text(text.to_owned())
    }

    #[test]
    fn conditions_match_hull_ask() {
        let read = conditions("g", "src: h3 & bytes >= 1.5 KB&dst:4-7 &host:0&bytes<10");
        assert_eq!(
            read,
            Ok(vec![
                Condition::Src(host("h3")),
                Condition::Bytes(Comparison::AtLeast, Size(1500)),
                Condition::Dst(host("4-7")),
                Condition::Host(host("0")),
                Condition::Bytes(Comparison::Below, Size(10)),
            ])
        );
    }

    #[test]
    fn invalid_conditions_are_rejected() {
        for text in [
            "",
            "&",
            "src:",
            "port:80",
            "bytes",
            "bytes=5",
            "bytes<",
            "bytes<10apples",
            "bytes<5&",
            "from:h3",
            "h3",
        ] {
            let problem = conditions("rpc", text).expect_err(text).to_string();
            assert!(
                problem.starts_with("groups.rpc: \"") && problem.contains("expected conditions"),
                "{problem}"
            );
        }
    }

    #[test]
    fn names_are_checked() {
        let long = "x".repeat(41);
        for name in ["other", "", "1st", "a.b", "a b", &long] {
            let groups = IndexMap::from([(name.to_owned(), "bytes<5".to_owned())]);
            let problem = check(&groups).expect_err(name).to_string();
            assert!(problem.starts_with("groups: \""), "{problem}");
        }
        let good = IndexMap::from([("rpc-2_x".to_owned(), "bytes<5".to_owned())]);
        assert_eq!(check(&good), Ok(()));
    }
}
