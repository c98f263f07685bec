//! The properties of a run that its workload needs. Times ps.

use indexmap::IndexMap;

use super::HostNames;
use crate::scenario::Transport;

/// Properties of the run for which a workload is created.
pub(super) struct Context<'a> {
    pub hosts: &'a HostNames,
    pub seed: u64,
    /// Start of the measured time, ps.
    pub warmup_ps: u64,
    /// End of the measured time, ps: nothing starts later.
    pub end_ps: u64,
    /// Time from the arrival of a message's last byte to the application's next step, ps.
    pub application_delay_ps: u64,
    pub transports: &'a IndexMap<String, Transport>,
}

impl Context<'_> {
    /// Number of the transport with this name.
    pub fn transport(&self, name: Option<&String>) -> u16 {
        let index = name.and_then(|name| self.transports.get_index_of(name));
        index.map_or(0, |index| 1 + index as u16)
    }
}
