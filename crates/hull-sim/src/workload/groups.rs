//! The group of a flow: the label of its row in a flow list, otherwise the first of `[groups]` whose
//! conditions match its source, destination and bytes.

use indexmap::IndexMap;

use super::group_conditions::{Comparison, Condition, OTHER, conditions};
use super::host_list::{HostList, HostRef};
use super::{FlowRecord, HostNames, Listed};
use crate::problem::{Problem, quoted};
use crate::quote;

/// Groups of a scenario in their order. Number 0 means no group; group n is `names[n - 1]`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Groups {
    names: Vec<String>,
    /// Conditions of the groups of `[groups]`, as text and with resolved hosts.
    texts: Vec<String>,
    rules: Vec<Vec<Test>>,
}

/// Condition with resolved hosts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Test {
    /// For each host number, whether the host is one of those named.
    Src(Vec<bool>),
    Dst(Vec<bool>),
    Host(Vec<bool>),
    Bytes(Comparison, u64),
}

impl Test {
    fn new(
        name: &str,
        text: &str,
        condition: Condition,
        hosts: &HostNames,
    ) -> Result<Self, Problem> {
        let among = |host: HostRef| -> Result<Vec<bool>, Problem> {
            let found = hosts.many("", &HostList::One(host)).map_err(|_| {
                let last = hosts.count().saturating_sub(1);
                let example = hosts.names.last().map_or("", String::as_str);
                let allowed = format!(
                    "hosts by number, 0 to {last}, by name, such as {}, or a range of numbers, such as 0-{last}",
                    quote::name(example)
                );
                Problem::of_value(&format!("groups.{name}"), quoted(text), &allowed)
            })?;
            let mut among = vec![false; hosts.names.len()];
            found.iter().for_each(|&host| among[host as usize] = true);
            Ok(among)
        };
        Ok(match condition {
            Condition::Src(host) => Test::Src(among(host)?),
            Condition::Dst(host) => Test::Dst(among(host)?),
            Condition::Host(host) => Test::Host(among(host)?),
            Condition::Bytes(comparison, size) => Test::Bytes(comparison, size.0),
        })
    }

    fn holds(&self, src: u32, dst: u32, bytes: u64) -> bool {
        match self {
            Test::Src(among) => among[src as usize],
            Test::Dst(among) => among[dst as usize],
            Test::Host(among) => among[src as usize] || among[dst as usize],
            Test::Bytes(Comparison::Below, size) => bytes < *size,
            Test::Bytes(Comparison::AtMost, size) => bytes <= *size,
            Test::Bytes(Comparison::Above, size) => bytes > *size,
            Test::Bytes(Comparison::AtLeast, size) => bytes >= *size,
        }
    }
}

impl Groups {
    /// Creates the groups of `[groups]`.
    pub fn new(groups: &IndexMap<String, String>, hosts: &HostNames) -> Result<Self, Problem> {
        let rule = |(name, text): (&String, &String)| {
            let conditions = conditions(name, text)?.into_iter();
            let tests = conditions.map(|condition| Test::new(name, text, condition, hosts));
            tests.collect::<Result<Vec<Test>, Problem>>()
        };
        Ok(Groups {
            names: groups.keys().cloned().collect(),
            texts: groups.values().cloned().collect(),
            rules: groups.iter().map(rule).collect::<Result<_, _>>()?,
        })
    }

    /// Number of the first group whose conditions match; 0 if none does.
    pub fn of(&self, src: u32, dst: u32, bytes: u64) -> u16 {
        let fits = |rule: &Vec<Test>| rule.iter().all(|test| test.holds(src, dst, bytes));
        let place = self.rules.iter().position(fits);
        place.map_or(0, |place| 1 + place as u16)
    }

    /// Assigns a flow without a label to the first group that matches.
    pub(super) fn label(&self, record: &mut FlowRecord) {
        if record.group == 0 {
            record.group = self.of(record.src, record.dst, record.bytes);
        }
    }

    /// Names by number, `other` first; empty if there are no groups.
    pub fn all_names(&self) -> Vec<String> {
        let other = (!self.names.is_empty()).then(|| OTHER.to_owned());
        other
            .into_iter()
            .chain(self.names.iter().cloned())
            .collect()
    }

    /// Names without `other`, in the order of their numbers from 1.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Appends the labels of a flow list to the names of `[groups]`.
    pub(super) fn with_names(self, names: &[String]) -> Self {
        Groups {
            names: names.to_vec(),
            ..self
        }
    }

    /// Rejects a group of `[groups]` without flows. `listed` describes all flows of the run.
    pub(super) fn check_used(&self, table: &str, listed: &Listed) -> Result<(), Problem> {
        for (number, (name, text)) in (1..).zip(self.names.iter().zip(&self.texts)) {
            if !listed.groups.contains(&number) {
                let told = format!(
                    "{} fits none of {} flows of workload.{table}; expected a group with flows (the label \
                     of a row counts, then the first group that fits)",
                    quoted(text),
                    listed.flows
                );
                return Err(Problem::new(format!("groups.{name}"), told));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_network::{TestNetwork, build, hosts};
    use super::*;

    fn groups(texts: &[(&str, &str)]) -> Result<Groups, Problem> {
        let texts = texts
            .iter()
            .map(|&(name, text)| (name.to_owned(), text.to_owned()));
        Groups::new(&texts.collect(), &hosts(8, 1))
    }

    #[test]
    fn first_matching_group_wins() {
        let groups = groups(&[
            ("rpc", "bytes<10KB"),
            ("backups", "src:h3"),
            ("storage", "dst:4-7&bytes>=1MB"),
            ("edge", "host:0"),
        ])
        .expect("good");
        for (src, dst, bytes, number) in [
            (3, 4, 9999, 1),
            (3, 4, 10_000, 2),
            (1, 4, 999_999, 0),
            (1, 4, 1_000_000, 3),
            (1, 3, 1_000_000, 0),
            (0, 4, 2_000_000, 3),
            (0, 1, 2_000_000, 4),
            (1, 0, 2_000_000, 4),
        ] {
            assert_eq!(groups.of(src, dst, bytes), number, "{src} {dst} {bytes}");
        }
        assert_eq!(
            groups.all_names(),
            ["other", "rpc", "backups", "storage", "edge"]
        );
        assert!(Groups::default().all_names().is_empty());
    }

    #[test]
    fn unknown_hosts() {
        for text in ["src:h8", "dst:8", "host:4-8", "src:5-2", "src:10.2.0.0/16"] {
            let problem = groups(&[("far", text)]).expect_err(text).to_string();
            let shown =
                format!("groups.far: \"{text}\" is invalid; expected hosts by number, 0 to 7");
            assert!(problem.starts_with(&shown), "{problem}");
        }
    }

    /// The flow records of every workload have the group that an independent rule gives them.
    #[test]
    fn flows_of_every_workload_have_groups() {
        let traffic = "
            groups = { small = \"bytes<=10KB\", to_0 = \"dst:0\" }
            [workload.flows]
            load = \"5%\"
            sizes.pareto = { shape = 1.2, mean = \"20KB\", cut = \"1MB\" }
            [workload.requests]
            load = \"20%\"
            classes = [{ size = \"1KB\", share = \"50%\" }, { size = \"30KB\", share = \"50%\" }]
            [workload.all_to_all]
            size = \"20KB\"
        ";
        let log = TestNetwork::default().run(&mut build(traffic, 6, "50ms").expect("good"));
        let mut counts = [0; 3];
        for flow in &log.flows {
            let expected = match (flow.bytes, flow.dst) {
                (..=10_000, _) => 1,
                (_, 0) => 2,
                _ => 0,
            };
            assert_eq!(flow.group, expected);
            counts[usize::from(flow.group)] += 1;
        }
        assert!(counts.iter().all(|&count| count > 5), "{counts:?}");
    }
}
