//! UnoCC's parameters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{Problem, quoted, require};
use crate::units::Share;

/// UnoCC's parameters (SC'25); the defaults are as in figures 3 to 9.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UnoCcSettings {
    /// K of the decrease, in full payloads: if every packet is marked, the window shrinks by 4 K /
    /// (K + BDP).
    #[serde(default = "k")]
    pub k: u32,
    /// Weight of an epoch's marked share in the average (figures 10 to 12: 50%).
    #[serde(default = "gain")]
    pub gain: Share,
}

const fn k() -> u32 {
    6
}
const fn gain() -> Share {
    Share(Share::ONE / 100 * 65)
}

impl Default for UnoCcSettings {
    fn default() -> Self {
        UnoCcSettings {
            k: k(),
            gain: gain(),
        }
    }
}

impl UnoCcSettings {
    /// Checks each key.
    pub(super) fn check(&self) -> Result<(), Problem> {
        require(
            (1..=10_000).contains(&self.k),
            "transport.message.unocc.k",
            self.k,
            "1 to 10000 packets",
        )?;
        require(
            self.gain.0 > 0 && self.gain.0 <= Share::ONE,
            "transport.message.unocc.gain",
            quoted(self.gain),
            "more than 0% to 100%",
        )
    }
}
