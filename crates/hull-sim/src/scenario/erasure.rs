//! Erasure coding of the message transport.

use hull_core::erasure::ErasureCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, require};
use crate::units::Time;

/// Largest number of packets in a group.
const MOST_PACKETS: u8 = 64;

/// Erasure coding by groups (SC'25): a group is complete with as many packets as it has data
/// packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Erasure {
    /// Data packets of a group; a message is padded to whole groups.
    #[serde(default = "data")]
    pub data: u8,
    /// Parity packets of a group.
    #[serde(default = "parity")]
    pub parity: u8,
    /// Time from a group's first packet after which a receiver requests the rest. Unset: five times
    /// the drain time of a full port buffer, between two data centres eight times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<Time>,
}

const fn data() -> u8 {
    8
}
const fn parity() -> u8 {
    2
}

impl Erasure {
    /// Checks each key.
    pub(super) fn check(&self) -> Result<(), Problem> {
        for (name, packets) in [("data", self.data), ("parity", self.parity)] {
            require(
                (1..MOST_PACKETS).contains(&packets),
                &format!("transport.message.erasure.{name}"),
                packets,
                &format!("1 to {} packets", MOST_PACKETS - 1),
            )?;
        }
        require(
            self.data + self.parity <= MOST_PACKETS,
            "transport.message.erasure.parity",
            self.parity,
            &format!(
                "at most {MOST_PACKETS} packets together with data, {}",
                self.data
            ),
        )?;
        require(
            (self.wait)
                .is_none_or(|wait| (Time(100_000)..=Time(10_000_000_000_000)).contains(&wait)),
            "transport.message.erasure.wait",
            quoted(self.wait.unwrap_or_default()),
            "100ns to 10s",
        )
    }

    /// Erasure code with these numbers of packets.
    pub(crate) fn code(&self) -> ErasureCode {
        ErasureCode::new(self.data, self.parity)
    }
}
