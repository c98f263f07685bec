//! A resolved scenario: all keys set and checked, with the network and the flow list that it names. They
//! are built once, and its runs with other seeds and the scenarios resolved after it share them.

use std::ops::Deref;
use std::sync::Arc;

use super::Scenario;
use crate::problem::Problem;
use crate::topology::Graph;
use crate::workload::{self, Context, Groups, HostNames, LastList, Traffic, Workload};

/// A resolved scenario with its network.
#[derive(Clone, Debug)]
pub struct Resolved {
    scenario: Scenario,
    graph: Arc<Graph>,
    lists: Arc<LastList>,
}

impl Resolved {
    /// Builds the network of a checked scenario; fails as [`Scenario::graph`] does.
    pub fn new(scenario: Scenario) -> Result<Self, Problem> {
        Resolved::after(None, scenario)
    }

    /// Does the same for the next of several scenarios, which shares what equals the last one's.
    pub fn after(last: Option<&Resolved>, scenario: Scenario) -> Result<Self, Problem> {
        let graph = graph_after(last, &scenario)?;
        Ok(Resolved::with(last, scenario, graph))
    }

    /// The scenario with this network, which [`graph_after`] found.
    pub(super) fn with(last: Option<&Resolved>, scenario: Scenario, graph: Arc<Graph>) -> Self {
        Resolved {
            scenario,
            graph,
            lists: last.map_or_else(Arc::default, |last| Arc::clone(&last.lists)),
        }
    }

    /// The same scenario on one thread, without another check.
    pub(crate) fn on_one_thread(&self) -> Self {
        let mut one = self.clone();
        one.scenario.run.threads = 1;
        one
    }

    /// Its network.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.graph
    }

    /// Builds its traffic. An error names the key. This reads the files that the scenario names, so it
    /// also checks what [`super::expand()`] cannot know.
    pub fn traffic(&self, hosts: &HostNames, seed: u64) -> Result<Traffic, Problem> {
        let run = &self.run;
        let transports: Vec<String> = self.transports.keys().cloned().collect();
        let context = Context {
            hosts,
            seed,
            warmup_ps: run.warmup.0,
            end_ps: run.warmup.0 + run.duration.0,
            application_delay_ps: self.host.application_delay.0,
            transports: &transports,
            groups: &Groups::new(&self.groups, hosts)?,
            lists: &self.lists,
        };
        let traffic = workload::build(&self.workload, &context)?;
        if let Some(listed) = traffic.listed() {
            self.check_listed(&listed.transports)?;
        }
        Ok(traffic)
    }
}

impl Deref for Resolved {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

/// The network of a scenario: the last one's if nothing that it follows from differs. A file may have
/// changed since it was read, so a network that comes from one is read again.
pub(super) fn graph_after(
    last: Option<&Resolved>,
    scenario: &Scenario,
) -> Result<Arc<Graph>, Problem> {
    let wires = |of: &Scenario| {
        [
            of.host.rate.0,
            of.switch.rate.0,
            of.host.delay.0,
            of.switch.delay.0,
        ]
    };
    let is_same = |last: &&Resolved| {
        scenario.topology.file.is_none()
            && last.topology == scenario.topology
            && wires(last) == wires(scenario)
    };
    match last.filter(is_same) {
        Some(last) => Ok(Arc::clone(&last.graph)),
        None => scenario.graph().map(Arc::new),
    }
}
