//! The properties of a run that its workload needs. Times ps.

use indexmap::IndexMap;

use super::HostNames;
use crate::scenario::Transport;

/// What a workload knows of the run that it is made for.
pub(super) struct Context<'a> {
    pub hosts: &'a HostNames,
    pub seed: u64,
    /// End of the measured time: nothing new starts then.
    pub end_ps: u64,
    /// From the arrival of a message's last byte to the application's next step.
    pub application_delay_ps: u64,
    pub transports: &'a IndexMap<String, Transport>,
}

impl Context<'_> {
    /// Number of a transport by its name.
    pub fn transport(&self, name: Option<&String>) -> u16 {
        let index = name.and_then(|name| self.transports.get_index_of(name));
        index.map_or(0, |index| 1 + index as u16)
    }
}
