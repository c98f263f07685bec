//! What the flows of one transport have in common when they begin.

use super::ends::Initial;
use super::small_queue::SmallQueue;
use crate::network::InBand;
use crate::scenario::Spray;
use crate::simulation::distances::Distances;

/// Initial state of the flows of one transport.
#[derive(Debug)]
pub struct Template {
    pub initial: Initial,
    /// Whether the control sets a pace.
    pub has_pace: bool,
    /// Whether the window is sent at a pace (host.queue = "fq").
    pub paces_window: bool,
    /// Number of rate limiters of a host, if its flows share them. Each has a control of its own, which
    /// gets the packets and notices of its flows.
    pub rate_limiters: Option<u32>,
    /// Limit of a flow's bytes in the queue of its host, if there is one.
    pub small_queue: Option<SmallQueue>,
    /// Spreading of a stream's packets over paths, if they take several.
    pub spray: Option<Spray>,
    /// What data carries for switches; only the kind counts.
    pub asks: InBand,
    /// Whether ECN-Echoes associate the flows with their host's pacer.
    pub associates: bool,
    /// Whether the flows begin with a handshake.
    pub has_handshake: bool,
    /// Whether receivers acknowledge each packet at once.
    pub acks_each: bool,
    /// Priority class of the packets; `None` for the class of the message.
    pub class: Option<u8>,
}

impl Template {
    /// Settings of the connections, if this is the message transport.
    #[inline]
    pub fn messages(&self) -> Option<&Distances> {
        match &self.initial {
            Initial::Message(distances) => Some(distances),
            Initial::Stream(_) => None,
        }
    }
}
