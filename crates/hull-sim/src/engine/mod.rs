//! The engine: the order of events in time. It knows times and entity numbers, but neither packets nor
//! TCP.
//!
//! Time is an integer count of picoseconds. An event carries at most the number of a packet's slot,
//! never a packet.

mod buckets;
mod entity;
mod event_queue;
mod later;
mod lists;
mod near;

pub use entity::{Entity, Kind};
pub use event_queue::{EventQueue, LARGE};
pub use later::FAR_BYTES;
pub use near::{DUE_BYTES, Due, PacketRef};
