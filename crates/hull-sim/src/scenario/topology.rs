//! How hosts and switches are joined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, require};

/// How hosts and switches are joined.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// All hosts at one switch.
    pub star: Star,
}

/// One switch with all hosts; host 0 is the client, the port to it is the one that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Number of hosts, the client included.
    pub hosts: u16,
}

/// Checks the topology.
pub(super) fn check(topology: &Topology) -> Result<(), Problem> {
    let hosts = topology.star.hosts;
    require(
        (2..=4096).contains(&hosts),
        "topology.star.hosts",
        hosts,
        "2 to 4096",
    )
}
