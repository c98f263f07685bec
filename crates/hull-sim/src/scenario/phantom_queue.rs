//! Phantom queue of a switch port (paper 2.1): its settings, and their limits. Sizes are bytes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::problem::{MIN_RATE, Problem, quoted, require};
use crate::units::{Rate, RelativeRate, Size, Tick};

/// A phantom queue (paper 2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhantomQueue {
    /// Rate at which the virtual queue drains (gamma times the link's rate).
    pub drain: RelativeRate,
    /// Virtual backlog above which packets are marked.
    #[schemars(extend("x-packets" = true))]
    pub threshold: Size,
    /// Whether the packet is added before the comparison (report II-A) or after (the NetFPGA).
    #[serde(default)]
    pub count_arriving: bool,
    /// Step in which it drains (800 ns on the NetFPGA).
    #[serde(default)]
    pub tick: Tick,
    /// Where packets are counted: as they leave the port, or as they arrive at it.
    #[serde(default)]
    pub placement: Placement,
}

/// Place where a phantom queue counts packets (paper, remark 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// Behind the port: each packet when its transmission starts, so no faster than the link.
    #[default]
    Series,
    /// Beside the port's queue: each packet that the buffer accepts, when it arrives. This is the
    /// virtual queue of earlier schemes.
    Parallel,
}

/// Checks the settings of the table `key` for a link.
pub(super) fn check(key: &str, queue: &PhantomQueue, link: Rate) -> [Result<(), Problem>; 2] {
    let drain = queue.drain.of(link);
    [
        require(
            (MIN_RATE..=link).contains(&drain),
            &format!("{key}.drain"),
            quoted(queue.drain),
            &format!("from 1Mbps to the link's rate, \"{link}\""),
        ),
        require(
            queue.threshold.0 <= 1_000_000_000,
            &format!("{key}.threshold"),
            quoted(queue.threshold),
            "at most 1GB",
        ),
    ]
}
