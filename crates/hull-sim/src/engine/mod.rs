//! The engine: when things happen. It knows times and entity numbers, no packets and no TCP.
//!
//! Time is an integer count of picoseconds; an event carries the number of a packet's place at most,
//! never a packet.

mod bucket;
mod entity;
mod event_queue;
mod later;
mod lists;

pub use bucket::Cargo;
pub use entity::{Entity, Kind};
pub use event_queue::{Due, EventQueue};
