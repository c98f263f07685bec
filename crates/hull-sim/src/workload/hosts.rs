//! A workload's view of the hosts: numbers, names, and the rates of their links, bit/s.

use std::sync::Arc;

use super::host_list::{HostList, HostRef};
use crate::problem::Problem;
use crate::quote;
use crate::topology::Graph;

/// Names and link rates of the hosts, in the order of their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNames {
    /// Name of each host.
    pub names: Vec<String>,
    /// Rate of each host's links into the network together, bit/s.
    pub to_network_bps: Vec<u64>,
    /// Rate of each host's links out of the network together, bit/s.
    pub from_network_bps: Vec<u64>,
    /// The network, for switches that flows of a list must pass.
    pub graph: Option<Arc<Graph>>,
}

impl HostNames {
    /// Reads names and rates from a network.
    pub fn of(graph: &Arc<Graph>) -> Self {
        let name = |&node: &usize| graph.name(node);
        let rates_bps = (0..graph.hosts().len()).map(|host| graph.host_bps(host));
        let (to_network_bps, from_network_bps) = rates_bps.unzip();
        HostNames {
            names: graph.hosts().iter().map(name).collect(),
            to_network_bps,
            from_network_bps,
            graph: Some(Arc::clone(graph)),
        }
    }

    /// Number of hosts.
    pub fn count(&self) -> u32 {
        self.names.len() as u32
    }

    /// Finds the host with this name, or else with this number.
    pub fn find(&self, text: &str) -> Option<u32> {
        let named = self.names.iter().position(|name| name == text);
        named
            .map(|host| host as u32)
            .or_else(|| text.parse().ok().filter(|&host| host < self.count()))
    }

    /// Resolves the optional host at `key`; the default is host 0.
    pub(super) fn client(&self, key: &str, host: Option<&HostRef>) -> Result<u32, Problem> {
        host.map_or(Ok(0), |host| self.one(key, host))
    }

    /// Resolves the host at `key`.
    pub(super) fn one(&self, key: &str, host: &HostRef) -> Result<u32, Problem> {
        let found = match host {
            HostRef::Number(number) => Some(*number).filter(|&host| host < self.count()),
            HostRef::Text(text) => self.find(text),
        };
        found.ok_or_else(|| self.unknown(key, host))
    }

    /// Resolves the hosts at `key` in their order; ranges are expanded.
    pub(super) fn many(&self, key: &str, list: &HostList) -> Result<Vec<u32>, Problem> {
        let mut hosts = Vec::new();
        for entry in list.entries() {
            match self.range(entry) {
                Some((first, last)) => hosts.extend(first..=last),
                None => hosts.push(self.one(key, entry)?),
            }
        }
        if hosts.is_empty() {
            return Err(Problem::new(
                key.to_owned(),
                "found no host; expected at least one".to_owned(),
            ));
        }
        Ok(hosts)
    }

    /// Resolves the hosts at `key`, as [`HostNames::set`] does, and requires at least two.
    pub(super) fn two_or_more(
        &self,
        key: &str,
        list: Option<&HostList>,
    ) -> Result<Vec<u32>, Problem> {
        let hosts = self.set(key, list, None)?;
        if hosts.len() < 2 {
            let found = list.map_or_else(|| "all hosts".to_owned(), ToString::to_string);
            return Err(Problem::of_value(key, found, "at least two hosts"));
        }
        Ok(hosts)
    }

    /// Resolves the hosts at `key`, without duplicates; the default is all hosts but `without`.
    pub(super) fn set(
        &self,
        key: &str,
        list: Option<&HostList>,
        without: Option<u32>,
    ) -> Result<Vec<u32>, Problem> {
        let Some(list) = list else {
            let all = 0..self.count();
            return Ok(all.filter(|&host| Some(host) != without).collect());
        };
        let hosts = self.many(key, list)?;
        let mut seen = vec![false; self.names.len()];
        for &host in &hosts {
            let name = quote::text(&self.names[host as usize]);
            if Some(host) == without || seen[host as usize] {
                return Err(Problem::new(
                    key.to_owned(),
                    format!(
                        "found host {host} ({name}) {}; expected each other host once",
                        if seen[host as usize] {
                            "twice"
                        } else {
                            "on both sides"
                        }
                    ),
                ));
            }
            seen[host as usize] = true;
        }
        Ok(hosts)
    }

    /// Index of each host in a list of hosts, if present.
    pub(super) fn places(&self, list: &[u32]) -> Vec<Option<usize>> {
        let mut places = vec![None; self.names.len()];
        for (place, &host) in list.iter().enumerate() {
            places[host as usize] = Some(place);
        }
        places
    }

    /// Parses a range of numbers such as `"1-9"`, unless a host has this name.
    fn range(&self, entry: &HostRef) -> Option<(u32, u32)> {
        let HostRef::Text(text) = entry else {
            return None;
        };
        if self.names.contains(text) {
            return None;
        }
        let (first, last) = text.split_once('-')?;
        let (first, last) = (first.parse().ok()?, last.parse().ok()?);
        (first <= last && last < self.count()).then_some((first, last))
    }

    fn unknown(&self, key: &str, found: &HostRef) -> Problem {
        let last = self.count().saturating_sub(1);
        let example = self.names.last().map_or("", String::as_str);
        let allowed = format!("a host by number, 0 to {last}, or by name, such as \"{example}\"");
        Problem::new(key, format!("{found} is invalid; expected {allowed}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::hosts;
    use super::*;

    fn text(text: &str) -> HostRef {
        HostRef::Text(text.to_owned())
    }

    #[test]
    fn hosts_by_number_name_and_range() {
        let mut names = hosts(6, 1);
        names.names[4] = "2".to_owned();
        assert_eq!(names.one("k", &HostRef::Number(3)), Ok(3));
        assert_eq!(names.one("k", &text("h3")), Ok(3));
        assert_eq!(names.one("k", &text("3")), Ok(3));
        assert_eq!(names.one("k", &text("2")), Ok(4), "a name before a number");
        let list = HostList::Many(vec![text("0-2"), text("h5")]);
        assert_eq!(names.many("k", &list), Ok(vec![0, 1, 2, 5]));
        assert_eq!(names.set("k", None, Some(2)), Ok(vec![0, 1, 3, 4, 5]));
    }

    #[test]
    fn unknown_hosts() {
        let names = hosts(6, 1);
        for (host, shown) in [
            (HostRef::Number(6), "6 is invalid"),
            (text("h6"), "\"h6\" is invalid"),
            (text("4-9"), "\"4-9\" is invalid"),
        ] {
            let (key, problem): (String, String) = names
                .many("workload.incast.servers", &HostList::One(host))
                .expect_err("not there")
                .into();
            assert_eq!(key, "workload.incast.servers");
            assert!(
                problem.contains(shown) && problem.contains("0 to 5"),
                "{problem}"
            );
        }
        let twice = HostList::Many(vec![text("0-2"), HostRef::Number(1)]);
        let (_, problem): (String, String) = names
            .set("k", Some(&twice), None)
            .expect_err("twice")
            .into();
        assert!(problem.contains("twice"), "{problem}");
    }
}
