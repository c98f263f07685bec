//! The properties of a run that its workload needs. Times ps.

use super::{Groups, HostNames, LastList};

/// Name of `[transport]` in statistics and flow lists.
pub const DEFAULT_TRANSPORT: &str = "default";

/// Properties of the run for which a workload is created.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The hosts.
    pub hosts: &'a HostNames,
    /// Seed of the run.
    pub seed: u64,
    /// Start of the measured time, ps.
    pub warmup_ps: u64,
    /// End of the measured time, ps: nothing starts later.
    pub end_ps: u64,
    /// Time from the arrival of a message's last byte to the application's next step, ps.
    pub application_delay_ps: u64,
    /// Names of `[transports]`.
    pub transports: &'a [String],
    /// Groups of `[groups]`.
    pub groups: &'a Groups,
    /// The flow list that was read last.
    pub lists: &'a LastList,
}

impl Context<'_> {
    /// Number of the transport with this name; without a name 0, which is `[transport]`.
    pub(super) fn transport(&self, name: Option<&str>) -> u16 {
        let index = name.and_then(|name| self.transports.iter().position(|known| known == name));
        index.map_or(0, |index| 1 + index as u16)
    }
}
