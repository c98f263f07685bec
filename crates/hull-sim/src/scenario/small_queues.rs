//! TCP small queues (Linux: net/ipv4/tcp_output.c, `tcp_small_queue_check`): a flow that has enough in its
//! host's queue waits until some of it has left.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::HostQueue;
use crate::problem::{Problem, quoted, require};
use crate::units::{Size, Time};

/// Limit of a flow's bytes in the queue of its host; defaults as in Linux 6.1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SmallQueues {
    /// Whether there is a limit. Unset: with a queue for each flow (host.queue).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<bool>,
    /// The limit, as a time of the flow's pacing rate: 2 times its window per round trip in slow start, 1.2
    /// times afterwards.
    #[serde(default = "time")]
    pub time: Time,
    /// Smallest limit, segments; with host.offload pieces.
    #[serde(default = "segments")]
    pub segments: u32,
    /// Largest limit (tcp_limit_output_bytes).
    #[serde(default = "bytes")]
    pub bytes: Size,
}

const fn time() -> Time {
    Time(1_000_000_000)
}
const fn segments() -> u32 {
    2
}
const fn bytes() -> Size {
    Size(4 << 20)
}

impl Default for SmallQueues {
    fn default() -> Self {
        SmallQueues {
            on: None,
            time: time(),
            segments: segments(),
            bytes: bytes(),
        }
    }
}

impl SmallQueues {
    /// Whether these are the defaults.
    pub(super) fn is_default(&self) -> bool {
        *self == SmallQueues::default()
    }

    /// Whether flows are limited in a host with this queue.
    pub fn are_on(&self, queue: HostQueue) -> bool {
        self.on.unwrap_or(queue != HostQueue::Fifo)
    }

    /// Checks the limits of segments of at most `mtu` bytes.
    pub(super) fn check(&self, mtu: Size) -> Result<(), Problem> {
        require(
            (1..=10_000_000_000_000).contains(&self.time.0),
            "transport.small_queues.time",
            quoted(self.time),
            "a time above 0, at most 10s",
        )?;
        require(
            (1..=1000).contains(&self.segments),
            "transport.small_queues.segments",
            self.segments,
            "1 to 1000",
        )?;
        require(
            (mtu.0..=1 << 30).contains(&self.bytes.0),
            "transport.small_queues.bytes",
            quoted(self.bytes),
            "transport.mtu to 1GiB",
        )
    }
}
