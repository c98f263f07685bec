//! The traffic of a scenario.

use super::Scenario;
use crate::problem::Problem;
use crate::workload::{self, Context, Groups, HostNames, Traffic, Workload};

impl Scenario {
    /// Builds the traffic between these hosts. An error names the key. This reads the files that the
    /// scenario names, so it also checks what [`super::expand()`] cannot know.
    pub fn traffic(&self, hosts: &HostNames, seed: u64) -> Result<Traffic, Problem> {
        let transports: Vec<String> = self.transports.keys().cloned().collect();
        let context = Context {
            hosts,
            seed,
            warmup_ps: self.run.warmup.0,
            end_ps: self.run.warmup.0 + self.run.duration.0,
            application_delay_ps: self.host.application_delay.0,
            transports: &transports,
            groups: &Groups::new(&self.groups, hosts)?,
        };
        let traffic = workload::build(&self.workload, &context)?;
        if let Some(listed) = traffic.listed() {
            self.check_listed(&listed.transports)?;
        }
        Ok(traffic)
    }
}
