//! The engine: when things happen. It knows times and entity numbers, no packets and no TCP.
//!
//! Time is an integer count of picoseconds; the queue of events holds busy links and
//! timers, never packets.

mod entity;
mod event_queue;

pub use entity::{Entity, Kind};
pub use event_queue::EventQueue;
