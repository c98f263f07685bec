//! Queue lengths in settings: packets (`"50pkts"`) or bytes (`"75KB"`), with the unit in which a rule
//! then counts.

use hull_core::queue_estimate::QueueUnit;

use crate::problem::{Problem, quoted, require};
use crate::units::Buffer;

/// Length of a queue, checked to be below 2^31, and its unit.
pub(super) fn length(queue: Buffer) -> (u32, QueueUnit) {
    match queue {
        Buffer::Unlimited => (u32::MAX, QueueUnit::Bytes),
        Buffer::Bytes(bytes) => (bytes as u32, QueueUnit::Bytes),
        Buffer::Packets(packets) => (packets as u32, QueueUnit::Packets),
    }
}

/// Checks that a queue length is above 0 and below 2^31. Returns it, and whether it counts packets.
pub(super) fn check_length(key: &str, queue: Buffer) -> Result<(u64, bool), Problem> {
    let (length, packets) = match queue {
        Buffer::Unlimited => (0, false),
        Buffer::Bytes(bytes) => (bytes, false),
        Buffer::Packets(packets) => (packets, true),
    };
    let allowed = "a queue such as \"50pkts\" or \"75KB\", above 0";
    require((1..1 << 31).contains(&length), key, quoted(queue), allowed)?;
    Ok((length, packets))
}
