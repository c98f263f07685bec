//! A host and its link to the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Problem, buffer, delay, rate};
use super::default;
use crate::units::{Buffer, Rate, Time};

/// A host and its link to the switch.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Rate of the link from the host to the switch.
    pub rate: Rate,
    /// Propagation delay of that link.
    pub delay: Time,
    /// Room of the NIC's queue.
    #[serde(default = "default::unlimited")]
    pub nic_buffer: Buffer,
    /// Time that a packet takes through the host's stack and adapter, in each direction.
    #[serde(default)]
    pub stack_delay: Time,
    /// Time from the arrival of a message's last byte to the application's next step.
    #[serde(default)]
    pub application_delay: Time,
}

/// Checks the hosts of a network with packets of at most `mtu` bytes.
pub(super) fn check(host: &Host, mtu: u64) -> Result<(), Problem> {
    rate("host.rate", host.rate)?;
    delay("host.delay", host.delay)?;
    delay("host.stack_delay", host.stack_delay)?;
    delay("host.application_delay", host.application_delay)?;
    buffer("host.nic_buffer", host.nic_buffer, mtu)
}
