//! Queue lengths in settings: packets (`"50pkts"`) or bytes (`"75KB"`), with the unit in which a rule
//! then counts.

use hull_core::queue_estimate::QueueUnit;

use crate::problem::{Problem, quoted, require};
use crate::units::QueueLength;

/// Length of a queue, checked to be below 2^31, and its unit.
pub(super) fn length(queue: QueueLength) -> (u32, QueueUnit) {
    match queue {
        QueueLength::Bytes(bytes) => (bytes as u32, QueueUnit::Bytes),
        QueueLength::Packets(packets) => (packets as u32, QueueUnit::Packets),
    }
}

/// Checks that a queue length is above 0 and below 2^31. Returns it, and whether it counts packets.
pub(super) fn check_length(key: &str, queue: QueueLength) -> Result<(u64, bool), Problem> {
    let (length, packets) = match queue {
        QueueLength::Bytes(bytes) => (bytes, false),
        QueueLength::Packets(packets) => (packets, true),
    };
    let allowed = "a queue such as \"50pkts\" or \"75KB\", above 0 and below 2^31";
    require((1..1 << 31).contains(&length), key, quoted(queue), allowed)?;
    Ok((length, packets))
}
