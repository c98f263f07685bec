//! Switches: buffers, marking (thesis 2.2.1), phantom queues (paper 2.1).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{MIN_RATE, Problem, buffer, delay, quoted, rate, require};
use super::default;
use crate::units::{Buffer, Rate, RelativeRate, Size, Tick, Time};

/// A switch and its links to the hosts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    /// Rate of the links from the switch to the hosts.
    pub rate: Rate,
    /// Propagation delay of those links.
    pub delay: Time,
    /// Room of each output port's drop-tail buffer.
    #[serde(default = "default::unlimited")]
    pub buffer: Buffer,
    /// Whether the packet being sent still occupies the buffer and counts for marking.
    #[serde(default)]
    pub count_in_service: bool,
    /// ECN marking by queue length; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marking: Option<Marking>,
    /// Phantom queue behind each port; without this table there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phantom_queue: Option<PhantomQueue>,
}

/// ECN marking on the instantaneous queue (thesis 2.2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Marking {
    /// Packets that find more than this in the queue are marked (the papers' K).
    pub threshold: Size,
    /// Whether the arriving packet itself is counted in.
    #[serde(default)]
    pub count_arriving: bool,
}

/// A phantom queue (paper 2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhantomQueue {
    /// Rate at which the virtual queue drains (gamma times the link's rate).
    pub drain: RelativeRate,
    /// Virtual backlog above which packets are marked.
    pub threshold: Size,
    /// Whether the packet is added before the comparison (report II-A) or after (the NetFPGA).
    #[serde(default)]
    pub count_arriving: bool,
    /// Step in which it drains (800 ns on the NetFPGA).
    #[serde(default)]
    pub tick: Tick,
}

/// Checks the switches of a network with packets of at most `mtu` bytes.
pub(super) fn check(switch: &Switch, mtu: u64) -> Result<(), Problem> {
    rate("switch.rate", switch.rate)?;
    delay("switch.delay", switch.delay)?;
    buffer("switch.buffer", switch.buffer, mtu)?;
    let room = match switch.buffer {
        Buffer::Unlimited => u64::MAX,
        Buffer::Bytes(bytes) => bytes,
        Buffer::Packets(packets) => packets.saturating_mul(mtu),
    };
    if let Some(marking) = &switch.marking {
        require(
            marking.threshold.0 < room,
            "switch.marking.threshold",
            quoted(marking.threshold),
            &format!("less than switch.buffer, \"{}\"", switch.buffer),
        )?;
    }
    if let Some(queue) = &switch.phantom_queue {
        let drain = queue.drain.of(switch.rate);
        require(
            (MIN_RATE..=switch.rate).contains(&drain),
            "switch.phantom_queue.drain",
            quoted(queue.drain),
            &format!("from 1Mbps to switch.rate, \"{}\"", switch.rate),
        )?;
        require(
            queue.threshold.0 <= 1_000_000_000,
            "switch.phantom_queue.threshold",
            quoted(queue.threshold),
            "at most 1GB",
        )?;
    }
    Ok(())
}
